// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkPostgres
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

/// Alice's zone, which she shares with Bob.
struct SharingFixture: Sendable {
    let storage: PostgresStorage
    let alice: Identity
    let bob: Identity
    let url: String
    /// One connection that a test holds locks on.
    let other: PostgresPool

    static let now = Timestamp(milliseconds: 1_700_000_000_000)
    static let device = DeviceID(high: 0, low: 1)
    static let container = ContainerKey(identifier: "iCloud.test", environment: .development)

    var zone: ZoneKey { ZoneKey(database: alice.privateDatabase, name: "Notes") }
    var bobsAccess: RecordAccess { RecordAccess(scope: .shared, user: bob.user) }

    static func run(_ body: (SharingFixture) async throws -> Void) async throws {
        try await StoreFixture.run { store in
            let storage = try store.storage()
            let other = try PostgresPool(url: store.database.url, connections: 1, loop: store.loop)
            let fixture = SharingFixture(
                storage: storage, alice: try await identity("alice", in: storage),
                bob: try await identity("bob", in: storage), url: store.database.url, other: other)
            try await fixture.create("Notes")
            try await body(fixture)
            await other.stop()
            await storage.stop()
        }
    }

    static func identity(_ name: String, in storage: PostgresStorage) async throws -> Identity {
        let admin = AdminStore(storage)
        let account = try #require(try await admin.createAccount(name))
        let hash = Array(name.utf8)
        _ = try await admin.issueCredential(hash: hash, label: "", expiresAt: nil, for: account)
        return try #require(
            try await storage.identity(
                credentialHash: hash, container: container.identifier, environment: container.environment,
                containersMax: .max, now: now))
    }

    func create(_ name: String) async throws {
        let transaction = try await storage.beginZonesWrite(
            in: alice.privateDatabase, names: [name], life: Self.device)
        let changes = ZonesChanges(
            created: [name], removed: [], removalReason: .deleted, life: Self.device, memory: RequestMemory())
        try await transaction.commit(changes, now: Self.now)
    }

    // MARK: Changes

    /// Writes a change of the share as a new version of its record.
    func change(_ make: (ChangeNumber, ZoneSharing) -> SharingChanges) async throws {
        let transaction = try await storage.beginWrite([read(.whole)])
        let snapshot = transaction.snapshots[0]
        let (zone, sharing) = (try #require(snapshot.zone), try #require(snapshot.sharing))
        let number = zone.changeNumber + 1
        try await transaction.commit([
            ZoneChanges(
                database: zone.key.database, zone: zone.id, changeNumber: number,
                records: [Self.record(Share.zoneWideName, type: Share.recordType, number)], memories: [:],
                clientTokensMax: 0, sharing: [make(number, sharing)])
        ])
    }

    func read(_ sharing: SharingRead) -> ZoneRead {
        var read = ZoneRead(key: zone, recordNames: [], parentNames: [], lives: [])
        read.sharing = sharing
        return read
    }

    static func record(_ name: String, type: String, _ number: ChangeNumber) -> RecordState {
        RecordState(
            name: name, type: type, fields: FieldMap(), changeNumber: number, isDeleted: false, parent: nil,
            createdAt: now, createdBy: UserID(1), createdByDevice: device, modifiedAt: now, modifiedBy: UserID(1),
            batchEnd: number)
    }

    /// Makes the share with these participants.
    func share(with participants: Participant..., secret: [UInt8]? = [1, 2, 3]) async throws {
        try await change { number, _ in
            let share = ShareNumber(number)
            var changes = SharingChanges(share, at: number)
            changes.insertedShare = Share(number: share)
            changes.insertedSecret = secret
            changes.inserted = participants.map { row in
                var row = row
                if row.hasAccepted { row.acceptedNumber = number }
                return row
            }
            return changes
        }
    }

    /// Changes the rows of the living share.
    func update(_ body: (inout SharingChanges, [Participant]) -> Void) async throws {
        try await change { number, sharing in
            let share = sharing.livingShare?.number ?? ShareNumber(0)
            var changes = SharingChanges(share, at: number)
            body(&changes, (sharing.participants[share] ?? [:]).values.sorted { $0.id < $1.id })
            return changes
        }
    }

    /// Ends the access of everybody who has it.
    func removeAll() async throws {
        try await update { changes, rows in
            changes.ended = rows.map { row in
                var row = row
                row.status = .removed
                row.endedNumber = changes.number
                return row
            }
        }
    }

    func bobs(_ status: ParticipantStatus, id: UInt64 = 1, at number: ChangeNumber? = nil) -> Participant {
        Participant(
            id: ParticipantID(high: 0, low: id), user: bob.user, permission: .readWrite, status: status,
            acceptedNumber: number, addedAt: Self.now)
    }

    /// Puts the zone into Bob's list.
    func point() async throws {
        #expect(try await point(to: zone.name, atMost: Limits().sharedZonesMax) == .done)
    }

    func point(to name: String, atMost countMax: Int) async throws -> PointedViewer {
        let key = ZoneKey(database: zone.database, name: name)
        return try await storage.pointViewer(bob.sharedDatabase, to: key, atMost: countMax)
    }

    /// Makes Bob's list older than an acceptance takes.
    func agePointers() throws {
        try execute("UPDATE shared_zone SET pointed_at = pointed_at - interval '2 hours'")
    }

    // MARK: Reads

    func page(for user: UserID? = nil) -> ZonePageQuery {
        ZonePageQuery(
            key: zone, after: nil, recordsMax: 100, bytesMax: 1_000_000, device: Self.device,
            reader: RecordAccess(scope: .shared, user: user ?? bob.user), tombstonesPassedMax: 1_000)
    }

    func feed(after number: ChangeNumber? = 0) async throws -> DatabaseFeedRead {
        try await storage.databaseFeed(of: bob.sharedDatabase, after: number, entriesMax: 10, then: nil).feed.value
    }

    func advance(after number: ChangeNumber? = 0) async throws -> DatabaseFeedRead {
        try await storage.advanceDatabaseFeed(of: bob.sharedDatabase, after: number, entriesMax: 10).value
    }

    /// How many zones are in Bob's list.
    func pointers() async throws -> Int64 {
        try await numbers("SELECT count(*) FROM shared_zone WHERE database_id = \(bob.sharedDatabase.rawValue)")[0]
    }

    // MARK: Beside the store

    /// Rows of one column of numbers.
    func numbers(_ sql: String) async throws -> [Int64] {
        try await storage.pool.execute([Statement(.read, "numbers", sql, [], isPrepared: false)()])[0]
            .map { try $0.int64(0) }
    }

    func execute(_ statements: String...) throws {
        try PostgresAdministration.execute(statements, url: url)
    }

    /// Waits until so many connections of a program wait for a lock.
    func waitForWaiting(_ count: Int64, application: String) async throws {
        let waiting = """
            SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND application_name = '\(application)' AND wait_event_type = 'Lock'
            """
        try await eventually { try await numbers(waiting) == [count] }
    }
}
