// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkTestSupport

/// An app ends before it hears that its edit was saved, and starts again from what it has stored.
@Suite struct EngineRestartTests {
    @Test func `R-157, R-517: an engine that starts again is in no conflict with what it has sent itself`() async throws
    {
        let seen = try await Both.clouds { cloud in
            let device = try await cloud.device(of: "alice")
            let app = Device(device.container, automatically: false)
            app.makeZone(Both.notes)
            app.write("one", to: "old", in: Both.notes)
            try await app.engine?.sendChanges()
            app.write("two", to: "old", in: Both.notes)
            app.write("two", to: "new", in: Both.notes)
            // with the state that has both edits pending.
            try await app.engine?.fetchChanges()
            let count = app.heard.count
            app.dieBeforeAnswer()
            device.loseNextAnswer()
            try await app.engine?.sendChanges()
            app.quit()

            app.start()
            let pending = app.engine?.state.pendingRecordZoneChanges.count ?? 0
            try await app.engine?.sendChanges()
            let other = try await cloud.device(of: "alice").database
            let page = try await other.recordZoneChanges(inZoneWith: Both.notes, since: nil)
            let stored = page.modificationResultsByID.values.compactMap { try? $0.get().record }
            let told = app.heard.dropFirst(count).filter { $0.contains("records") }
            let texts = stored.sorted { $0.recordID.recordName < $1.recordID.recordName }.map(Both.text)
            let left = app.engine?.state.pendingRecordZoneChanges.count ?? 0
            return ["\(device.lostAnswerCount) lost", "\(pending) pending"] + told + texts + ["\(left) pending"]
        }
        #expect(
            seen == [
                "1 lost", "2 pending", "records new=two old=two", "sent records new=two old=two", "text=two",
                "text=two",
                "0 pending",
            ])
    }

    @Test func `R-157, R-641: an app with a replica does not save again what it has sent itself`() async throws {
        let seen = try await Both.clouds { cloud in
            let directory = try TestDirectory()
            defer { directory.remove() }
            let files = ["before", "after"].map { URL(fileURLWithPath: directory.path).appendingPathComponent($0) }
            let device = try await cloud.device(of: "alice")
            let notes = try Notes(file: files[0])
            await notes.start(in: device.database, automatically: false)
            try await notes.write("milk", to: "old")
            for _ in 0..<2 { try await notes.sync() }
            for name in ["old", "new"] { try await notes.write("bread", to: name) }
            try await notes.engine?.fetchChanges()
            // What is on the disk when the process ends. It hears of no answer.
            try FileManager.default.copyItem(at: files[0], to: files[1])
            device.loseNextAnswer()
            try await notes.sync()
            let other = try await cloud.device(of: "alice").database
            func tags() async throws -> [String?] {
                let page = try await other.recordZoneChanges(inZoneWith: Both.notes, since: nil)
                let records = page.modificationResultsByID.values.compactMap { try? $0.get().record }
                return records.sorted { $0.recordID.recordName < $1.recordID.recordName }.map(\.recordChangeTag)
            }
            let saved = try await tags()

            let next = try Notes(file: files[1])
            let unsent = await next.library.replica.unsentIDs.count
            await next.start(in: device.database, automatically: false)
            for _ in 0..<2 { try await next.sync() }
            let texts = await next.library.notes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.text)" }
            let left = await next.library.replica.unsentIDs.count
            let problems = await next.problems
            let isSavedOnce = try await tags() == saved
            return [
                "\(device.lostAnswerCount) lost", "\(unsent) unsent", "\(saved.count) records",
                "saved once: \(isSavedOnce)",
            ] + texts + ["\(left) unsent", "\(problems)"]
        }
        #expect(
            seen == [
                "1 lost", "2 unsent", "2 records", "saved once: true", "new: bread", "old: bread", "0 unsent", "[:]",
            ])
    }
}
