// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

/// A device of alice.
private let phone = "0000000000000001000000000000000a"

/// Commands on a real database, in this process.
@Suite struct AdminProgramTests {
    private static let template = TestTemplate(name: "admin-program") { url in
        let loop = try EventLoop(name: "migrate")
        defer { loop.stop() }
        _ = try await Migrator(url: url, loop: loop).migrate()
        try PostgresAdministration.execute(
            [
                "INSERT INTO account (name) VALUES ('alice')",
                "INSERT INTO container (identifier, environment) VALUES ('iCloud.test', 1)",
            ], url: url)
        let terminal = RecordingTerminal()
        let screen = Screen(output: .table, terminal: terminal)
        let target = AdminTarget(
            place: .database(url: url), container: "iCloud.test", environment: .development, context: nil)
        // alice's private database, with a zone and a share of nobody.
        try await AdminProgram.withConsole(target, screen) { console in _ = try await console.user(ofAccount: "alice") }
        try PostgresAdministration.execute(
            [
                "INSERT INTO zone (database_id, name, created_at) SELECT id, 'Notes', now() FROM database WHERE scope = 2",
                "INSERT INTO account (name) VALUES ('carol')",
                "INSERT INTO account_address (kind, address, account_id) SELECT 1, name || '@example.org', id FROM account",
                "INSERT INTO credential (account_id, hash) SELECT id, sha256(convert_to(name, 'UTF8')) FROM account ORDER BY id",
                "INSERT INTO account_identity (issuer, subject, credential_id) SELECT 'https://a', 's' || id, id FROM credential",
                "INSERT INTO record_role (container_id, name) SELECT id, 'Editor' FROM container",
                "INSERT INTO device (account_id, id, name, first_seen_at, last_seen_at) SELECT id, '\(phone)', 'phone', now(), now() FROM account WHERE name = 'alice'",
                "INSERT INTO operator (name, role) VALUES ('olga', 2)",
                "INSERT INTO operator_credential (operator_id, hash) SELECT id, sha256('olga') FROM operator",
            ],
            url: url)
    }

    private func run(
        _ url: String, _ arguments: [String], answers: [String]? = nil
    ) async throws -> (TidemarkAdmin.ExitStatus, RecordingTerminal) {
        let terminal = RecordingTerminal(answers: answers)
        let command = try #require(try Admin.parseAsRoot(arguments) as? any AdminCommand)
        let variables = ["TIDEMARK_DATABASE_URL": url, "TIDEMARK_CONTAINER": "iCloud.test"]
        return (await AdminProgram.run(command, terminal: terminal, variables: variables), terminal)
    }

    @Test(arguments: [
        ["accounts", "create", "bob"], ["accounts", "set-name", "alice", "--given", "Alice"],
        ["accounts", "set-encryption", "alice", "end-to-end"],
        ["accounts", "set-encryption", "alice", "escrowed", "--reset"],
        ["accounts", "set-quota", "alice", "--megabytes", "1"],
        ["accounts", "set-limit", "alice", "--requests-per-second", "9"],
        ["accounts", "set-limit", "alice", "--connections", "9"], ["accounts", "set-limit", "--connections", "9"],
        ["addresses", "create", "alice", "a@example.org"],
        ["addresses", "delete", "alice", "alice@example.org"], ["backup", "create", "/tmp/tidemark-never-made"],
        ["compact", "--older-than", "30d"],
        ["containers", "create", "iCloud.other"], ["containers", "delete", "iCloud.test"],
        ["containers", "set-feeds", "iCloud.test", "everywhere"],
        ["containers", "set-limit", "iCloud.test", "--references", "9"],
        ["containers", "set-quota", "iCloud.test", "--private-megabytes", "1"], ["credentials", "create", "alice"],
        ["credentials", "revoke", "1"], ["indexes", "build"],
        ["identities", "create", "alice", "--issuer", "https://a", "--subject", "new"],
        ["identities", "delete", "alice", "--issuer", "https://a", "--subject", "s1"],
        ["roles", "assign", "alice", "Editor"],
        ["roles", "revoke", "alice", "Editor"], ["schema", "promote"], ["store", "renew-incarnation"],
        ["store", "mend"],
        ["zones", "purge", "alice", "Notes"], ["zones", "reset-encrypted", "alice", "Notes"],
        ["devices", "revoke", "alice", phone], ["devices", "delete", "alice", phone],
        ["operators", "create", "nina"], ["operators", "set-role", "olga", "viewer"], ["operators", "revoke", "1"],
    ])
    func `R-839: with --dry-run a command says what it would do, and writes nothing`(_ arguments: [String]) async throws
    {
        let database = try await TestPostgres.database(Self.template)
        // Whatever would be written fails.
        let url = database.url + "&options=-c%20default_transaction_read_only%3Don"
        let (status, terminal) = try await run(url, arguments + ["--dry-run", "--yes"])
        #expect(status == .ok, "\(terminal.messages)")
        #expect(terminal.messages.last?.hasPrefix("Would ") == true, "\(terminal.messages)")
        #expect(terminal.data.isEmpty)
    }

