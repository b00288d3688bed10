// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkTelemetry

/// Carries out the decisions of an engine's state machine.
///
/// The machine is behind a lock, so that the engine's state is synchronous. At most one task drives it at a
/// time. The task starts when something happens, carries out one action after another, including the delegate's
/// callbacks, and ends when there is nothing to do. So an idle engine retains neither its delegate nor itself.
final class SyncEngineDriver: Sendable {
    private struct Guarded {
        var machine: SyncEngineMachine
        weak var engine: CKSyncEngine?
        weak var delegate: (any CKSyncEngineDelegate)?
        var isDriving = false
        var isClosed = false
        var timer: (due: Duration, handle: ScheduledTimer)?
        var requests: [SyncEngineRequestID: Task<Void, Never>] = [:]
        /// Requests that ended before their tasks were known here.
        var endedEarly: Set<SyncEngineRequestID> = []
        var calls: [SyncEngineCallID: WaitingTask<Result<Void, CKError>>] = [:]
        var callCount = 0
        /// The delegate's callback under way, and its task.
        var callback: (number: Int, task: Int?)?
        var callbackCount = 0
        /// The wall clock's milliseconds since 1970 at the zero of the scheduler's clock, for dates that people see.
        var dateOrigin: Int64?
        /// The state of a random generator (PCG, 64 bits), which is good enough to spread retries. Each event takes a
        /// number, and the system's generator would cost a system call each.
        var randomBits: UInt64

        mutating func moment(on scheduler: any Scheduler) -> SyncEngineMoment {
            randomBits = randomBits &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return SyncEngineMoment(now: scheduler.now, randomBits: randomBits ^ randomBits << 32)
        }

        /// dates stay as they are while the wall clock is not set.
        mutating func status(on scheduler: any Scheduler) -> TidemarkSyncStatus {
            let now = scheduler.now
            let measured = scheduler.wallClockMilliseconds - now.wholeMilliseconds
            let isSet = dateOrigin.map { abs($0 - measured) > 1_000 } ?? true
            let origin = isSet ? measured : dateOrigin ?? measured
            dateOrigin = origin
            return machine.status(at: now) { time in
                Date(timeIntervalSince1970: Double(origin + time.wholeMilliseconds) / 1_000)
            }
        }
    }

    /// One callback of an engine's delegate.
    private struct Callback: Sendable {
        let driver: Int
        let number: Int
    }

    /// The callback in which the current task runs or was started; it may have ended since.
    @TaskLocal private static var callback: Callback?
    private static let driverCount = Atomic(0)
    private static let log = Log("sync-engine")

    private let number = SyncEngineDriver.driverCount.add(1, ordering: .relaxed).newValue
    private let cloud: any SyncEngineCloud
    private let scheduler: any Scheduler
    private let atWork: (@Sendable (_ begins: Bool) -> Void)?
    let journal: SyncEngineJournal?
    let statusWatchers = SyncEngineStatusWatchers()
    /// Nil: the app does not want the server to know.
    private let reporter: SyncEngineReporter?
    private let guarded: Locked<Guarded>

    init(_ configuration: CKSyncEngine.Configuration) {
        let host = configuration.host ?? configuration.database.syncEngineHost
        var snapshot =
            configuration.stateSerialization?.snapshot
            ?? SyncEngineSnapshot(deviceIdentity: host.scheduler.randomBytes16())
        cloud = host.makeCloud(snapshot.deviceIdentity, snapshot.user?.recordName)
        scheduler = host.scheduler
        reporter = configuration.reports ? SyncEngineReporter(cloud, on: host.scheduler) : nil
        atWork = host.atWork
        journal = configuration.journal.map {
            SyncEngineJournal($0, restoring: &snapshot, files: host.journalFiles)
        }
        // Without a journal, an earlier one is out of date.
        if journal == nil { snapshot.journalID = snapshot.journalID.map(SyncEngineSnapshot.left) }
        var machine = SyncEngineMachine(
            snapshot: snapshot, automaticallySync: configuration.automaticallySync,
            subscriptionID: configuration.subscriptionID, at: Self.firstMoment(scheduler))
        if let journal, journal.isOpen {
            machine.beginJournal(id: journal.id, at: Self.firstMoment(scheduler))
            machine.journalIs(journal.currentID, at: Self.firstMoment(scheduler))
        }
        guarded = Locked(
            Guarded(machine: machine, delegate: configuration.delegate, randomBits: scheduler.randomBits()))
    }

    private static func firstMoment(_ scheduler: any Scheduler) -> SyncEngineMoment {
        SyncEngineMoment(now: scheduler.now, randomBits: scheduler.randomBits())
    }

    // MARK: For the engine and its state

