// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// The two handles, and short functions for scenarios.
struct StorageFixture: Sendable {
    let first: any Storage
    let second: any Storage
    let scheduler: any Scheduler
    let cause: StorageConformance.CauseReader

    static let now = Timestamp(milliseconds: 1_700_000_000_000)

    func alice() async throws -> Identity { try await identity(StorageConformance.Credentials.alice) }
    func bob() async throws -> Identity { try await identity(StorageConformance.Credentials.bob) }

    private func identity(_ hash: [UInt8]) async throws -> Identity {
        let identity = try await first.identity(
            credentialHash: hash, container: "iCloud.test", environment: .development, containersMax: .max,
            now: Self.now)
        return try require(identity, "a good credential has an identity")
    }

    /// Creates zones one after another.
    @discardableResult
    func createZones(_ names: String..., in database: DatabaseID) async throws -> [ZoneState] {
        for name in names {
            try await changeZones(in: database, create: [name])
        }
        let zones = try await first.zones(in: database)
        return try names.map { name in try require(zones.first { $0.key.name == name }, "zone \(name) exists") }
    }

    func changeZones(
        in database: DatabaseID, create: [String] = [], remove: [String] = [], reason: ZoneRemovalReason = .deleted,
        life: DeviceID = DeviceID(high: 1, low: 1), memory: RequestMemory = RequestMemory()
    ) async throws {
        let transaction = try await first.beginZonesWrite(in: database, names: create + remove, life: life)
        let removed = try remove.map { try require(transaction.snapshot.zones[$0], "zone \($0) lives").id }
        try await transaction.commit(
            ZonesChanges(created: create, removed: removed, removalReason: reason, life: life, memory: memory),
            now: Self.now)
    }

    /// Writes records in one transaction of one server; they get the zone's next numbers.
    func write(
        _ drafts: [RecordDraft], in key: ZoneKey, on storage: (any Storage)? = nil,
        memories: [DeviceID: RequestMemory] = [:]
    ) async throws {
        let transaction = try await (storage ?? first).beginWrite([key.read(records: drafts.map(\.name))])
        let changes = try require(transaction.snapshots.first, "a snapshot a read").changes(drafts, memories: memories)
        try await transaction.commit([try require(changes, "zone \(key.name) lives")])
    }

    /// Gives a call on another task time to reach its lock. A scenario must hold whether it has or not.
    func passTime() async throws {
        try await scheduler.sleep(for: .milliseconds(30))
    }
}

/// A record that a scenario writes, without what the zone adds.
struct RecordDraft: Sendable {
    var name: String
    var text: String
    var isDeleted: Bool
    var parent: String?
    var device: DeviceID
    var cause: ChangeCause?

    init(
        _ name: String, text: String = "text", isDeleted: Bool = false, parent: String? = nil,
        device: DeviceID = DeviceID(high: 1, low: 1), cause: ChangeCause? = nil
    ) {
        self.name = name
        self.text = text
        self.isDeleted = isDeleted
        self.parent = parent
        self.device = device
        self.cause = cause
    }
}

extension Storage {
    /// Records that are small.
    func records(named names: [String], in key: ZoneKey) async throws(StorageError) -> ZoneSnapshot {
        try await records(named: names, in: key, bytesMax: Limits().answerBytesMax)
    }

    /// Without shares.
    func records(named names: [String], in key: ZoneKey, bytesMax: Int) async throws(StorageError) -> ZoneSnapshot {
        try await records(named: names, in: key, bytesMax: bytesMax, sharing: .nothing)
    }

    /// Of zones of one database.
    func zoneKeys(
        of names: [String], in database: DatabaseID, keysMax: Int, sharing: SharingRead = .nothing
    ) async throws(StorageError) -> [ZoneKeysRead] {
        try await zoneKeys(
            of: names.map { ZoneKey(database: database, name: $0) }, keysMax: keysMax, sharing: sharing)
    }

    /// All zones of a database that has few.
    func zones(in database: DatabaseID) async throws(StorageError) -> [ZoneState] {
        try await zones(in: database, after: nil, zonesMax: 1_000)
    }

    /// The feed alone.
    func databaseFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int
    ) async throws(StorageError) -> StoreRead<DatabaseFeedRead> {
        try await databaseFeed(of: viewer, after: after, entriesMax: entriesMax, then: nil).feed
    }
}
