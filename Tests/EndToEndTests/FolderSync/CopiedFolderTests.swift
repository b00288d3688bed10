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
        try await eventually(what) {
            let all = try folders.map { try $0.files }
            let first = Set(all[0].keys.compactMap { folders[0].text($0.text) })
            return all.allSatisfy { $0 == all[0] } && first.isSuperset(of: texts)
        }
    }

    private func text(of folder: SyncedFolder, _ round: Int) -> String { "same file, \(folder.name) \(round)" }

    /// Writes to one file in all folders. No program runs meanwhile, so none has heard of another's text.
    ///
    /// - Returns: the texts. One keeps the file's name, and the others become conflict copies.
    private func writeSameFile(in folders: [SyncedFolder], _ round: Int) throws -> [String] {
        for folder in folders { folder.program?.signal(SIGSTOP) }
        defer { for folder in folders { folder.program?.signal(SIGCONT) } }
        for folder in folders { try folder.write(text(of: folder, round), to: "same.txt") }
        return folders.map { text(of: $0, round) }
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
}
