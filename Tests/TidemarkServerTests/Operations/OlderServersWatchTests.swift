// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkServer
import TidemarkStore
import TidemarkTestSupport
import TidemarkWire

/// Servers of this version beside connections that have the names of older ones.
@Suite struct OlderServersWatchTests {
    /// A connection with a name, until it ends.
    private struct Connection {
        let pool: PostgresPool
        let lease: PostgresLease

        init(named name: String, in world: LiveWorld) async throws {
            let url = try #require(PostgresURL.replacing(["application_name": name], in: world.database.url))
            pool = try PostgresPool(url: url, connections: 1, loop: world.loop)
            lease = try await pool.acquire()
        }

        func end() async {
            pool.release(lease)
            await pool.stop()
        }
    }

    private static func change(_ configuration: inout ServerConfiguration) {
        configuration.loopCount = 2
        configuration.olderServers.interval = .milliseconds(20)
        configuration.olderServers.quiet = .milliseconds(40)
    }

    /// Saves a record and the share of all that is below it.
    ///
    /// - Returns: why the share and its root were refused; nil: it was saved.
    private static func share(_ root: String, by client: LiveClient) async throws -> [WireFailure?] {
        var request = try client.saving([root], in: "lists")
        var share = WireRecordSave()
        (share.name, share.type, share.share.root) = ("share of \(root)", Share.recordType, root)
        share.share.publicPermission = .readOnly
        request.policy = .allKeys
        request.zones[0].saves.insert(share, at: 0)
        let answer = try await client.ask(.modifyRecords(request))
        return (answer.modifyRecords.zones.first?.saves ?? []).map { save in
            if case .failure(let failure)? = save.result { failure.failure } else { nil }
        }
    }

    /// Whether the same is saved.
    private static func shares(_ root: String, by client: LiveClient) async throws -> Bool {
        let refused = try await share(root, by: client)
        return refused.count == 2 && refused.allSatisfy { $0 == nil }
    }

    @Test(arguments: ["tidemark server host/7", "tidemark/46 host/7", "tidemark/46"])
    func `R-999, F-21: beside an older server no hierarchy is shared, by no loop, and once it has ended one is`(
        _ name: String
    ) async throws {
        try await withLiveWorld { world in
            let older = try await Connection(named: name, in: world)
            try await world.withServer(Self.change) { server in
                var clients: [LiveClient] = []
                // So many that each loop has some, whichever the kernel chooses.
                for device: UInt64 in 1...8 { clients.append(try await world.enter(device: device, server: server)) }
                try await clients[0].makeZone("lists")
                for (index, client) in clients.enumerated() {
                    let refused = try await Self.share("a\(index)", by: client)
                    #expect(refused.map { $0?.code } == [.zoneBusy, .batchRequestFailed])
                    #expect(refused.first??.retryAfterSeconds == 5)
                    let text = refused.first??.message ?? ""
                    #expect(text.contains("An older server still serves this database"), "\(text)")
                    #expect(text.contains("try again"), "\(text)")
                }
                // Nothing else waits for it.
                try await clients[0].save(["x"], in: "lists")
                try await clients[0].makeZone("whole")
                let whole = ShareRequests.share("whole", .readOnly, clients[0].stamp())
                let saved = try await clients[0].ask(.modifyRecords(whole)).modifyRecords.zones.first?.saves ?? []
                #expect(saved.count == 1)
                #expect(saved.allSatisfy { if case .saved? = $0.result { true } else { false } })
                await older.end()
                try await eventually(within: .seconds(60)) {
                    try await Self.shares("b", by: clients[0])
                }
                for (index, client) in clients.enumerated() {
                    #expect(try await Self.shares("c\(index)", by: client))
                }
            }
        }
    }

    @Test func `R-999: a new database has no older servers, and servers of this version and later ones are none`()
        async throws
    {
        try await withLiveWorld { world in
            let later = try await Connection(named: "tidemark/\(Migrations.all.count + 1) later/1", in: world)
            let operators = try await Connection(named: "tidemark", in: world)
            // It would wait for an hour if one look were not enough.
            func change(_ configuration: inout ServerConfiguration) {
                configuration.olderServers.quiet = .seconds(3_600)
            }
            try await world.withServer(change) { first in
                try await world.withServer(change) { second in
                    for (index, server) in [first, second].enumerated() {
                        let client = try await world.enter(device: UInt64(index + 1), server: server)
                        if index == 0 { try await client.makeZone("lists") }
                        #expect(try await Self.shares("a\(index)", by: client))
                    }
                }
            }
            await later.end()
            await operators.end()
        }
    }

    @Test func `R-999: after a migration a moment ago, hierarchies wait for a second look`() async throws {
        try await withLiveWorld { world in
            // The database is older than the last migration.
            try PostgresAdministration.execute(
                ["UPDATE schema_migration SET applied_at = applied_at - interval '3 minutes' WHERE number = 1"],
                url: world.database.url)
            #expect(try await world.storage.olderServers() == OlderServersSight(servers: [], isSettled: false))
            try await world.withServer({ $0.olderServers.quiet = .seconds(3_600) }) { server in
                let client = try await world.enter(server: server)
                try await client.makeZone("lists")
                #expect(try await Self.share("a", by: client).map { $0?.code } == [.zoneBusy, .batchRequestFailed])
            }
            try await world.withServer(Self.change) { server in
                let client = try await world.enter(server: server)
                try await eventually(within: .seconds(60)) { try await Self.shares("a", by: client) }
            }
        }
    }
}
