// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields
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
