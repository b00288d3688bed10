// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import foldersync

/// A folder that is copied with all that is known of its last sync: two devices that take themselves for the same one
///
@Suite struct CopiedFolderTests {
    /// As `cp -a`, while the program may be running in the original.
    ///
    /// - Parameter site: where the copy syncs; nil: where the original does.
    private func copy(_ folder: SyncedFolder, to name: String, at site: Site? = nil) async throws -> SyncedFolder {
        let copy = try SyncedFolder(name, site ?? folder.site, folder.directory)
        let result = try await Program.run(
            "cp", ["-a", "\(folder.path)/.", copy.path], environment: [:], directory: folder.directory.path,
            path: "/bin/cp")
        #expect(result.status == 0, "\(result.output)")
        return copy
    }

    /// - Parameter texts: what all have by then, under whatever names.
    private func expectEqual(_ folders: [SyncedFolder], has texts: [String] = [], _ what: String) async throws {
        let versions = texts.map { FileRecord.version(of: Data($0.utf8), isExecutable: false) }
        try await eventually(what) {
            let all = try folders.map { try $0.files }
            return all.allSatisfy { $0 == all[0] } && Set(all[0].values).isSuperset(of: versions)
        }
    }

    /// Writes to one file in all folders. No program runs meanwhile, so none has heard of another's text.
    ///
    /// - Parameter beginning: of each text.
    /// - Returns: the texts. One keeps the file's name, and the others become conflict copies.
    private func writeSameFile(
        in folders: [SyncedFolder], _ round: Int, to name: String = "same.txt", beginning: String = "same file, "
    ) throws -> [String] {
        for folder in folders { folder.program?.signal(SIGSTOP) }
        defer { for folder in folders { folder.program?.signal(SIGCONT) } }
        let texts = folders.map { "\(beginning)\($0.name) \(round)" }
        for (folder, text) in zip(folders, texts) { try folder.write(text, to: name) }
        return texts
    }

