// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

// One use of each symbol of the section "CKSyncEngine" of Tests/API.md, in its order. That it compiles is the test.

// MARK: CKSyncEngine

private func engine(_ configuration: CKSyncEngine.Configuration) async throws {
    let engine: CKSyncEngine = CKSyncEngine(configuration)
    let database: CKDatabase = engine.database
    let state: CKSyncEngine.State = engine.state
    try await engine.fetchChanges()
    try await engine.fetchChanges(CKSyncEngine.FetchChangesOptions(scope: .all))
    try await engine.sendChanges()
    try await engine.sendChanges(CKSyncEngine.SendChangesOptions(scope: .all))
    await engine.cancelOperations()
    let description: String = engine.description
    isSendable(engine)
    isDescribable(engine)
    _ = (database, state, description)
}

private func isSendable(_ value: some Sendable) {}
private func isDescribable(_ value: some CustomStringConvertible) {}
private func isEquatable(_ value: some Equatable) {}
private func isHashable(_ value: some Hashable) {}
private func isCodable(_ value: some Codable) {}

// MARK: CKSyncEngine.Configuration

private func configuration(_ database: CKDatabase, _ delegate: any CKSyncEngineDelegate) {
    var configuration: CKSyncEngine.Configuration = CKSyncEngine.Configuration(
        database: database, stateSerialization: nil, delegate: delegate)
    configuration.database = database
    configuration.stateSerialization = Optional<CKSyncEngine.State.Serialization>.none
    configuration.delegate = delegate
    configuration.automaticallySync = false
    configuration.subscriptionID = Optional<CKSubscription.ID>.none
    let description: String = configuration.description
    isSendable(configuration)
    isDescribable(configuration)
    _ = description
}

// MARK: CKSyncEngineDelegate

private final class Delegate: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }

    func nextFetchChangesOptions(
        _ context: CKSyncEngine.FetchChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.FetchChangesOptions { context.options }
}

/// `nextFetchChangesOptions` has a default; an actor can be a delegate.
private actor ShortDelegate: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}

/// The methods of a class on the main actor stay on it, without that each of them says so.
@MainActor private final class ScreenDelegate: CKSyncEngineDelegate {
    private var eventCount = 0
    private var batchCount = 0

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        eventCount += 1
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        batchCount += 1
        return nil
    }
}

// MARK: CKSyncEngine.State

private func state(_ state: CKSyncEngine.State, _ serialization: CKSyncEngine.State.Serialization) throws {
    let records: [CKSyncEngine.PendingRecordZoneChange] = state.pendingRecordZoneChanges
    let zones: [CKSyncEngine.PendingDatabaseChange] = state.pendingDatabaseChanges
    let isUntracked: Bool = state.hasPendingUntrackedChanges
    state.hasPendingUntrackedChanges = !isUntracked
    let unfetched: [CKRecordZone.ID] = state.zoneIDsWithUnfetchedServerChanges
    state.add(pendingRecordZoneChanges: records)
    state.remove(pendingRecordZoneChanges: records)
    state.add(pendingDatabaseChanges: zones)
    state.remove(pendingDatabaseChanges: zones)
    isSendable(state)
    let data = try JSONEncoder().encode(serialization)
    let decoded = try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
    isSendable(decoded)
    isCodable(decoded)
    _ = unfetched
}

// MARK: CKSyncEngine.PendingRecordZoneChange, PendingDatabaseChange

private func text(_ change: CKSyncEngine.PendingRecordZoneChange) -> String {
    isHashable(change)
    isSendable(change)
    isDescribable(change)
    // Exhaustive, with the line that code written for CloudKit has.
    switch change {
    case .saveRecord(let recordID): return "+\(recordID.recordName)"
    case .deleteRecord(let recordID): return "-\(recordID.recordName)"
    @unknown default: return "?"
    }
}

private func text(_ change: CKSyncEngine.PendingDatabaseChange) -> String {
    isHashable(change)
    isSendable(change)
    isDescribable(change)
    switch change {
    case .saveZone(let zone): return "+\(zone.zoneID.zoneName)"
    case .deleteZone(let zoneID): return "-\(zoneID.zoneName)"
    @unknown default: return "?"
    }
}