    /// For logs: no user data.
    var description: String {
        guarded.withLock { guarded in
            let snapshot = guarded.machine.snapshot
            let kind = guarded.machine.automaticallySync ? "automatic" : "manual"
            return """
                \(kind), pending: \(snapshot.pendingRecords.count) records and \(snapshot.pendingZones.count) zones, \
                unfetched zones: \(snapshot.unfetchedZones.count)
                """
        }
    }

    /// Begins to listen and to work for the engine, which is complete except that its `init` has not returned.
    func start(for engine: CKSyncEngine) {
        guarded.withLock { $0.engine = engine }
        cloud.setObserver(self)
        update { _, _ in }
    }

    /// The engine is gone: ends all its work.
    func stop() {
        update { machine, _ in machine.stop() }
        statusWatchers.end()
        reporter?.end()
        journal?.release()
    }

    /// What the engine does and waits for now.
    var status: TidemarkSyncStatus { guarded.withLock { $0.status(on: scheduler) } }

    /// Why the journal does not hold the pending changes; nil while it does, or if there is none.
    var journalError: CKError? { journal?.error }

    func read<Value: Sendable>(_ value: (SyncEngineSnapshot) -> Value) -> Value {
        guarded.withLock { value($0.machine.snapshot) }
    }

    /// Changes the machine, then makes sure that what follows is done.
    ///
    /// NB: the moment is taken under the lock, as in ``nextAction()``, so that time never goes backwards for the
    /// machine. Otherwise one thread could make something due now, and another would find it not due yet.
    ///
    /// - Parameter durably: whether to return only when the journal, if there is one, has the change on the disk.
    func update(durably: Bool = false, _ change: (inout SyncEngineMachine, SyncEngineMoment) -> Void) {
        let mustDrive = changed(change)
        if durably { journal?.sync() }
        if mustDrive { startDriving() }
    }

    private func startDriving() {
        atWork?(true)
        // Whoever starts it may be in a callback, which does not wait for it.
        CallbackWork.$current.withValue(nil) {
            _ = scheduler.run {
                await self.drive()
                self.atWork?(false)
            }
        }
    }

    /// - Returns: whether nobody drives the machine, so that the caller must start a task.
    private func changed(_ change: (inout SyncEngineMachine, SyncEngineMoment) -> Void) -> Bool {
        defer { statusWatchers.changed() }
        return guarded.withLock { guarded in
            let moment = guarded.moment(on: scheduler)
            change(&guarded.machine, moment)
            writeJournal(&guarded)
            defer { guarded.isDriving = true }
            return !guarded.isDriving
        }
    }

    /// Under the lock, so that lines are in the order of the events.
    private func writeJournal(_ guarded: inout Guarded) {
        guard let journal, journal.isOpen else { return }
        let entries = guarded.machine.takeJournalEntries()
        if !entries.isEmpty { journal.append(entries) }
        let moment = guarded.moment(on: scheduler)
        guarded.machine.journalIs(journal.currentID, at: moment)
    }

    /// Passes a call of the app to the machine, and waits for its end.
    func call(
        _ start: @Sendable (inout SyncEngineMachine, SyncEngineCallID, SyncEngineMoment) -> Void
    ) async -> Result<Void, CKError> {
        let id = guarded.withLock { guarded in
            guarded.callCount += 1
            return SyncEngineCallID(number: guarded.callCount)
        }
        return await withTaskCancellationHandler {
            await withWaitingTask { task in
                guarded.withLock { $0.calls[id] = task }
                update { start(&$0, id, $1) }
                // If the task was cancelled before the call was known, the handler has run in vain.
                if Task.isCancelled { update { machine, _ in machine.callerCancelled(id) } }
            }
        } onCancel: {
            update { machine, _ in machine.callerCancelled(id) }
        }
    }

    /// Whether this is the task of the callback under way. A task that was started in a callback is another one: it may
    /// run beside a later callback, or beside the same one.
    var isInCallback: Bool {
        guard let task = Self.currentTask else { return false }
        return guarded.withLock { $0.callback?.task == task }
    }

    /// Distinguishes the current task from all others that run now.
    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

    /// within a callback such a call would wait for itself. A task that was started there may call once the
    /// callback has ended.
    func forbidCallback(to call: StaticString) {
        guard let callback = Self.callback, callback.driver == number else { return }
        precondition(
            guarded.withLock { $0.callback?.number } != callback.number,
            """
            CKSyncEngine.\(call) was called in a callback of the engine's delegate, or in a task started there, before the \
            callback ended. The call would wait for that: use a detached task, or call it later.
            """)
    }
}

// MARK: The driving task

extension SyncEngineDriver {
    private func drive() async {
        while let action = nextAction() { await perform(action) }
    }