    @Test func `R-355: a folder that is copied while it is watched, and its copy, hear each other and lose no edit`()
        async throws
    {
        try await withFolders { a, b in
            for number in 0..<10 { try a.write("first \(number)", to: "f\(number)") }
            try await a.start()
            try await b.start()
            try await equal(a, b, Set((0..<10).map { RelativePath("f\($0)") }))
            let copy = try await copy(a, to: "copy")
            try await copy.start()
            // Each in turn and all at once, over the counters that one process after another has used.
            for round in 0..<4 {
                for folder in [a, copy, b] {
                    try folder.write("\(folder.name) \(round)", to: "of \(folder.name)")
                    try folder.write("\(folder.name) \(round)", to: "\(folder.name) \(round)")
                }
                let texts = try writeSameFile(in: [a, copy, b], round)
                try await expectEqual([a, b, copy], has: texts, "all three are equal after round \(round)")
                for folder in [a, copy, b] { #expect(b.text("of \(folder.name)") == "\(folder.name) \(round)") }
            }
            // Of each round two conflict copies stay.
            #expect(try b.files.count == 10 + 3 + 12 + 1 + 8)
            #expect(try await copy.program?.stop() == 0)
        }
    }

    @Test func `R-355: a folder and its copy that are away in turn lose no edit`() async throws {
        try await withFolders { a, b in
            try a.write("first", to: "shared")
            try await a.once()
            let copy = try await copy(a, to: "copy")
            for round in 0..<3 {
                let texts = try writeSameFile(in: [a, copy, b], round)
                for folder in [a, copy, b] {
                    try folder.write("\(folder.name) \(round)", to: "\(folder.name) \(round)")
                    try await folder.once()
                }
                for folder in [a, copy, b] { try await folder.once() }
                #expect(try a.files == b.files && copy.files == b.files)
                #expect(try Set(b.files.keys.compactMap { b.text($0.text) }).isSuperset(of: texts), "round \(round)")
            }
            #expect(try b.files.count == 1 + 9 + 1 + 6)
        }
    }

    @Test func `R-157, R-248, R-355: a folder and its copy at two servers hear each other and lose no edit`()
        async throws
    {
        try await ServerPair.with { pair in
            let a = try SyncedFolder("a", pair.sites[0], pair.directory)
            try a.write("first", to: "shared")
            try await a.start()
            try await eventually("the file is on the server") { a.program?.output.contains("in sync") == true }
            let copy = try await copy(a, to: "copy", at: pair.sites[1])
            try await copy.start()
            let folders = [a, copy]
            for round in 0..<4 {
                // Each in turn and both at once, so that the same counters are used at both servers.
                for folder in folders {
                    try folder.write("\(folder.name) \(round)", to: "of \(folder.name)")
                    try folder.write("\(folder.name) \(round)", to: "\(folder.name) \(round)")
                }
                let texts = try writeSameFile(in: folders, round)
                try await expectEqual(folders, has: texts, "both are equal after round \(round)")
                for folder in folders {
                    #expect(a.text("of \(folder.name)") == "\(folder.name) \(round)")
                    #expect(a.text("\(folder.name) \(round)") == "\(folder.name) \(round)")
                }
            }
            #expect(try a.files.count == 1 + 2 + 8 + 1 + 4)
            // Who comes to the other's server is told.
            #expect(try await copy.program?.stop() == 0)
            let moved = try await self.copy(copy, to: "moved", at: pair.sites[0])
            try await moved.start()
            try moved.write("of moved", to: "shared")
            try await expectEqual([a, moved], "a hears of the copy's edit")
            for folder in [a, moved] { #expect(try await folder.program?.stop() == 0) }
        }
    }

    /// - Parameter byteCount: of a file that is sent when its hash is known; or of one that is sent meanwhile.
    @Test(arguments: [1_500_000, 4_300_000])
    func `R-355, R-517, R-070: a folder that is copied during an upload, and its copy, lose no version of a file`(
        byteCount: Int
    ) async throws {
        try await OperatorPlace.with(["--create-containers"], keepsAssets: true) { server in
            try await Relay.with(server.site) { relay in
                let a = try SyncedFolder("a", relay.site, server.directory)
                let b = try SyncedFolder("b", server.site, server.directory)
                let large = String(repeating: "0123456789", count: byteCount / 10)
                try a.write(large, to: "large.txt")
                try a.write("first", to: "same.txt")
                for folder in [a, b] { try await folder.start() }
                try await equal(a, b, ["large.txt", "same.txt"])

                relay.hold { $0.isLaterPartOfUpload }
                try a.write(large + "second", to: "large.txt")
                try await eventually("a part is sent, and the next one is under way") { relay.heldCount > 0 }
                let copy = try await copy(a, to: "copy", at: server.site)
                try await copy.start()
                try await eventually("the copy sends what the original could not send yet") {
                    b.text("large.txt") == large + "second"
                }
                #expect(relay.heldCount > 0)

                // In the original, during its upload; in the copy, after it has sent the same.
                let folders = [a, copy, b]
                var texts = try writeSameFile(in: [a, copy], 0, to: "large.txt", beginning: large)
                texts += try writeSameFile(in: folders, 0)
                for folder in folders { try folder.write("first", to: "of \(folder.name)") }
                relay.release()
                try await expectEqual(folders, has: texts, "all are equal when the upload has ended")
                // They go on. All replace the one that they have under this name.
                texts.removeAll { $0 == b.text("same.txt") }
                texts += try writeSameFile(in: folders, 1)
                for folder in folders { try folder.write("second", to: "of \(folder.name)") }
                try await expectEqual(folders, has: texts, "all are equal after further edits")
                try await expectSettled(folders)
                try await expectEqual(folders, has: texts, "all is still there")
                for folder in folders { #expect(b.text("of \(folder.name)") == "second") }
            }
        }
    }
}
