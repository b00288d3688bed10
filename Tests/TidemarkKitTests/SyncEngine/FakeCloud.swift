// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkScheduling
import TidemarkTestSupport

@testable import TidemarkKit

/// One engine's cloud on a ``FakeServer``, with latency and faults on demand. Everything runs on one thread.
final class FakeCloud: SyncEngineCloud, @unchecked Sendable {
    enum Fault {
        /// The request does not arrive.
        case refused(CKError)
        /// The request is done, the answer is lost.
        case lost
    }

    let server: FakeServer
    let scheduler: ManualScheduler
    private(set) var observer: (any SyncEngineCloudObserver)?
    private(set) var requests: [String] = []
    private(set) var groups: [String?] = []
    private(set) var isClosed = false
    private(set) var cancelCount = 0

    /// Whether the server wants to be told what is pending, and what it was told.
    var wantsReports = false
    private(set) var reports: [SyncEngineReport] = []

    var user: Result<CKRecord.ID?, CKError> = .success(TidemarkKitTests.user("alice"))
    var latency: () -> Duration = { .milliseconds(1) }
    var fault: (SyncEngineRequest) -> Fault? = { _ in nil }
    var isOnline = true {
        didSet { if isOnline != oldValue { observer?.cloudDidChangeConnectivity(isOnline: isOnline) } }
    }

    init(_ server: FakeServer, _ scheduler: ManualScheduler) {
        self.server = server
        self.scheduler = scheduler
    }

    /// A host that gives out this one cloud.
    var host: SyncEngineHost { SyncEngineHost(scheduler: scheduler) { _, _ in self } }

    func setObserver(_ observer: any SyncEngineCloudObserver) { self.observer = observer }

    func report(_ report: SyncEngineReport) -> Bool {
        if isOnline { reports.append(report) }
        return isOnline
    }

    func close() {
        isClosed = true
        observer = nil
    }

    func push(_ zoneIDs: CKRecordZone.ID...) { observer?.cloudDidReceivePush(zoneIDs: zoneIDs) }

    func signIn(_ user: CKRecord.ID?) {
        self.user = .success(user)
        observer?.cloudDidChangeAccount()
    }

    private func ask(_ request: SyncEngineRequest) async throws(CKError) -> SyncEngineAnswer {
        requests.append(request.text)
        groups.append(SyncEngineRequestContext.operationGroup?.name)
        guard isOnline || request.isUser else { throw CKError(.networkUnavailable) }
        let fault = fault(request)
        try await wait()
        if case .refused(let error) = fault { throw error }
        if case .currentUser = request { return .user(try user.get()) }
        server.origin = ObjectIdentifier(self)
        let answer = server.answer(request)
        server.origin = nil
        if case .lost = fault { throw CKError(.serverResponseLost) }
        try await wait()
        return try answer.get()
    }

    private func wait() async throws(CKError) {
        do {
            try await scheduler.sleep(for: latency())
        } catch {
            cancelCount += 1
            throw CKError(.operationCancelled)
        }
        guard isOnline else { throw CKError(.networkFailure) }
    }

    // MARK: SyncEngineCloud

    func currentUser() async throws(CKError) -> CKRecord.ID? {
        guard case .user(let user, _) = try await ask(.currentUser) else { throw CKError(.internalError) }
        return user
    }

    func ensureSubscription(id: CKSubscription.ID?, for user: CKRecord.ID) async throws(CKError) -> CKSubscription.ID {
        guard case .subscription(let id) = try await ask(.ensureSubscription(id)) else { throw CKError(.internalError) }
        return id
    }

    func modifyZones(
        saving zones: [CKRecordZone], deleting zoneIDs: [CKRecordZone.ID], for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZoneResults {
        let request = SyncEngineRequest.modifyZones(saving: zones, deleting: zoneIDs, .init())
        guard case .zoneResults(let results) = try await ask(request) else { throw CKError(.internalError) }
        return results
    }

    func modifyRecords(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID], atomicByZone: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineRecordResults {
        let batch = CKSyncEngine.RecordZoneChangeBatch(
            recordsToSave: records, recordIDsToDelete: recordIDs, atomicByZone: atomicByZone)
        guard case .recordResults(let results) = try await ask(.modifyRecords(batch, .init())) else {
            throw CKError(.internalError)
        }
        return results
    }

    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineDatabasePage {
        let request = SyncEngineRequest.databaseChanges(since: token, expecting: place, asPushed: asPushed, .init())
        guard case .databasePage(let page) = try await ask(request) else { throw CKError(.internalError) }
        return page
    }

    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, asOfFeed: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZonePage {
        let request = SyncEngineRequest.zoneChanges(in: zoneID, since: token, asOfFeed: asOfFeed, .init())
        guard case .zonePage(let page) = try await ask(request) else { throw CKError(.internalError) }
        return page
    }
}

/// A delegate that writes down what it hears, and does what a test wants besides.
final class RecordingDelegate: CKSyncEngineDelegate, @unchecked Sendable {
    var log: [String] = []
    var records: [CKRecord.ID: CKRecord] = [:]
    var lastState: CKSyncEngine.State.Serialization?
    var onEvent: (CKSyncEngine.Event, CKSyncEngine) async -> Void = { _, _ in }
    var onAsk: (CKSyncEngine) async -> Void = { _ in }
    /// When a batch is made, and not yet given to the engine.
    var onBatch: (CKSyncEngine) async -> Void = { _ in }
    var onOptions: ((CKSyncEngine.FetchChangesContext, CKSyncEngine) async -> CKSyncEngine.FetchChangesOptions)?
    /// Owned by its delegate, as most apps have it.
    var engine: CKSyncEngine?

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        log.append(event.text)
        if case .stateUpdate(let update) = event { lastState = update.stateSerialization }
        await onEvent(event, syncEngine)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        log.append("ask batch")
        await onAsk(syncEngine)
        let changes = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { self.records[$0] }
        await onBatch(syncEngine)
        return batch
    }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions {
        await onOptions?(context, syncEngine) ?? context.options
    }

    /// The app saves a record.
    func save(_ path: String, _ value: String = "v", in engine: CKSyncEngine) {
        let id = recordID(path)
        let record = records[id] ?? CKRecord(recordType: "Note", recordID: id)
        record["value"] = value
        records[id] = record
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }
}

extension CKSyncEngine.Configuration {
    static func on(
        _ cloud: FakeCloud, _ delegate: any CKSyncEngineDelegate, automatic: Bool = false,
        state: CKSyncEngine.State.Serialization? = nil
    ) -> Self {
        var configuration = Self(database: .test, stateSerialization: state, delegate: delegate)
        configuration.automaticallySync = automatic
        configuration.host = cloud.host
        return configuration
    }
}

extension CKDatabase {
    /// Of an app that has no credential, on a server that does not exist.
    static var test: CKDatabase {
        let context = CloudContext(
            containerIdentifier: "iCloud.test", token: "", transport: NoTransport(), scheduler: GlobalScheduler())
        return CKContainer(context: context).privateCloudDatabase
    }
}

private struct NoTransport: CloudTransport {
    private final class NoChannel: CloudChannel {
        func send(_ message: [UInt8]) {}
        func close() {}
    }

    func open(observer: any CloudChannelObserver) -> any CloudChannel { NoChannel() }
}