    /// The next action; nil if the task must end.
    private func nextAction() -> SyncEngineAction? {
        var closes = false
        let next: SyncEngineAction? = guarded.withLock { guarded in
            let moment = guarded.moment(on: scheduler)
            let action = guarded.machine.next(at: moment)
            writeJournal(&guarded)
            switch action {
            case .wait(let due):
                guarded.isDriving = false
                setTimer(due, &guarded, at: moment.now)
                return nil
            case .stop:
                guarded.isDriving = false
                setTimer(nil, &guarded, at: moment.now)
                closes = !guarded.isClosed
                guarded.isClosed = true
                return nil
            default:
                return action
            }
        }
        if closes { cloud.close() }
        statusWatchers.changed()
        if next == nil, !closes { reporter?.engineRests { [weak self] in self?.status } }
        return next
    }

    /// A timer that fires too early notices it and sets the next one. Moving a timer would cost more.
    private func setTimer(_ due: Duration?, _ guarded: inout Guarded, at now: Duration) {
        if let timer = guarded.timer, let due, timer.due <= due { return }
        guarded.timer?.handle.cancel()
        guarded.timer = nil
        guard let due else { return }
        let handle = scheduler.schedule(after: max(due - now, .zero)) { [weak self] in self?.timerFired(due) }
        guarded.timer = (due, handle)
    }

    private func timerFired(_ due: Duration) {
        guarded.withLock { guarded in
            if guarded.timer?.due == due { guarded.timer = nil }
        }
        update { _, _ in }
    }

    private func perform(_ action: SyncEngineAction) async {
        switch action {
        case .deliver(let event):
            await callDelegate { await $0.handleEvent(event, syncEngine: $1) }
        case .deliverStoreEvent(let event):
            await callDelegate {
                await ($0 as? any TidemarkSyncEngineDelegate)?.handleStoreEvent(event, syncEngine: $1)
            }
        case .askFetchOptions(let context):
            let options = await callDelegate { await $0.nextFetchChangesOptions(context, syncEngine: $1) }
            guard let options else { return }
            update { machine, _ in machine.fetchOptionsAnswered(options) }
        case .askBatch(let context):
            let batch = await callDelegate { await $0.nextRecordZoneChangeBatch(context, syncEngine: $1) }
            guard let batch else { return }
            update { machine, _ in machine.batchAnswered(batch) }
        case .askHeld(let question):
            await ask(question)
        case .start(let id, let request, let user):
            start(id, request, for: user)
        case .cancel(let id):
            guarded.withLock { $0.requests[id] }?.cancel()
        case .finish(let id, let result):
            guarded.withLock { $0.calls.removeValue(forKey: id) }?.resume(returning: result)
        case .wait, .stop:
            preconditionFailure("the task ends instead")
        }
    }

    /// The app may change something while it is asked, so what is pending before and after counts.
    private func ask(_ question: SyncEngineHeldQuestion) async {
        let before = read { $0.changedRecords(in: question.zoneID) }
        let changeTags = await callDelegate {
            await ($0 as? any TidemarkSyncEngineDelegate)?.heldChangeTags(in: question.zoneID, syncEngine: $1)
        }
        question.answer = read { snapshot in
            SyncEngineHeld(
                changeTags: changeTags.flatMap(\.self), token: snapshot.zoneTokens[question.zoneID],
                user: snapshot.user, pending: before.union(snapshot.changedRecords(in: question.zoneID)))
        }
    }

    /// As ``SyncEngineCloud/inventory(of:listingAfter:for:)``.
    func inventory(
        of zoneID: CKRecordZone.ID, listingAfter name: String?, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineInventory {
        try await cloud.inventory(of: zoneID, listingAfter: name, for: user)
    }

    /// Calls the delegate, if it and the engine still exist. Otherwise the engine stops.
    @discardableResult
    private func callDelegate<Answer: Sendable>(
        _ body: @Sendable (any CKSyncEngineDelegate, CKSyncEngine) async -> Answer
    ) async -> Answer? {
        let (delegate, engine) = guarded.withLock { ($0.delegate, $0.engine) }
        guard let delegate, let engine else {
            update { machine, _ in machine.stop() }
            return nil
        }
        let task = Self.currentTask
        let callback = guarded.withLock { guarded in
            guarded.callbackCount += 1
            guarded.callback = (guarded.callbackCount, task)
            return Callback(driver: number, number: guarded.callbackCount)
        }
        let answer = await Self.$callback.withValue(callback) {
            await CallbackWork.run(atWork) { await body(delegate, engine) }
        }
        guarded.withLock { $0.callback = nil }
        return answer
    }
}

// MARK: Requests

extension SyncEngineDriver {
    private func start(_ id: SyncEngineRequestID, _ request: SyncEngineRequest, for user: CKRecord.ID?) {
        let task = scheduler.runAtOnce {
            let outcome = await SyncEngineRequestContext.$operationGroup.withValue(request.operationGroup) {
                await self.outcome(of: request, for: user)
            }
            await self.requestEnded(id, request, outcome)
        }
        guarded.withLock { guarded in
            if guarded.endedEarly.remove(id) == nil { guarded.requests[id] = task }
        }
    }