// MARK: CKSyncEngine.RecordZoneChangeBatch

private func batch(_ engine: CKSyncEngine, _ records: [CKRecord.ID: CKRecord]) async {
    let pending: CKSyncEngine.RecordZoneChangeBatch? = await CKSyncEngine.RecordZoneChangeBatch(
        pendingChanges: engine.state.pendingRecordZoneChanges, recordProvider: { records[$0] })
    let trailing = await CKSyncEngine.RecordZoneChangeBatch(
        pendingChanges: engine.state.pendingRecordZoneChanges
    ) { recordID in records[recordID] }
    _ = CKSyncEngine.RecordZoneChangeBatch()
    var batch = CKSyncEngine.RecordZoneChangeBatch(
        recordsToSave: Array(records.values), recordIDsToDelete: [], atomicByZone: true)
    batch.recordsToSave = []
    batch.recordIDsToDelete = Array(records.keys)
    batch.atomicByZone = false
    isSendable(batch)
    isDescribable(batch)
    _ = (pending, trailing)
}

// MARK: CKSyncEngine.SyncReason

private func text(_ reason: CKSyncEngine.SyncReason) -> String {
    isEquatable(reason)
    isHashable(reason)
    isSendable(reason)
    isDescribable(reason)
    switch reason {
    case .scheduled: return "scheduled"
    case .manual: return "manual"
    @unknown default: return "?"
    }
}

// MARK: CKSyncEngine.FetchChangesOptions, FetchChangesContext

private func fetching(_ zoneID: CKRecordZone.ID, _ context: CKSyncEngine.FetchChangesContext) {
    _ = CKSyncEngine.FetchChangesOptions()
    var options = CKSyncEngine.FetchChangesOptions(scope: .all, operationGroup: CKOperationGroup())
    options.scope = .zoneIDs([zoneID])
    let group: CKOperationGroup = options.operationGroup
    options.operationGroup = group
    options.prioritizedZoneIDs = [zoneID]
    let scopes: [CKSyncEngine.FetchChangesOptions.Scope] = [.all, .allExcluding([zoneID]), .zoneIDs([zoneID])]
    let isIn: Bool = scopes[0].contains(zoneID)
    isEquatable(scopes[0])
    isSendable(scopes[0])
    isDescribable(scopes[0])
    isSendable(options)
    isDescribable(options)
    let reason: CKSyncEngine.SyncReason = context.reason
    let asked: CKSyncEngine.FetchChangesOptions = context.options
    isSendable(context)
    isDescribable(context)
    _ = (isIn, reason, asked)
}

// MARK: CKSyncEngine.SendChangesOptions, SendChangesContext

private func sending(
    _ change: CKSyncEngine.PendingRecordZoneChange, _ recordID: CKRecord.ID, _ context: CKSyncEngine.SendChangesContext
) {
    _ = CKSyncEngine.SendChangesOptions()
    var options = CKSyncEngine.SendChangesOptions(scope: .all, operationGroup: CKOperationGroup())
    options.scope = .recordIDs([recordID])
    let group: CKOperationGroup = options.operationGroup
    options.operationGroup = group
    let scopes: [CKSyncEngine.SendChangesOptions.Scope] = [
        .all, .allExcluding([recordID.zoneID]), .zoneIDs([recordID.zoneID]), .recordIDs([recordID]),
    ]
    let areIn: [Bool] = [scopes[0].contains(recordID), scopes[1].contains(change)]
    isEquatable(scopes[0])
    isSendable(scopes[0])
    isDescribable(scopes[0])
    isSendable(options)
    isDescribable(options)
    let reason: CKSyncEngine.SyncReason = context.reason
    let asked: CKSyncEngine.SendChangesOptions = context.options
    isSendable(context)
    isDescribable(context)
    _ = (areIn, reason, asked)
}

// MARK: CKSyncEngine.Event and its payloads

