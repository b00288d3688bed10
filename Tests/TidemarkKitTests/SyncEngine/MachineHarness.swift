// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkTestSupport

@testable import TidemarkKit

/// Drives an engine's state machine by hand: no task, no clock, no network. Everything it does becomes a line of the
/// log.
final class MachineHarness {
    var machine: SyncEngineMachine
    let server = FakeServer()
    var now = Duration.zero
    var log: [String] = []
    private(set) var nextDue: Duration?
    private(set) var lastSerialization: CKSyncEngine.State.Serialization?
    private(set) var results: [Int: Result<Void, CKError>] = [:]
    private(set) var events: [CKSyncEngine.Event] = []
    private(set) var storeEvents: [TidemarkStoreEvent] = []
    /// "_alice: → records A/1": each request, with its user.
    private(set) var owned: [String] = []
    private var callCount = 0

    /// Who is signed in, or why that is not known.
    var account: Result<CKRecord.ID?, CKError> = .success(user("alice"))
    var storeLife: UInt64?
    /// Outcomes that come instead of the server's; nil: the server answers.
    var respond: (SyncEngineRequest) -> SyncEngineOutcome? = { _ in nil }
    /// Requests of which the answer waits for ``release()``.
    var holds: (SyncEngineRequest) -> Bool = { _ in false }
    private(set) var held: [(id: SyncEngineRequestID, request: SyncEngineRequest)] = []
    /// What the delegate does.
    var onEvent: (CKSyncEngine.Event) -> Void = { _ in }
    var options: (CKSyncEngine.FetchChangesContext) -> CKSyncEngine.FetchChangesOptions = { $0.options }
    var batch: ((CKSyncEngine.SendChangesContext) -> CKSyncEngine.RecordZoneChangeBatch?)?
    /// The app's records.
    var records: [CKRecord.ID: CKRecord] = [:]
    var isSilent = false

