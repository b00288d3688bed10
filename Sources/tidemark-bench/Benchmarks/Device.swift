// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkKit

/// An app on a device: an engine with automatic sync, and its delegate.
final class Device: CKSyncEngineDelegate {
    private struct State {
        var engine: CKSyncEngine?
        /// The tasks that wait for a record, by its name.
        var waiting: [String: CheckedContinuation<ContinuousClock.Instant?, Never>] = [:]
    }

    private let state = Mutex(State())

    init(_ database: CKDatabase) {
        let engine = CKSyncEngine(.init(database: database, stateSerialization: nil, delegate: self))
        state.withLock { $0.engine = engine }
    }

    func save(_ record: CKRecord.ID) {
        state.withLock { $0.engine }?.state.add(pendingRecordZoneChanges: [.saveRecord(record)])
    }

    /// When the event with that record arrived, which `cause` brings about.
    func arrival(of name: String, _ cause: @escaping @Sendable () -> Void) async throws -> ContinuousClock.Instant {
        let time = await withCheckedContinuation { continuation in
            state.withLock { $0.waiting[name] = continuation }
            cause()
        }
        guard let time else { throw BenchError("A change did not arrive.") }
        return time
    }

    /// Tells waiting tasks that nothing arrived.
    func giveUp() {
        for continuation in state.withLock({ state in
            defer { state.waiting = [:] }
            return state.waiting.values
        }) { continuation.resume(returning: nil) }
    }

    private func arrived(_ name: String, _ time: ContinuousClock.Instant?) {
        state.withLock { $0.waiting.removeValue(forKey: name) }?.resume(returning: time)
    }

    // MARK: CKSyncEngineDelegate

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard case .fetchedRecordZoneChanges(let changes) = event else { return }
        let now = ContinuousClock.now
        for modification in changes.modifications { arrived(modification.record.recordID.recordName, now) }
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: syncEngine.state.pendingRecordZoneChanges) { id in
            let record = CKRecord(recordType: "Note", recordID: id)
            record["title"] = "A note"
            record["body"] = String(repeating: "the tide comes in ", count: 14)
            record["rank"] = 1.5
            return record
        }
    }
}
