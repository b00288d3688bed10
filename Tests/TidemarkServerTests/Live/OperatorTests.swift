// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkServer
import TidemarkService
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport
import TidemarkWire

/// What an operator does to zones and feeds while devices are connected, over TLS and PostgreSQL.
@Suite struct OperatorTests {
    private static let key = ContainerKey(identifier: LiveWorld.container, environment: .development)

    private static let countRecords = Statement(.read, "count_records", "SELECT count(*) FROM record", [])

    private func database(_ world: LiveWorld) async throws -> DatabaseID {
        try #require(try await world.admin.privateDatabase(ofAccount: "alice", in: Self.key))
    }

    private func feed(_ client: LiveClient, since token: [UInt8] = []) async throws -> WireServerEnvelope {
        var request = WireFetchDatabaseChanges()
        request.database = .private
        request.token = token
        return try await client.ask(.fetchDatabaseChanges(request))
    }

    private func saveFailure(_ client: LiveClient, in zone: String) async throws -> WireFailure? {
        let answer = try await client.ask(.modifyRecords(client.saving(["late"], in: zone)))
        return answer.modifyRecords.zones.first?.saves.first?.failure.failure
    }

    @Test(
        arguments: [
            (ZoneRemovalReason.purged, WireZoneEndReason.purged, WireErrorCode.userDeletedZone),
            (.encryptedDataReset, .encryptedDataReset, .zoneNotFound),
        ])
    func `R-106, R-107, R-205: a zone that an operator ends is told with its reason, at once`(
        reason: ZoneRemovalReason, told: WireZoneEndReason, code: WireErrorCode
    ) async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let client = try await world.enter(server: server)
                try await client.makeZone("notes")
                try await client.makeZone("kept")
                try await client.save(["a"], in: "notes")
                try await client.subscribe()
                let token = try await feed(client).fetchDatabaseChanges.token
                client.forgetInbox()
                let zone = ZoneKey(database: try await database(world), name: "notes")
                #expect(try await world.admin.endZone(zone, reason: reason))
                #expect(try await world.admin.endZone(zone, reason: reason) == false)
                _ = try await client.pushes(1)
                let page = try await feed(client, since: token).fetchDatabaseChanges
                #expect(page.ended.map(\.zone.name) == ["notes"] && page.ended.map(\.reason) == [told])
                #expect(page.changed.isEmpty)
                let failure = try #require(try await saveFailure(client, in: "notes"))
                #expect(failure.code == code)
                #expect(failure.userDidResetEncryptedDataKey == (reason == .encryptedDataReset))
                let changes = try await client.ask(.fetchZoneChanges(TestClient.zoneChanges("notes")))
                #expect(changes.failure.code == code)
                // the app may create it again, and it is a new one.
                try await client.makeZone("notes")
                try await client.save(["b"], in: "notes")
                #expect(try await client.names(in: "notes") == ["b"])
                let later = try await feed(client, since: page.token).fetchDatabaseChanges
                #expect(later.ended.isEmpty && later.changed.map(\.name) == ["notes"])
                let known = try await world.admin.zones(in: zone.database).filter { $0.name == "notes" }
                #expect(known.map(\.removal) == [reason, nil])
                // the default zone always exists.
                let standard = ZoneKey(database: zone.database, name: ZoneName.default)
                #expect(try await world.admin.endZone(standard, reason: reason) == false)
            }
        }
    }

    @Test func `R-030, R-704: what an ended zone has left is cleared away`() async throws {
        try await withLiveWorld { world in
            try await world.withServer({ $0.clearingInterval = .milliseconds(50) }) { server in
                let client = try await world.enter(server: server)
                try await client.makeZone("notes")
                try await client.makeZone("kept")
                try await client.save((0..<300).map { "r\($0)" }, in: "notes")
                try await client.save(["k"], in: "kept")
                let database = try await database(world)
                #expect(try await world.admin.endZone(ZoneKey(database: database, name: "notes"), reason: .deleted))
                let pool = try PostgresPool(url: world.database.url, connections: 1, loop: world.loop)
                var left: Int64 = 301
                for _ in 0..<1_500 where left > 1 {
                    left = try await pool.execute([Self.countRecords()])[0][0].int64(0)
                    if left > 1 { try await Task.sleep(for: .milliseconds(20)) }
                }
                await pool.stop()
                #expect(left == 1)
                #expect(try await client.names(in: "kept") == ["k"])
            }
        }
    }

    @Test func `R-860: a server forgets what is older in the audit than the operator's choice`() async throws {
        try await withLiveWorld { world in
            for name in ["old", "new"] {
                _ = try await world.admin.beginAudit(
                    AuditAction(who: "root", address: "", action: "zones delete", target: name))
            }
            try PostgresAdministration.execute(
                ["UPDATE audit SET at = now() - interval '11 days' WHERE target = 'old'"], url: world.database.url)
            func targets() async throws -> [String] {
                try await world.admin.audit(AuditFilter(), before: nil, countMax: 9).entries.map(\.target)
            }
            #expect(try await targets() == ["new", "old"])
            func change(_ configuration: inout ServerConfiguration) {
                configuration.clearingInterval = .milliseconds(20)
                configuration.auditAge = .seconds(10 * 86_400)
            }
            try await world.withServer(change) { _ in
                try await eventually { try await targets() == ["new"] }
            }
        }
    }

    @Test func `R-220, R-221: after a compaction tokens from before what was forgotten are expired, others are not`()
        async throws
    {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let client = try await world.enter(server: server)
                try await client.makeZone("notes")
                try await client.makeZone("old")
                try await client.save(["a", "b", "c"], in: "notes")
                let oldFeed = try await feed(client).fetchDatabaseChanges.token
                let oldZone = try await page(client, since: []).fetchZoneChanges.token
                var deleting = try client.saving([], in: "notes")
                deleting.zones[0].deletes = ["a"]
                _ = try await client.ask(.modifyRecords(deleting))
                try await client.save(["d"], in: "notes")
                let newZone = try await page(client, since: oldZone).fetchZoneChanges.token
                let database = try await database(world)
                #expect(try await world.admin.endZone(ZoneKey(database: database, name: "old"), reason: .deleted))
                let newFeed = try await feed(client, since: oldFeed).fetchDatabaseChanges.token

                // Nothing is as old as that.
                #expect(try await world.admin.compact(before: Timestamp(milliseconds: 1_000)) == .init())
                #expect(try await page(client, since: oldZone).fetchZoneChanges.changes.count == 2)
                let tomorrow = Timestamp(milliseconds: world.loop.wallClockMilliseconds + 86_400_000)
                let forgotten = try await world.admin.compact(before: tomorrow)
                #expect(forgotten.records == 1 && forgotten.zones == 1)
                #expect(try await world.admin.compact(before: tomorrow) == .init())

                #expect(try await page(client, since: oldZone).failure.code == .changeTokenExpired)
                #expect(try await page(client, since: newZone).fetchZoneChanges.changes.isEmpty)
                #expect(try await feed(client, since: oldFeed).failure.code == .changeTokenExpired)
                #expect(try await feed(client, since: newFeed).fetchDatabaseChanges.ended.isEmpty)
                // From the beginning all that lives is there.
                #expect(try await client.names(in: "notes") == ["b", "c", "d"])
                #expect(try await feed(client).fetchDatabaseChanges.changed.map(\.name) == ["notes"])
                // The names can be used again.
                try await client.save(["a"], in: "notes")
                try await client.makeZone("old")
                #expect(try await page(client, since: newZone).fetchZoneChanges.changes.map(\.record.name) == ["a"])
                #expect(try await feed(client, since: newFeed).fetchDatabaseChanges.changed.map(\.name).contains("old"))
            }
        }
    }

    private func page(_ client: LiveClient, since token: [UInt8]) async throws -> WireServerEnvelope {
        try await client.ask(.fetchZoneChanges(TestClient.zoneChanges("notes", token: token)))
    }
}
