// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkPostgres
import TidemarkService
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct ArchiveReaderTests {
    private static let records = """
        {"recordName":"a","recordType":"Note","parent":"z","fields":{"n":{"type":"int64","value":7},"s":{"type":"list<string>","value":["x",""]}}}
        {"recordName":"b","recordType":"Note","parent":"a","fields":{"d":{"type":"date","value":"2024-05-31T12:00:00.000Z"}}}
        {"recordName":"z","recordType":"Folder","fields":{"r":{"type":"reference","value":{"recordName":"b","deleteSelf":false}}}}

        """

    /// The lines of records and zones without what another server gives: dates and the name of the user record.
    private func portable(_ archive: String) throws -> [ArchiveLine] {
        try archive.split(separator: "\n").map { line in
            switch try ArchiveLine(parsing: Array(line.utf8)) {
            case .record(var record):
                (record.created, record.modified) = (nil, nil)
                return .record(record)
            case .container(let line):
                return .container(
                    ArchiveLine.Container(
                        container: line.container, environment: line.environment, user: "", encryption: line.encryption)
                )
            case let other: return other
            }
        }
    }

    @Test func `R-864: an account that is exported and imported elsewhere is the same`() async throws {
        var archive = ""
        try await AdminPlace.run { place in
            let alice = try await place.user("alice")
            _ = try await place.perform(
                "accounts", "import", "alice", "-",
                input: """
                    {"account":{"account":"x","version":1}}
                    {"container":{"container":"iCloud.test","environment":"development","user":"_x"}}
                    {"zone":{"zone":"_defaultZone","isPerZone":false}}
                    {"zone":{"zone":"Notes","isPerZone":false}}
                    {"zone":{"zone":"Empty","isPerZone":true}}

                    """)
            #expect(try await place.store.livingZone(ZoneKey(database: alice.privateDatabase, name: "Notes")) != nil)
            let saved = try await place.perform("records", "save", "alice", "Notes", "-", input: Self.records)
            #expect(saved.status == .ok, "\(saved.terminal.messages)")
            let exported = try await place.perform("accounts", "export", "alice")
            #expect(exported.status == .ok)
            #expect(exported.terminal.messages.contains("3 zones, 3 records, 0 assets and 0 shares"))
            archive = exported.terminal.output
        }
        let first = archive
        try await AdminPlace.run { place in
            // Other numbers than on the first server.
            _ = try await place.user("somebody")
            _ = try await place.user("alice")
            let imported = try await place.perform("accounts", "import", "alice", "-", input: first)
            #expect(imported.status == .ok, "\(imported.terminal.messages)")
            let again = try await place.perform("accounts", "export", "alice")
            #expect(try portable(again.terminal.output) == portable(first))
            // A second time nothing is changed.
            let repeated = try await place.perform("accounts", "import", "alice", "-", input: first)
            #expect(repeated.terminal.messages.contains("skipped 3 that existed, refused 0"))
            // What overwrites asks first.
            let asked = try await place.perform("accounts", "import", "alice", "-", "--replace", input: first)
            #expect(asked.status == .usage && asked.terminal.messages.contains("It has 3 records."))
            let replaced = try await place.perform(
                "accounts", "import", "alice", "-", "--replace", "--yes", input: first)
            #expect(replaced.status == .ok, "\(replaced.terminal.messages)")
            let line = try #require(Self.records.split(separator: "\n").first)
            let saved = try await place.perform(
                "records", "save", "alice", "Notes", "-", "--replace", input: "\(line)\n")
            #expect(saved.status == .usage && saved.terminal.messages.contains("The zone has 3 records."))
        }
    }

    /// Lines of an archive of the zone Notes: two trees, each with a share, and another share of the root "b".
    private static func hierarchies(rootOfSecond: String) throws -> String {
        func share(_ name: String, root: String, _ person: String) -> ArchiveLine {
            let record = RecordLine(
                recordName: name, recordType: Share.recordType, parent: nil,
                fields: ["cloudkit.title": RecordLineField(.string(name))])
            let people = [
                ArchiveLine.Person(
                    address: person, role: "administrator", permission: "readWrite", status: "pending")
            ]
            return .share(
                ArchiveLine.Sharing(record: record, publicPermission: "none", participants: people, root: root))
        }
        func note(_ name: String, parent: String?) -> ArchiveLine {
            .record(
                RecordLine(
                    recordName: name, recordType: "Note", parent: parent, fields: ["n": RecordLineField(.int64(7))]))
        }
        let lines: [ArchiveLine] = [
            .account(ArchiveLine.Account(version: 1, account: "x")),
            .container(ArchiveLine.Container(container: "iCloud.test", environment: .development, user: "_x")),
            .zone(ArchiveLine.Zone(zone: "Notes", isPerZone: false)),
            // The root "b" waits for its parent, which comes last.
            note("a", parent: "b"), note("b", parent: "z"), note("r", parent: nil), note("z", parent: nil),
            share("S", root: "b", "carol@example.org"), share("T", root: rootOfSecond, "dave@example.org"),
            .end(ArchiveLine.End(zones: 1, records: 4, shares: 2)),
        ]
        return try lines.map { try $0.text }.joined()
    }

    @Test func `R-912: shares of hierarchies come back with their roots`() async throws {
        var archive = ""
        try await AdminPlace.run { place in
            let alice = try await place.user("alice")
            let imported = try await place.perform(
                "accounts", "import", "alice", "-", input: try Self.hierarchies(rootOfSecond: "r"))
            #expect(imported.status == .ok, "\(imported.terminal.messages)")
            #expect(imported.terminal.messages.contains("4 records, 0 assets and 2 shares"))
            let zone = ZoneKey(database: alice.privateDatabase, name: "Notes")
            let sharing = try #require(try await place.storage.sharing(of: zone, .whole)?.sharing)
            #expect(sharing.livingShare == nil && sharing.rootShareNames == ["b": "S", "r": "T"])
            let secrets = sharing.hierarchies.compactMap { sharing.secret(of: $0) }
            #expect(Set(secrets).count == 2 && sharing.hierarchies.allSatisfy { !$0.isPublic })
            let exported = try await place.perform("accounts", "export", "alice")
            #expect(exported.status == .ok, "\(exported.terminal.messages)")
            #expect(exported.terminal.messages.contains("4 records, 0 assets and 2 shares"))
            archive = exported.terminal.output
        }
        let exported = archive
        let lines = try portable(exported)
        // Each share comes after its root, and names it.
        let shares = lines.compactMap { if case .share(let line) = $0 { line } else { nil } }
        #expect(shares.map(\.root) == ["b", "r"] && shares.map(\.record.recordName) == ["S", "T"])
        #expect(shares.map { $0.participants.map(\.address) } == [["carol@example.org"], ["dave@example.org"]])
        #expect(lines.suffix(3).dropLast().allSatisfy { if case .share = $0 { true } else { false } })
        try await AdminPlace.run { place in
            for name in ["somebody", "alice"] { _ = try await place.user(name) }
            let imported = try await place.perform("accounts", "import", "alice", "-", input: exported)
            #expect(imported.status == .ok, "\(imported.terminal.messages)")
            let again = try await place.perform("accounts", "export", "alice")
            let shared = try portable(again.terminal.output).filter { if case .share = $0 { true } else { false } }
            #expect(shared.count == 2)
            // A second time nothing is shared, and no record has another version.
            let repeated = try await place.perform("accounts", "import", "alice", "-", input: exported)
            #expect(repeated.status == .ok, "\(repeated.terminal.messages)")
            #expect(repeated.terminal.messages.contains("0 shares, skipped 6 that existed, refused 0"))
            let replaced = try await place.perform(
                "accounts", "import", "alice", "-", "--replace", "--yes", input: exported)
            #expect(replaced.status == .ok && replaced.terminal.messages.contains("0 shares, skipped 2"))
        }
    }

    @Test func `R-999: beside an older server an import shares no hierarchy, and shares it when it is repeated`()
        async throws
    {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            let input = try Self.hierarchies(rootOfSecond: "r")
            let url = try #require(
                PostgresURL.replacing(["application_name": "tidemark server old/1"], in: place.url))
            let older = try PostgresPool(url: url, connections: 1, loop: place.loop)
            let lease = try await older.acquire()
            let refused = try await place.perform("accounts", "import", "alice", "-", input: input)
            let (status, messages) = (refused.status, refused.terminal.messages)
            #expect(status == .failedCheck && messages.contains("4 records"), "\(messages)")
            #expect(messages.contains("An older server still serves this database"), "\(messages)")
            #expect(messages.contains("0 shares") && messages.contains("refused 2."), "\(messages)")
            older.release(lease)
            await older.stop()
            try await eventually(within: .seconds(60)) {
                try await place.storage.olderServers().servers.isEmpty
            }
            let repeated = try await place.perform("accounts", "import", "alice", "-", input: input)
            #expect(repeated.status == .ok && repeated.terminal.messages.contains("2 shares"))
        }
    }

    @Test(arguments: [("none", "none, is not there"), ("b", "T: "), ("a", "T: ")])
    func `R-912: a hierarchy that cannot be shared again is told and counted`(
        root: String, text: String
    ) async throws {
        try await AdminPlace.run { place in
            let alice = try await place.user("alice")
            let imported = try await place.perform(
                "accounts", "import", "alice", "-", input: try Self.hierarchies(rootOfSecond: root))
            #expect(imported.status == .failedCheck)
            let messages = imported.terminal.messages
            #expect(messages.contains(text) && messages.contains("1 share, skipped 0"), "\(messages)")
            #expect(messages.contains("refused 1."), "\(messages)")
            let zone = ZoneKey(database: alice.privateDatabase, name: "Notes")
            let sharing = try #require(try await place.storage.sharing(of: zone, .whole)?.sharing)
            #expect(sharing.rootShareNames == ["b": "S"])
        }
    }

    @Test(arguments: [
        "nothing\n", #"{"zone":{"zone":"Notes","isPerZone":false}}"#, #"{"record":{"recordName":"a"}}"#,
        #"{"account":{"account":"x","version":2}}"#,
    ])
    func `R-864: what is no archive is refused, and nothing is saved`(_ archive: String) async throws {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            #expect(try await place.perform("accounts", "import", "alice", "-", input: archive).status == .refused)
            #expect(try await place.store.containers().count == 1)
        }
    }
}
