// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@Suite struct AdminCommandTests {
    private func run(
        _ arguments: String..., database: TestDatabase? = nil
    ) async throws -> (status: Int32, output: String) {
        try await run(arguments, environment: database.map { ["TIDEMARK_DATABASE_URL": $0.url] } ?? [:])
    }

    private func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String) {
        let directory = try TestDirectory()
        defer { directory.remove() }
        return try await Program.run("tidemark", arguments, environment: environment, directory: directory.path)
    }

    @Test func `an operator migrates, creates accounts, issues, lists and revokes credentials`() async throws {
        let database = try await TestPostgres.database()
        let early = try await run("admin", "accounts", "list", database: database)
        #expect(early.status != 0)
        #expect(early.output.contains("tidemark migrate"))

        #expect(try await run("migrate", database: database).output.contains("applied 0001"))
        #expect(try await run("migrate", database: database).output.contains("up to date"))

        #expect(try await run("admin", "accounts", "create", "carol", database: database).status == 0)
        let twice = try await run("admin", "accounts", "create", "carol", database: database)
        #expect(twice.status != 0)
        #expect(twice.output.contains("already"))
        #expect(try await run("admin", "accounts", "list", database: database).output.contains("carol"))

        let issued = try await run(
            "admin", "credentials", "create", "carol", "--expires", "30d", "--label", "laptop", database: database)
        #expect(issued.status == 0)
        #expect(issued.output.hasPrefix("tidemark_"), "the credential stands alone on standard output")
        let credential = try #require(issued.output.split(separator: "\n").first)
        let list = try await run("admin", "credentials", "list", "carol", database: database)
        #expect(list.output.contains("laptop"))
        #expect(!list.output.contains(credential), "it is shown once")
        let number = try #require(list.output.split(separator: "\n").dropFirst().first?.split(separator: " ").first)
        let revoked = try await run("admin", "credentials", "revoke", String(number), database: database)
        #expect(revoked.status == 0)
        #expect(try await run("admin", "credentials", "revoke", String(number), database: database).status != 0)

        let unknown = try await run("admin", "credentials", "create", "dave", database: database)
        #expect(unknown.output.contains("tidemark admin accounts create dave"))
        #expect(try await run("admin", "devices", "list", "carol", database: database).status == 0)
        #expect(try await run("admin", "store", "renew-incarnation", "--yes", database: database).status == 0)
    }

    @Test func `what is missing or wrong is named, with what to do`() async throws {
        let cases: [([String], String)] = [
            (["migrate"], "--database-url"), (["serve"], "--listen"),
            (["serve", "--listen", "localhost:1", "--plain", "--database-url", "x"], "numeric address"),
            (["serve", "--listen", "127.0.0.1:0", "--database-url", "x"], "--plain"),
            (["serve", "--listen", "127.0.0.1:0", "--database-url", "x", "--certificate", "y"], "--private-key"),
            (["serve", "--listen", "0.0.0.0:0", "--database-url", "postgresql:///x", "--plain"], "loopback"),
            (["serve", "--listen", "127.0.0.1:0", "--database-url", "x", "--plain", "--loops", "0"], "--loops"),
            (["serve", "--listen", "127.0.0.1:0", "--plain", "--log-level", "loud"], "debug, info, warning, error"),
            (
                ["serve", "--listen", "127.0.0.1:0", "--database-url", "x", "--plain", "--request-items", "9"],
                "--request-items must be between 250 and 4000"
            ),
            (["admin", "credentials", "create", "carol", "--expires", "soon"], "expires"),
            (["admin", "accounts", "create", "a b"], "name"),
        ]
        for (arguments, text) in cases {
            let ended = try await run(arguments)
            #expect(ended.status != 0, "\(arguments)")
            #expect(ended.output.contains(text), "\(arguments): \(ended.output)")
            #expect(ended.output.utf8.count < 2_000 && !ended.output.contains("Fatal error"))
        }
    }

    @Test func `serve serves until it is told to stop, and refuses a database without tables`() async throws {
        let database = try await TestPostgres.database()
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--plain"]
        let environment = ["TIDEMARK_DATABASE_URL": database.url]
        let early = try await run(arguments, environment: environment)
        #expect(early.status != 0)
        #expect(early.output.contains("tidemark migrate"))
        #expect(try await run("migrate", database: database).status == 0)
        let directory = try TestDirectory()
        defer { directory.remove() }
        let server = try Program("tidemark", arguments, environment: environment, directory: directory.path)
        try await eventually("it serves") { server.output.contains("serving address=127.0.0.1:") }
        server.signal(SIGHUP)
        try await eventually("it reloads") { server.output.contains("certificates read again") }
        server.signal(SIGTERM)
        #expect(try await server.exit() == 0)
    }
}
