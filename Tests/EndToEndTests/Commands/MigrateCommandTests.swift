// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkPostgres
import TidemarkStore
import TidemarkTestSupport

/// `tidemark migrate` with its verbs.
@Suite(.timeLimit(.minutes(20))) struct MigrateCommandTests {
    private func with(_ body: (TestDatabase, TestDirectory) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await body(try await TestPostgres.database(), directory)
    }

    @Test func `R-942: status and plan say what up would do, and change nothing; the plan is what up does`()
        async throws
    {
        try await with { database, directory in
            func run(_ verb: String...) async throws -> (status: Int32, output: String) {
                try await OperatorPlace.tidemark(["migrate"] + verb, database, directory)
            }
            let count = Migrations.all.count
            for _ in 0..<2 {
                let status = try await run("status")
                let last = "\n\(count) pending\n"
                #expect(status.status == 0 && status.output.contains(last), "\(status.output)")
                #expect(try await run("status", "--ci").status == 1)
            }
            let plan = try await run("plan")
            #expect(plan.status == 0)
            for migration in Migrations.all { #expect(plan.output.contains(migration.sql), "\(migration.name)") }
            // Somebody may carry it out by hand.
            try PostgresAdministration.execute([plan.output], url: database.url)
            let now = try await run("status", "--ci")
            #expect(now.status == 0 && now.output.hasSuffix("\n\(count) applied\n"), "\(now.output)")
            let line = #/0001_create_store +applied +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n/#
            #expect(now.output.contains(line), "\(now.output)")
            #expect(try await run("plan").output == "-- The database is up to date.\n")
            #expect(try await run("up").output == "The database is up to date.\n")
            #expect(try await run().output == "The database is up to date.\n")
        }
    }

    @Test func `R-943: a database with steps that a program does not know is refused, and status tells of them`()
        async throws
    {
        try await with { database, directory in
            func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
                try await OperatorPlace.tidemark(arguments, database, directory)
            }
            #expect(try await run("migrate").status == 0)
            try PostgresAdministration.execute(
                ["INSERT INTO schema_migration (number, name, checksum) VALUES (9999, '9999_from_later', 'x')"],
                url: database.url)
            let status = try await run("migrate", "status", "--ci")
            let line = #/9999_from_later +newer +\d{4}-/#
            #expect(status.status == 1 && status.output.contains(line), "\(status.output)")
            let file = "\(directory.path)/master.key"
            for arguments in [
                ["migrate", "up"], ["migrate", "plan"], ["serve", "--plain", "--listen", "127.0.0.1:0"],
                ["serve", "--plain", "--listen", "127.0.0.1:0", "--master-key-file", file],
            ] {
                let refused = try await OperatorPlace.tidemark(arguments, database, directory)
                #expect(refused.status == 5, "\(arguments): \(refused.output)")
                #expect(refused.output.contains("migrated by a newer version of tidemark: run that version"))
            }
            try PostgresAdministration.execute(
                [
                    "DELETE FROM schema_migration WHERE number = 9999",
                    "UPDATE schema_migration SET checksum = 'x' WHERE number = 2",
                ], url: database.url)
            let changed = try await run("migrate", "status")
            #expect(changed.status == 0 && changed.output.contains(#/0002_create_accounts +changed /#))
            #expect(try await run("migrate").status == 5)
        }
    }
}
