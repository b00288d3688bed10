// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct AccountRemovalTests {
    private static let records = """
        {"recordName":"a","recordType":"Note","fields":{"n":{"type":"int64","value":7}}}
        {"recordName":"b","recordType":"Note","fields":{}}

        """

    /// Alice has two private and two public records, bob two public ones. One of them refers to one of alice's, and goes with it.
    private func fill(_ place: AdminPlace) async throws {
        _ = try await place.user("alice")
        _ = try await place.user("bob")
        let zone = ZoneName.default
        #expect(try await place.perform("records", "save", "alice", zone, "-", input: Self.records).status == .ok)
        #expect(
            try await place.perform("records", "save", "public", zone, "-", "--account", "alice", input: Self.records)
                .status == .ok)
        let bobs = """
            {"recordName":"c","recordType":"Note","fields":{}}
            {"recordName":"d","recordType":"Note","fields":{"r":{"type":"reference","value":{"recordName":"a","deleteSelf":true}}}}

            """
        #expect(
            try await place.perform("records", "save", "public", zone, "-", "--account", "bob", input: bobs).status
                == .ok)
    }

    private func names(_ place: AdminPlace) async throws -> [String] {
        let list = try await place.perform("records", "list", "public", ZoneName.default, "-o", "name")
        return list.terminal.output.split(separator: "\n").map(String.init).sorted()
    }

    @Test func `R-863: a deletion says in numbers what goes, and needs a confirmation`() async throws {
        try await AdminPlace.run { place in
            try await fill(place)
            let asked = try await place.perform("accounts", "delete", "alice")
            #expect(asked.status == .usage)
            #expect(asked.terminal.messages.contains("1 zone with 2 records"))
            let planned = try await place.perform(
                "accounts", "delete", "alice", "--public-records", "delete", "--dry-run")
            #expect(planned.status == .ok)
            #expect(planned.terminal.messages.contains("2 public records, and 1 record of others"))
            #expect(try await place.store.account(named: "alice") != nil)
        }
    }

    @Test func `R-863: whoever is cut off is told to go on, and not that nothing was changed`() {
        let failure = AdminFailure(StorageError(.tooSlow), done: "A part is deleted.")
        #expect(failure.description == "The database took too long. A part is deleted.")
        #expect(AdminFailure(StorageError(.tooSlow)).description.hasSuffix("Nothing was changed."))
    }

    @Test func `R-832: what takes too long to be counted is told as such`() {
        #expect(Amount.records(.exactly(1)) == "1 record")
        #expect(Amount.records(.atLeast(2)) == "at least 2 records")
        #expect(Amount.records(.atLeast(0)) == "records (not counted: it takes too long)")
        #expect(CountedNumber.exactly(1) + .atLeast(2) == .atLeast(3))
    }

    @Test func `R-863: public records stay, unless they are to go as well, and others' stay in any case`() async throws
    {
        for (choice, left) in [("keep", ["a", "b", "c", "d"]), ("delete", ["c"])] {
            try await AdminPlace.run { place in
                try await fill(place)
                let deleted = try await place.perform(
                    "accounts", "delete", "alice", "--public-records", choice, "--yes")
                #expect(deleted.status == .ok, "\(deleted.terminal.messages)")
                #expect(try await names(place) == left)
                #expect(try await place.store.account(named: "alice") == nil)
                #expect(try await place.perform("accounts", "show", "alice").status == .refused)
                #expect(try await place.perform("accounts", "show", "bob").status == .ok)
            }
        }
    }

    // MARK: An archive before

    private func isDisabled(_ place: AdminPlace) async throws -> Bool {
        try #require(try await place.store.accounts().first { $0.name == "alice" }).disabledAt != nil
    }

    private func records(of name: String, _ place: AdminPlace) async throws -> CountedNumber {
        let account = try #require(try await place.store.account(named: name))
        return try await place.store.recordCount(in: try await place.store.users(of: account).map(\.privateDatabase))
    }

    @Test
    func `R-994: an archive is whole before anything is deleted, only its owner reads it, and it can be imported`()
        async throws
    {
        try await AdminPlace.run { place in
            try await fill(place)
            let directory = try TestDirectory()
            defer { directory.remove() }
            let path = "\(directory.path)/alice.jsonl"
            let planned = try await place.perform("accounts", "delete", "alice", "--export", path, "--dry-run")
            #expect(
                planned.status == .ok && planned.terminal.messages.contains("An archive is written to \(path) before."))
            #expect(!FileManager.default.fileExists(atPath: path))
            let deleted = try await place.perform("accounts", "delete", "alice", "--export", path, "--yes")
            #expect(deleted.status == .ok, "\(deleted.terminal.messages)")
            #expect(deleted.terminal.messages.contains("Wrote \(path). Exported 1 zone, 2 records"))
            #expect(deleted.terminal.output == "", "the archive is in the file")
            #expect(try await place.store.account(named: "alice") == nil)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["alice.jsonl"])
            let archive = try String(contentsOfFile: path, encoding: .utf8)
            #expect(try await place.perform("accounts", "create", "dora").status == .ok)
            let imported = try await place.perform("accounts", "import", "dora", "archive", input: archive)
            #expect(imported.status == .ok, "\(imported.terminal.messages)")
            #expect(imported.terminal.messages.contains("Imported 1 zone, 2 records"))
        }
    }

    @Test func `R-994: without a whole archive nothing is deleted, and the account goes on`() async throws {
        try await AdminPlace.run { place in
            try await fill(place)
            let directory = try TestDirectory()
            defer { directory.remove() }
            let taken = "\(directory.path)/taken"
            try "mine".write(toFile: taken, atomically: false, encoding: .utf8)
            for path in [taken, "\(directory.path)/none/alice.jsonl"] {
                let refused = try await place.perform("accounts", "delete", "alice", "--export", path, "--yes")
                #expect(refused.status == .refused, "\(path)")
                #expect(refused.terminal.messages.contains(path), "\(refused.terminal.messages)")
                #expect(try await !isDisabled(place), "\(path)")
            }
            #expect(try String(contentsOfFile: taken, encoding: .utf8) == "mine")
            #expect(try await records(of: "alice", place) == .exactly(2))
            // Who had been disabled before stays so.
            #expect(try await place.perform("accounts", "disable", "alice").status == .ok)
            let path = "\(directory.path)/none/alice.jsonl"
            #expect(
                try await place.perform("accounts", "delete", "alice", "--export", path, "--yes").status == .refused)
            #expect(try await isDisabled(place))
            for arguments in [["--export", "-"], ["--export", ""], ["--asset-directory", "/tmp"]] {
                #expect(throws: (any Error).self) {
                    try Admin.parseAsRoot(["accounts", "delete", "alice"] + arguments)
                }
            }
        }
    }

    @Test
    func `R-993: a deletion that has begun is not undone, has no archive any more, and is completed by the command`()
        async throws
    {
        try await AdminPlace.run { place in
            try await fill(place)
            let account = try #require(try await place.store.account(named: "alice"))
            _ = try await place.store.beginEnd(of: account, deletesPublic: true)
            let enabled = try await place.perform("accounts", "enable", "alice")
            #expect(enabled.status == .refused)
            #expect(enabled.terminal.messages.contains("tidemark admin accounts delete alice"))
            #expect(try await isDisabled(place))
            let exported = try await place.perform("accounts", "delete", "alice", "--export", "/tmp/none", "--yes")
            #expect(exported.status == .refused && exported.terminal.messages.contains("Leave --export out."))
            let deleted = try await place.perform("accounts", "delete", "alice", "--yes")
            #expect(deleted.status == .ok, "\(deleted.terminal.messages)")
            #expect(try await place.store.account(named: "alice") == nil)
            // What was chosen when it began holds.
            #expect(try await names(place) == ["c"])
        }
    }
}
