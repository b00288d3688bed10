// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkAdmin

/// What `records export` and `records query` write, `import` and `records save` read back.
@Suite struct RecordLoaderTests {
    /// A record of each type of field, without assets, whose files are not in these forms.
    private static let values = RecordLineTests.values.filter { ![.asset, .assetList].contains($0.type) }

    private func records() throws -> String {
        try Self.values.enumerated().map { index, value in
            // An empty list tells no type.
            let type = value.type == .emptyList ? FieldType.dateList : value.type
            let fields = ["f\(type.rawValue)": RecordLineField(value)]
            // The parent comes last.
            let parent = index == 0 ? "r\(Self.values.count - 1)" : nil
            let line = RecordLine(recordName: "r\(index)", recordType: "Note", parent: parent, fields: fields)
            return try line.text + "\n"
        }.joined()
    }

    /// Without what another database gives. As texts, because not-a-number equals nothing.
    private func portable(_ lines: String) throws -> [String: String] {
        let records = try lines.split(separator: "\n").map { line in
            var record = try RecordLine(parsing: Array(line.utf8))
            (record.created, record.modified) = (nil, nil)
            return record
        }
        return Dictionary(uniqueKeysWithValues: try records.map { ($0.recordName, try $0.text) })
    }

    private func export(_ place: AdminPlace, _ form: String) async throws -> String {
        let words = ["records", "export", "alice", ZoneName.default, "--type", "Note", "--format", form]
        let exported = try await place.perform(words)
        #expect(exported.status == .ok, "\(exported.terminal.messages)")
        return exported.terminal.output
    }

    @Test(arguments: ["jsonl", "csv"])
    func `R-910: what is exported is imported into an empty container, and is the same`(_ form: String) async throws {
        var (file, lines) = ("", "")
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            let saved = try await place.perform(
                "records", "save", "alice", ZoneName.default, "-", input: try records())
            #expect(saved.status == .ok, "\(saved.terminal.messages)")
            file = try await export(place, form)
            lines = try await export(place, "jsonl")
        }
        let (exported, expected) = (file, try portable(lines))
        #expect(expected.count == Self.values.count)
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            let words = ["import", "alice", "-", "--format", form]
            let planned = try await place.perform(words + ["--dry-run"], input: exported)
            #expect(planned.terminal.output.contains("Would import up to \(Self.values.count), and refuse 0."))
            #expect(try await export(place, "jsonl").isEmpty, "nothing was changed")
            let imported = try await place.perform(words, input: exported)
            #expect(imported.status == .ok, "\(imported.terminal.messages)")
            #expect(try portable(try await export(place, "jsonl")) == expected)
            let again = try await place.perform(words, input: exported)
            #expect(again.terminal.output.contains("skipped \(Self.values.count) that existed, refused 0"))
        }
    }

    @Test func `R-910: what a query finds is written so that it is read back`() async throws {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            _ = try await place.user("bob")
            _ = try await place.perform("records", "save", "alice", ZoneName.default, "-", input: try records())
            let found = try await place.perform("records", "query", "alice", "Note", "--limit", "0", "-o", "json")
            #expect(found.status == .ok, "\(found.terminal.messages)")
            let expected = try portable(try await export(place, "jsonl"))
            #expect(try portable(found.terminal.output) == expected)
            let words = ["import", "bob", "-", "--format", "jsonl"]
            let imported = try await place.perform(words, input: found.terminal.output)
            #expect(imported.status == .ok, "\(imported.terminal.messages)")
            let bobs = try await place.perform("records", "query", "bob", "Note", "--limit", "0", "-o", "json")
            #expect(try portable(bobs.terminal.output) == expected)
        }
    }

    @Test func `R-910: records with types take no rules, and other lines need some`() async throws {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            let typed = #"{"recordName":"a","recordType":"Note","fields":{"n":{"type":"int64","value":7}}}"# + "\n"
            let words = ["import", "alice", "-", "--format", "jsonl"]
            let ruled = try await place.perform(words + ["--name", "recordName", "--only"], input: typed)
            #expect(ruled.status == .usage && ruled.terminal.messages.contains("leave out --name, --only"))
            let other = try await place.perform(words, input: #"{"recordName":"a","n":7}"# + "\n")
            #expect(other.status == .usage && other.terminal.messages.contains("Missing --type"))
            let mixed = try await place.perform(words, input: typed + "{\"recordName\":\"b\"}\n")
            #expect(mixed.status == .failedCheck && mixed.terminal.messages.contains("input:2: "))
            #expect(mixed.terminal.output.contains("Imported 1, skipped 0 that existed, refused 1."))
        }
    }

    @Test func `R-911: of an archive that was cut off, what is there is saved, and the status is 1`() async throws {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            let archive = """
                {"account":{"account":"x","version":1}}
                {"container":{"container":"iCloud.test","environment":"development","user":"_x"}}
                {"zone":{"zone":"_defaultZone","isPerZone":false}}
                {"record":{"recordName":"a","recordType":"Note","fields":{}}}

                """
            let end = #"{"end":{"assets":0,"lacks":{"assets":0,"encryptedValues":0},"records":1,"shares":0,"zones":1}}"#
            let words = ["import", "alice", "-", "--format", "jsonl"]
            let cut = try await place.perform(words, input: archive)
            #expect(cut.status == .failedCheck)
            #expect(cut.terminal.messages.contains("it was cut off. So far: Saved 1,"), "\(cut.terminal.messages)")
            let whole = try await place.perform(words, input: archive + end + "\n")
            #expect(whole.status == .ok, "\(whole.terminal.messages)")
        }
    }

    @Test func `R-911: an encrypted value without its key is left out, counted, and makes the status 1`() async throws {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            let sealed = SealedValue(
                keyID: [UInt8](repeating: 1, count: SealedValue.keyIDByteCount),
                nonce: [UInt8](repeating: 2, count: SealedValue.nonceByteCount),
                ciphertext: [UInt8](repeating: 3, count: 20))
            let field = try RecordLineField(
                try #require(
                    try FieldMap(
                        [Field("f", .bytes(sealed.bytes), isEncrypted: true)])["f"]))
            let line = RecordLine(
                recordName: "a", recordType: "Note", parent: nil, fields: ["f": field, "n": RecordLineField(.int64(1))])
            let imported = try await place.perform(
                "import", "alice", "-", "--format", "jsonl", "-o", "json", input: try line.text + "\n")
            #expect(imported.status == .failedCheck)
            #expect(imported.terminal.output.contains(#""imported":1,"skipped":0,"refused":0,"encryptedLeftOut":1"#))
            let saved = try await place.perform(
                "records", "save", "alice", ZoneName.default, "-", "--replace", "--yes", input: try line.text + "\n")
            #expect(saved.status == .failedCheck && saved.terminal.messages.contains("Left out 1 encrypted value"))
        }
    }
}
