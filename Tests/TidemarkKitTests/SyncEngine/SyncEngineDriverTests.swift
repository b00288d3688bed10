// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkScheduling
import TidemarkTestSupport

@testable import TidemarkKit

@Suite struct SyncEngineDriverTests {
    private let scheduler = ManualScheduler()
    private let server = FakeServer()
    private let cloud: FakeCloud
    private let delegate = RecordingDelegate()

    init() {
        cloud = FakeCloud(server, scheduler)
        server.save(zone: zone("A"))
        server.save("1", in: zone("A"), value: "x")
    }

    private func makeEngine(automatic: Bool = false) -> CKSyncEngine {
        CKSyncEngine(.on(cloud, delegate, automatic: automatic))
    }

    @Test func `R-532, R-560, R-540, R-570: a manual engine from its start to the end of a fetch and a send`() throws {
        let engine = makeEngine()
        scheduler.runUntilIdle()
        #expect(delegate.log == [] && cloud.requests == [])
        delegate.save("A/2", in: engine)
        try scheduler.complete { try await engine.fetchChanges() }
        try scheduler.complete { try await engine.sendChanges() }
        #expect(
            delegate.log == [
                "accountChange signIn _alice", "stateUpdate",
                "willFetch(manual)", "zones +A", "willFetch A", "records +A/1", "didFetch A", "stateUpdate", "didFetch",
                "willSend(manual)", "ask batch", "sent +A/2", "ask batch", "stateUpdate", "didSend",
            ])
        #expect(cloud.requests == ["→ user", "→ feed(nil)", "→ A(nil)", "→ records A/2"])
        #expect(server.contents == ["A/1": "x", "A/2": "v"])
        #expect(scheduler.nextTimer == nil, "an idle engine in manual mode waits for nothing")
    }

    @Test func `R-505, R-508: an automatic engine does it by itself`() {
        let engine = makeEngine(automatic: true)
        scheduler.advance(by: .seconds(1))
        delegate.save("A/2", in: engine)
        scheduler.advance(by: .seconds(1))
        server.save("3", in: zone("A"), value: "x")
        cloud.push()
        scheduler.advance(by: .seconds(1))
        #expect(
            delegate.log == [
                "accountChange signIn _alice", "stateUpdate",
                "willFetch(scheduled)", "zones +A", "willFetch A", "records +A/1", "didFetch A", "stateUpdate",
                "didFetch",
                "willSend(scheduled)", "ask batch", "sent +A/2", "ask batch", "stateUpdate", "didSend",
                "willFetch(scheduled)", "zones +A", "willFetch A", "records +A/2 +A/3", "didFetch A", "stateUpdate",
                "didFetch",
            ])
    }

    @Test func `R-534: a call returns when the delegate has handled everything`() throws {
        delegate.onEvent = { [scheduler, delegate] event, _ in
            try? await scheduler.sleep(for: .seconds(5))
            delegate.log.append("handled")
        }
        let engine = makeEngine()
        try scheduler.complete { try await engine.fetchChanges() }
        #expect(delegate.log.filter { $0 == "handled" }.count == delegate.log.count / 2)
        #expect(delegate.log.last == "handled")
    }

    @Test func `R-515: the state can be read and changed in the record provider of a batch`() throws {
        let provider = ProvidingDelegate()
        let providing = CKSyncEngine(.on(cloud, provider))
        providing.state.add(pendingRecordZoneChanges: [change("A/5"), change("A/2"), change("A/3")])
        #expect(throws: Never.self) { try scheduler.complete { try await providing.sendChanges() } }
        // A/2 has no record any more: the provider took it off the list, as the sample apps do.
        #expect(provider.seen == [3, 3, 2])
        #expect(providing.state.pendingRecordZoneChanges == [])
        #expect(server.contents.keys.sorted() == ["A/1", "A/3", "A/5"])
    }

    @Test func `R-531: callbacks are serial whatever happens meanwhile`() throws {
        var depth = 0
        delegate.onEvent = { [scheduler] _, _ in
            depth += 1
            #expect(depth == 1)
            try? await scheduler.sleep(for: .milliseconds(30))
            depth -= 1
        }
        delegate.onAsk = { [scheduler] _ in
            depth += 1
            #expect(depth == 1)
            try? await scheduler.sleep(for: .milliseconds(30))
            depth -= 1
        }
        let engine = makeEngine(automatic: true)
        scheduler.advance(by: .milliseconds(50))
        for number in 0..<50 {
            delegate.save("A/\(number)", in: engine)
            cloud.push(zone("A"))
            if number % 7 == 0 { scheduler.run { try? await engine.fetchChanges() } }
            if number % 5 == 0 { scheduler.run { try? await engine.sendChanges() } }
            scheduler.advance(by: .milliseconds(17))
        }
        scheduler.advance(by: .seconds(20))
        #expect(server.contents.count == 50)
    }

    @Test func `R-531: two engines call at the same time`() {
        let other = RecordingDelegate()
        let otherCloud = FakeCloud(server, scheduler)
        delegate.onEvent = { [scheduler] _, _ in try? await scheduler.sleep(for: .seconds(1000)) }
        let engine = makeEngine(automatic: true)
        let otherEngine = CKSyncEngine(.on(otherCloud, other, automatic: true))
        scheduler.advance(by: .seconds(10))
        #expect(delegate.log == ["accountChange signIn _alice"])
        #expect(other.log.last == "didFetch")
        withExtendedLifetime((engine, otherEngine)) {}
    }

    @Test func `R-503: a delegate that owns its engine goes away with it`() {
        weak var engine: CKSyncEngine?
        do {
            let owner = RecordingDelegate()
            owner.engine = CKSyncEngine(.on(cloud, owner, automatic: true))
            scheduler.advance(by: .seconds(1))
            engine = owner.engine
            #expect(engine != nil && owner.log.last == "didFetch")
        }
        #expect(engine == nil)
        scheduler.runUntilIdle()
        #expect(cloud.isClosed && cloud.observer == nil)
        #expect(scheduler.nextTimer == nil)
    }

    @Test func `R-503: when the delegate is gone, the engine stops`() throws {
        var gone: RecordingDelegate? = RecordingDelegate()
        let engine = CKSyncEngine(.on(cloud, try #require(gone), automatic: true))
        gone = nil
        scheduler.advance(by: .seconds(1))
        #expect(cloud.isClosed && cloud.requests == ["→ user"])
        #expect(errorCode { try scheduler.complete { try await engine.fetchChanges() } } == .operationCancelled)
    }

    @Test func `R-504: releasing the engine cancels what runs and drops what is planned`() {
        cloud.latency = { .seconds(1) }
        var engine: CKSyncEngine? = makeEngine(automatic: true)
        scheduler.advance(by: .milliseconds(4500))
        #expect(cloud.requests.last == "→ feed(nil)")
        let count = delegate.log.count
        withExtendedLifetime(engine) {}
        engine = nil
        scheduler.advance(by: .seconds(3600))
        #expect(delegate.log.count == count && cloud.cancelCount == 1 && cloud.isClosed)
    }

    @Test func `R-611: cancelling the calling task cancels the call, at any moment`() {
        for delay in stride(from: 0, through: 24, by: 3) {
            let cloud = FakeCloud(server, scheduler)
            cloud.latency = { .milliseconds(5) }
            let delegate = RecordingDelegate()
            let engine = CKSyncEngine(.on(cloud, delegate))
            let task = scheduler.runThrowing { try await engine.fetchChanges() }
            if delay > 0 { scheduler.advance(by: .milliseconds(delay)) }
            task.cancel()
            #expect(errorCode { try scheduler.complete { try await task.value } } == .operationCancelled)
            let begun = delegate.log.filter { $0.hasPrefix("willFetch") }.count
            #expect(begun == delegate.log.filter { $0.hasPrefix("didFetch") }.count)
        }
    }

    @Test func `R-610: cancelOperations returns when the last event was handled`() throws {
        cloud.latency = { .seconds(1) }
        let engine = makeEngine()
        let call = scheduler.runThrowing { try await engine.fetchChanges() }
        scheduler.advance(by: .milliseconds(4500))
        try scheduler.complete { await engine.cancelOperations() }
        #expect(delegate.log.last == "didFetch")
        #expect(errorCode { try scheduler.complete { try await call.value } } == .operationCancelled)
    }

    @Test func `R-533: a detached task in a callback may call`() {
        delegate.onEvent = { [scheduler] event, engine in
            guard case .accountChange = event else { return }
            Task.detached(executorPreference: scheduler) { try? await engine.fetchChanges() }
        }
        let engine = makeEngine()
        scheduler.advance(by: .seconds(1))
        #expect(delegate.log.last == "didFetch")
        withExtendedLifetime(engine) {}
    }

    @Test func `R-533: a task that was made in a callback may call when the callback has ended, also during another`()
        throws
    {
        let call = Locked<(engine: CKSyncEngine, go: CheckedContinuation<Void, Never>)?>(nil)
        let late = Locked<Task<Void, any Error>?>(nil)
        delegate.onEvent = { [scheduler] event, engine in
            switch event {
            case .accountChange:
                // As an app that waits a moment before it sends.
                late.withLock { late in
                    late = Task(executorPreference: scheduler) {
                        await withCheckedContinuation { go in call.withLock { $0 = (engine, go) } }
                        try await engine.sendChanges()
                    }
                }
            case .willFetchChanges:
                // The task calls while this callback runs, which is not the one that made it.
                call.withLock { $0?.go.resume() }
                try? await scheduler.sleep(for: .seconds(1))
            default: break
            }
        }
        let engine = makeEngine(automatic: true)
        scheduler.advance(by: .seconds(3))
        let task = try #require(late.withLock { $0 })
        try scheduler.complete { try await task.value }
        #expect(delegate.log.contains("willSend(manual)") && delegate.log.last == "didSend")
        withExtendedLifetime(engine) {}
    }

    @Test func `R-612: all requests of a call are made in its group`() throws {
        let engine = makeEngine()
        let group = CKOperationGroup()
        group.name = "tap"
        try scheduler.complete { try await engine.fetchChanges(.init(operationGroup: group)) }
        #expect(zip(cloud.requests, cloud.groups).filter { $0.0 != "→ user" }.allSatisfy { $0.1 == "tap" })
        #expect(CKSyncEngine.FetchChangesOptions().operationGroup.operationGroupID != group.operationGroupID)
    }

    @Test func `R-612: all requests of a send are made in its group, those of zones and those of records`() throws {
        let engine = makeEngine()
        let group = CKOperationGroup()
        group.name = "tap"
        engine.state.add(pendingDatabaseChanges: [zoneChange("B")])
        delegate.save("B/1", in: engine)
        try scheduler.complete { try await engine.sendChanges(.init(operationGroup: group)) }
        let made = zip(cloud.requests, cloud.groups).filter { $0.0 != "→ user" }
        #expect(made.map(\.0) == ["→ zones +B", "→ records B/1"] && made.allSatisfy { $0.1 == "tap" })
    }

    @Test func `R-530, R-531, R-546, R-612: a delegate that is asked for options decides what a fetch brings`() throws {
        server.save(zone: zone("B"))
        server.save("1", in: zone("B"), value: "x")
        var depth = 0
        let enter = { [scheduler] in
            depth += 1
            #expect(depth == 1)
            try? await scheduler.sleep(for: .milliseconds(30))
            depth -= 1
        }
        delegate.onEvent = { _, _ in await enter() }
        delegate.onOptions = { [delegate] context, _ in
            delegate.log.append("ask options: \(context.reason) \(context.options.scope)")
            await enter()
            return .init(scope: .zoneIDs([zone("B")]))
        }
        let engine = makeEngine()
        let group = CKOperationGroup()
        group.name = "tap"
        let options = CKSyncEngine.FetchChangesOptions(scope: .allExcluding([zone("C")]), operationGroup: group)
        try scheduler.complete { try await engine.fetchChanges(options) }
        #expect(
            delegate.log.filter { $0 != "stateUpdate" } == [
                "accountChange signIn _alice", "willFetch(manual)",
                "ask options: manual \(options.scope)", "zones +A +B",
                "ask options: manual \(CKSyncEngine.FetchChangesOptions.Scope.zoneIDs([zone("B")]))", "willFetch B",
                "records +B/1", "didFetch B", "didFetch",
            ])
        #expect(cloud.requests == ["→ user", "→ feed(nil)", "→ B(nil)"])
        #expect(cloud.groups == [nil, "tap", "tap"])
        #expect(engine.state.zoneIDsWithUnfetchedServerChanges == [zone("A")])
    }

    @Test func `R-520: the flag of untracked changes is set and read through the engine's state`() {
        let engine = makeEngine(automatic: true)
        scheduler.advance(by: .seconds(1))
        #expect(!engine.state.hasPendingUntrackedChanges)
        delegate.log = []
        engine.state.hasPendingUntrackedChanges = true
        #expect(engine.state.hasPendingUntrackedChanges)
        scheduler.advance(by: .seconds(1))
        #expect(delegate.log.filter { $0 == "willSend(scheduled)" || $0 == "ask batch" }.count == 2)
        #expect(!engine.state.hasPendingUntrackedChanges, "the delegate had nothing")
        delegate.log = []
        cloud.isOnline = false
        engine.state.hasPendingUntrackedChanges = true
        engine.state.hasPendingUntrackedChanges = false
        cloud.isOnline = true
        scheduler.advance(by: .seconds(1))
        #expect(!delegate.log.contains("ask batch"), "the app took it back")
    }

    // MARK: What is changed while the delegate is asked

    /// The app's copies get the server's tags.
    private func takeTags(_ event: CKSyncEngine.Event) {
        guard case .sentRecordZoneChanges(let sent) = event else { return }
        for record in sent.savedRecords {
            record["value"] = delegate.records[record.recordID]?["value"]
            delegate.records[record.recordID] = record
        }
    }

    @Test(arguments: [false, true])
    func `R-516: a task that was started in a callback is not the callback: what it edits meanwhile is sent`(
        isSameCallback: Bool
    ) throws {
        let engine = makeEngine()
        delegate.save("A/2", "old", in: engine)
        let startEdit = { [scheduler, delegate] (engine: CKSyncEngine) in
            _ = Task(executorPreference: scheduler) {
                try? await scheduler.sleep(for: .seconds(1))
                let edited = delegate.records[recordID("A/2")]?.copy() as? CKRecord
                delegate.records[recordID("A/2")] = edited
                delegate.save("A/2", "new", in: engine)
            }
        }
        delegate.onEvent = { event, engine in
            if case .willSendChanges = event, !isSameCallback { startEdit(engine) }
            self.takeTags(event)
        }
        delegate.onBatch = { [scheduler, delegate] engine in
            delegate.onBatch = { _ in }
            if isSameCallback { startEdit(engine) }
            try? await scheduler.sleep(for: .seconds(2))
        }
        try scheduler.complete { try await engine.sendChanges() }
        #expect(cloud.requests.filter { $0 == "→ records A/2" }.count == 2)
        #expect(server.contents["A/2"] == "new" && engine.state.pendingRecordZoneChanges == [])
    }

    @Test func `R-515, R-516: what the callback itself adds while it is asked goes with its batch, once`() throws {
        let engine = makeEngine()
        delegate.onEvent = { event, _ in self.takeTags(event) }
        delegate.save("A/2", in: engine)
        delegate.onAsk = { [scheduler, delegate] engine in
            guard !engine.state.pendingRecordZoneChanges.isEmpty else { return }
            try? await scheduler.sleep(for: .seconds(1))
            delegate.save("A/2", "late", in: engine)
        }
        try scheduler.complete { try await engine.sendChanges() }
        #expect(cloud.requests.filter { $0 == "→ records A/2" }.count == 1)
        #expect(server.contents["A/2"] == "late")
    }

    @Test func `R-566, R-567: signing out and in again`() {
        let engine = makeEngine(automatic: true)
        scheduler.advance(by: .seconds(1))
        delegate.log = []
        cloud.signIn(nil)
        scheduler.advance(by: .seconds(1))
        delegate.save("A/2", in: engine)
        scheduler.advance(by: .seconds(1))
        cloud.signIn(user("bob"))
        scheduler.advance(by: .seconds(1))
        #expect(
            delegate.log.filter { $0 != "stateUpdate" } == [
                "accountChange signOut _alice", "accountChange signIn _bob", "willFetch(scheduled)", "zones +A",
                "willFetch A", "records +A/1", "didFetch A", "didFetch", "willSend(scheduled)", "ask batch",
                "sent +A/2",
                "ask batch", "didSend",
            ])
    }
}

/// The code of the CKError that `body` throws.
private func errorCode(_ body: () throws -> Void) -> CKError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? CKError)?.code
    }
}

/// Uses the engine's state where a batch asks it for records.
private final class ProvidingDelegate: CKSyncEngineDelegate, @unchecked Sendable {
    var seen: [Int] = []

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: syncEngine.state.pendingRecordZoneChanges) { id in
            self.seen.append(syncEngine.state.pendingRecordZoneChanges.count)
            guard id != recordID("A/2") else {
                syncEngine.state.remove(pendingRecordZoneChanges: [.saveRecord(id)])
                return nil
            }
            return CKRecord(recordType: "Note", recordID: id)
        }
    }
}
