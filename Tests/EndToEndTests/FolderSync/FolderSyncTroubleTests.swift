// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkFields
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkKit
@testable import foldersync

/// What is in the way of a folder that is to be kept equal: no room, no access, a link, somebody else's account, no zone.
@Suite struct FolderSyncTroubleTests {
    @Test func `a file for which there was no room is received when there is`() async throws {
        try await withFolders { a, b in
            try a.write(Data(count: 900_000), to: "large")
            try a.write("small", to: "small")
            try await a.once()
            // 512 KiB in blocks of 512 bytes.
            let first = try await b.once(in: "ulimit -f 1024; trap '' XFSZ; exec \"$@\"")
            #expect(first.status != 0 && first.output.contains("large: "), "\(first.output)")
            #expect(first.output.contains("1 files are not in sync"))
            #expect(b.text("small") == "small" && b.text("large") == nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(b.path)/.foldersync/staging").isEmpty)
            try await b.once()
            #expect(try a.files == b.files)
        }
    }

    @Test func `a file whose content could not be read when it arrived is fetched again, and replaces no edit`()
        async throws
    {
        try await withFolders { a, b in
            let large = String(repeating: "0123456789", count: 150_000)
            let old = ["deleted", "edited", "left alone"]
            let all = old + ["new"]
            for name in old { try a.write("first", to: name) }
            for folder in [a, b] { try await folder.once() }
            for name in all { try a.write(large + name, to: name) }
            try await a.once()
            do {
                let (journal, syncer) = try b.open()
                let delegate = FileLosingDelegate(syncer)
                var configuration = CKSyncEngine.Configuration(
                    database: b.site.makeContainer().privateCloudDatabase, stateSerialization: journal.engineState,
                    delegate: delegate)
                configuration.automaticallySync = false
                let engine = CKSyncEngine(configuration)
                try await engine.fetchChanges()
                await engine.cancelOperations()
                #expect(Set(journal.arrivals.keys) == Set(all.map { RelativePath($0) }))
                withExtendedLifetime(delegate) {}
            }
            #expect(b.text("left alone") == "first" && b.text("new") == nil)
            try b.write("of b", to: "edited")
            try b.delete("deleted")
            for folder in [b, a] { try await folder.once() }
            #expect(try a.files == b.files)
            for name in all { #expect(b.text(name) == large + name, "\(name)") }
            let texts = try b.files.keys.compactMap { b.text($0.text) }
            #expect(texts.contains("of b") && texts.count == all.count + 1)
        }
    }

    @Test func `a file whose line in the journal is damaged comes again, and the person is told`() async throws {
        try await withFolders { a, b in
            try a.write("1", to: "old")
            for folder in [a, b] { try await folder.once() }
            try a.write("2", to: "new")
            for folder in [a, b] { try await folder.once() }
            // A disk that fails: neither the file nor its line can be read any more, the engine's state can.
            try b.delete("new")
            let journal = URL(fileURLWithPath: "\(b.path)/.foldersync/journal")
            let lines = try String(contentsOf: journal, encoding: .utf8).split(separator: "\n")
            let isOfNew = { (line: Substring) in line.contains(#""path":"new""#) }
            #expect(lines.contains(where: isOfNew))
            let damaged = lines.map { isOfNew($0) ? $0.dropFirst(5) : $0 }.joined(separator: "\n") + "\n"
            try damaged.write(to: journal, atomically: true, encoding: .utf8)
            try b.write("edited", to: "old")
            let output = try await b.once()
            #expect(output.contains("has damaged lines: ") && output.contains("journal.damaged"), "\(output)")
            #expect(b.text("new") == "2")
            try await a.once()
            #expect(a.text("old") == "edited")
            #expect(try a.files == b.files)
            #expect(try await !b.once().contains("damaged"))
        }
    }

    @Test func `a file whose place was taken by a directory is received, or deleted, when there is room for it`()
        async throws
    {
        try await withFolders { a, b in
            try a.write("content", to: "name")
            try FileManager.default.createDirectory(atPath: "\(b.path)/name", withIntermediateDirectories: true)
            try await a.once()
            let first = try await b.once(in: "exec \"$@\"")
            #expect(first.status != 0 && first.output.contains("The directory stays"), "\(first.output)")
            try b.delete("name")
            #expect(try await b.once() == "in sync: 0 sent, 1 received\n")
            #expect(try a.files == b.files)
        }
    }

    @Test func `a file that gets the name of a directory is received when the same fetch removes the directory`()
        async throws
    {
        try await withFolders { a, b in
            try a.write("below", to: "name/x")
            for folder in [a, b] { try await folder.once() }
            try a.delete("name")
            try a.write("content", to: "name")
            for folder in [a, b] { try await folder.once() }
            #expect(b.text("name") == "content")
            #expect(try a.files == b.files)
        }
    }

    /// Not even root may read everything, without these.
    private static let unprivileged =
        #"[ "$(id -u)" != 0 ] && exec "$@"; exec setpriv --bounding-set=-dac_override,-dac_read_search "$@""#

    @Test func `what is in a directory that cannot be read is not in sync, and not deleted`() async throws {
        try await withFolders { a, b in
            try a.write("content", to: "d/file")
            for folder in [a, b] { try await folder.once() }
            chmod("\(a.path)/d", 0)
            let run = try await a.once(in: Self.unprivileged)
            chmod("\(a.path)/d", 0o755)
            #expect(run.status != 0 && run.output.contains("d: Permission denied"), "\(run.output)")
            for folder in [b, a] { try await folder.once() }
            #expect(a.text("d/file") == "content" && b.text("d/file") == "content")
        }
    }

    @Test func `a directory that could not be opened is looked at again until it can be`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        var tree = try FileTree(root: directory.path)
        let path = tree.absolute("d")
        let mark = "\(tree.stateDirectory)/broken"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        for file in ["\(path)/file", mark] { try Data().write(to: URL(fileURLWithPath: file)) }
        tree.openForListing = { directory, flags in
            guard directory == path, access(mark, F_OK) == 0 else { return open(directory, flags) }
            errno = EIO
            return -1
        }
        let journal = try Journal(directory: tree.stateDirectory, zoneName: "Files")
        let syncer = Syncer(
            tree: tree, journal: journal, zoneName: "Files", deviceName: "a", report: TerminalReport(isVerbose: false))
        await syncer.scan()
        for _ in 0..<2 { await syncer.lookAgain() }
        #expect(journal.paths.isEmpty)
        unlink(mark)
        await syncer.lookAgain()
        #expect(journal.paths == ["d/file"])
    }

    @Test func `a file that cannot be read is not in sync, and each run says so until it can be`() async throws {
        try await withFolders { a, b in
            try a.write("public", to: "public")
            try a.write("secret", to: "secret")
            // It is left out on purpose.
            symlink("public", "\(a.path)/link")
            chmod("\(a.path)/secret", 0)
            for _ in 0..<2 {
                let run = try await a.once(in: Self.unprivileged)
                #expect(run.status != 0 && run.output.contains("secret: Permission denied"), "\(run.output)")
                #expect(run.output.contains("1 files are not in sync"), "\(run.output)")
            }
            try await b.once()
            #expect(Set(try b.files.keys) == ["public"])
            chmod("\(a.path)/secret", 0o600)
            for folder in [a, b] { try await folder.once() }
            #expect(b.text("secret") == "secret")
        }
    }

    @Test func `a folder that is moved away while it is watched is not taken for a deleted one`() async throws {
        try await withFolders { a, b in
            for name in ["file", "other"] { try a.write("first", to: name) }
            for folder in [a, b] { try await folder.start() }
            try await equal(a, b, ["file", "other"])
            let moved = "\(a.path)-moved"
            #expect(rename(a.path, moved) == 0)
            for name in ["file", "other"] {
                try Data("second".utf8).write(to: URL(fileURLWithPath: "\(moved)/\(name)"))
            }
            try await eventually("it says so") { a.program?.output.contains("is not where it was") == true }
            #expect(rename(moved, a.path) == 0)
            try a.write("third", to: "file")
            try await eventually("b has the edit") { b.text("file") == "third" }
            #expect(b.text("other") != nil)
        }
    }

    @Test func `behind a link that has taken a directory's place nothing is deleted, here or elsewhere`() async throws {
        try await withFolders { a, b in
            for name in ["edited", "deleted", "kept"] { try a.write("first", to: "d/\(name)") }
            for folder in [a, b] { try await folder.once() }
            let outside = "\(a.directory.path)/outside"
            #expect(rename("\(a.path)/d", outside) == 0)
            #expect(symlink(outside, "\(a.path)/d") == 0)
            try await a.once()
            try await b.once()
            #expect(try b.files.count == 3)
            try b.write("second", to: "d/edited")
            try b.delete("d/deleted")
            try await b.once()
            let run = try await a.once(in: "exec \"$@\"")
            #expect(run.status != 0 && run.output.contains("d/edited: in a linked directory"), "\(run.output)")
            #expect(run.output.contains("2 files are not in sync"), "\(run.output)")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(a.path)/d") == outside)
            #expect(try FileManager.default.contentsOfDirectory(atPath: outside).count == 3)
            #expect(a.text("d/edited") == "first")
            try await b.once()
            #expect(Set(try b.files.keys) == ["d/edited", "d/kept"])
            // The directory is back.
            try a.delete("d")
            #expect(rename(outside, "\(a.path)/d") == 0)
            try await a.once()
            #expect(try a.files == b.files)
        }
    }

    @Test func `when somebody else signs in the files of two accounts do not meet, until it is started again`()
        async throws
    {
        try await withFolders { a, b in
            b.account = "bob"
            try a.write("of alice", to: "of alice")
            try b.write("of bob", to: "of bob")
            for folder in [a, b] { try await folder.once() }
            a.account = "bob"
            try a.write("new", to: "new")
            let run = try await a.once(in: "exec \"$@\"")
            #expect(run.status != 0 && run.output.contains("The account has changed"), "\(run.output)")
            #expect(Set(try a.files.keys) == ["of alice", "new"])
            try await b.once()
            #expect(Set(try b.files.keys) == ["of bob"])
            for folder in [a, b] { try await folder.once() }
            #expect(Set(try b.files.keys) == ["of alice", "of bob", "new"])
            #expect(try a.files == b.files)
        }
    }

    @Test func `after its zone was deleted a folder that is started again is synced anew`() async throws {
        try await withFolders { a, b in
            try a.write("content", to: "file")
            for folder in [a, b] { try await folder.once() }
            let database = a.site.makeContainer().privateCloudDatabase
            try await database.deleteRecordZone(withID: CKRecordZone.ID(zoneName: "Files"))
            for folder in [a, b] {
                try folder.write("more of \(folder.name)", to: "of \(folder.name)")
                let run = try await folder.once(in: "exec \"$@\"")
                #expect(run.status != 0 && run.output.contains("was deleted on the server"), "\(run.output)")
            }
            for folder in [a, b, a] { try await folder.once() }
            #expect(Set(try a.files.keys) == ["file", "of a", "of b"])
            #expect(try a.files == b.files)
        }
    }

    @Test func `a save that is refused because its zone was purged ends it, and the next start syncs anew`()
        async throws
    {
        try await withFolders { a, b in
            try a.write("content", to: "file")
            try await a.once()
            let database = a.site.makeContainer().privateCloudDatabase
            let zoneID = CKRecordZone.ID(zoneName: "Files")
            do {
                let (journal, syncer) = try a.open()
                var configuration = CKSyncEngine.Configuration(
                    database: database, stateSerialization: journal.engineState, delegate: syncer)
                configuration.automaticallySync = false
                let engine = CKSyncEngine(configuration)
                let record = CKRecord(recordType: "File", recordID: FileRecord.id(of: "file", in: zoneID))
                await syncer.notSaved(record, CKError(.userDeletedZone), syncEngine: engine)
                #expect(await syncer.hasFailed)
                #expect(journal.engineState == nil && journal["file"]?.version == nil)
                await engine.cancelOperations()
                #expect(journal.engineState == nil)
            }
            try await database.deleteRecordZone(withID: zoneID)
            for folder in [a, b] { try await folder.once() }
            #expect(b.text("file") == "content")
        }
    }

    /// One that knows a record, without its program.
    private func withSyncer(_ body: (Syncer, Journal, CKSyncEngine, CKRecord.ID) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let tree = try FileTree(root: directory.path)
        let journal = try Journal(directory: tree.stateDirectory, zoneName: "Files")
        let syncer = Syncer(
            tree: tree, journal: journal, zoneName: "Files", deviceName: "a", report: TerminalReport(isVerbose: false))
        let device = TestCloud().account("alice").device("a")
        var configuration = CKSyncEngine.Configuration(
            database: device.container.privateCloudDatabase, stateSerialization: nil, delegate: syncer)
        configuration.automaticallySync = false
        let id = FileRecord.id(of: "file", in: CKRecordZone.ID(zoneName: "Files"))
        var entry = Journal.Entry(path: "file")
        entry.remember(CKRecord(recordType: FileRecord.type, recordID: id), version: "v")
        journal["file"] = entry
        try await body(syncer, journal, CKSyncEngine(configuration), id)
    }

    @Test func `a record that the server has no more is sent as a new one`() async throws {
        try await withSyncer { syncer, journal, engine, id in
            let record = CKRecord(recordType: FileRecord.type, recordID: id)
            await syncer.notSaved(record, CKError(.unknownItem), syncEngine: engine)
            #expect(journal["file"]?.version == nil && journal["file"]?.record == nil)
            #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(id)])
        }
    }

    /// A large file whose content cannot be read.
    private func unreadable(_ id: CKRecord.ID) -> CKRecord {
        let record = CKRecord(
            recordID: id, recordType: FileRecord.type, fields: FieldMap(),
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
        record["path"] = "file"
        record["file"] = CKAsset(fileURL: URL(fileURLWithPath: "/nowhere/at all"))
        return record
    }

    @Test func `R-329: the server's version of a refused file is fetched until it can be read`() async throws {
        try await withSyncer { syncer, journal, engine, id in
            let record = unreadable(id)
            journal["file"]?.remember(record, version: "v")
            // It has that version.
            await syncer.fetched([record], syncEngine: engine)
            #expect(journal.arrivals.isEmpty)
            await syncer.mayNotSave(id)
            await syncer.fetched([record], syncEngine: engine)
            #expect(journal.arrivals["file"]?.unreadTag == record.recordChangeTag)
            // Another version was there for a while, and could not be read either.
            journal["file"]?.remember(record, version: "v")
            journal["file"]?.receiving = Journal.Entry.Arrival(version: nil, unreadTag: "other")
            await syncer.fetched([record], syncEngine: engine)
            #expect(journal.arrivals.isEmpty)
        }
    }

    @Test func `R-330: a file that cannot be read when its zone comes again is fetched until it can`() async throws {
        try await withSyncer { syncer, journal, engine, id in
            let record = unreadable(id)
            journal["file"]?.remember(record, version: "v")
            journal.zoneEnded()
            await syncer.fetched([record], syncEngine: engine)
            await syncer.zoneReturned()
            #expect(journal.arrivals["file"]?.unreadTag == record.recordChangeTag)
            #expect(journal["file"]?.version == "v" && engine.state.pendingRecordZoneChanges.isEmpty)
        }
    }

    @Test func `R-107: a zone that lost its keys is made again, and the program goes on`() async throws {
        try await withSyncer { syncer, journal, engine, id in
            let deletion = CKDatabase.DatabaseChange.Deletion(zoneID: id.zoneID, reason: .encryptedDataReset)
            await syncer.handleEvent(
                .fetchedDatabaseChanges(.init(modifications: [], deletions: [deletion])), syncEngine: engine)
            #expect(await !syncer.hasFailed)
            #expect(journal["file"]?.version == nil)
            #expect(engine.state.pendingDatabaseChanges == [.saveZone(CKRecordZone(zoneID: id.zoneID))])
        }
    }
}

/// Hands everything on to a syncer, but removes the files of fetched records before.
private final class FileLosingDelegate: CKSyncEngineDelegate {
    private let syncer: Syncer

    init(_ syncer: Syncer) {
        self.syncer = syncer
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        if case .fetchedRecordZoneChanges(let changes) = event {
            for change in changes.modifications { FileRecord.discardFile(of: change.record) }
        }
        await syncer.handleEvent(event, syncEngine: syncEngine)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await syncer.nextRecordZoneChangeBatch(context, syncEngine: syncEngine)
    }
}