private func text(_ event: CKSyncEngine.Event) -> String {
    isSendable(event)
    isDescribable(event)
    switch event {
    case .stateUpdate(let event): return text(event)
    case .accountChange(let event): return text(event)
    case .fetchedDatabaseChanges(let event): return text(event)
    case .fetchedRecordZoneChanges(let event): return text(event)
    case .sentDatabaseChanges(let event): return text(event)
    case .sentRecordZoneChanges(let event): return text(event)
    case .willFetchChanges(let event): return text(event)
    case .willFetchRecordZoneChanges(let event): return text(event)
    case .didFetchRecordZoneChanges(let event): return text(event)
    case .didFetchChanges(let event): return text(event)
    case .willSendChanges(let event): return text(event)
    case .didSendChanges(let event): return text(event)
    @unknown default: return "?"
    }
}

private func described(_ event: some Sendable & CustomStringConvertible) -> String { event.description }

private func text(_ event: CKSyncEngine.Event.StateUpdate) -> String {
    let serialization: CKSyncEngine.State.Serialization = event.stateSerialization
    return described(event) + "\(serialization)"
}

private func text(_ event: CKSyncEngine.Event.AccountChange) -> String {
    let change: CKSyncEngine.Event.AccountChange.ChangeType = event.changeType
    isEquatable(change)
    isSendable(change)
    switch change {
    case .signIn(let currentUser): return described(event) + currentUser.recordName
    case .signOut(let previousUser): return described(event) + previousUser.recordName
    case .switchAccounts(let previousUser, let currentUser):
        return described(event) + previousUser.recordName + currentUser.recordName
    @unknown default: return "?"
    }
}

private func text(_ event: CKSyncEngine.Event.FetchedDatabaseChanges) -> String {
    let modifications: [CKDatabase.DatabaseChange.Modification] = event.modifications
    let deletions: [CKDatabase.DatabaseChange.Deletion] = event.deletions
    return described(event) + "\(modifications.count) \(deletions.count)"
}

private func text(_ event: CKSyncEngine.Event.FetchedRecordZoneChanges) -> String {
    let modifications: [CKDatabase.RecordZoneChange.Modification] = event.modifications
    let deletions: [CKDatabase.RecordZoneChange.Deletion] = event.deletions
    return described(event) + "\(modifications.count) \(deletions.count)"
}

private func text(_ event: CKSyncEngine.Event.SentDatabaseChanges) -> String {
    let savedZones: [CKRecordZone] = event.savedZones
    let failedZoneSaves: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave] = event.failedZoneSaves
    let deletedZoneIDs: [CKRecordZone.ID] = event.deletedZoneIDs
    let failedZoneDeletes: [CKRecordZone.ID: CKError] = event.failedZoneDeletes
    let failures = failedZoneSaves.map { failure in
        let (zone, error): (CKRecordZone, CKError) = (failure.zone, failure.error)
        return described(failure) + zone.zoneID.zoneName + error.localizedDescription
    }
    return described(event) + "\(savedZones.count) \(failures) \(deletedZoneIDs.count) \(failedZoneDeletes.count)"
}

private func text(_ event: CKSyncEngine.Event.SentRecordZoneChanges) -> String {
    let savedRecords: [CKRecord] = event.savedRecords
    let failedRecordSaves: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave] = event.failedRecordSaves
    let deletedRecordIDs: [CKRecord.ID] = event.deletedRecordIDs
    let failedRecordDeletes: [CKRecord.ID: CKError] = event.failedRecordDeletes
    let failures = failedRecordSaves.map { failure in
        let (record, error): (CKRecord, CKError) = (failure.record, failure.error)
        return described(failure) + record.recordID.recordName + error.localizedDescription
    }
    return described(event) + "\(savedRecords.count) \(failures) \(deletedRecordIDs.count) \(failedRecordDeletes.count)"
}

private func text(_ event: CKSyncEngine.Event.WillFetchChanges) -> String {
    let context: CKSyncEngine.FetchChangesContext = event.context
    return described(event) + text(context.reason)
}

