// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// `tidemark migrate` and `tidemark admin`, as an operator uses them.
@Suite struct AdminTests {
    @Test func `from an empty database to an account, its credentials and its devices`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = try await TestPostgres.database().url
        func run(_ arguments: String...) async throws -> (status: Int32, output: String) {
            try await Program.run(
                "tidemark", arguments, environment: ["TIDEMARK_DATABASE_URL": url], directory: directory.path)
        }

        let early = try await run("admin", "accounts", "list")
        #expect(early.status != 0 && early.output.contains("tidemark migrate"))
        let first = try await run("migrate")
        #expect(first.status == 0 && first.output.contains("applied"))
        let again = try await run("migrate")
        #expect(again.status == 0 && again.output.contains("up to date") && !again.output.contains("applied"))

        #expect(try await run("admin", "accounts", "create", "carol").status == 0)
        let twice = try await run("admin", "accounts", "create", "carol")
        #expect(twice.status != 0 && twice.output.contains("already"))
        #expect(try await run("admin", "accounts", "create", "two words").status != 0)
        #expect(try await run("admin", "accounts", "list").output.contains("carol"))

        let issued = try await run("admin", "credentials", "issue", "carol", "--expires", "30d", "--label", "laptop")
        #expect(issued.status == 0 && issued.output.contains("tidemark_"))
        let list = try await run("admin", "credentials", "list", "carol")
        #expect(list.output.contains("laptop"))
        #expect(!list.output.contains("tidemark_"), "a credential is shown once")
        let number = try #require(list.output.split(separator: "\n").last?.split(separator: " ").first)
        #expect(try await run("admin", "credentials", "revoke", String(number)).status == 0)
        #expect(try await run("admin", "credentials", "revoke", String(number)).status != 0)
        #expect(try await run("admin", "devices", "list", "carol").status == 0)
        let nobody = try await run("admin", "credentials", "issue", "nobody")
        #expect(nobody.status != 0 && nobody.output.contains("no account named nobody"))
    }

    @Test(arguments: [
        (["serve"], "--listen"), (["serve", "--listen", "127.0.0.1:0"], "--plain"),
        (["serve", "--listen", "somewhere", "--plain"], "--listen"),
        (["migrate"], "--database-url"), (["migrate", "--database-url", "postgresql://127.0.0.1:1/none"], "onnect"),
    ])
    func `a mistake is answered with what to do, not with a stack`(_ arguments: [String], _ hint: String) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let result = try await Program.run("tidemark", arguments, directory: directory.path)
        #expect(result.status != 0)
        #expect(result.output.contains(hint), "\(result.output)")
        #expect(result.output.utf8.count < 2_000 && !result.output.contains("Fatal error"))
    }
}
