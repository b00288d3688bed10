// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

@testable import foldersync

/// Folders of two accounts that one of them shares: the program itself, and a real server.
@Suite struct FolderSharingTests {
    /// alice's folder, and one that bob may join, on the server of all tests.
    private func with(_ body: (_ alice: SyncedFolder, _ bob: SyncedFolder) async throws -> Void) async throws {
        let site = try await DevServer.shared()
        let directory = try TestDirectory()
        defer { directory.remove() }
        let (alice, bob) = (try SyncedFolder("a", site, directory), try SyncedFolder("b", site, directory))
        bob.account = "bob"
        try await body(alice, bob)
        for folder in [alice, bob] {
            guard let program = folder.program, program.isRunning else { continue }
            #expect(try await program.stop() == 0, "\(program.output)")
        }
    }

    /// Runs a command as the person who has the folder.
    private func run(
        _ folder: SyncedFolder, _ arguments: String...
    ) async throws -> (status: Int32, output: String) {
        try await Program.run(
            "foldersync", arguments, environment: folder.site.environment(folder.account),
            directory: folder.directory.path)
    }

    private func link(_ folder: SyncedFolder, _ arguments: String...) async throws -> String {
        let shared = try await Program.run(
            "foldersync", ["share", folder.path] + arguments, environment: folder.site.environment(folder.account),
            directory: folder.directory.path)
        #expect(shared.status == 0, "\(shared.output)")
        return shared.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Joins, and keeps the folder in sync from then on.
    private func join(_ folder: SyncedFolder, _ link: String) async throws {
        let program = try Program(
            "foldersync", ["accept", link, folder.path, "--device", folder.name],
            environment: folder.site.environment(folder.account), directory: folder.directory.path)
        folder.program = program
        try await eventually("\(folder.name) watches") {
            guard program.isRunning else { throw NeverHappened(description: program.output) }
            return program.output.contains("watching")
        }
    }

    @Test func `R-317, R-320, R-323: two people's folders are kept equal, and the zone is named once`() async throws {
        try await with { alice, bob in
            try alice.write("one", to: "one.txt")
            try await alice.start()
            try await eventually("alice's file is sent") { alice.program?.output.contains("1 sent") == true }
            // While another foldersync keeps the folder in sync, and without its zone.
            let link = try await link(alice, "--public", "write")
            #expect(link.hasPrefix("https://"))
            try await join(bob, link)
            try await equal(alice, bob, ["one.txt"])
            try bob.write("two", to: "two.txt")
            try alice.write("one, edited", to: "one.txt")
            try await equal(alice, bob, ["one.txt", "two.txt"])
            try await eventually("bob has the edit") { bob.text("one.txt") == "one, edited" }

            let program = try #require(bob.program)
            #expect(try await program.stop() == 0, "\(program.output)")
            try alice.write("three", to: "three.txt")
            let again = try await run(bob, bob.path, "--once")
            #expect(again.status == 0, "\(again.output)")
            try await equal(alice, bob, ["one.txt", "two.txt", "three.txt"])
            #expect(try await self.link(alice, "--public", "write") == link)
        }
    }

    @Test func `R-330: who leaves keeps the files and gets no more of them, and the program ends`() async throws {
        try await with { alice, bob in
            try alice.write("one", to: "one.txt")
            try await alice.once()
            try await join(bob, try await link(alice, "--public", "write"))
            try await equal(alice, bob, ["one.txt"])
            let members = try await run(alice, "members", alice.path)
            #expect(members.output.contains("owner") && members.output.contains("by link"), "\(members.output)")

            let left = try await run(bob, "leave", bob.path)
            #expect(left.status == 0 && left.output.contains("Left."), "\(left.output)")
            let program = try #require(bob.program)
            #expect(try await program.exit() != 0)
            #expect(program.output.contains("not shared with this account"), "\(program.output)")
            try alice.write("two", to: "two.txt")
            try await alice.once()
            let once = try await run(bob, bob.path, "--once")
            #expect(once.status != 0 && once.output.contains("not shared with this account"), "\(once.output)")
            #expect(bob.text("one.txt") == "one" && bob.text("two.txt") == nil)
            #expect(try await !run(alice, "members", alice.path).output.contains("by link"))
            #expect(try await run(alice, "leave", alice.path).output.contains("this account's own"))
        }
    }

    @Test func `R-330: a folder that is joined again loses no file of the others and no edit`() async throws {
        try await with { alice, bob in
            for name in ["deleted", "deleted by bob", "edited", "edited by bob"] {
                try alice.write("one", to: "\(name).txt")
            }
            try await alice.once()
            let link = try await link(alice, "--public", "write")
            #expect(try await run(bob, "accept", link, bob.path, "--once").status == 0)
            #expect(try await run(bob, "leave", bob.path).status == 0)
            #expect(try await run(bob, bob.path, "--once").status != 0)
            try alice.delete("deleted.txt")
            try alice.write("two", to: "edited.txt")
            try await alice.once()
            try bob.delete("deleted by bob.txt")
            try bob.write("three", to: "edited by bob.txt")

            let joined = try await run(bob, "accept", link, bob.path, "--once")
            #expect(joined.status == 0, "\(joined.output)")
            try await alice.once()
            for folder in [alice, bob] {
                let names = ["deleted by bob.txt", "edited by bob.txt", "edited.txt"]
                #expect(try folder.files.keys.map(\.text).sorted() == names)
                #expect(folder.text("edited.txt") == "two" && folder.text("edited by bob.txt") == "three")
            }
            // A deletion counts again from then on.
            try bob.delete("deleted by bob.txt")
            #expect(try await run(bob, bob.path, "--once").status == 0)
            try await alice.once()
            #expect(alice.text("deleted by bob.txt") == nil)
        }
    }

    @Test func `R-330: a folder that could not be left is in sync as before`() async throws {
        try await with { alice, bob in
            for name in ["kept", "deleted"] { try alice.write("one", to: "\(name).txt") }
            try await alice.once()
            let link = try await link(alice, "--public", "write")
            #expect(try await run(bob, "accept", link, bob.path, "--once").status == 0)
            let left = try await Program.run(
                "foldersync", ["leave", bob.path],
                environment: bob.site.environment("bob").merging(["TIDEMARK_TOKEN": "mistyped"]) { $1 },
                directory: bob.directory.path)
            #expect(left.status != 0, "\(left.output)")
            try bob.delete("deleted.txt")
            #expect(try await run(bob, bob.path, "--once").status == 0)
            try await alice.once()
            for folder in [alice, bob] { #expect(try Set(folder.files.keys) == ["kept.txt"]) }
        }
    }

    /// How a shared folder ends for bob.
    enum FolderEnd: CaseIterable {
        /// `leftUnrecorded`: the command was killed when the server had been told.
        case left, leftAndHeard, leftUnrecorded, leftUnrecordedAndHeard, stopped

        var isHeard: Bool { self == .leftAndHeard || self == .leftUnrecordedAndHeard }
    }

    @Test(arguments: FolderEnd.allCases)
    func `R-330: who clears the files away after the end gets them all when joining again`(end: FolderEnd) async throws
    {
        try await with { alice, bob in
            for name in ["one", "two"] { try alice.write(name, to: "\(name).txt") }
            try await alice.once()
            let link = try await link(alice, "--public", "write")
            #expect(try await run(bob, "accept", link, bob.path, "--once").status == 0)
            switch end {
            case .stopped:
                #expect(try await run(alice, "share", alice.path, "--stop").status == 0)
                #expect(try await self.link(alice, "--public", "write") == link)
            case .left, .leftAndHeard:
                #expect(try await run(bob, "leave", bob.path).status == 0)
            case .leftUnrecorded, .leftUnrecordedAndHeard:
                let place = try #require(try Journal.place(ofFolder: bob.path))
                try await SharedFolder(place, in: bob.site.makeContainer("bob")).leave()
            }
            if end.isHeard { #expect(try await run(bob, bob.path, "--once").status != 0) }
            for name in ["one", "two"] { try bob.delete("\(name).txt") }
            // It looks at the files before it has fetched any.
            try await join(bob, link)
            try await equal(alice, bob, ["one.txt", "two.txt"])
            try await alice.once()
            #expect(try Set(alice.files.keys) == ["one.txt", "two.txt"])
        }
    }

    @Test(arguments: [true, false])
    func `R-225, R-330: a device that did not hear of leaving and joining deletes no file of the others`(
        watches: Bool
    ) async throws {
        try await with { alice, bob in
            let phone = try SyncedFolder("c", bob.site, bob.directory)
            phone.account = "bob"
            let names: Set<RelativePath> = ["one.txt", "two.txt"]
            for name in names { try alice.write(name.text, to: name.text) }
            try await alice.once()
            let link = try await link(alice, "--public", "write")
            for folder in [bob, phone] {
                #expect(try await run(folder, "accept", link, folder.path, "--once").status == 0)
            }
            #expect(try await run(bob, "leave", bob.path).status == 0)
            for name in names {
                try bob.delete(name.text)
                try phone.delete(name.text)
            }
            #expect(try await run(bob, "accept", link, bob.path, "--once").status == 0)
            #expect(try Set(bob.files.keys) == names)

            if watches {
                let program = try Program(
                    "foldersync", [phone.path, "--device", phone.name], environment: phone.site.environment("bob"),
                    directory: phone.directory.path)
                try await eventually("the files are there again") {
                    guard program.isRunning else { throw NeverHappened(description: program.output) }
                    return try phone.files == bob.files
                }
                #expect(try await program.stop() == 0, "\(program.output)")
            } else {
                let again = try await run(phone, phone.path, "--once")
                #expect(again.status == 0, "\(again.output)")
            }
            for folder in [alice, bob] { #expect(try await run(folder, folder.path, "--once").status == 0) }
            for folder in [alice, bob, phone] { #expect(try Set(folder.files.keys) == names, "\(folder.name)") }
            // A deletion counts again from then on.
            try phone.delete("one.txt")
            #expect(try await run(phone, phone.path, "--once").status == 0)
            try await alice.once()
            #expect(try Set(alice.files.keys) == ["two.txt"])
        }
    }

    @Test func `R-330: if all files of a shared folder are missing, others lose them only if somebody says so`()
        async throws
    {
        try await with { alice, bob in
            let names: Set<RelativePath> = ["one.txt", "two.txt"]
            for name in names { try alice.write(name.text, to: name.text) }
            try await alice.once()
            let link = try await link(alice, "--public", "write")
            #expect(try await run(bob, "accept", link, bob.path, "--once").status == 0)
            for name in names { try bob.delete(name.text) }
            try bob.write("new", to: "new.txt")
            // A file that comes meanwhile makes no difference.
            try alice.write("three", to: "three.txt")
            try await alice.once()
            for more in [["--once"], []] {
                let stopped = try await Program.run(
                    "foldersync", [bob.path] + more, environment: bob.site.environment("bob"),
                    directory: bob.directory.path)
                #expect(stopped.status != 0 && stopped.output.contains("--missing fetch"), "\(stopped.output)")
                // The next time, they are all missing again.
                if bob.text("three.txt") != nil { try bob.delete("three.txt") }
            }
            try await alice.once()
            #expect(try Set(alice.files.keys) == names.union(["three.txt"]))

            let fetched = try await run(bob, bob.path, "--once", "--missing", "fetch")
            #expect(fetched.status == 0, "\(fetched.output)")
            try await alice.once()
            for folder in [alice, bob] {
                #expect(try Set(folder.files.keys) == names.union(["three.txt", "new.txt"]), "\(folder.name)")
            }

            for name in try bob.files.keys { try bob.delete(name.text) }
            let deleted = try await run(bob, bob.path, "--once", "--missing", "delete")
            #expect(deleted.status == 0, "\(deleted.output)")
            try await alice.once()
            #expect(try alice.files.isEmpty)
        }
    }

    @Test func `R-207, R-330: a folder whose zone its owner has made anew is compared file by file`() async throws {
        try await with { alice, bob in
            for name in ["same", "not there", "other"] { try alice.write("one", to: "\(name).txt") }
            try await alice.once()
            let old = try await link(alice, "--public", "write")
            #expect(try await run(bob, "accept", old, bob.path, "--once").status == 0)
            let database = alice.site.makeContainer().privateCloudDatabase
            try await database.deleteRecordZone(withID: CKRecordZone.ID(zoneName: "Files"))
            for folder in [alice, bob] { #expect(try await run(folder, folder.path, "--once").status != 0) }
            try alice.delete("not there.txt")
            try alice.write("two", to: "other.txt")
            try await alice.once()
            let new = try await link(alice, "--public", "write")
            let joined = try await run(bob, "accept", new, bob.path, "--once")
            #expect(joined.status == 0, "\(joined.output)")
            try await alice.once()
            #expect(try alice.files == bob.files && alice.files.count == 4)
            #expect(alice.text("same.txt") == "one" && alice.text("not there.txt") == "one")
            #expect(alice.text("other.txt") == "two")
            let again = try await run(bob, bob.path, "--once")
            #expect(again.status == 0 && again.output == "", "\(again.output)")
        }
    }

    @Test func `R-307, R-329: who may only read gets the server's version back, and keeps each edit, unsent`()
        async throws
    {
        try await with { alice, bob in
            for name in ["one", "deleted", "left"] { try alice.write("one", to: "\(name).txt") }
            try await alice.once()
            let link = try await link(alice, "--public", "read")
            let joined = try await run(bob, "accept", link, bob.path, "--once")
            #expect(joined.status == 0 && bob.text("one.txt") == "one", "\(joined.output)")
            try bob.write("edited", to: "one.txt")
            try bob.write("new", to: "new.txt")
            try bob.delete("deleted.txt")
            let refused = try await run(bob, bob.path, "--once")
            #expect(refused.status == 0, "\(refused.output)")
            for name in ["one.txt", "new.txt", "deleted.txt"] {
                #expect(refused.output.contains("\(name): not sent, because"), "\(refused.output)")
            }
            for name in ["one", "deleted", "left"] { #expect(bob.text("\(name).txt") == "one") }
            let others: Set<RelativePath> = ["one.txt", "deleted.txt", "left.txt"]
            let kept = try Set(bob.files.keys).subtracting(others)
            let copy = try #require(kept.first { $0 != "new.txt" })
            #expect(kept.count == 2 && bob.text(copy.text) == "edited" && bob.text("new.txt") == "new")
            #expect(copy.text.hasPrefix("one (conflict, "))
            // It is said once, and tried once.
            let again = try await run(bob, bob.path, "--once")
            #expect(again.status == 0 && again.output == "", "\(again.output)")
            try await alice.once()
            #expect(try Set(alice.files.keys) == others && alice.text("one.txt") == "one")
            // As soon as it is allowed, it is sent.
            _ = try await self.link(alice, "--public", "write")
            #expect(try await run(bob, bob.path, "--once").status == 0)
            try await alice.once()
            #expect(alice.text(copy.text) == "edited" && alice.text("new.txt") == "new")
            #expect(try alice.files == bob.files)
        }
    }

    @Test func `R-329: each edit of who may only read is told of, as long as the program runs`() async throws {
        try await with { alice, bob in
            try alice.write("one", to: "one.txt")
            try await alice.once()
            try await join(bob, try await link(alice, "--public", "read"))
            try await equal(alice, bob, ["one.txt"])
            for number in 1...2 {
                try bob.write("edited \(number)", to: "one.txt")
                try await eventually("bob hears of edit \(number), and has the file as it was") {
                    let told = bob.program?.output.components(separatedBy: "one.txt: not sent, because") ?? []
                    return told.count > number && bob.text("one.txt") == "one"
                }
            }
        }
    }

    @Test func `R-329: a file that gave way when the program was killed comes back, and is deleted nowhere`()
        async throws
    {
        try await with { alice, bob in
            for name in ["one", "kept"] { try alice.write("one", to: "\(name).txt") }
            try await alice.once()
            let link = try await link(alice, "--public", "read")
            #expect(try await run(bob, "accept", link, bob.path, "--once").status == 0)
            // bob's edit was refused and is aside. The server's version was not written.
            try bob.delete("one.txt")
            try bob.write("edited", to: "one, edited.txt")
            let files = try bob.files
            do {
                let place = try #require(try Journal.place(ofFolder: bob.path))
                let journal = try Journal(
                    directory: "\(bob.path)/\(FileTree.stateDirectoryName)", zoneName: place.zoneName,
                    owner: place.owner)
                var entry = try #require(journal["one.txt"])
                entry.refused = Journal.Entry.Refused(version: files["one, edited.txt"])
                entry.receiving = Journal.Entry.Arrival(version: nil, unreadTag: entry.tag)
                journal["one.txt"] = entry
                try journal.persist()
            }
            // What the server had refused is allowed by then.
            _ = try await self.link(alice, "--public", "write")
            let again = try await run(bob, bob.path, "--once")
            #expect(again.status == 0, "\(again.output)")
            try await alice.once()
            for folder in [alice, bob] {
                #expect(folder.text("one.txt") == "one" && folder.text("one, edited.txt") == "edited")
            }
        }
    }

    @Test func `R-329: who may only read keeps an edit of a file that is deleted elsewhere`() async throws {
        try await with { alice, bob in
            try alice.write("one", to: "one.txt")
            try await alice.once()
            let link = try await link(alice, "--public", "read")
            #expect(try await run(bob, "accept", link, bob.path, "--once").status == 0)
            try bob.write("edited", to: "one.txt")
            try alice.delete("one.txt")
            try await alice.once()
            #expect(try await run(bob, bob.path, "--once").status == 0)
            #expect(bob.text("one.txt") == "edited")
            let again = try await run(bob, bob.path, "--once")
            #expect(again.status == 0 && again.output == "", "\(again.output)")
            try await alice.once()
            #expect(alice.text("one.txt") == nil)
        }
    }

    @Test func `R-316, R-326: without an invitation, and after the end, a link leads nowhere`() async throws {
        try await with { alice, bob in
            try alice.write("one", to: "one.txt")
            try await alice.once()
            // Invited is somebody else.
            let link = try await link(alice, "--with", "carol@example.org")
            let refused = try await run(bob, "accept", link, bob.path, "--once")
            #expect(refused.status != 0 && refused.output.contains("Share not found"), "\(refused.output)")
            #expect(try await run(alice, "members", alice.path).output.contains("carol@example.org"))

            #expect(try await self.link(alice, "--public", "read") == link)
            #expect(try await run(bob, "accept", link, bob.path, "--once").status == 0)
            let stopped = try await run(alice, "share", alice.path, "--stop")
            #expect(stopped.status == 0, "\(stopped.output)")
            let ended = try await run(bob, bob.path, "--once")
            #expect(ended.status != 0 && ended.output.contains("not shared with this account"), "\(ended.output)")
            #expect(bob.text("one.txt") == "one")
            #expect(try await run(bob, "accept", link, bob.path, "--once").output.contains("Share not found"))
        }
    }

    @Test func `what is missing or does not fit is named, with what to do`() async throws {
        try await with { alice, bob in
            try await alice.once()
            let link = try await link(alice, "--public", "write")
            #expect(try await run(alice, "accept", link, alice.path).output.contains("this account's own"))
            try await bob.once()
            // A folder that is in sync with bob's own zone does not become alice's.
            #expect(try await run(bob, "accept", link, bob.path).output.contains("is in sync with the zone Files"))
            #expect(try await run(bob, "members", bob.path).output.contains("not shared with anybody"))
            let cases: [([String], String)] = [
                (["share", alice.path], "--with"),
                (["share", alice.path, "--with", "x@y.z", "--public", "read"], "not both"),
                (["share", alice.path, "--stop", "--public", "read"], "--stop"),
                (["share", alice.path, "--public", "none", "--remove", "nobody"], "Nobody named nobody"),
                (["members", "\(alice.path)/none"], "--zone"), (["accept", "", alice.path], "is not a link"),
            ]
            for (arguments, text) in cases {
                let ended = try await Program.run(
                    "foldersync", arguments, environment: alice.site.environment("alice"),
                    directory: alice.directory.path)
                #expect(ended.status != 0 && ended.output.contains(text), "\(arguments): \(ended.output)")
            }
        }
    }

    @Test func `a folder remembers whose zone it is in sync with`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let state = "\(directory.path)/\(FileTree.stateDirectoryName)"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        #expect(try Journal.place(ofFolder: directory.path) == nil)
        #expect(throws: FolderSyncError.zoneUnknown(directory.path)) {
            try FolderPlace.find(directory.path, zoneName: nil)
        }
        let place = FolderPlace(zoneName: "Files", owner: "_alice")
        do {
            let journal = try Journal(directory: state, zoneName: "Files", owner: "_alice")
            // Also while another process has it open.
            #expect(try Journal.place(ofFolder: directory.path) == place)
            withExtendedLifetime(journal) {}
        }
        for name in [nil, "Files"] { #expect(try FolderPlace.find(directory.path, zoneName: name) == place) }
        #expect(place.zoneID.ownerName == "_alice")
        #expect(throws: FolderSyncError.otherZone("Files")) { try FolderPlace.find(directory.path, zoneName: "Other") }
        // One's own zone of that name is another one.
        #expect(throws: FolderSyncError.otherZone("Files")) { try Journal(directory: state, zoneName: "Files") }
        #expect(try Journal(directory: state, zoneName: "Files", owner: "_alice").paths.isEmpty)
    }
}
