// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// A process may end between any two operations on its journal's files. What it leaves then is a copy of the directory that is
/// made there; an engine goes on with each.
@Suite struct SyncEngineJournalStepTests {
    /// What an app does that is written down.
    enum Deed: CaseIterable {
        case start, saveRecord, deleteRecord, saveAndDeleteRecords, removeRecord, saveZone, deleteZone, removeZone
        case setUntracked, unsetUntracked, send
    }

    /// An app with an engine in a directory.
    private final class App: @unchecked Sendable {
        let scheduler = ManualScheduler()
        let server = FakeServer()
        let cloud: FakeCloud
        let delegate = RecordingDelegate()
        let directory: TestDirectory
        let files = TestJournalFiles()
        private(set) var engine: CKSyncEngine?
        /// What was left after each operation so far, as the next engine reads it.
        private(set) var left: [Set<String>] = []
        var look: ((App) -> Set<String>)?

        init() throws {
            directory = try TestDirectory()
            cloud = FakeCloud(server, scheduler)
            server.save(zone: zone("A"))
            server.save("theirs", in: zone("A"), value: "other")
            delegate.onEvent = { event, engine in
                guard case .sentRecordZoneChanges(let sent) = event else { return }
                // In conflict, and wanted all the same.
                engine.state.add(
                    pendingRecordZoneChanges: sent.failedRecordSaves.map { .saveRecord($0.record.recordID) })
            }
            files.afterStep = { [unowned self] in left.append(look?(self) ?? []) }
        }

        func start() {
            var configuration = CKSyncEngine.Configuration.on(cloud, delegate, state: delegate.lastState)
            configuration.journalFile = URL(fileURLWithPath: "\(directory.path)/app/journal")
            configuration.host?.journalFiles = files
            engine = CKSyncEngine(configuration)
        }

        func end() { engine = nil }

        /// Looks from now on at what is left.
        func watch(_ look: @escaping (App) -> Set<String>) {
            left = []
            self.look = look
        }

        /// What an engine has to send that starts now with what is in the directory; who is signed in is asked first if `user`
        /// says who answers.
        func next(_ user: CKRecord.ID? = nil) -> Set<String> {
            let copy = "\(directory.path)/copy"
            try? FileManager.default.removeItem(atPath: copy)
            try? FileManager.default.copyItem(atPath: "\(directory.path)/app", toPath: copy)
            let scheduler = ManualScheduler()
            let cloud = FakeCloud(FakeServer(), scheduler)
            cloud.user = .success(user)
            let other = RecordingDelegate()
            var configuration = CKSyncEngine.Configuration.on(cloud, other, state: delegate.lastState)
            configuration.journalFile = URL(fileURLWithPath: "\(copy)/journal")
            let engine = CKSyncEngine(configuration)
            if user != nil { scheduler.advance(by: .seconds(1)) }
            #expect(engine.journalError == nil)
            return Self.pending(engine)
        }

        var pending: Set<String> { engine.map(Self.pending) ?? [] }

        private static func pending(_ engine: CKSyncEngine) -> Set<String> {
            let records = engine.state.pendingRecordZoneChanges.map(\.text)
            let zones = engine.state.pendingDatabaseChanges.map { "zone \($0.text)" }
            return Set(records + zones + (engine.state.hasPendingUntrackedChanges ? ["untracked"] : []))
        }
    }

    /// - Returns: what is pending after it.
    private func `do`(_ deed: Deed, _ app: App) throws -> Set<String> {
        if deed == .start {
            app.end()
            app.start()
        }
        let engine = try #require(app.engine)
        switch deed {
        case .start: break
        case .saveRecord: engine.state.add(pendingRecordZoneChanges: [change("A/1")])
        case .deleteRecord: engine.state.add(pendingRecordZoneChanges: [change("-A/1")])
        case .saveAndDeleteRecords: engine.state.add(pendingRecordZoneChanges: [change("-A/old"), change("A/2")])
        case .removeRecord: engine.state.remove(pendingRecordZoneChanges: [change("A/old")])
        case .saveZone: engine.state.add(pendingDatabaseChanges: [zoneChange("B")])
        case .deleteZone: engine.state.add(pendingDatabaseChanges: [zoneChange("-Old")])
        case .removeZone: engine.state.remove(pendingDatabaseChanges: [zoneChange("Old")])
        case .setUntracked: engine.state.hasPendingUntrackedChanges = true
        case .unsetUntracked: engine.state.hasPendingUntrackedChanges = false
        case .send:
            #expect(throws: CKError.self) { try app.scheduler.complete { try await engine.sendChanges() } }
        }
        return app.pending
    }

