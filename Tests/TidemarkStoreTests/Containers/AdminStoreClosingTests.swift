// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkPostgres
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

/// How an operator deletes a container. Alice shares the zone Notes with Bob.
@Suite struct AdminStoreClosingTests {
    private static let key = SharingFixture.container

    private func identity(_ name: String, _ fixture: SharingFixture) async throws -> Identity? {
        try await fixture.storage.identity(
            credentialHash: Array(name.utf8), container: Self.key.identifier, environment: Self.key.environment,
            containersMax: 0, now: SharingFixture.now)
    }

    /// A share with a participant, a subscription, a schema with a role that Bob has, a quota, and the list of the feed.
    private func fill(_ fixture: SharingFixture) async throws {
        try await fixture.share(with: fixture.bobs(.accepted))
        try await fixture.point()
        _ = try await fixture.advance()
        let (admin, storage) = (AdminStore(fixture.storage), fixture.storage)
        _ = try await storage.saveSubscriptions(
            [Subscription(id: "s", scope: .private, kind: .database, recordType: nil, notificationInfo: [])],
            of: fixture.alice.user, atMost: 9)
        _ = try await storage.learn(
            SchemaLesson(fields: ["Note": ["text": FieldSchema(SchemaFieldType(.string))]]),
            in: fixture.alice.container)
        let container = fixture.alice.container.rawValue
        try fixture.execute(
            "INSERT INTO record_role VALUES (\(container), 'Editor')",
            "INSERT INTO user_role VALUES (\(fixture.bob.user.rawValue), \(container), 'Editor')",
            "UPDATE container SET request_rate = 5, request_burst = 9 WHERE id = \(container)")
        _ = try await admin.setQuota(StorageQuota(privateBytes: 7, publicBytes: nil), of: Self.key)
        _ = try await storage.publicDatabase(of: Self.key, now: SharingFixture.now)
        _ = try await storage.advanceDatabaseFeed(of: fixture.alice.privateDatabase, after: 0, entriesMax: 10)
    }

    /// Another container, with a zone of Alice's.
    private func another(_ fixture: SharingFixture) async throws -> Identity {
        let found = try await fixture.storage.identity(
            credentialHash: Array("alice".utf8), container: "iCloud.other", environment: .development,
            containersMax: .max, now: SharingFixture.now)
        let other = try #require(found)
        let transaction = try await fixture.storage.beginZonesWrite(
            in: other.privateDatabase, names: ["Kept"], life: SharingFixture.device)
        try await transaction.commit(
            ZonesChanges(
                created: ["Kept"], removed: [], removalReason: .deleted, life: SharingFixture.device,
                memory: RequestMemory()), now: SharingFixture.now)
        return other
    }