    init(
        snapshot: SyncEngineSnapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16)), automatic: Bool = false,
        subscriptionID: String? = nil
    ) {
        machine = SyncEngineMachine(
            snapshot: snapshot, automaticallySync: automatic, subscriptionID: subscriptionID,
            at: SyncEngineMoment(now: .zero, randomBits: 1 << 63))
    }

    /// Past the start and the first account event; the log begins after.
    ///
    /// - Parameter zones: on the server, and not fetched yet.
    static func started(automatic: Bool = false, zones: String...) -> MachineHarness {
        let harness = MachineHarness(automatic: automatic)
        harness.advance(by: .seconds(1))
        harness.log = []
        for name in zones { harness.server.save(zone: zone(name)) }
        return harness
    }

    /// An automatic engine at rest, zone A known.
    static func idle() -> MachineHarness {
        let harness = MachineHarness(automatic: true)
        harness.server.save(zone: zone("A"))
        harness.advance(by: .seconds(10))
        harness.log = []
        return harness
    }

    /// Half way between all jitter's ends.
    var moment: SyncEngineMoment { SyncEngineMoment(now: now, randomBits: 1 << 63) }

    var pending: [String] { machine.snapshot.pendingRecords.elements.map(\.text) }
    var inFlight: [String] { machine.snapshot.inFlightRecords.map(\.text) }
    var unfetched: [String] { machine.snapshot.unfetchedZones.elements.map(\.zoneName) }

    // MARK: What the app and the cloud do

    /// Makes records of these and adds their saves; "-A/1" adds a delete.
    func add(_ changes: String..., value: String = "v") {
        for text in changes where !text.hasPrefix("-") { record(text)["value"] = value }
        machine.add(changes.map(change), isInCallback: false, at: moment)
    }

    func addZones(_ changes: String...) {
        machine.add(changes.map(zoneChange), at: moment)
    }

    /// The app's copy of a record.
    @discardableResult
    func record(_ path: String) -> CKRecord {
        let id = recordID(path)
        let record = records[id] ?? CKRecord(recordType: "Note", recordID: id)
        records[id] = record
        return record
    }

    @discardableResult
    func fetch(_ options: CKSyncEngine.FetchChangesOptions = .init()) -> Int {
        callCount += 1
        machine.fetchCalled(SyncEngineCallID(number: callCount), options, at: moment)
        return callCount
    }

    @discardableResult
    func send(_ options: CKSyncEngine.SendChangesOptions = .init()) -> Int {
        callCount += 1
        machine.sendCalled(SyncEngineCallID(number: callCount), options, at: moment)
        return callCount
    }

    @discardableResult
    func cancelOperations() -> Int {
        callCount += 1
        machine.cancelCalled(SyncEngineCallID(number: callCount), at: moment)
        return callCount
    }

    func cancelCaller(_ call: Int) {
        machine.callerCancelled(SyncEngineCallID(number: call))
    }

    // MARK: Time

    /// Does all that is to be done now.
    func run() {
        for _ in 0..<100_000 {
            switch machine.next(at: moment) {
            case .wait(let due):
                nextDue = due
                return
            case .stop:
                note("stop")
                nextDue = nil
                return
            case let action:
                perform(action)
            }
        }
        fatalError("the machine does not come to rest: \(log.suffix(20))")
    }

    /// Does all that is to be done within this time.
    func advance(by duration: Duration) {
        let target = now + duration
        run()
        while let due = nextDue, due <= target {
            now = max(now, due)
            run()
        }
        now = target
        run()
    }

    /// Answers the requests that were held back, and goes on.
    func release(_ outcome: SyncEngineOutcome? = nil) {
        let requests = held
        held = []
        for (id, request) in requests {
            machine.requestEnded(id, outcome ?? answer(request), at: moment)
        }
        run()
    }

    /// The log since the last call, run to rest first.
    func take() -> [String] {
        run()
        defer { log = [] }
        return log
    }

    /// The error of a call; nil if it succeeded.
    func error(of call: Int) -> CKError? {
        guard case .failure(let error) = results[call] else { return nil }
        return error
    }

    // MARK: Doing

    private func perform(_ action: SyncEngineAction) {
        switch action {
        case .deliver(let event):
            note(event.text)
            events.append(event)
            if case .stateUpdate(let update) = event { lastSerialization = update.stateSerialization }
            if case .sentRecordZoneChanges(let sent) = event {
                for record in sent.savedRecords { records[record.recordID] = record }
            }
            onEvent(event)
        case .deliverStoreEvent(let event):
            note(event.text)
            storeEvents.append(event)
        case .askFetchOptions(let context):
            note("ask options")
            machine.fetchOptionsAnswered(options(context))
        case .askBatch(let context):
            note("ask batch")
            machine.batchAnswered(batch.map { $0(context) } ?? pendingBatch(context))
        case .askHeld(let question):
            note("ask held \(question.zoneID.zoneName)")
        case .start(let id, let request, let user):
            note(request.text)
            owned.append("\(user?.recordName ?? "nobody"): \(request.text)")
            if holds(request) {
                held.append((id, request))
            } else {
                machine.requestEnded(id, answer(request), at: moment)
            }
        case .cancel(let id):
            note("cancel")
            if held.contains(where: { $0.id == id }) {
                held.removeAll { $0.id == id }
                machine.requestEnded(id, .failure(CKError(.operationCancelled)), at: moment)
            }
        case .finish(let id, let result):
            if case .failure(let error) = result {
                note("call \(id.number) \(error.code)")
            } else {
                note("call \(id.number) ok")
            }
            results[id.number] = result
        case .wait, .stop:
            return
        }
    }

    /// What most apps do: all that is pending in the scope, up to the limit.
    func pendingBatch(_ context: CKSyncEngine.SendChangesContext) -> CKSyncEngine.RecordZoneChangeBatch? {
        var batch = CKSyncEngine.RecordZoneChangeBatch()
        let changes = machine.snapshot.pendingRecords.elements.filter(context.options.scope.contains)
        for change in changes where batch.itemCount < SyncEngineLimits.batchItemsMax {
            switch change {
            case .saveRecord(let id):
                if let record = records[id] { batch.recordsToSave.append(record) }
            case .deleteRecord(let id):
                batch.recordIDsToDelete.append(id)
            }
        }
        return batch.isEmpty ? nil : batch
    }

    private func answer(_ request: SyncEngineRequest) -> SyncEngineOutcome {
        if let outcome = respond(request) { return outcome }
        if case .currentUser = request { return account.map { .user($0, storeLife: storeLife) } }
        return server.answer(request)
    }

    private func note(_ line: String) {
        if !isSilent { log.append(line) }
    }
}

extension SyncEngineRequest {
    var isFeed: Bool {
        if case .databaseChanges = self { true } else { false }
    }

    var isZone: Bool {
        if case .zoneChanges = self { true } else { false }
    }

    var isRecords: Bool {
        if case .modifyRecords = self { true } else { false }
    }

    var isZones: Bool {
        if case .modifyZones = self { true } else { false }
    }

    var isUser: Bool {
        if case .currentUser = self { true } else { false }
    }
}

extension SyncEngineOutcome {
    static func error(_ code: CKError.Code, retryAfter: Double? = nil) -> SyncEngineOutcome {
        .failure(CKError(code, message: "", retryAfter: retryAfter))
    }
}
