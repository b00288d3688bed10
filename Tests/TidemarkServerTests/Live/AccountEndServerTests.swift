// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkServer
import TidemarkStore
import TidemarkTestSupport

/// Deletions of accounts that were cut off, with real servers on PostgreSQL.
@Suite struct AccountEndServerTests {
    private func age(_ columns: [String], in world: LiveWorld) throws {
        let changes = columns.map { "\($0) = \($0) - interval '6 minutes'" }.joined(separator: ", ")
        try PostgresAdministration.execute(["UPDATE account_end SET \(changes)"], url: world.database.url)
    }

    @Test func `R-993: servers complete a deletion that was cut off, and end its work once nothing more can come`()
        async throws
    {
        try await withLiveWorld { world in
            let account = try #require(try await world.admin.account(named: "bob"))
            func change(_ configuration: inout ServerConfiguration) {
                configuration.clearingInterval = .milliseconds(20)
            }
            try await world.withServer(change) { server in
                let bob = try await world.enter(world.bob, server: server)
                try await bob.makeZone("notes")
                try await bob.save(["a"], in: "notes")
                let alice = try await world.enter(server: server)
                try await alice.makeZone("notes")
                // The command ends here.
                _ = try await world.admin.beginEnd(of: account, deletesPublic: false)
                #expect(try await world.admin.isEnding(account))
            }
            // Nobody touches it before its time.
            try await world.withServer(change) { first in
                try await world.withServer(change) { second in
                    #expect(try await world.admin.account(named: "bob") == account)
                    try age(["worked_at"], in: world)
                    try await eventually { try await world.admin.account(named: "bob") == nil }
                    #expect(try await world.admin.isEnding(account), "a session may have been open until now")
                    let users = try await world.admin.users(of: account)
                    #expect(users.count == 1)
                    #expect(try await world.admin.recordCount(in: users.map(\.privateDatabase)) == .exactly(0))
                    try age(["worked_at", "begun_at"], in: world)
                    try await eventually { try await !world.admin.isEnding(account) }
                    let alices = try #require(try await world.admin.account(named: "alice"))
                    #expect(try await world.admin.contents(of: alices)?.zoneCount == 2, "she keeps hers")
                    _ = (first, second)
                }
            }
        }
    }
}
