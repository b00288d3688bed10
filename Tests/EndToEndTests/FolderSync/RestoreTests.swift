// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkPostgres
import TidemarkTestSupport

@testable import TidemarkKit
@testable import foldersync

/// Folders whose server goes back to a backup, or has forgotten what was deleted.
@Suite struct RestoreTests {
    private func sync(_ folders: SyncedFolder...) async throws {
        for folder in folders { try await folder.once() }
    }

    private func copies(of name: String, in folder: SyncedFolder) throws -> [String] {
        let stem = name.split(separator: ".")[0]
        return try folder.files.keys.map(\.text).filter { $0.hasPrefix("\(stem) (") }.sorted()
    }

    @Test(arguments: BackupMethod.allCases)
    func `R-228: a restored server undoes nothing of what three devices have done since the backup`(
        method: BackupMethod
    ) async throws {
        try await RestorableServer.with(method) { server in
            let folders = try ["a", "b", "c", "new"].map { try SyncedFolder($0, server.site, server.directory) }
            let (a, b, c, newcomer) = (folders[0], folders[1], folders[2], folders[3])
            let large = String(repeating: "0123456789abcdef", count: 80_000)
            for name in ["deleted", "deleted offline", "edited", "edited by both", "edited later", "parted", "z"] {
                try a.write("of the backup", to: "\(name).txt")
            }
            try a.write(large, to: "large.txt")
            try await sync(a, b, c)
            try await server.backUp()

            // What all have heard of, and the server forgets.
            try a.write("since the backup", to: "edited.txt")
            try a.write("since the backup", to: "parted.txt")
            try a.write("since the backup", to: "folder/new.txt")
            try a.write("since the backup", to: "folder/new, and left alone.txt")
            try a.write(large + "!", to: "large.txt")
            try a.delete("deleted.txt")
            try await sync(a, b, c)
            // What nobody has heard of yet.
            try a.write("of a", to: "new of a.txt")
            try b.write("of b", to: "edited by both.txt")
            try c.write("of c", to: "edited by both.txt")
            try b.delete("deleted offline.txt")
            try c.write("more", to: "folder/new.txt")
            try await server.restore()

            // Somebody new takes the old files for the truth, and goes on from there.
            try await sync(newcomer)
            #expect(newcomer.text("edited.txt") == "of the backup")
            try newcomer.write("from the backup", to: "parted.txt")
            try newcomer.write("by the newcomer", to: "edited later.txt")
            try await sync(newcomer, a, b, c, newcomer, a, b, c)

            for folder in folders.dropFirst() { #expect(try folder.files == a.files, "\(folder.name)") }
            #expect(a.text("edited.txt") == "since the backup")
            #expect(a.text("large.txt") == large + "!")
            #expect(a.text("deleted.txt") == nil && a.text("deleted offline.txt") == nil)
            #expect(a.text("folder/new.txt") == "more" && a.text("new of a.txt") == "of a")
            #expect(a.text("folder/new, and left alone.txt") == "since the backup")
            #expect(a.text("z.txt") == "of the backup")
            // What was in the backup and edited since is no conflict.
            #expect(a.text("edited later.txt") == "by the newcomer")
            #expect(try copies(of: "edited later.txt", in: a) == [])
            // Two edits that know nothing of each other: both are there, once.
            let both = try copies(of: "edited by both.txt", in: a)
            #expect(Set((["edited by both.txt"] + both).compactMap(a.text)) == ["of b", "of c"] && both.count == 1)
            let parted = try copies(of: "parted.txt", in: a)
            #expect(a.text("parted.txt") == "from the backup" && parted.compactMap(a.text) == ["since the backup"])
            #expect(parted.first?.contains("before the restore") == true)
        }
    }

    /// - Parameter texts: by name; nil: there is no such file.
    private func becomeEqual(
        _ folders: [SyncedFolder], with texts: [String: String?], _ what: String
    ) async throws {
        try await eventually(what) {
            let files = try folders[0].files
            return try folders.allSatisfy { try $0.files == files }
                && texts.allSatisfy { name, text in folders[0].text(name) == text }
        }
    }

    @Test func `R-083, R-228, R-505: a server that is restored while three programs run undoes nothing of theirs`()
        async throws
    {
        try await RestorableServer.with { server in
            let folders = try ["a", "b", "c"].map { try SyncedFolder($0, server.site, server.directory) }
            let (a, b, c) = (folders[0], folders[1], folders[2])
            let large = String(repeating: "0123456789abcdef", count: 80_000)
            for name in ["deleted", "deleted offline", "edited", "edited by both", "edited twice"] {
                try a.write("of the backup", to: "\(name).txt")
            }
            try a.write(large, to: "large.txt")
            for folder in folders { try await folder.start() }
            try await becomeEqual(folders, with: ["large.txt": large], "all have the first files")
            // The newest of the backup. Nobody touches it, so all know what the backup had.
            try a.write("of the backup", to: "z.txt")
            try await becomeEqual(folders, with: ["z.txt": "of the backup"], "all have what is in the backup")
            try await server.backUp()

            // What all have heard of, and the server forgets.
            try a.write("since the backup", to: "edited.txt")
            try a.write("since the backup", to: "edited twice.txt")
            try b.write("since the backup", to: "folder/new.txt")
            try b.write("since the backup", to: "folder/new, and left alone.txt")
            try c.write(large + "!", to: "large.txt")
            try c.delete("deleted.txt")
            var expected: [String: String?] = [
                "edited.txt": "since the backup", "folder/new, and left alone.txt": "since the backup",
                "large.txt": large + "!", "deleted.txt": nil, "z.txt": "of the backup",
            ]
            try await becomeEqual(folders, with: expected, "all have heard of what is newer than the backup")
            try await server.restore(withAssets: true) {
                // What nobody else has heard of yet.
                try a.write("of a", to: "new of a.txt")
                try b.write("of b", to: "edited by both.txt")
                try c.write("of c", to: "edited by both.txt")
                try b.delete("deleted offline.txt")
                try b.write("later", to: "edited twice.txt")
                try c.write("more", to: "folder/new.txt")
            }
            for folder in folders {
                try await eventually("\(folder.name) notices") {
                    folder.program?.output.contains("the server was restored from a backup") == true
                }
            }
            expected["new of a.txt"] = "of a"
            expected["deleted offline.txt"] = .some(nil)
            try await becomeEqual(folders, with: expected, "all are equal again")
            try await expectSettled(folders)

            // Of two edits that know nothing of each other, and of an edit that met what it had replaced, both are there.
            let texts = try Set(a.files.keys.compactMap { a.text($0.text) })
            #expect(texts.isSuperset(of: ["of b", "of c", "later", "more"]), "\(texts.map { $0.suffix(20) })")
            for (name, text) in expected { #expect(a.text(name) == text, "\(name)") }
            for name in ["edited.txt", "large.txt", "z.txt"] { #expect(try copies(of: name, in: a) == []) }
            // The server has all of it.
            let newcomer = try SyncedFolder("new", server.site, server.directory)
            try await newcomer.once()
            #expect(try newcomer.files == a.files)
        }
    }

    @Test func `R-083, R-228: files whose bytes a restored asset directory lacks are uploaded again`() async throws {
        try await RestorableServer.with { server in
            let folders = try ["a", "b", "new"].map { try SyncedFolder($0, server.site, server.directory) }
            let (a, b, newcomer) = (folders[0], folders[1], folders[2])
            func large(_ mark: String) -> String { String(repeating: "0123456789abcdef", count: 80_000) + mark }
            for name in ["kept", "edited", "edited offline"] { try a.write(large(name), to: "\(name).txt") }
            try await sync(a, b)
            try await server.backUp()

            // The server has these bytes, and forgets them.
            try a.write(large("since"), to: "edited.txt")
            try a.write(large("new"), to: "new.txt")
            try await sync(a, b)
            try b.write(large("offline"), to: "edited offline.txt")
            let assets = server.assetFiles
            try await server.restore(withAssets: true)
            let forgotten = assets.subtracting(server.assetFiles)
            #expect(forgotten.count == 2)

            try await sync(b, a, b)
            #expect(server.assetFiles.isSuperset(of: forgotten))
            // Whoever comes new has all bytes from the server.
            try await sync(newcomer)
            for folder in folders {
                #expect(try folder.files == a.files, "\(folder.name)")
                #expect(try folder.files.count == 4, "\(folder.name)")
                #expect(folder.text("kept.txt") == large("kept") && folder.text("edited.txt") == large("since"))
                #expect(folder.text("new.txt") == large("new"))
                #expect(folder.text("edited offline.txt") == large("offline"))
            }
        }
    }

    @Test func `R-228: a file that waits for a version which the backup lacks stays, and is on the server again`()
        async throws
    {
        try await RestorableServer.with { server in
            let folders = try ["a", "b", "new"].map { try SyncedFolder($0, server.site, server.directory) }
            let (a, b, newcomer) = (folders[0], folders[1], folders[2])
            try a.write("old", to: "old.txt")
            try await sync(a)
            try await server.backUp()
            try a.write("first", to: "waits.txt")
            try await sync(a, b)
            try a.write(String(repeating: "second", count: 150_000), to: "waits.txt")
            try await sync(a)
            // There is no room for it, as on a disk that is full.
            let result = try await b.once(in: "trap '' XFSZ; ulimit -f 600; exec \"$@\"")
            #expect(result.status == 1, "\(result.output)")
            try await server.restore()

            // Whoever has the newer version is gone for good.
            try await sync(b, newcomer)
            for folder in [b, newcomer] { #expect(folder.text("waits.txt") == "first", "\(folder.name)") }
        }
    }

    @Test func `R-228: a record is news, or the server went back, or neither is known to follow, as its tag says`() {
        let old = StoreIncarnation(1)
        let new = old.next(mark: 7)
        let id = FileRecord.id(of: "a", in: CKRecordZone.ID(zoneName: "Files"))
        func stored(_ store: StoreIncarnation, _ number: ChangeNumber) -> CKRecord {
            let tag = ChangeTag.version(store: store, zone: ZoneID(3), number: number).bytes
            return CKRecord(
                recordID: id, recordType: FileRecord.type, fields: FieldMap(),
                metadata: ServerMetadata(tag: tag, createdAt: 0, modifiedAt: 0))
        }
        var entry = Journal.Entry(path: "a")
        entry.remember(stored(old, 8), version: "v")
        let cases: [(StoreIncarnation, ChangeNumber, Syncer.Standing)] = [
            (old, 9, .news), (old, 8, .news), (new, 8, .news), (new, 5, .wentBack),
            // Restored, and not told so.
            (old, 5, .wentBack), (new, ChangeNumber(8).inNextLife + 1, .unrelated),
        ]
        for (store, number, standing) in cases {
            #expect(Syncer.Standing(of: stored(store, number), for: entry) == standing, "\(number)")
        }
        #expect(Syncer.Standing(of: stored(new, 5), for: nil) == .news)
        #expect(Syncer.Standing(of: stored(new, 5), for: Journal.Entry(path: "a")) == .news)
    }

    @Test(arguments: BackupMethod.allCases)
    func `R-552: a zone that was made after the backup is made again, with all files`(
        method: BackupMethod
    ) async throws {
        try await RestorableServer.with(method) { server in
            let (a, b) = (
                try SyncedFolder("a", server.site, server.directory),
                try SyncedFolder("b", server.site, server.directory)
            )
            // The user is in the backup, the folder is not.
            try await server.site.makeContainer().privateCloudDatabase.save(CKRecordZone(zoneName: "Other"))
            try await server.backUp()
            try a.write("kept", to: "kept.txt")
            try a.write("first", to: "edited.txt")
            try await sync(a, b)
            try b.write("second", to: "edited.txt")
            try await server.restore()
            try await sync(a, b, a)
            #expect(try a.files == b.files)
            #expect(Set(try a.files.keys) == ["kept.txt", "edited.txt"])
            #expect(a.text("kept.txt") == "kept" && a.text("edited.txt") == "second")
        }
    }

    @Test func `R-552: what was deleted while a device was away for too long is deleted there, but for what it edited`()
        async throws
    {
        try await RestorableServer.with { server in
            let (a, b) = (
                try SyncedFolder("a", server.site, server.directory),
                try SyncedFolder("b", server.site, server.directory)
            )
            for name in ["deleted.txt", "edited.txt", "kept.txt"] { try a.write("first", to: name) }
            try await sync(a, b)
            try b.write("second", to: "edited.txt")
            try b.write("new", to: "new.txt")
            let database = server.site.makeContainer().privateCloudDatabase
            for name in ["deleted.txt", "edited.txt"] {
                let zoneID = CKRecordZone.ID(zoneName: "Files")
                try await database.deleteRecord(withID: FileRecord.id(of: RelativePath(name), in: zoneID))
            }
            try PostgresAdministration.execute(
                ["UPDATE record SET modified_at = modified_at - interval '31 days' WHERE is_deleted"],
                url: server.databaseURL)
            try await server.tidemark("admin", "compact", "--older-than", "30d", "--yes")
            try await sync(b, a, b)
            #expect(try a.files == b.files)
            #expect(Set(try b.files.keys) == ["edited.txt", "kept.txt", "new.txt"])
            #expect(b.text("edited.txt") == "second")
        }
    }
}
