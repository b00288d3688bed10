// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkScheduling
import TidemarkTestSupport

@testable import TidemarkKit

@Suite struct CKSyncEngineTests {
    @Test func `R-355, R-501: each engine has an identity of its own, kept in its state`() throws {
        let scheduler = ManualScheduler()
        let server = FakeServer()
        var identities: [[UInt8]] = []
        let delegate = RecordingDelegate()
        func engine(_ state: CKSyncEngine.State.Serialization?) -> CKSyncEngine {
            let cloud = FakeCloud(server, scheduler)
            let noted = Mutex<[UInt8]>([])
            var configuration = CKSyncEngine.Configuration.on(cloud, delegate, state: state)
            configuration.host = SyncEngineHost(scheduler: scheduler) { identity, _ in
                noted.withLock { $0 = identity }
                return cloud
            }
            let engine = CKSyncEngine(configuration)
            identities.append(noted.withLock { $0 })
            return engine
        }
        let first = engine(nil)
        try scheduler.complete { try await first.fetchChanges() }
        let state = try #require(delegate.lastState)
        _ = engine(nil)
        _ = engine(try JSONDecoder().decode(type(of: state), from: JSONEncoder().encode(state)))
        #expect(identities.allSatisfy { $0.count == 16 })
        #expect(identities[0] != identities[1] && identities[0] == identities[2])
    }

    @Test func `R-501: what one engine sends reaches another of the same process`() {
        let scheduler = ManualScheduler()
        let server = FakeServer()
        let clouds = (0..<2).map { _ in FakeCloud(server, scheduler) }
        let delegates = (0..<2).map { _ in RecordingDelegate() }
        server.onChange = { zoneID, origin in
            for cloud in clouds where ObjectIdentifier(cloud) != origin { cloud.push(zoneID) }
        }
        let engines = zip(clouds, delegates).map { CKSyncEngine(.on($0, $1, automatic: true)) }
        scheduler.advance(by: .seconds(1))
        engines[0].state.add(pendingDatabaseChanges: [zoneChange("A")])
        delegates[0].save("A/1", in: engines[0])
        scheduler.advance(by: .milliseconds(50))
        #expect(delegates[1].log.contains("records +A/1"))
        #expect(!delegates[0].log.contains("records +A/1"), "no push for one's own change")
    }

    @Test func `R-500, R-568: an engine without an account is made at once, and keeps what is pending`() async {
        let delegate = RecordingDelegate()
        let engine = CKSyncEngine(
            .init(database: .test, stateSerialization: nil, delegate: delegate))
        engine.state.add(pendingRecordZoneChanges: [change("A/1")])
        #expect(engine.state.pendingRecordZoneChanges == [change("A/1")])
        do {
            try await engine.sendChanges()
            Issue.record("there is no account")
        } catch {
            #expect((error as? CKError)?.code == .notAuthenticated)
        }
        #expect(engine.state.pendingRecordZoneChanges == [change("A/1")])
    }

    @Test func `R-502: engine and configuration describe themselves without user data`() {
        let delegate = RecordingDelegate()
        let configuration = CKSyncEngine.Configuration(database: .test, stateSerialization: nil, delegate: delegate)
        #expect(configuration.automaticallySync && configuration.subscriptionID == nil)
        let engine = CKSyncEngine(configuration)
        engine.state.add(pendingRecordZoneChanges: [change("A/secret")])
        #expect(engine.description.contains("pending: 1 records"))
        #expect(!engine.description.contains("secret") && !configuration.description.isEmpty)
    }

