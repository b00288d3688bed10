// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport

@testable import foldersync

/// The lid is closed during a save, and opened when the server has forgotten it.
@Suite struct SleptMachineTests {
    /// Time as the server counts it: epochs of 12 hours (`StoreJanitor`), and the grace time of assets.
    private func passTime(epochs: Int, on server: OperatorPlace) async throws {
        let loop = try EventLoop(name: "test")
        defer { loop.stop() }
        let storage = try PostgresStorage(url: server.database.url, loop: loop, connections: 1, queryTimes: .patient)
        for _ in 0..<epochs {
            #expect(try await storage.advanceMemoryEpoch(after: .zero, keeping: Limits().memoryEpochsKept))
        }
        await storage.stop()
        let collected = try await server.admin(
            [
                "assets", "collect", "--asset-directory", "\(server.directory.path)/assets", "--asset-grace-hours", "0",
                "--yes",
            ])
        #expect(collected.status == 0, "\(collected.output)")
    }

    private func expectEqual(_ folders: [SyncedFolder]) async throws {
        try await eventually("all folders are equal") {
            let all = try folders.map { try $0.files }
            return all.allSatisfy { $0 == all[0] } && all[0].keys.contains("new of a.txt")
        }
    }

    /// - Parameters:
    ///   - isDecided: whether the server got the save, and its answer was lost.
    ///   - epochs: 30 hours; or longer than anything is remembered.
    @Test(arguments: [true, false], [3, 9])
    func `R-157, R-083: a folder whose machine slept during a save loses no version of a file`(
        isDecided: Bool, epochs: Int
    ) async throws {
        try await OperatorPlace.with(["--create-containers"], keepsAssets: true) { server in
            try await Relay.with(server.site) { relay in
                let a = try SyncedFolder("a", relay.site, server.directory)
                let others = try ["b", "c"].map { try SyncedFolder($0, server.site, server.directory) }
                let (b, c) = (others[0], others[1])
                let large = String(repeating: "0123456789abcdef", count: 80_000)
                for name in ["both.txt", "a only.txt", "b only.txt", "deleted by b.txt"] {
                    try a.write("first", to: name)
                }
                try a.write(large, to: "large.txt")
                for folder in [a, b, c] { try await folder.once() }

                try a.write("of a", to: "both.txt")
                try a.write("of a", to: "a only.txt")
                try a.write("of a", to: "deleted by b.txt")
                try a.write("of a", to: "new of a.txt")
                try a.write(large + "of a", to: "large.txt")
                if isDecided {
                    relay.loseAnswers { $0.isAnswerToSave }
                } else {
                    relay.loseRequests { $0.isSave }
                }
                try await a.start()
                try await eventually("the save is under way") { relay.lostCount > 0 }
                let program = try #require(a.program)
                program.signal(SIGSTOP)
                try await passTime(epochs: epochs, on: server)

                // Meanwhile, and without having heard of a's edits.
                try b.write("of b", to: "both.txt")
                try b.write("of b", to: "b only.txt")
                try b.delete("deleted by b.txt")
                try b.write(large + "of b", to: "large.txt")
                try await b.once()
                try await c.once()
                // Knowing what is there by now.
                try c.write("of c", to: "b only.txt")
                try await c.once()

                relay.cut()
                program.signal(SIGCONT)
                for folder in others { try await folder.start() }
                try await expectEqual([a] + others)
                // What each has edited since it was last in sync is there, under whatever name.
                let texts = try a.files.keys.compactMap { a.text($0.text) }
                #expect(texts.filter { $0 == "of b" }.count == 1)
                #expect(a.text("b only.txt") == "of c" && a.text("a only.txt") == "of a")
                #expect(a.text("new of a.txt") == "of a" && a.text("deleted by b.txt") == "of a")
                // Once each: nothing is applied twice, or taken for somebody else's.
                #expect(texts.filter { $0 == "of a" }.count == 4)
                #expect(texts.filter { $0 == large + "of a" }.count == 1)
                #expect(texts.filter { $0 == large + "of b" }.count == 1)
                #expect(texts.count == 5 + 1 + 2, "\(texts.map { $0.suffix(10) })")
                for folder in [a] + others { #expect(try await folder.program?.stop() == 0, "\(folder.name)") }
            }
        }
    }
}
