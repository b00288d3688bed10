// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkPostgres
import TidemarkTestSupport

/// The table of docs/admin.md, with the real program.
@Suite struct ExitStatusTests {
    private struct Place {
        let directory: TestDirectory
        let database: TestDatabase

        func run(_ arguments: [String], url: String? = nil) async throws -> (status: Int32, output: String) {
            try await Program.run(
                "tidemark", arguments, environment: ["TIDEMARK_DATABASE_URL": url ?? database.url],
                directory: directory.path)
        }
    }

    private func with(_ body: (Place) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await body(
            Place(directory: directory, database: try await TestPostgres.database(OperatorPlace.template)))
    }

    @Test func `R-833: 0 is success, 1 a failed check, and 5 a refusal`() async throws {
        try await with { place in
            for arguments in [
                ["--version"], ["--help"], ["admin", "accounts", "list", "--help"], ["migrate"],
                ["admin", "accounts", "create", "alice"],
            ] {
                let ended = try await place.run(arguments)
                #expect(ended.status == 0, "\(arguments): \(ended.output)")
            }
            let schema = "\(place.directory.path)/schema.ckdb"
            try "DEFINE SCHEMA RECORD TYPE Note ( text STRNG );".write(
                toFile: schema, atomically: true, encoding: .utf8)
            #expect(try await place.run(["admin", "schema", "validate", schema]).status == 1)
            #expect(try await place.run(["admin", "accounts", "create", "alice"]).status == 5)
            #expect(try await place.run(["admin", "devices", "list", "nobody"]).status == 5)
        }
    }

    @Test func `R-833: 2 is a mistake of whoever types, in each command`() async throws {
        try await with { place in
            for arguments in [
                ["nonsense"], ["admin", "accounts", "create"], ["admin", "accounts", "create", "a b"],
                ["admin", "accounts", "list", "-o", "xml"], ["admin", "zones", "list", "alice"],
                ["admin", "store", "renew-incarnation"], ["serve", "--nonsense"], ["serve", "--plain"],
                ["serve", "--plain", "--listen", "127.0.0.1:0", "--loops", "0"], ["dev", "--port", "many"],
                ["migrate", "more"], ["migrate", "--database-url", "x"],
            ] {
                let ended = try await place.run(arguments)
                #expect(ended.status == 2, "\(arguments): \(ended.output)")
            }
            let none = try await Program.run("tidemark", ["migrate"], directory: place.directory.path)
            #expect(none.status == 2 && none.output.contains("--database-url"), "\(none.output)")
        }
    }

    @Test func `R-833: 3 is a database that cannot be reached`() async throws {
        try await with { place in
            let url = "postgresql://tidemark@127.0.0.1:1/tidemark"
            for arguments in [
                ["admin", "accounts", "list"], ["migrate"], ["serve", "--plain", "--listen", "127.0.0.1:0"],
            ] {
                let ended = try await place.run(arguments, url: url)
                #expect(ended.status == 3, "\(arguments): \(ended.output)")
                // The log of the connection would say it a second time.
                if arguments[0] != "serve" { #expect(!ended.output.contains("warning"), "\(ended.output)") }
            }
        }
    }

    @Test func `R-833: 4 is what PostgreSQL does not allow to the role of the URL`() async throws {
        try await with { place in
            // Roles are of the whole PostgreSQL, which other tests use too.
            let role = "onlooker_\(place.database.name)"
            try PostgresAdministration.execute(["CREATE ROLE \(role) LOGIN"], url: place.database.url)
            let url = place.database.url.replacing(/user=\w+/, with: "user=\(role)")
            let blind = try await place.run(["admin", "accounts", "list"], url: url)
            #expect(blind.status == 4 && blind.output.contains("does not allow this"), "\(blind.output)")
            try PostgresAdministration.execute(
                ["GRANT SELECT ON ALL TABLES IN SCHEMA public TO \(role)"], url: place.database.url)
            #expect(try await place.run(["admin", "accounts", "list"], url: url).status == 0)
            let bound = try await place.run(["admin", "accounts", "create", "alice"], url: url)
            #expect(bound.status == 4, "\(bound.output)")
            try PostgresAdministration.execute(
                ["DROP OWNED BY \(role)", "DROP ROLE \(role)"], url: place.database.url)
        }
    }

    @Test func `R-833: 6 is a database that is not as it must be`() async throws {
        try await with { place in
            try PostgresAdministration.execute(
                ["ALTER TABLE account RENAME COLUMN given_name TO other"], url: place.database.url)
            let ended = try await place.run(["admin", "accounts", "list"])
            #expect(ended.status == 6, "\(ended.output)")
        }
    }

    @Test func `R-833: data goes to standard output, and messages to standard error`() async throws {
        try await with { place in
            func run(_ script: String) async throws -> String {
                try await Program.run(
                    "tidemark", ["-c", script, "\(Program.directory)/tidemark"],
                    environment: ["TIDEMARK_DATABASE_URL": place.database.url], directory: place.directory.path,
                    path: "/bin/sh"
                ).output
            }
            #expect(try await run(#""$0" admin accounts create alice 2>/dev/null"#) == "")
            #expect(try await run(#""$0" admin accounts create alice >/dev/null"#).contains("already"))
            let token = try await run(#""$0" admin credentials create alice 2>/dev/null"#)
            #expect(token.wholeMatch(of: /tidemark_[\w-]+\n/) != nil, "\(token)")
            #expect(try await run(#""$0" admin accounts list -o name 2>/dev/null"#) == "alice\n")
            // Whoever reads no further is no failure.
            #expect(try await run(#""$0" admin accounts list | true; echo done"#).contains("done\n"))
        }
    }
}
