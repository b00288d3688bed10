// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkDomain
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct AdminTailTests {
    private struct Line: Decodable {
        let container: String?
        let database: String?
        let recordName: String?
        let change: String
        let position: String
    }

    private func save(_ name: String, of database: String, _ place: AdminPlace, _ words: [String] = []) async throws {
        let line = #"{"recordName":"\#(name)","recordType":"Note","fields":{}}"# + "\n"
        let saved = try await place.perform(
            ["records", "save", database, ZoneName.default, "-"] + words, input: line)
        #expect(saved.status == .ok, "\(saved.terminal.messages)")
    }

    private func tail(_ place: AdminPlace, _ words: String..., hasContainer: Bool = true) async throws -> [Line] {
        let shown = try await place.perform(
            ["tail", "--once", "-o", "json"] + words, hasContainer: hasContainer)
        #expect(shown.status == .ok, "\(shown.terminal.messages)")
        return try shown.terminal.output.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    @Test func `R-913: all databases are followed, and one position goes on in all of them`() async throws {
        try await AdminPlace.run { place in
            for name in ["alice", "bob"] { _ = try await place.user(name) }
            try await save("a", of: "alice", place)
            try await save("b", of: "bob", place)
            try await save("p", of: "public", place, ["--account", "alice"])
            let begun = try await tail(place)
            #expect(begun.map(\.change) == ["position"], "what was there before is not shown")
            let all = try await tail(place, "--after", "all-")
            #expect(Set(all.compactMap(\.recordName)) == ["a", "b", "p"])
            #expect(Set(all.compactMap(\.database)) == ["alice", "bob", "public"])
            let position = try #require(all.last)
            #expect(position.change == "position" && position.recordName == nil)
            // What was and what is new: a zone that is there, and an account that came meanwhile.
            try await save("a2", of: "alice", place)
            _ = try await place.user("carol")
            try await save("c", of: "carol", place)
            let more = try await tail(place, "--after", position.position)
            #expect(more.compactMap(\.recordName).sorted() == ["a2", "c"])
            let end = try #require(more.last?.position)
            #expect(try await tail(place, "--after", end).map(\.change) == ["position"])
            // Whoever has heard nothing yet has a position too.
            let missed = try await tail(place, "--after", try #require(begun.first?.position))
            #expect(missed.compactMap(\.recordName).sorted() == ["a2", "c"])
            // The line after the position counts as well.
            let line = try #require(more.first { $0.recordName == "a2" })
            let rest = try await tail(place, "--after", position.position, "--after", line.position)
            #expect(rest.compactMap(\.recordName) == ["c"])
        }
    }

    @Test func `R-913: databases are chosen by account and container, and a limit loses nothing`() async throws {
        try await AdminPlace.run { place in
            for name in ["alice", "bob"] { _ = try await place.user(name) }
            try await save("a", of: "alice", place)
            try await save("b", of: "bob", place)
            let other = ContainerKey(identifier: "iCloud.other", environment: .development)
            _ = try await place.store.createContainer(other)
            _ = try await place.store.user(ofAccount: "alice", in: other, now: Timestamp(milliseconds: 0))
            let alices = try await tail(place, "--after", "all-", "--account", "alice")
            #expect(alices.compactMap(\.recordName) == ["a"])
            let whole = try await tail(place, "--after", "all-", "--all-containers", hasContainer: false)
            #expect(whole.compactMap(\.recordName).sorted() == ["a", "b"])
            let first = try await tail(place, "--after", "all-", "--limit", "1")
            #expect(first.compactMap(\.recordName).count == 1)
            let rest = try await tail(place, "--after", try #require(first.last?.position))
            #expect((first + rest).compactMap(\.recordName).sorted() == ["a", "b"])
            let table = try await place.perform("tail", "--once", "--after", "all-")
            #expect(table.terminal.output.contains("DATABASE") && !table.terminal.output.contains("position"))
            #expect(table.terminal.messages.contains("Go on with --after all-"))
        }
    }

    private static let archive = """
        {"container":{"container":"iCloud.test","environment":"development","user":"_x"}}
        {"zone":{"zone":"Notes","isPerZone":false}}
        {"record":{"recordName":"a","recordType":"Note","fields":{}}}
        {"record":{"recordName":"b","recordType":"List","fields":{}}}
        {"record":{"recordName":"c","recordType":"Note","fields":{}}}
        {"zone":{"zone":"Drafts","isPerZone":false}}
        {"record":{"recordName":"d","recordType":"Note","fields":{}}}
        {"end":{"zones":2,"records":4,"assets":0,"shares":0,"lacks":{"encryptedValues":0,"assets":0}}}

        """

    @Test func `R-872: tail shows only the zone, the type and as many changes as it is told`() async throws {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            let imported = try await place.perform("accounts", "import", "alice", "-", input: Self.archive)
            #expect(imported.status == .ok, "\(imported.terminal.messages)")
            func names(_ words: String...) async throws -> [String] {
                let shown = try await place.perform(
                    ["tail", "alice", "--once", "--after", "all-", "-o", "name"] + words)
                #expect(shown.status == .ok, "\(shown.terminal.messages)")
                return shown.terminal.output.split(separator: "\n").map(String.init)
            }
            #expect(try await names().sorted() == ["a", "b", "c", "d"])
            #expect(try await names("--zone", "Notes") == ["a", "b", "c"])
            #expect(try await names("--type", "Note").sorted() == ["a", "c", "d"])
            #expect(try await names("--zone", "Notes", "--type", "Note") == ["a", "c"])
            #expect(try await names("--zone", "Notes", "--type", "Note", "--limit", "1") == ["a"])
            #expect(try await names("--zone", "None") == [])
        }
    }

    @Test func `R-872: a command gets each line as JSON, one after the other, and one that fails ends nothing`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let file = "\(directory.path)/lines"
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            #expect(try await place.perform("accounts", "import", "alice", "-", input: Self.archive).status == .ok)
            let picky = "grep -q '\"recordName\":\"c\"' && exit 3; echo ran >> '\(file)'"
            for command in ["cat >> '\(file)'", picky] {
                let shown = try await place.perform(
                    "tail", "alice", "--once", "--zone", "Notes", "--after", "all-", "--exec", command)
                #expect(shown.status == .ok && shown.terminal.output.isEmpty, "\(shown.terminal.messages)")
                let failures = shown.terminal.messages.split(separator: "\n").map(String.init)
                #expect(failures == (command == picky ? ["The command ended with status 3 for c."] : []))
            }
        }
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 5 && lines.suffix(2) == ["ran", "ran"])
        let changes = try lines.prefix(3).map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        #expect(changes.map(\.recordName) == ["a", "b", "c"])
        #expect(changes.allSatisfy { $0.change == "saved" && $0.position.contains(".") && $0.database == "alice" })
    }

    @Test(arguments: [
        ["alice", "--account", "bob"], ["alice", "--all-containers"], ["--all-containers", "--container", "iCloud.a"],
        ["--after", "all-?"],
    ])
    func `R-913: what chooses two places, or is no position, is a mistake`(_ words: [String]) {
        #expect(throws: (any Error).self) { try Admin.parseAsRoot(["tail"] + words) }
    }
}
