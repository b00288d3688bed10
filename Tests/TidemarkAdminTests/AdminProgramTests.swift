// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkPostgres
import TidemarkServer
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
        ["connections", "close", "alice", phone], ["connections", "close", "carol"],
        ["operators", "issue", "olga"], ["operators", "delete", "olga"],
        ["debug", "bundle", "--file", "/tmp/tidemark-never-made.tar.gz"],
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
        ["accounts", "delete", "nobody"], ["accounts", "disable", "nobody"],
        ["accounts", "set-limit", "nobody", "--connections", "9"],
        ["accounts", "set-quota", "nobody", "--megabytes", "1"],
        ["accounts", "delete", "alice", "--export", "/dev/null"],
        ["accounts", "delete", "alice", "--export", "/tidemark-none/a"],
        ["accounts", "delete", "alice", "--export", "/tmp/tidemark-never-made", "--master-key-file", "/tidemark-none"],
        ["accounts", "import", "nobody", "/dev/null"], ["accounts", "import", "alice", "/tidemark-none"],
        ["accounts", "import", "alice", "/dev/null", "--master-key-file", "/tidemark-none"],
        ["connections", "close", "alice", "0000000000000001000000000000000b"],
        ["connections", "close", "carol", phone],
        ["connections", "close", "nobody"], ["containers", "delete", "iCloud.none"],
        ["assets", "collect", "--asset-directory", "/tidemark-none/assets"],
        ["debug", "bundle", "--file", "/dev/null"], ["debug", "bundle", "--file", "/tidemark-none/bundle"],
        ["debug", "bundle", "--file", "/tmp/tidemark-never-made.tar.gz", "--log", "/tidemark-none"],
        ["containers", "set-quota", "iCloud.none", "--private-megabytes", "1"], ["credentials", "create", "nobody"],
        ["keys", "rotate-master", "--old", "/tidemark-none", "--new", "/tidemark-none-2"],
        ["operators", "delete", "nobody"], ["operators", "issue", "nobody"],
        ["records", "delete", "alice", "Notes", "none"], ["records", "save", "alice", "None", "/dev/null"],
        ["records", "save", "alice", "Notes", "/tidemark-none"],
        ["schema", "import", "/tidemark-none"], ["shares", "revoke", "alice", "Notes"],
        ["subscriptions", "delete", "alice", "none"], ["zones", "delete", "alice", "None"],
        ["zones", "purge", "alice", "_defaultZone"],
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
        let (done, act) = try await run(url, arguments + ["--yes"])
        #expect(planned == done && [.refused, .usage].contains(done), "\(plan.messages) \(act.messages)")
        #expect(plan.messages == act.messages && !plan.messages.isEmpty)
    }

    @Test(arguments: [
        ["store", "mend"], ["identities", "create", "alice", "--issuer", "https://a", "--subject", "s1"],
        ["accounts", "enable", "carol"],
    ])
    func `R-839: with --dry-run a command that has nothing to do says so, with the same words`(
        _ arguments: [String]
    ) async throws {
        let url = try await TestPostgres.database(Self.template).url
        let (planned, plan) = try await run(
            url + "&options=-c%20default_transaction_read_only%3Don", arguments + ["--dry-run"])
        let (done, act) = try await run(url, arguments)
        #expect(planned == .ok && done == .ok, "\(plan.messages) \(act.messages)")
        #expect(plan.messages == act.messages && !plan.messages.isEmpty)
    }

    @Test func `R-839: with --dry-run store mend counts the zones that an older server has written`() async throws {
        let url = try await TestPostgres.database(Self.template).url
        // A server that does not keep the digest moves only this number on.
        try PostgresAdministration.execute(
            ["UPDATE zone SET change_number = change_number + 1 WHERE name = 'Notes'"], url: url)
        let (_, plan) = try await run(url, ["store", "mend", "--dry-run"])
        #expect(plan.messages == ["Would compute the digests of 1 zone."])
        #expect(try await run(url, ["store", "mend"]).1.messages == ["Mended 1 zone."])
        let again = try await run(url, ["store", "mend", "--dry-run"]).1.messages
        #expect(again == ["Every zone has its digest: there is nothing to mend."])
    }

    @Test func `R-839: a rotation is done once, is told as done, and makes no file if it is refused`() async throws {
        let url = try await TestPostgres.database(Self.template).url
        let directory = try TestDirectory()
        defer { directory.remove() }
        let (old, new, other) = (
            "\(directory.path)/old.key", "\(directory.path)/new.key", "\(directory.path)/other.key"
        )
        let check = try MasterKeyFile(path: old).make().key.check
        try PostgresAdministration.execute(
            ["UPDATE store SET master_key_check = '\\x\(Hex.encode(check))'"], url: url)
        func rotate(
            _ old: String, _ new: String, _ more: String...
        ) async throws -> (TidemarkAdmin.ExitStatus, [String]) {
            let (status, terminal) = try await run(url, ["keys", "rotate-master", "--old", old, "--new", new] + more)
            return (status, terminal.messages)
        }
        let plan = try await rotate(old, new, "--dry-run")
        #expect(plan.1.first?.hasPrefix("Would encrypt") == true, "\(plan)")
        #expect(try MasterKeyFile(path: new).read() == nil)
        #expect(try await rotate(old, new).0 == .ok)
        let again = try await rotate(old, new, "--dry-run")
        #expect(again.0 == .ok && again.1.first?.hasPrefix("The keys are already encrypted") == true, "\(again)")
        #expect(try await rotate(old, new).1 == again.1)
        // The file named as the old one is not that of the servers any more.
        let refused = try await rotate(old, other)
        let planned = try await rotate(old, other, "--dry-run")
        #expect(refused.0 == .refused && planned == refused)
        #expect(try MasterKeyFile(path: other).read() == nil)
    }

    @Test(arguments: ["development", "production"])
    func `R-839: the dry run of a schema's import refuses what would lose data`(_ environment: String) async throws {
        let url = try await TestPostgres.database(Self.template).url
        let directory = try TestDirectory()
        defer { directory.remove() }
        func file(_ name: String, _ text: String) throws -> String {
            let path = "\(directory.path)/\(name)"
            try Data("DEFINE SCHEMA \(text)".utf8).write(to: URL(fileURLWithPath: path))
            return path
        }
        let both = try file("both", "RECORD TYPE Note ( text STRING ); RECORD TYPE Other ( text STRING );")
        let one = try file("one", "RECORD TYPE Other ( text STRING );")
        let words = ["--environment", environment]
        #expect(try await run(url, ["schema", "import", both, "--yes"] + words).0 == .ok)
        if environment == "development" {
            let line = #"{"recordName":"a","recordType":"Note","fields":{"text":{"type":"string","value":"x"}}}"#
            let records = "\(directory.path)/records.jsonl"
            try Data("\(line)\n".utf8).write(to: URL(fileURLWithPath: records))
            #expect(try await run(url, ["records", "save", "alice", "_defaultZone", records] + words).0 == .ok)
        }
        let (planned, plan) = try await run(url, ["schema", "import", one, "--dry-run"] + words)
        let (done, act) = try await run(url, ["schema", "import", one, "--yes"] + words)
        #expect(planned == .refused && done == .refused, "\(plan.messages) \(act.messages)")
        #expect(plan.messages == act.messages && plan.messages.last?.contains("Note") == true)
        let fuller = try file("fuller", "RECORD TYPE Note ( text STRING, n INT64 ); RECORD TYPE Other ( text STRING );")
        let (more, told) = try await run(url, ["schema", "import", fuller, "--dry-run"] + words)
        #expect(more == .ok && told.messages.last?.hasPrefix("Would replace the schema") == true)
    }

    @Test func `R-839: nobody gets a role in a container that is being deleted, and a dry run says so`() async throws {
        let url = try await TestPostgres.database(Self.template).url
        let words = ["roles", "assign", "carol", "Editor"]
        #expect(try await run(url, words + ["--dry-run"]).0 == .ok)
        try PostgresAdministration.execute(["UPDATE container SET closed_at = now()"], url: url)
        let (planned, plan) = try await run(url, words + ["--dry-run"])
        let (done, act) = try await run(url, words)
        #expect(planned == .refused && done == .refused, "\(plan.messages) \(act.messages)")
        #expect(plan.messages == act.messages)
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
        #expect(creation?.contains(/: (\w+) text\n[\s\S]*\(:'\1'::text\)/) == true, "\(terminal.messages)")
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
