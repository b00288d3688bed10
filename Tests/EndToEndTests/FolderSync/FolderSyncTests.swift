// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkTestSupport

@testable import foldersync

/// The program itself: two folders, two processes, a real server.
@Suite struct FolderSyncTests {
    @Test func `R-554: what a device has sent itself is not counted as received when it comes back`() async throws {
        try await withFolders { a, b in
            func counts(_ folder: SyncedFolder) async throws -> [String] {
                try await folder.once().split(separator: "\n").map(String.init).filter { $0.hasPrefix("in sync") }
            }
            for name in ["1", "2", "3"] { try a.write("of a", to: name) }
            #expect(try await counts(a) == ["in sync: 3 sent, 0 received"])
            #expect(try await counts(a) == [])
            #expect(try await counts(b) == ["in sync: 0 sent, 3 received"])
            try b.delete("1")
            try b.write("of b", to: "4")
            #expect(try await counts(b) == ["in sync: 2 sent, 0 received"])
            try a.write("more of a", to: "5")
            #expect(try await counts(a) == ["in sync: 0 sent, 2 received", "in sync: 1 sent, 0 received"])
            #expect(try await counts(b) == ["in sync: 0 sent, 1 received"])
        }
    }

    @Test func `creates, edits, renames and deletes arrive while both run`() async throws {
        try await withFolders { a, b in
            try a.write("one", to: "one.txt")
            try a.write("deep", to: "d/e/e/p/deep.txt")
            try await a.start()
            try await b.start()
            try await equal(a, b, ["one.txt", "d/e/e/p/deep.txt"])
            try b.write("two", to: "two.txt")
            try b.write("one, edited", to: "one.txt")
            try await equal(a, b, ["one.txt", "two.txt", "d/e/e/p/deep.txt"])
            #expect(rename("\(a.path)/two.txt", "\(a.path)/renamed.txt") == 0)
            #expect(rename("\(a.path)/d", "\(a.path)/moved") == 0)
            try await equal(a, b, ["one.txt", "renamed.txt", "moved/e/e/p/deep.txt"])
            try b.delete("moved")
            try await equal(a, b, ["one.txt", "renamed.txt"])
            try await eventually("one.txt is the edited one") { a.text("one.txt") == "one, edited" }
        }
    }