    private func delete(_ fixture: SharingFixture) async throws -> Bool {
        let admin = AdminStore(fixture.storage)
        return try await admin.deleteContainer(try #require(try await admin.closeContainer(Self.key)))
    }

    @Test func `R-915: a container is shown in numbers before it is deleted`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            try await fill(fixture)
            let contents = try #require(try await AdminStore(fixture.storage).contents(of: Self.key))
            #expect(contents.userCount == .exactly(2) && contents.shareCount == 1 && contents.subscriptionCount == 1)
            // Three default zones, and Notes.
            #expect(contents.zoneCount == 4 && contents.recordTypeCount == 1)
            let bounded = try await AdminStore(fixture.storage).contents(of: Self.key, stepsMax: 0)
            #expect(bounded?.userCount == .atLeast(0))
            let none = ContainerKey(identifier: "iCloud.none", environment: .development)
            #expect(try await AdminStore(fixture.storage).contents(of: none) == nil)
        }
    }

    @Test func `R-915: a deleted container leaves numbers alone, and other containers keep what is theirs`()
        async throws
    {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            try await fill(fixture)
            let other = try await another(fixture)
            #expect(try await delete(fixture))
            let container = fixture.alice.container.rawValue
            let databases = "SELECT id FROM database WHERE container_id = \(container)"
            for table in [
                "record", "record_reference", "asset_use", "share", "share_participant", "share_requester",
                "share_link",
                "client_token", "zone_key", "feed_entry", "request_memory", "shared_zone",
            ] {
                let left = try await fixture.numbers(
                    "SELECT count(*) FROM \(table) WHERE database_id IN (\(databases))")
                #expect(left == [0], "\(table)")
            }
            let zones = try await fixture.numbers("SELECT count(*) FROM zone WHERE database_id IN (\(databases))")
            #expect(zones == [3], "the default zones alone")
            for table in ["record_type", "record_role", "user_role"] {
                let left = try await fixture.numbers(
                    "SELECT count(*) FROM \(table) WHERE container_id = \(container)")
                #expect(left == [0], "\(table)")
            }
            #expect(try await fixture.numbers("SELECT count(*) FROM subscription") == [0])
            let admin = AdminStore(fixture.storage)
            #expect(try await admin.containers().map(\.key.identifier) == ["iCloud.other"])
            #expect(try await admin.container(Self.key.identifier, Self.key.environment) == nil)
            #expect(try await admin.users(of: fixture.alice.account).map(\.container.identifier) == ["iCloud.other"])
            let kept = try await fixture.storage.zones(named: ["Kept"], in: other.privateDatabase)
            #expect(kept.count == 1)
            await #expect(throws: StorageError.self) { try await identity("alice", fixture) }
        }
    }

    @Test func `R-915: created again it has its users, none of its data, and no token of before is good`() async throws
    {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            try await fill(fixture)
            let (alice, store) = (fixture.alice, try await fixture.storage.standing().incarnation)
            let seen = try await fixture.storage.databaseFeed(
                of: alice.privateDatabase, after: 0, entriesMax: 10, then: nil
            ).feed.value
            let admin = AdminStore(fixture.storage)
            #expect(try await delete(fixture))
            #expect(try await admin.createContainer(Self.key))
            #expect(try await !admin.createContainer(Self.key), "it is there")
            #expect(try await identity("alice", fixture) == alice, "the same user in the same databases")
            let zones = try await fixture.storage.zones(
                in: alice.privateDatabase, after: nil, zonesMax: 10)
            #expect(zones.map(\.key.name) == [ZoneName.default])
            #expect(try await admin.quota(of: Self.key)?.privateBytes == nil)
            let limited = "SELECT count(*) FROM container WHERE request_rate IS NOT NULL OR request_burst IS NOT NULL"
            #expect(try await fixture.numbers(limited) == [0])
            #expect(try await fixture.storage.schema(of: alice.container).schema == Schema())
            // Where a device of before stood: at the end of the feed, or anywhere before.
            let now = try await fixture.storage.advanceDatabaseFeed(
                of: alice.privateDatabase, after: seen.head, entriesMax: 10
            ).value
            for number in [0, seen.head] {
                let page = DatabasePage.make(
                    of: now, viewer: alice.privateDatabase, after: FeedPosition(number: number), entriesMax: 10,
                    store: store)
                guard case .failure(.tokenExpired) = page else {
                    Issue.record("a token of \(number) is good: \(page)")
                    continue
                }
            }
            // What is made now is found from the beginning.
            try await fixture.create("Notes")
            #expect(try await fixture.storage.zones(named: ["Notes"], in: alice.privateDatabase).count == 1)
        }
    }

    @Test func `R-915: a client that may create containers gets a deleted one with its users`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            #expect(try await delete(fixture))
            let again = try await fixture.storage.identity(
                credentialHash: Array("alice".utf8), container: Self.key.identifier, environment: Self.key.environment,
                containersMax: 1, now: SharingFixture.now)
            #expect(again == fixture.alice, "one that was deleted is none of those that it may have")
        }
    }

    @Test func `R-917: a deletion that was cut off is repeated, and one after its end finds nothing`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            try await fill(fixture)
            let admin = AdminStore(fixture.storage)
            let closed = try #require(try await admin.closeContainer(Self.key))
            // Cut off before its first step: it stays closed, and nobody creates it meanwhile.
            #expect(try await admin.isClosed(Self.key))
            #expect(try await !admin.createContainer(Self.key))
            #expect(try await admin.containers().map(\.isClosed) == [true])
            #expect(try await admin.closeContainer(Self.key) == closed)
            #expect(try await admin.deleteContainer(closed))
            #expect(try await !admin.deleteContainer(closed), "it is gone")
            #expect(try await admin.closeContainer(Self.key) == nil)
        }
    }

    @Test func `R-917: two operators at once delete it once`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            try await fill(fixture)
            let admin = AdminStore(fixture.storage)
            let closed = try #require(try await admin.closeContainer(Self.key))
            async let one = admin.deleteContainer(closed)
            async let other = admin.deleteContainer(closed)
            #expect(try await [one, other].filter(\.self).count == 1)
            #expect(try await admin.containers().isEmpty)
        }
    }

    @Test func `R-915: a first write into a default zone that was under way when the container was closed goes too`()
        async throws
    {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let admin = AdminStore(fixture.storage)
            let (database, user) = (fixture.alice.privateDatabase.rawValue, fixture.alice.user.rawValue)
            let lease = try await fixture.other.acquire()
            try await lease.connection.executeScript(
                """
                BEGIN;
                WITH moved AS (
                    UPDATE zone SET change_number = change_number + 1
                     WHERE database_id = \(database) AND name = '_defaultZone'
                 RETURNING database_id, id, change_number)
                INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                    modified_by, created_by_device, byte_count, is_deleted, name, type, fields)
                SELECT database_id, id, change_number, change_number, now(), \(user), now(), \(user),
                       '00000000-0000-0000-0000-000000000001', 0, false, 'late', 'Note', ''
                  FROM moved
                """)
            let closed = try #require(try await admin.closeContainer(Self.key))
            async let deleting = admin.deleteContainer(closed)
            try await fixture.waitForWaiting(1, application: "tidemark")
            try await lease.connection.executeScript("COMMIT")
            fixture.other.release(lease)
            #expect(try await deleting)
            #expect(try await fixture.numbers("SELECT count(*) FROM record WHERE name = 'late'") == [0])
            let zones = "SELECT change_number FROM zone WHERE database_id = \(database)"
            #expect(try await fixture.numbers(zones) == [0], "a new default zone")
        }
    }

    @Test func `R-917: who is late deletes nothing of a container that was created again`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let admin = AdminStore(fixture.storage)
            let closed = try #require(try await admin.closeContainer(Self.key))
            #expect(try await admin.deleteContainer(closed))
            #expect(try await admin.createContainer(Self.key))
            try await fill(try await fixture.with("Notes"))
            #expect(try await !admin.deleteContainer(closed))
            #expect(try await fixture.numbers("SELECT count(*) FROM zone WHERE name = 'Notes'") == [1])
            #expect(try await fixture.numbers("SELECT count(*) FROM share") == [1])
            #expect(try await fixture.numbers("SELECT count(*) FROM subscription") == [1])
            #expect(try await fixture.numbers("SELECT count(*) FROM user_role") == [1])
            #expect(try await fixture.pointers() == 1)
            #expect(try await admin.containers().map(\.isClosed) == [false])
        }
    }
}

extension SharingFixture {
    /// Itself, with a zone that was made again.
    fileprivate func with(_ zone: String) async throws -> SharingFixture {
        try await create(zone)
        return self
    }
}