    @Test(arguments: [
        ["accounts", "create", "alice"], ["addresses", "create", "alice", "carol@example.org"],
        ["addresses", "delete", "alice", "carol@example.org"], ["addresses", "delete", "alice", "a@example.org"],
        ["containers", "create", "iCloud.test"], ["containers", "set-feeds", "iCloud.none", "everywhere"],
        ["containers", "set-limit", "iCloud.none", "--references", "9"], ["credentials", "revoke", "9"],
        ["devices", "revoke", "carol", phone], ["devices", "delete", "carol", phone],
        ["devices", "delete", "alice", "0000000000000001000000000000000b"],
        ["identities", "create", "alice", "--issuer", "https://a", "--subject", "s2"],
        ["identities", "delete", "alice", "--issuer", "https://a", "--subject", "s2"],
        ["identities", "delete", "alice", "--issuer", "https://a", "--subject", "none"],
        ["operators", "create", "olga"], ["operators", "set-role", "nobody", "viewer"], ["operators", "revoke", "9"],
        ["roles", "assign", "alice", "Nothing"], ["roles", "revoke", "nobody", "Editor"],
    ])
    func `R-839: with --dry-run a command that would be refused is refused, with the same words`(
        _ arguments: [String]
    ) async throws {
        let url = try await TestPostgres.database(Self.template).url
        let (planned, plan) = try await run(
            url + "&options=-c%20default_transaction_read_only%3Don", arguments + ["--dry-run"])
        let (done, act) = try await run(url, arguments)
        #expect(planned == .refused && done == .refused, "\(plan.messages) \(act.messages)")
        #expect(plan.messages == act.messages && !plan.messages.isEmpty)
    }

    @Test func `R-839: the database of that test takes no writes`() async throws {
        let database = try await TestPostgres.database(Self.template)
        let url = database.url + "&options=-c%20default_transaction_read_only%3Don"
        let (status, _) = try await run(url, ["accounts", "create", "bob"])
        #expect(status != .ok)
    }

    @Test func `R-832: a zone is deleted only if somebody says so, who knows what is in it`() async throws {
        let database = try await TestPostgres.database(Self.template)
        let purge = ["zones", "purge", "alice", "Notes"]
        let (refused, terminal) = try await run(database.url, purge)
        #expect(refused == .usage)
        #expect(terminal.messages.last?.contains("The zone has 0 records, 0 bytes.") == true, "\(terminal.messages)")
        #expect(try await run(database.url, ["zones", "list", "alice", "-o", "name"]).1.data.contains("Notes\n"))
        #expect(try await run(database.url, purge + ["--yes"]).0 == .ok)
        let (again, _) = try await run(database.url, purge + ["--yes"])
        #expect(again == .refused)
    }

    @Test(arguments: [
        (["zones", "delete", "alice", "Notes"], "Notes"), (["zones", "purge", "alice", "Notes"], "Notes"),
        (["zones", "reset-encrypted", "alice", "Notes"], "Notes"), (["accounts", "delete", "alice"], "alice"),
        (["containers", "delete", "iCloud.test"], "iCloud.test"),
        (["accounts", "set-encryption", "alice", "escrowed", "--reset"], "alice"),
    ])
    func `R-832: for the worst its name is typed, and a yes is not enough`(
        _ arguments: [String], _ name: String
    ) async throws {
        let url = try await TestPostgres.database(Self.template).url
        for answer in ["y", "yes", "", name.uppercased(), "\(name) "] {
            let (status, terminal) = try await run(url, arguments, answers: [answer])
            #expect(status == .refused, "\(answer): \(terminal.messages)")
            #expect(terminal.questions.count == 1 && terminal.questions.first?.contains("Type \(name) to ") == true)
        }
        let zones = try await run(url, ["zones", "list", "alice", "-o", "name"]).1.data
        #expect(zones.contains("Notes\n"), "\(zones)")
        let (status, terminal) = try await run(url, arguments, answers: [name])
        #expect(status == .ok, "\(terminal.messages)")
    }

    @Test func `R-835: --debug shows each statement with its types, and no values`() async throws {
        let database = try await TestPostgres.database(Self.template)
        let (status, terminal) = try await run(database.url, ["accounts", "create", "hidden", "--debug"])
        #expect(status == .ok)
        let statements = terminal.messages.filter { $0.hasPrefix("-- ") }
        let creation = statements.first { $0.contains("INSERT INTO account") }
        #expect(creation?.contains(": $1 text\n") == true, "\(terminal.messages)")
        #expect(creation?.hasSuffix(";") == true)
        #expect(!statements.contains { $0.contains("hidden") })
        let (_, quiet) = try await run(database.url, ["accounts", "list"])
        #expect(quiet.messages.isEmpty && quiet.data.contains("hidden"))
    }

    @Test func `R-870: a database without this version's tables is a finding of the doctor alone`() async throws {
        let database = try await TestPostgres.database(TestTemplate(name: "admin-nothing") { _ in })
        let (status, found) = try await run(database.url, ["doctor", "--ci", "-o", "name"])
        #expect(status == .failedCheck)
        #expect(found.data.contains("migrations-missing"), "\(found.data)")
        let (refusal, list) = try await run(database.url, ["accounts", "list"])
        #expect(refusal == .refused && list.data.isEmpty)
    }

    @Test func `R-836: a database that cannot be reached is the context's, and its message says how to start it`()
        async throws
    {
        let terminal = RecordingTerminal()
        let context = AdminContext(
            name: "dev", target: .database(url: "postgresql://127.0.0.1:1/none"),
            start: "tidemark dev --data-directory x")
        let target = AdminTarget(
            place: context.target, container: nil, environment: .development, context: context)
        let failure = await #expect(throws: AdminFailure.self) {
            try await AdminProgram.withConsole(target, Screen(output: .table, terminal: terminal)) { _ in }
        }
        #expect(failure?.status == .unreachable)
        #expect(
            failure?.description.hasPrefix(
                "The server of the context dev does not run. Start it: tidemark dev --data-directory x\n") == true)
    }
}
