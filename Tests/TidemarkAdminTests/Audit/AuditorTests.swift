// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkPostgres
import TidemarkService
import TidemarkStore

@testable import TidemarkAdmin

@Suite struct AuditorTests {
    private static let root = OperatorIdentity(name: "root", address: "10.0.0.1")

    private func action(_ line: String) throws -> AuditAction? {
        let parsed = try Admin.parseAsRoot(line.split(separator: " ").map(String.init))
        return Auditor.action(try #require(parsed as? any AdminCommand), by: Self.root)
    }

    @Test func `R-860: an action has the nouns, the verb and the arguments, and no options`() throws {
        let cases = [
            ("accounts disable alice", "accounts disable", "alice"),
            ("zones delete alice Notes --container secret --yes", "zones delete", "alice Notes"),
            (
                "records delete public _defaultZone a b --database-url postgresql://u:p@h/d", "records delete",
                "public _defaultZone a b"
            ),
            (
                "devices revoke alice 5d1f4e8a9b3c4d2e8f7a6b5c4d3e2f1a", "devices revoke",
                "alice 5d1f4e8a9b3c4d2e8f7a6b5c4d3e2f1a"
            ),
        ]
        for (line, words, target) in cases {
            let action = try #require(try action(line), "\(line)")
            #expect(action == AuditAction(who: "root", address: "10.0.0.1", action: words, target: target))
        }
    }

    @Test func `R-887: servers find a closing of connections in the audit by the command's name`() throws {
        let device = "5d1f4e8a9b3c4d2e8f7a6b5c4d3e2f1a"
        let action = try #require(try action("connections close alice 5D1F4E8A-9B3C-4D2E-8F7A-6B5C4D3E2F1A"))
        #expect(action.action == AuditAction.closesConnections && action.target == "alice \(device)")
    }

    @Test func `R-887: a server that missed a notice finds what was closed, of whom and how long ago`() async throws {
        try await AdminPlace.run { (place: AdminPlace) async throws in
            let alice = try #require(try await place.store.createAccount("alice"))
            let bob = try #require(try await place.store.createAccount("bob"))
            let device = "5d1f4e8a9b3c4d2e8f7a6b5c4d3e2f1a"
            try PostgresAdministration.execute(
                [
                    "INSERT INTO device (account_id, id, name, first_seen_at, last_seen_at) "
                        + "SELECT id, '\(device)', 'phone', now(), now() FROM account WHERE name = 'alice'"
                ], url: place.url)
            #expect(try await place.perform("connections", "close", "alice", device).status == .ok)
            #expect(try await place.perform("connections", "close", "bob", "--dry-run").status == .ok)
            #expect(try await place.perform("connections", "close", "carol").status == .refused)
            #expect(try await place.perform("accounts", "disable", "bob").status == .ok)
            #expect(try await place.perform("connections", "close", "bob").status == .ok)
            let found = try await place.storage.connectionClosings()
            #expect(found.map(\.account) == [alice, bob])
            #expect(found.map(\.device) == [DeviceID(bytes: Hex.decode(device) ?? []), nil])
            #expect(found.allSatisfy { $0.age >= .zero && $0.age < .seconds(3_600) })
        }
    }

    @Test func `R-860: what only reads is not written down`() throws {
        for line in ["accounts list", "zones show alice Notes", "audit list", "doctor", "stats tables"] {
            #expect(try action(line) == nil, "\(line)")
        }
    }

    @Test func `R-860: what gives away all that a user has stored is written down, though it only reads`() throws {
        #expect(try action("accounts export alice")?.target == "alice")
        #expect(try action("records export alice Notes")?.target == "alice Notes")
    }

    @Test func `R-860: the audit says that keys were opened, also when the account is gone`() async throws {
        #expect(try action("accounts export alice")?.action == "accounts export")
        #expect(try action("accounts export alice --master-key-file k")?.action == "accounts export (opens keys)")
        #expect(
            try action("accounts import alice a.jsonl --master-key-file k")?.action == "accounts import (opens keys)")
        try await AdminPlace.run { (place: AdminPlace) async throws in
            _ = try await place.user("alice")
            // The row is there before the file is read.
            let exported = try await place.perform("accounts", "export", "alice", "--master-key-file", "/none/at-all")
            #expect(exported.status != .ok)
            #expect(try await place.perform("accounts", "delete", "alice", "--yes").status == .ok)
            let list = try await place.perform("audit", "list", "--kind", "actions", "-o", "json")
            #expect(list.terminal.output.contains(#""action":"accounts export (opens keys)","target":"alice""#))
        }
    }

