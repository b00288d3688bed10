// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import foldersync

/// Directories of a folder that are shared by themselves: the program itself, and a real server.
@Suite struct SubfolderSharingTests {
    /// alice's folder, and one that bob may join, on the server of all tests.
    private func with(_ body: (_ alice: SyncedFolder, _ bob: SyncedFolder) async throws -> Void) async throws {
        let site = try await DevServer.shared()
        let directory = try TestDirectory()
        defer { directory.remove() }
        let (alice, bob) = (try SyncedFolder("a", site, directory), try SyncedFolder("b", site, directory))
        bob.account = "bob"
        try await body(alice, bob)
    }

    private func run(
        _ folder: SyncedFolder, _ arguments: String...
    ) async throws -> (status: Int32, output: String) {
        try await Program.run(
            "foldersync", arguments, environment: folder.site.environment(folder.account),
            directory: folder.directory.path)
    }

    private func share(_ folder: SyncedFolder, _ subfolder: String) async throws -> String {
        let shared = try await run(folder, "share", folder.path, "--subfolder", subfolder, "--public", "write")
        #expect(shared.status == 0, "\(shared.output)")
        // From then on its files are below it.
        try await folder.once()
        return shared.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func `R-301, R-302, R-320: a subfolder is shared, and nothing beside it`() async throws {
        try await with { alice, bob in
            for name in ["sub/one", "sub/deep/two", "other"] { try alice.write("one", to: "\(name).txt") }
            try await alice.once()
            let phone = try SyncedFolder("c", alice.site, alice.directory)
            try await phone.once()
            let link = try await share(alice, "sub/")
            let joined = try await run(bob, "accept", link, bob.path, "--once")
            #expect(joined.status == 0, "\(joined.output)")
            #expect(try Set(bob.files.keys) == ["sub/one.txt", "sub/deep/two.txt"])

            // Another device of alice's has not heard of it when it makes a file.
            try phone.write("three", to: "sub/three.txt")
            try phone.write("hidden", to: "hidden.txt")
            try await phone.once()
            try bob.write("four", to: "sub/deep/four.txt")
            try bob.write("edited", to: "sub/one.txt")
            try bob.delete("sub/deep/two.txt")
            for folder in [bob, phone, alice, bob] { #expect(try await run(folder, folder.path, "--once").status == 0) }
            let shared: Set<RelativePath> = ["sub/one.txt", "sub/three.txt", "sub/deep/four.txt"]
            #expect(try Set(bob.files.keys) == shared)
            for folder in [alice, phone] {
                #expect(try Set(folder.files.keys) == shared.union(["other.txt", "hidden.txt"]), "\(folder.name)")
                #expect(folder.text("sub/one.txt") == "edited")
            }
            let members = try await run(alice, "members", alice.path, "--subfolder", "sub")
            #expect(members.output.contains(link) && members.output.contains("by link"), "\(members.output)")

            // What bob puts beside it stays with him, and he is told.
            try bob.write("mine", to: "mine.txt")
            let refused = try await run(bob, bob.path, "--once")
            #expect(refused.output.contains("mine.txt: not sent, because it is in no directory"), "\(refused.output)")
            try await alice.once()
            #expect(bob.text("mine.txt") == "mine" && alice.text("mine.txt") == nil)
        }
    }

    @Test func `R-306, R-326: a subfolder that is not shared any more stays where it is, and is shared anew`()
        async throws
    {
        try await with { alice, bob in
            try alice.write("one", to: "sub/one.txt")
            try await alice.once()
            let link = try await share(alice, "sub")
            #expect(try await run(bob, "accept", link, bob.path, "--once").status == 0)
            let stopped = try await run(alice, "share", alice.path, "--subfolder", "sub", "--stop")
            #expect(stopped.status == 0, "\(stopped.output)")
            let ended = try await run(bob, bob.path, "--once")
            #expect(ended.status != 0 && ended.output.contains("not shared with this account"), "\(ended.output)")
            #expect(bob.text("sub/one.txt") == "one")
            try alice.write("two", to: "sub/two.txt")
            try await alice.once()
            #expect(try await share(alice, "sub") == link)
            let again = try await run(bob, "accept", link, bob.path, "--once")
            #expect(again.status == 0, "\(again.output)")
            #expect(try Set(bob.files.keys) == ["sub/one.txt", "sub/two.txt"])
        }
    }

    @Test func `R-321, R-330: one of two subfolders ends for somebody, and the other goes on`() async throws {
        try await with { alice, bob in
            for name in ["a", "b"] { try alice.write("one", to: "\(name)/one.txt") }
            try await alice.once()
            for name in ["a", "b"] {
                let link = try await share(alice, name)
                let joined = try await run(bob, "accept", link, bob.path, "--once")
                #expect(joined.status == 0, "\(joined.output)")
            }
            #expect(try Set(bob.files.keys) == ["a/one.txt", "b/one.txt"])
            let left = try await run(bob, "leave", bob.path, "--subfolder", "b")
            #expect(left.status == 0, "\(left.output)")
            try bob.write("two", to: "a/two.txt")
            let synced = try await run(bob, bob.path, "--once")
            #expect(synced.status == 0, "\(synced.output)")
            try alice.write("three", to: "b/three.txt")
            try await alice.once()
            #expect(try await run(bob, bob.path, "--once").status == 0)
            #expect(try Set(bob.files.keys) == ["a/one.txt", "a/two.txt", "b/one.txt"])
            #expect(try Set(alice.files.keys) == ["a/one.txt", "a/two.txt", "b/one.txt", "b/three.txt"])
        }
    }

    @Test func `R-303: a directory in a shared one, or around one, is not shared by itself`() async throws {
        try await with { alice, _ in
            try alice.write("one", to: "x/sub/deep/one.txt")
            try await alice.once()
            _ = try await share(alice, "x/sub")
            for other in ["x/sub/deep", "x"] {
                let refused = try await run(alice, "share", alice.path, "--subfolder", other, "--public", "read")
                #expect(refused.status != 0, "\(other): \(refused.output)")
            }
            for wrong in ["", "..", "a//b", ".foldersync"] {
                let told = try await run(alice, "share", alice.path, "--subfolder", wrong, "--public", "read")
                #expect(told.status != 0 && told.output.contains("--subfolder takes"), "\(wrong): \(told.output)")
            }
        }
    }

    @Test func `a folder remembers which of its directories have records`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let state = "\(directory.path)/\(FileTree.stateDirectoryName)"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        do {
            let journal = try Journal(directory: state, zoneName: "Files")
            journal.subfolders = ["a", "a/b", "c"]
            try journal.persist()
            journal.subfolders.remove("c")
            try journal.persist()
        }
        let journal = try Journal(directory: state, zoneName: "Files")
        #expect(journal.subfolders == ["a", "a/b"])
        #expect(RelativePath("a/b/c.txt").isBelow(["a/b"]) && !RelativePath("a.txt").isBelow(["a"]))
        journal.forgetEverything()
        #expect(journal.subfolders.isEmpty)
    }
}