    @Test func `every kind of file and name arrives as it is`() async throws {
        try await withFolders { a, b in
            try a.write(Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }), to: "binary")
            try a.write("", to: "empty")
            try a.write("#!/bin/sh", to: "run")
            chmod("\(a.path)/run", 0o755)
            try a.write("composed", to: "\u{E9}")
            try a.write("decomposed", to: "e\u{301}")
            try a.write("世界", to: "世界/Grüße \"quoted\" \\ \n newline")
            try a.write(Data(count: 1_000_000), to: "largest")
            try await a.once()
            try await b.once()
            #expect(try a.files == b.files)
            #expect(try b.files.count == 7)
            #expect(access("\(b.path)/run", X_OK) == 0)
            chmod("\(b.path)/run", 0o644)
            try await b.once()
            try await a.once()
            #expect(access("\(a.path)/run", X_OK) != 0)
        }
    }

    @Test func `what happened since the last time is found`() async throws {
        try await withFolders { a, b in
            for name in ["keep", "edit", "delete", "rename"] { try a.write("first", to: name) }
            try await a.once()
            try await b.once()
            try a.write("second", to: "edit")
            try a.delete("delete")
            #expect(rename("\(a.path)/rename", "\(a.path)/renamed") == 0)
            try b.write("new", to: "of b")
            try await a.once()
            try await b.once()
            try await a.once()
            #expect(try a.files == b.files)
            #expect(Set(try a.files.keys) == ["keep", "edit", "renamed", "of b"])
            #expect(b.text("edit") == "second")
        }
    }

    @Test func `a conflict keeps both versions, and both everywhere`() async throws {
        try await withFolders { a, b in
            try a.write("start", to: "file.txt")
            try await a.once()
            try await b.once()
            try a.write("of a", to: "file.txt")
            try b.write("of b", to: "file.txt")
            try await a.once()
            let said = try await b.once()
            #expect(said.contains("conflict: file.txt"))
            try await a.once()
            #expect(try a.files == b.files)
            #expect(a.text("file.txt") == "of a")
            let other = try #require(try a.files.keys.first { $0 != "file.txt" })
            #expect(other.text.hasPrefix("file (conflict, b, ") && other.text.hasSuffix(").txt"))
            #expect(a.text(other.text) == "of b")
        }
    }

    @Test func `the same content on both sides is no conflict`() async throws {
        try await withFolders { a, b in
            try a.write("same", to: "file.txt")
            try b.write("same", to: "file.txt")
            try await a.once()
            try await b.once()
            #expect(try a.files == b.files)
            #expect(try a.files.count == 1)
        }
    }

    @Test func `an edit beats a deletion, whichever comes first`() async throws {
        try await withFolders { a, b in
            for name in ["one", "two"] { try a.write("start", to: name) }
            try await a.once()
            try await b.once()
            try a.delete("one")
            try b.write("edited", to: "one")
            try a.write("edited", to: "two")
            try b.delete("two")
            for folder in [a, b, a] { try await folder.once() }
            #expect(try a.files == b.files)
            #expect(a.text("one") == "edited" && a.text("two") == "edited")
            #expect(try a.files.count == 2)
        }
    }

    @Test func `files that are larger than a record arrive, grow and shrink`() async throws {
        try await withFolders { a, b in
            let max = FileRecord.contentBytesMax
            func data(_ count: Int, _ factor: Int) -> Data {
                Data((0..<count).map { UInt8(truncatingIfNeeded: ($0 &* factor) >> 4) })
            }
            try a.write(data(max + 1, 3), to: "edge")
            try a.write(data(3_000_000, 5), to: "large")
            chmod("\(a.path)/large", 0o755)
            try await a.start()
            try await b.start()
            try await equal(a, b, ["edge", "large"])
            #expect(access("\(b.path)/large", X_OK) == 0)
            try b.write(data(4_000_000, 7), to: "large")
            try b.write(data(max, 11), to: "edge")
            let expected = try b.files
            try await eventually("a has both") { try a.files == expected }
            try a.write(data(2_000_000, 13), to: "edge")
            try a.delete("large")
            try await equal(a, b, ["edge"])
        }
    }

    @Test func `a conflict of large files keeps both, and both everywhere`() async throws {
        try await withFolders { a, b in
            let versions = (0..<3).map { Data(repeating: $0, count: 1_500_000) }
            try a.write(versions[0], to: "large")
            for folder in [a, b] { try await folder.once() }
            try a.write(versions[1], to: "large")
            try b.write(versions[2], to: "large")
            for folder in [a, b, a] { try await folder.once() }
            #expect(try a.files == b.files)
            let contents = try a.files.keys.map { FileManager.default.contents(atPath: "\(a.path)/\($0.text)") }
            #expect(Set(contents) == Set(versions[1...]))
        }
    }

    @Test func `records that are not ours, and paths that leave the folder, are ignored`() async throws {
        try await withFolders { a, _ in
            let database = a.site.makeContainer().privateCloudDatabase
            let zoneID = CKRecordZone.ID(zoneName: "Files")
            try await database.save(CKRecordZone(zoneID: zoneID))
            for path in ["../escaped", "/tmp/escaped", ".foldersync/journal", "a/../../escaped", "good"] {
                let record = CKRecord(
                    recordType: "File", recordID: FileRecord.id(of: RelativePath(path), in: zoneID))
                record["path"] = path
                record["content"] = Data("evil".utf8)
                record["isDeleted"] = false
                try await database.save(record)
            }
            let liar = CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: "liar", zoneID: zoneID))
            liar["path"] = "lied"
            liar["content"] = Data("evil".utf8)
            try await database.save(liar)
            try await database.save(CKRecord(recordType: "Other", recordID: .init(recordName: "o", zoneID: zoneID)))
            try await a.once()
            #expect(Set(try a.files.keys) == ["good"])
            #expect(!FileManager.default.fileExists(atPath: "\(a.directory.path)/escaped"))
        }
    }

    @Test func `a file that was created, sent and deleted while the answer was lost does not come back`() async throws {
        try await withFolders { a, b in
            try a.write("content", to: "file")
            try await a.once()
            // The journal as it was when the batch was handed over: sent, and no answer.
            let tree = try FileTree(root: a.path)
            do {
                let journal = try Journal(directory: tree.stateDirectory, zoneName: "Files")
                guard case .file(let file) = tree.look(at: "file") else { return #expect(Bool(false)) }
                var entry = Journal.Entry(path: "file")
                entry.sending(file)
                journal[RelativePath("file")] = entry
                journal.engineState = nil
                try journal.persist()
            }
            try a.delete("file")
            try await a.once()
            try await b.once()
            #expect(try a.files.isEmpty)
            #expect(try b.files.isEmpty)
        }
    }

    @Test func `what was received just before the program was killed is no change of this device`() async throws {
        try await withFolders { a, b in
            for name in ["deleted", "edited", "kept"] { try a.write("first", to: name) }
            for folder in [a, b] { try await folder.once() }
            for name in ["deleted", "edited", "kept"] { try a.write("second", to: name) }
            try await a.once()
            do {
                // As far as b comes when it is killed before it can write down what it has received.
                let (journal, syncer) = try b.open()
                let database = b.site.makeContainer().privateCloudDatabase
                var configuration = CKSyncEngine.Configuration(
                    database: database, stateSerialization: journal.engineState, delegate: syncer)
                configuration.automaticallySync = false
                let engine = CKSyncEngine(configuration)
                let ids = try a.files.keys.map { FileRecord.id(of: $0, in: CKRecordZone.ID(zoneName: "Files")) }
                let records = try await database.records(for: ids).values.map { try $0.get() }
                await syncer.fetched(records, syncEngine: engine)
                await engine.cancelOperations()
            }
            #expect(b.text("deleted") == "second" && b.text("edited") == "second")
            try a.delete("deleted")
            try a.write("third", to: "edited")
            try await a.once()
            #expect(try await b.once().hasPrefix("in sync: 0 sent, 3 received"))
            try await a.once()
            #expect(try a.files == b.files)
            #expect(Set(try b.files.keys) == ["edited", "kept"] && b.text("edited") == "third")
        }
    }

    @Test func `on a terminal a bar shows how far it is, and is not full while files still come`() async throws {
        try await withFolders { a, b in
            for number in 0..<30 { try a.write("\(number)", to: "\(number).txt") }
            func bars(_ folder: SyncedFolder) async throws -> [Substring] {
                let terminal = #"exec script -qefc '"'"$1"'" "'"$2"'" --zone Files --once' /dev/null"#
                let result = try await folder.once(in: terminal)
                #expect(result.status == 0, "\(result.output)")
                return result.output.split(separator: "\r").filter { $0.contains("░") || $0.contains("█") }
            }
            let full = String(repeating: "█", count: 30)
            let sending = try await bars(a)
            #expect(sending.first?.contains("░ sent 0/30, received 0") == true, "\(sending)")
            #expect(sending.last?.contains(full + " sent 30/30, received 0") == true, "\(sending)")
            let receiving = try await bars(b)
            #expect(receiving.last?.contains(" received 30") == true, "\(receiving)")
            #expect(receiving.allSatisfy { !$0.contains(full) && !$0.contains("sent") }, "\(receiving)")
            #expect(Set(receiving.map { $0.prefix { $0 != "r" } }).count > 1)
        }
    }

    @Test func `what cannot be synced is told of once, at the start and while it runs`() async throws {
        try await withFolders { a, b in
            func create(_ name: [CChar]) {
                let path = a.path.utf8CString.dropLast() + [CChar(UInt8(ascii: "/"))] + name + [0]
                close(open(Array(path), O_WRONLY | O_CREAT, 0o600))
            }
            func times(_ text: String) -> Int { (a.program?.output.components(separatedBy: text).count ?? 0) - 1 }
            try a.write("content", to: "file")
            create([0x61, -1])
            symlink("file", "\(a.path)/link")
            try await a.start()
            try await eventually("both are told of") {
                times("a\u{FFFD}: the name is not UTF-8; skipped") == 1
                    && times("link: not a regular file; skipped") == 1
            }
            // What it does when it has signed in is past.
            try await eventually("b has the file") { try await b.has("file") }
            create([0x62, -1])
            try await eventually("the new one too") { times("b\u{FFFD}: the name is not UTF-8; skipped") == 1 }
            // Another full look.
            try a.write("more", to: "directory/more")
            try await eventually("b has it") { try await b.has("directory/more") }
            #expect(times("skipped") == 3, "\(a.program?.output ?? "")")
            #expect(Set(try b.files.keys) == ["file", "directory/more"])
        }
    }

    @Test func `changes that the kernel could not tell of are found, and watched from then on`() async throws {
        try await withFolders { a, b in
            let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
            let eventCount = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)))
            try a.write("start", to: "start")
            for folder in [a, b] { try await folder.start() }
            try await equal(a, b, ["start"])
            a.program?.signal(SIGSTOP)
            // Each is an event of its own, because it differs from the one before.
            for _ in 0...eventCount / 2 {
                close(open("\(a.path)/churn", O_WRONLY | O_CREAT, 0o600))
                unlink("\(a.path)/churn")
            }
            try a.write("late", to: "new directory/file")
            a.program?.signal(SIGCONT)
            try await equal(a, b, ["start", "new directory/file"])
            try a.write("later", to: "new directory/file")
            try await eventually("b has the edit") { b.text("new directory/file") == "later" }
        }
    }

    @Test func `who mistypes a token, a zone or a folder hears of it`() async throws {
        try await withFolders { a, _ in
            let mistyped = try Program(
                "foldersync", [a.path, "--zone", "Files"],
                environment: a.site.environment().merging(["TIDEMARK_TOKEN": "mistyped"]) { $1 },
                directory: a.directory.path)
            try await eventually("it says so") {
                mistyped.output.contains("The credential is unknown, expired or revoked.")
                    && mistyped.output.contains("Trying again until it works.")
            }
            #expect(try await mistyped.stop() == 0)
            let zone = try await Program.run(
                "foldersync", [a.path + "2", "--zone", "_none", "--once"], environment: a.site.environment(),
                directory: a.directory.path)
            #expect(zone.status != 0 && zone.output.contains("A zone's name has 1 to 255"), "\(zone.output)")
            let file = try await Program.run(
                "foldersync", ["/dev/null", "--zone", "Files", "--once"], environment: a.site.environment(),
                directory: a.directory.path)
            #expect(file.status != 0 && file.output.contains("Not a directory"), "\(file.output)")
        }
    }

    @Test func `a second one on the same folder is refused, and a zone that was deleted leaves the files`() async throws
    {
        try await withFolders { a, _ in
            try a.write("content", to: "file")
            try await a.start()
            let second = try await Program.run(
                "foldersync", [a.path, "--zone", "Files", "--once"], environment: a.site.environment(),
                directory: a.directory.path)
            #expect(second.status != 0 && second.output.contains("already"))
            try await eventually("it is in sync") { a.program?.output.contains("in sync") == true }
            let database = a.site.makeContainer().privateCloudDatabase
            try await database.deleteRecordZone(withID: CKRecordZone.ID(zoneName: "Files"))
            let program = try #require(a.program)
            a.program = nil
            #expect(try await program.exit() != 0)
            #expect(program.output.contains("was deleted on the server"))
            #expect(a.text("file") == "content")
        }
    }

    @Test func `R-505: two that run while their server is away end equal when it is back, and nothing is lost`()
        async throws
    {
        let place = try TestDirectory()
        defer { place.remove() }
        let server = try await DevServer.start(in: place)
        let directory = try TestDirectory()
        defer { directory.remove() }
        let (a, b) = (try SyncedFolder("a", server.site, directory), try SyncedFolder("b", server.site, directory))
        for name in ["edited by a", "edited by b", "edited by both", "renamed by a", "deleted by b"] {
            try a.write("start", to: name)
        }
        for folder in [a, b] { try await folder.start() }
        try await eventually("b has them") { try b.files.count == 5 }
        try await equal(a, b, Set(a.files.keys))
        try await server.program.stop()
        for folder in [a, b] {
            try folder.write("edited by \(folder.name)", to: "edited by \(folder.name)")
            try folder.write("made by \(folder.name)", to: "directory of \(folder.name)/new")
            try folder.write("version of \(folder.name)", to: "edited by both")
        }
        #expect(rename("\(a.path)/renamed by a", "\(a.path)/renamed") == 0)
        try b.delete("deleted by b")
        let again = try await DevServer.start(in: place, port: server.site.port)
        try await eventually("the folders are equal") { try a.files.count == 7 && a.files == b.files }
        for folder in [a, b] {
            #expect(a.text("edited by \(folder.name)") == "edited by \(folder.name)")
            #expect(a.text("directory of \(folder.name)/new") == "made by \(folder.name)")
        }
        #expect(a.text("renamed") == "start")
        let versions = try a.files.keys.filter { $0.text.hasPrefix("edited by both") }
        #expect(Set(versions.map { a.text($0.text) }) == ["version of a", "version of b"])
        #expect(versions.contains { $0.text.hasPrefix("edited by both (conflict, ") })
        for folder in [a, b] { #expect(try await folder.program?.stop() == 0) }
        try await again.program.stop()
    }

    @Test func `R-508: a process that slept while its server was restarted is in sync seconds after it wakes`()
        async throws
    {
        let place = try TestDirectory()
        defer { place.remove() }
        let server = try await DevServer.start(in: place)
        let directory = try TestDirectory()
        defer { directory.remove() }
        let (a, b) = (try SyncedFolder("a", server.site, directory), try SyncedFolder("b", server.site, directory))
        try a.write("one", to: "one.txt")
        try await a.start()
        try await b.start()
        try await equal(a, b, ["one.txt"])
        a.program?.signal(SIGSTOP)
        try await server.program.killNow()
        // Else the next one seems to be ready before it is.
        try FileManager.default.removeItem(atPath: "\(place.path)/ready.json")
        let again = try await DevServer.start(in: place, port: server.site.port)
        try b.write("two", to: "two.txt")
        try await eventually("b has sent it") {
            try await SyncedFolder("c", server.site, directory).has("two.txt")
        }
        // Longer than what a client takes for a hiccup.
        try await Task.sleep(for: .seconds(7))
        a.program?.signal(SIGCONT)
        try await eventually("a is in sync", within: .seconds(10)) { a.text("two.txt") == "two" }
        for folder in [a, b] { try await folder.program?.stop() }
        try await again.program.stop()
    }
}