    @Test func `R-860: the audit keeps no addresses of people`() throws {
        let line = ["addresses", "create", "alice", "alice@example.org"]
        let command = try #require(try Admin.parseAsRoot(line) as? any AdminCommand)
        #expect(Auditor.action(command, by: Self.root)?.target == "alice (address)")
        let text = Auditor.withoutPersons("alice@example.org belongs to another account.", of: command)
        #expect(text == "(address) belongs to another account.")
    }

    /// Whoever adds a command that changes something cannot forget it: all that are no viewer's are found by their place.
    @Test func `R-860: each command that changes something is named by its place`() {
        func all(_ root: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
            root.configuration.subcommands.flatMap { [$0] + all($0) }
        }
        let commands = all(Admin.self)
        #expect(commands.count > 40)
        for command in commands where command is any AdminCommand.Type {
            #expect(Auditor.words(of: command, in: Admin.self) != nil, "\(command)")
        }
    }

    @Test func `R-860: a command is written before it acts, with what became of it`() async throws {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            #expect(try await place.perform("accounts", "disable", "alice").status == .ok)
            #expect(try await place.perform("accounts", "disable", "bob").status == .refused)
            #expect(try await place.perform("accounts", "enable", "alice", "--dry-run").status == .ok)
            let (status, terminal) = try await place.perform("audit", "list", "--kind", "actions", "-o", "json")
            #expect(status == .ok)
            let lines = terminal.output.split(separator: "\n")
            #expect(lines.count == 2)
            #expect(lines[0].contains(#""action":"accounts disable","target":"bob","result":"refused""#))
            #expect(lines[0].contains("There is no account named bob."))
            #expect(lines[1].contains(#""who":"root","action":"accounts disable","target":"alice","result":"done""#))
            #expect(lines[1].contains(#""address":"10.0.0.1""#))
            let failures = try await place.perform("audit", "list", "--failures", "-o", "name")
            #expect(failures.terminal.output.split(separator: "\n").count == 1)
        }
    }

    @Test func `R-919: a command's UUID is told with --debug, and is in its row of the audit and with what it changed`()
        async throws
    {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            /// - Returns: the UUID that the command told.
            func perform(_ arguments: [String], input: String = "") async throws -> String {
                let (status, terminal) = try await place.perform(arguments + ["--debug"], input: input)
                #expect(status == .ok, "\(terminal.messages)")
                let told = terminal.messages.matches(of: /-- request ([0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12})\n/)
                #expect(told.count == 1, "\(terminal.messages)")
                return String(try #require(told.first).1)
            }
            func audit(_ request: String) async throws -> [Substring] {
                let list = try await place.perform("audit", "list", "--request", request, "-o", "json")
                #expect(list.status == .ok, "\(list.terminal.messages)")
                return list.terminal.output.split(separator: "\n")
            }
            let line = #"{"recordName":"a","recordType":"Note","fields":{}}"# + "\n"
            let saved = try await perform(["records", "save", "alice", "_defaultZone", "-"], input: line)
            let made = try await perform(["accounts", "create", "bob"])
            let looked = try await perform(["accounts", "list"])
            #expect(Set([saved, made, looked]).count == 3)
            for (request, action) in [(saved, "records save"), (made, "accounts create")] {
                let rows = try await audit(request.lowercased())
                #expect(rows.count == 1, "\(rows)")
                #expect(rows.first?.contains("\"action\":\"\(action)\"") == true, "\(rows)")
                #expect(rows.first?.contains("\"result\":\"done\"") == true)
                #expect(rows.first?.hasSuffix("\"request\":\"\(request)\"}") == true, "\(rows)")
            }
            #expect(try await audit(looked).isEmpty, "what only reads is not in the audit")
            for (request, names) in [(saved, "a\n"), (made, "")] {
                let tail = try await place.perform(
                    "tail", "alice", "--once", "--after", "all-", "--request", request, "-o", "name")
                #expect(tail.terminal.output == names, "\(tail.terminal.messages)")
            }
            let shown = try await place.perform("tail", "alice", "--once", "--after", "all-", "-o", "json")
            #expect(shown.terminal.output.hasSuffix("\"request\":\"\(saved)\"}\n"), "\(shown.terminal.output)")
            let table = try await place.perform("tail", "alice", "--once", "--after", "all-")
            #expect(!table.terminal.output.contains("REQUEST"))
        }
    }

    @Test(arguments: ["", "8A010203", "8A010203-0405-8607-8000-00000000001", "all-"])
    func `R-919: what is no UUID is a mistake`(_ text: String) {
        #expect(throws: (any Error).self) { try Admin.parseAsRoot(["audit", "list", "--request", text]) }
        #expect(throws: (any Error).self) { try Admin.parseAsRoot(["tail", "--request", text]) }
    }
}
