// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@Suite struct AdminCommandTests {
    private func run(
        _ arguments: String..., database: TestDatabase? = nil
    ) async throws -> (status: Int32, output: String, errors: String) {
        try await CommandRun.run(arguments, environment: database.map { ["TIDEMARK_DATABASE_URL": $0.url] } ?? [:])
    }

    @Test func `an operator migrates, creates accounts, issues, lists and revokes credentials`() async throws {
        let database = try await TestPostgres.database()
        let early = try await run("admin", "accounts", "list", database: database)
        #expect(early.status != 0)
        #expect(early.errors.contains("tidemark migrate"))

        #expect(try await run("migrate", database: database).output.contains("applied 0001"))
        #expect(try await run("migrate", database: database).output == "The database is up to date.\n")

        #expect(try await run("admin", "accounts", "create", "carol", database: database).status == 0)
        let twice = try await run("admin", "accounts", "create", "carol", database: database)
        #expect(twice.status != 0)
        #expect(twice.errors.contains("already"))
        #expect(try await run("admin", "accounts", "list", database: database).output.contains("carol"))

        let issued = try await run("admin", "credentials", "issue", "carol", "--expires", "30d", database: database)
        #expect(issued.status == 0)
        #expect(issued.output.hasPrefix("tidemark_"))
        let credential = issued.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let list = try await run("admin", "credentials", "list", "carol", database: database)
        #expect(!list.output.contains(credential))
        let number = try #require(list.output.split(separator: "\n").dropFirst().first?.split(separator: " ").first)
        let revoked = try await run("admin", "credentials", "revoke", String(number), database: database)
        #expect(revoked.status == 0)
        #expect(try await run("admin", "credentials", "revoke", String(number), database: database).status != 0)

        let unknown = try await run("admin", "credentials", "issue", "dave", database: database)
        #expect(unknown.errors.contains("tidemark admin accounts create dave"))
        #expect(try await run("admin", "devices", "list", "carol", database: database).status == 0)
        #expect(try await run("admin", "store", "renew-incarnation", database: database).status == 0)
    }

    @Test func `what is missing or wrong is named, with what to do`() async throws {
        let cases: [([String], String)] = [
            (["migrate"], "--database-url"), (["serve"], "--listen"),
            (["serve", "--listen", "localhost:1", "--plain", "--database-url", "x"], "digits"),
            (["serve", "--listen", "127.0.0.1:0", "--database-url", "x"], "--plain"),
            (["serve", "--listen", "127.0.0.1:0", "--database-url", "x", "--certificate", "y"], "--private-key"),
            (["serve", "--listen", "0.0.0.0:0", "--database-url", "postgresql:///x", "--plain"], "loopback"),
            (["serve", "--listen", "127.0.0.1:0", "--database-url", "x", "--plain", "--loops", "0"], "--loops"),
            (["admin", "credentials", "issue", "carol", "--expires", "soon"], "expires"),
            (["admin", "accounts", "create", "a b"], "name"),
        ]
        for (arguments, text) in cases {
            let ended = try await CommandRun.run(arguments)
            #expect(ended.status != 0, "\(arguments)")
            #expect(ended.errors.contains(text), "\(arguments): \(ended.errors)")
        }
    }

    @Test func `serve serves until it is told to stop, and refuses a database without tables`() async throws {
        let database = try await TestPostgres.database()
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--plain"]
        let environment = ["TIDEMARK_DATABASE_URL": database.url]
        let early = try await CommandRun.run(arguments, environment: environment)
        #expect(early.status != 0)
        #expect(early.errors.contains("tidemark migrate"))
        #expect(try await run("migrate", database: database).status == 0)
        let server = try CommandRun(arguments, environment: environment)
        try await server.wait(for: "the server") { $0.errors.contains("serving address=127.0.0.1:") }
        server.signal(SIGHUP)
        try await server.wait(for: "the reload") { $0.errors.contains("certificates read again") }
        server.signal(SIGTERM)
        #expect(await server.status() == 0)
    }
}