    /// The request's own task, which has nothing else to do, drives what follows. If that task was cancelled, another
    /// one does, so that the delegate does not run in a cancelled task.
    private func requestEnded(
        _ id: SyncEngineRequestID, _ request: SyncEngineRequest, _ outcome: SyncEngineOutcome
    ) async {
        guarded.withLock { guarded in
            if guarded.requests.removeValue(forKey: id) == nil { guarded.endedEarly.insert(id) }
        }
        if case .failure(let error) = outcome { Self.log(error, of: request) }
        // NB: once nobody else drives, nobody cancels the request any more.
        guard changed({ $0.requestEnded(id, outcome, at: $1) }) else { return }
        guard !Task.isCancelled else { return startDriving() }
        atWork?(true)
        await drive()
        atWork?(false)
    }

    /// logs errors that no event reports and no caller receives.
    private static func log(_ error: CKError, of request: SyncEngineRequest) {
        if error.isRetriedBySyncEngine {
            log.debug("request failed", ["request": request.name, "code": "\(error.code)"])
        } else {
            log.warning("request refused", ["request": request.name, "code": "\(error.code)"])
        }
    }

    private func outcome(of request: SyncEngineRequest, for user: CKRecord.ID?) async -> SyncEngineOutcome {
        do throws(CKError) {
            return .success(try await answer(to: request, for: user))
        } catch {
            return .failure(error)
        }
    }

    private func answer(
        to request: SyncEngineRequest, for user: CKRecord.ID?
    ) async throws(CKError) -> SyncEngineAnswer {
        switch (request, user) {
        case (.currentUser, _):
            let user = try await cloud.currentUser()
            return .user(user, storeLife: cloud.storeLife)
        case (_, nil):
            // nothing is asked for an account before it is known whose it is.
            throw CKError.noAccount
        case (.ensureSubscription(let id), let user?):
            return .subscription(try await cloud.ensureSubscription(id: id, for: user))
        case (.modifyZones(let zones, let zoneIDs, _), let user?):
            return .zoneResults(try await cloud.modifyZones(saving: zones, deleting: zoneIDs, for: user))
        case (.modifyRecords(let batch, _), let user?):
            return .recordResults(
                try await cloud.modifyRecords(
                    saving: batch.recordsToSave, deleting: batch.recordIDsToDelete, atomicByZone: batch.atomicByZone,
                    for: user))
        case (.databaseChanges(let token, let place, let asPushed, _), let user?):
            return .databasePage(
                try await cloud.databaseChanges(
                    since: token, expecting: place, asPushed: asPushed, relyingOn: read(\.subscriptionID), for: user))
        case (.zoneChanges(let zoneID, let token, let asOfFeed, _), let user?):
            return .zonePage(try await cloud.zoneChanges(in: zoneID, since: token, asOfFeed: asOfFeed, for: user))
        case (.zonesWithKeys(let zoneIDs), let user?):
            return .zonesWithKeys(try await cloud.zonesWithKeys(among: zoneIDs, for: user))
        }
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int64 {
        components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
    }
}

extension SyncEngineRequest {
    /// For logs.
    fileprivate var name: String {
        switch self {
        case .currentUser: "currentUser"
        case .ensureSubscription: "ensureSubscription"
        case .modifyZones: "modifyZones"
        case .modifyRecords: "modifyRecords"
        case .databaseChanges: "databaseChanges"
        case .zoneChanges: "zoneChanges"
        case .zonesWithKeys: "zonesWithKeys"
        }
    }

    fileprivate var operationGroup: CKOperationGroup? {
        switch self {
        case .currentUser, .ensureSubscription, .zonesWithKeys: nil
        case .modifyZones(_, _, let group), .modifyRecords(_, let group), .databaseChanges(_, _, _, let group),
            .zoneChanges(_, _, _, let group):
            group
        }
    }
}

// MARK: What the cloud tells

extension SyncEngineDriver: SyncEngineCloudObserver {
    func cloudDidReceivePush(zoneIDs: [CKRecordZone.ID]) {
        update { $0.pushReceived(zoneIDs, at: $1) }
    }

    func cloudDidImportKeys() {
        update { machine, _ in machine.keysImported() }
    }

    func cloudDidChangeConnectivity(isOnline: Bool) {
        update { $0.connectivityChanged(isOnline: isOnline, at: $1) }
    }

    func cloudDidChangeAccount() {
        update { $0.accountHinted(at: $1) }
    }

    func cloudDidReplaceDevice(by identity: [UInt8]) {
        update { $0.deviceReplaced(by: identity, at: $1) }
    }
}