    @Test func `R-515: the state is safe to use from many threads`() async {
        let delegate = RecordingDelegate()
        let engine = CKSyncEngine(
            .init(database: .test, stateSerialization: nil, delegate: delegate))
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        engine.state.add(pendingRecordZoneChanges: [change("A/\(task).\(number)")])
                        if number % 2 == 0 {
                            engine.state.remove(pendingRecordZoneChanges: [change("A/\(task).\(number)")])
                        }
                        engine.state.hasPendingUntrackedChanges.toggle()
                        _ = engine.state.zoneIDsWithUnfetchedServerChanges
                    }
                }
            }
        }
        #expect(engine.state.pendingRecordZoneChanges.count == 800)
    }

    @Test func `R-532: no callback comes before init has returned, on real threads`() async {
        for _ in 0..<20 {
            let delegate = InitDelegate()
            await delegate.run()
            let isEarly = delegate.isEarly.load(ordering: .sequentiallyConsistent)
            #expect(!isEarly)
        }
    }

    /// Whoever reads the clock here is interrupted then, so that others come first with a later time.
    @Test func `R-568: the first call of an engine never finds the account unknown, on real threads`() async {
        for _ in 0..<500 {
            let delegate = InitDelegate()
            var configuration = CKSyncEngine.Configuration(
                database: .test, stateSerialization: nil, delegate: delegate)
            configuration.automaticallySync = false
            configuration.host = SyncEngineHost(scheduler: InterruptedClock()) { _, _ in SignedInCloud() }
            do {
                try await CKSyncEngine(configuration).fetchChanges()
            } catch {
                guard (error as? CKError)?.code != .notAuthenticated else {
                    Issue.record(error)
                    return
                }
            }
        }
    }

    @Test func `R-530: an actor can be a delegate, and need not answer for options`() throws {
        let scheduler = ManualScheduler()
        let delegate = ActorDelegate()
        let engine = CKSyncEngine(.on(FakeCloud(FakeServer(), scheduler), delegate))
        try scheduler.complete { try await engine.fetchChanges() }
        let log = try scheduler.complete { await delegate.log }
        #expect(log == ["accountChange signIn _alice", "stateUpdate", "willFetch(manual)", "stateUpdate", "didFetch"])
    }

    @Test func `R-016: the public database is refused`() async {
        await #expect(processExitsWith: .failure) {
            let database = CKDatabase.test.container.publicCloudDatabase
            _ = CKSyncEngine(.init(database: database, stateSerialization: nil, delegate: RecordingDelegate()))
        }
    }

    @Test func `R-533: awaiting a call within a callback stops the process`() async {
        await #expect(processExitsWith: .failure) {
            let scheduler = ManualScheduler()
            let delegate = RecordingDelegate()
            delegate.onEvent = { _, engine in try? await engine.fetchChanges() }
            let engine = CKSyncEngine(.on(FakeCloud(FakeServer(), scheduler), delegate))
            scheduler.advance(by: .seconds(1))
            withExtendedLifetime(engine) {}
        }
    }

    @Test func `R-533: so does a plain task that was made in a callback, while that runs`() async {
        await #expect(processExitsWith: .failure) {
            let scheduler = ManualScheduler()
            let delegate = RecordingDelegate()
            delegate.onEvent = { [scheduler] _, engine in
                Task { await engine.cancelOperations() }
                // For as long as the scheduler's time stands still.
                try? await scheduler.sleep(for: .seconds(1))
            }
            let engine = CKSyncEngine(.on(FakeCloud(FakeServer(), scheduler), delegate))
            scheduler.advance(by: .milliseconds(500))
            // The task is on the global executor.
            try await Task.sleep(for: .seconds(10))
            withExtendedLifetime(engine) {}
        }
    }

    @Test func `the enums of the Objective-C face have its numbers`() {
        #expect((0..<3).map { CKSyncEngineAccountChangeType(rawValue: $0) } == [.signIn, .signOut, .switchAccounts])
        #expect(
            (0..<3).map { CKSyncEngineZoneDeletionReason(rawValue: $0) } == [.deleted, .purged, .encryptedDataReset])
        #expect(CKSyncEngineEventType(rawValue: 11) == .didSendChanges && CKSyncEngineEventType(rawValue: 12) == nil)
        #expect(CKSyncEngineEventType.fetchedRecordZoneChanges.rawValue == 3)
        #expect(CKSyncEnginePendingRecordZoneChangeType.deleteRecord.rawValue == 1)
        #expect(CKSyncEnginePendingDatabaseChangeType.deleteZone.rawValue == 1)
        #expect(CKSyncEngineSyncReason.manual.rawValue == 1)
    }
}

/// Makes an engine, and notes if it hears from it before it has it.
private final class InitDelegate: CKSyncEngineDelegate {
    let isEarly = Atomic(false)
    private let hasEngine = Atomic(false)

    func run() async {
        var configuration = CKSyncEngine.Configuration(database: .test, stateSerialization: nil, delegate: self)
        configuration.host = SyncEngineHost { _, _ in SignedInCloud() }
        let engine = CKSyncEngine(configuration)
        hasEngine.store(true, ordering: .sequentiallyConsistent)
        try? await engine.fetchChanges()
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard !hasEngine.load(ordering: .sequentiallyConsistent) else { return }
        isEarly.store(true, ordering: .sequentiallyConsistent)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}

private actor ActorDelegate: CKSyncEngineDelegate {
    var log: [String] = []

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        log.append(event.text)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await .init(pendingChanges: syncEngine.state.pendingRecordZoneChanges) { _ in nil }
    }
}

/// A clock whose readers are often interrupted before they can use what they read.
private final class InterruptedClock: Scheduler {
    private let base = GlobalScheduler()

    var now: Duration {
        let now = base.now
        usleep(UInt32(base.randomBits() % 200))
        return now
    }

    var wallClockMilliseconds: Int64 { base.wallClockMilliseconds }
    func randomBits() -> UInt64 { base.randomBits() }
    func enqueue(_ job: consuming ExecutorJob) { base.enqueue(job) }
    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledTimer {
        base.schedule(after: delay, work)
    }
}

/// Knows who is signed in, and nothing else.
private final class SignedInCloud: SyncEngineCloud {
    func setObserver(_ observer: any SyncEngineCloudObserver) {}
    func currentUser() async throws(CKError) -> CKRecord.ID? { user("alice") }
    func ensureSubscription(id: CKSubscription.ID?, for user: CKRecord.ID) async throws(CKError) -> CKSubscription.ID {
        throw CKError(.serverRejectedRequest)
    }
    func modifyZones(
        saving zones: [CKRecordZone], deleting zoneIDs: [CKRecordZone.ID], for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZoneResults { throw CKError(.serverRejectedRequest) }
    func modifyRecords(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID], atomicByZone: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineRecordResults { throw CKError(.serverRejectedRequest) }
    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineDatabasePage {
        throw CKError(.serverRejectedRequest)
    }
    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, asOfFeed: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZonePage { throw CKError(.serverRejectedRequest) }
    func close() {}
}