private func text(_ event: CKSyncEngine.Event.DidFetchChanges) -> String {
    let context: CKSyncEngine.FetchChangesContext = event.context
    return described(event) + text(context.reason)
}

private func text(_ event: CKSyncEngine.Event.WillFetchRecordZoneChanges) -> String {
    let zoneID: CKRecordZone.ID = event.zoneID
    return described(event) + zoneID.zoneName
}

private func text(_ event: CKSyncEngine.Event.DidFetchRecordZoneChanges) -> String {
    let (zoneID, error): (CKRecordZone.ID, CKError?) = (event.zoneID, event.error)
    return described(event) + zoneID.zoneName + (error?.localizedDescription ?? "")
}

private func text(_ event: CKSyncEngine.Event.WillSendChanges) -> String {
    let context: CKSyncEngine.SendChangesContext = event.context
    return described(event) + text(context.reason)
}

private func text(_ event: CKSyncEngine.Event.DidSendChanges) -> String {
    let context: CKSyncEngine.SendChangesContext = event.context
    return described(event) + text(context.reason)
}

// MARK: Engine enums of the Objective-C face

@Suite struct CKSyncEngineAPITests {
    @Test func `the engine's numbers are those of the Objective-C face`() {
        #expect(CKSyncEngineAccountChangeType(rawValue: 0) == .signIn)
        #expect(CKSyncEngineAccountChangeType(rawValue: 1) == .signOut)
        #expect(CKSyncEngineAccountChangeType(rawValue: 2) == .switchAccounts)
        #expect(CKSyncEngineZoneDeletionReason(rawValue: 0) == .deleted)
        #expect(CKSyncEngineZoneDeletionReason(rawValue: 1) == .purged)
        #expect(CKSyncEngineZoneDeletionReason(rawValue: 2) == .encryptedDataReset)
        let types: [CKSyncEngineEventType] = [
            .stateUpdate, .accountChange, .fetchedDatabaseChanges, .fetchedRecordZoneChanges, .sentDatabaseChanges,
            .sentRecordZoneChanges, .willFetchChanges, .willFetchRecordZoneChanges, .didFetchRecordZoneChanges,
            .didFetchChanges, .willSendChanges, .didSendChanges,
        ]
        #expect(types.map(\.rawValue) == Array(0...11))
        #expect(CKSyncEngineEventType(rawValue: 12) == nil)
        #expect(CKSyncEnginePendingRecordZoneChangeType(rawValue: 0) == .saveRecord)
        #expect(CKSyncEnginePendingRecordZoneChangeType(rawValue: 1) == .deleteRecord)
        #expect(CKSyncEnginePendingDatabaseChangeType(rawValue: 0) == .saveZone)
        #expect(CKSyncEnginePendingDatabaseChangeType(rawValue: 1) == .deleteZone)
        #expect(CKSyncEngineSyncReason(rawValue: 0) == .scheduled)
        #expect(CKSyncEngineSyncReason(rawValue: 1) == .manual)
    }

    @Test func `R-575, R-612: the defaults of options and batches`() {
        let zoneID = CKRecordZone.ID(zoneName: "A")
        #expect(CKSyncEngine.FetchChangesOptions().scope == .all)
        #expect(CKSyncEngine.FetchChangesOptions().prioritizedZoneIDs == [])
        #expect(CKSyncEngine.SendChangesOptions().scope == .all)
        let batch = CKSyncEngine.RecordZoneChangeBatch()
        #expect(batch.recordsToSave == [] && batch.recordIDsToDelete == [] && !batch.atomicByZone)
        #expect(text(CKSyncEngine.PendingDatabaseChange.deleteZone(zoneID)) == "-A")
        #expect(text(CKSyncEngine.PendingRecordZoneChange.saveRecord(CKRecord.ID(recordName: "r"))) == "+r")
        let configuration = CKSyncEngine.Configuration(
            database: CKContainer(identifier: "iCloud.test.api").privateCloudDatabase, stateSerialization: nil,
            delegate: Delegate())
        #expect(configuration.automaticallySync && configuration.subscriptionID == nil)
    }
}