    @Test(arguments: Deed.allCases, [false, true])
    func `R-603: a process that ends after any operation on its journal leaves what was before or what is after`(
        deed: Deed, isWrittenAnew: Bool
    ) throws {
        let app = try App()
        defer { app.directory.remove() }
        app.start()
        app.scheduler.advance(by: .seconds(1))
        if deed == .send {
            for path in ["A/old", "A/theirs"] { app.delegate.save(path, in: try #require(app.engine)) }
        } else {
            app.engine?.state.add(pendingRecordZoneChanges: [change("A/old")])
        }
        if deed == .unsetUntracked { app.engine?.state.hasPendingUntrackedChanges = true }
        // After it, the next change is written with all others to a new file.
        app.files.failsNextSynchronize = isWrittenAnew
        app.engine?.state.add(pendingDatabaseChanges: [zoneChange("Old")])
        #expect((app.engine?.journalError != nil) == isWrittenAnew)
        let before = app.pending
        app.watch { $0.next() }
        let after = try `do`(deed, app)
        #expect((before == after) == (deed == .start))
        // The answer to a send is told in two events: zones first.
        let between = before.subtracting(["zone Old"])
        var isDone = false
        for (step, left) in app.left.enumerated() {
            let isBetween = deed == .send && left == between
            #expect(left == after || !isDone && (left == before || isBetween), "step \(step)")
            isDone = isDone || left == after
        }
        #expect(app.left.last == after, "when the call returns")
        #expect(app.left.count >= (isWrittenAnew && deed != .start ? 6 : 1))
    }

    @Test(arguments: [nil, "bob"], [false, true])
    func `R-563, R-603: a process that ends anywhere within an account change leaves nothing of one user to another`(
        name: String?, isWrittenAnew: Bool
    ) throws {
        let app = try App()
        defer { app.directory.remove() }
        app.start()
        app.scheduler.advance(by: .seconds(1))
        app.engine?.state.add(pendingRecordZoneChanges: [change("A/1")])
        app.engine?.state.add(pendingDatabaseChanges: [zoneChange("B")])
        app.files.failsNextSynchronize = isWrittenAnew
        app.engine?.state.hasPendingUntrackedChanges = true
        #expect((app.engine?.journalError != nil) == isWrittenAnew)
        app.scheduler.advance(by: .seconds(1))
        let before = app.pending
        #expect(before == ["A/1", "zone B", "untracked"])
        app.delegate.onEvent = { event, engine in
            guard case .accountChange = event else { return }
            engine.state.add(pendingRecordZoneChanges: [change("A/2")])
        }
        var seen: [String: Set<Set<String>>] = [:]
        app.watch { app in
            for user in ["alice", "bob", "carol"] {
                seen[user, default: []].insert(app.next(TidemarkKitTests.user(user)))
            }
            return []
        }
        app.cloud.signIn(name.map(user))
        app.scheduler.advance(by: .seconds(1))
        #expect(app.pending == ["A/2"] && app.left.count >= (isWrittenAnew ? 8 : 3))
        // Alice may have come back before the app was told that she was gone, or while it was. What is nobody's is for her too.
        let forAlice: [Set<String>] = name == nil ? [["A/2"], before.union(["A/2"])] : []
        #expect(try #require(seen["alice"]).isSubset(of: [before, []] + forAlice))
        #expect(try #require(seen["bob"]).isSubset(of: [[], ["A/2"]]))
        #expect(try #require(seen["carol"]).isSubset(of: [[]] + (name == nil ? [["A/2"]] : [])))
    }
}
