// SPDX-License-Identifier: Apache-2.0

/// What one device has of the records that it shares with others, as far as sync is concerned: which edits are still to be sent,
/// what the server had of each record last, and the engine's state. CloudKit has nothing of this; an engine works without.
///
/// The app keeps its own data as it likes, and this beside it. It tells the replica of each edit, hands it each event, and does
/// what that answers: store this, delete that. So no edit is lost, whatever happens in between (R-640 … R-645): conflicts, lost
/// answers, a process that dies, accounts that change, zones that are deleted, a server that begins anew.
///
/// ```swift
/// func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
///     for step in library.replica.steps(after: event, syncEngine, merging: rules, write: { fill($0) }) {
///         switch step {
///         case .store(let record): library.notes[record.recordID.recordName] = Note(record)
///         case .remove(let id): library.notes[id.recordName] = nil
///         case .removeAll: library.notes = [:]
///         case .zoneDeleted(_, _, let unsent): library.replica.send(unsent, syncEngine)
///         case .refused(let id, let error): problems[id.recordName] = error.localizedDescription
///         case .zoneRefused(let id, let error): problems[id.zoneName] = error.localizedDescription
///         }
///     }
///     try? save()
/// }
/// ```
/// Store the replica together with the app's data, in one file or one transaction: after each edit, at the end of each
/// `handleEvent`, and before a batch is returned. It is `Codable`, for apps with one file; for apps with a table there are
/// ``takeChangedRows()`` and ``init(rows:)``. It holds whole records, encrypted values in the clear too: keep it as you keep the
/// data.
///
/// It says what an engine has pending: call none of `state.add` and `state.remove` for records beside it. One replica is for one
/// engine. Safe to use from any thread.
public final class TidemarkReplica: Sendable {
    private let guarded: Locked<ReplicaState>

    /// A replica that has nothing yet: for an engine without a state.
    public convenience init() {
        self.init(ReplicaState())
    }

    init(_ state: ReplicaState) {
        guarded = Locked(state)
    }

    /// The engine's state by the last `stateUpdate`, for `CKSyncEngine.Configuration`.
    public var engineState: CKSyncEngine.State.Serialization? { guarded.withLock { $0.engineState } }

    func read<Value>(_ value: (inout ReplicaState) -> Value) -> Value { guarded.withLock { value(&$0) } }

    // MARK: What the user does

    /// The user made or changed a record, and the app has stored that. The engine is told, with the record's zone if the server
    /// is not known to have it.
    ///
    /// - Parameters:
    ///   - recordType: of a record that is new.
    ///   - engine: nil before there is one: ``begin(_:)`` tells it.
    public func edited(_ id: CKRecord.ID, as recordType: CKRecord.RecordType, _ engine: CKSyncEngine?) {
        guarded.withLock { state in
            state.edited(id, recordType)
            tell(engine, [id], of: state)
        }
    }

    /// The user deleted a record, and the app has stored that.
    ///
    /// It comes back if somebody else has edited it, and this device hears of that before the deletion is sent: a deletion
    /// carries no tag.
    public func deleted(_ id: CKRecord.ID, _ engine: CKSyncEngine?) {
        guarded.withLock { state in
            state.deleted(id)
            tell(engine, [id], of: state)
        }
    }

    /// The user deleted a zone with all that is in it, edits that are still to be sent too.
    public func deletedZone(_ zoneID: CKRecordZone.ID, _ engine: CKSyncEngine) {
        guarded.withLock { state in
            tell(engine, state.zoneDeleted(zoneID), of: state)
            tellDeletedZones(engine, of: state)
        }
    }

    /// These edits are to be sent: after a zone was erased by the user, or after the server refused them.
    public func send(_ ids: [CKRecord.ID], _ engine: CKSyncEngine) {
        guarded.withLock { state in
            state.release(ids)
            tell(engine, ids, of: state)
        }
    }

    /// The user gives these edits up.
    ///
    /// - Returns: what the app is to store, or to delete, instead.
    public func discard(_ ids: [CKRecord.ID], _ engine: CKSyncEngine) -> [Step] {
        guarded.withLock { state in
            let steps = state.discard(ids)
            tell(engine, ids, of: state)
            return steps
        }
    }

    // MARK: The engine

    /// To be called with each engine right after it was made: what is still to be sent is pending from then on, whatever the
    /// engine's state had.
    public func begin(_ engine: CKSyncEngine) {
        guarded.withLock { state in
            state.engineBegins()
            tellDeletedZones(engine, of: state)
            tell(engine, state.unsentIDs, of: state)
        }
    }

    /// What the delegate's `nextRecordZoneChangeBatch` returns.
    ///
    /// - Parameter write: sets all fields of the record to what the app has now, and returns true; false if **there is no such
    ///   record any more**, on which the edit is given up. If the app cannot tell, because its data cannot be read just now
    ///   (a locked database, a disk that is away), it throws any error: the edit stays, and is asked for again after seconds,
    ///   then minutes, and after each fetch. It must not call the replica.
    public func nextBatch(
        _ context: CKSyncEngine.SendChangesContext, _ engine: CKSyncEngine,
        write: @Sendable (CKRecord) async throws -> Bool
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        // What is pending may be of another account.
        guard !guarded.withLock(\.isDelayed) else { return nil }
        let changes = dropForeign(engine.state.pendingRecordZoneChanges.filter(context.options.scope.contains), engine)
        let counts = Locked<[CKRecord.ID: Int]>([:])
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            // The count comes first: of an edit that is made meanwhile it is not known whether it is in the record.
            guard let entry = self.guarded.withLock({ $0.entries[id] }), !entry.isUnmerged else { return nil }
            counts.withLock { $0[id] = entry.editCount }
            let draft = entry.draft(of: id)
            do {
                if try await write(draft) { return draft }
            } catch {
                return nil
            }
            self.guarded.withLock { $0.valuesAreMissing(id) }
            return nil
        }
        guarded.withLock { state in
            state.handedOut(batch?.recordsToSave ?? [], counts.withLock { $0 })
        }
        return batch
    }

    /// What the app is to do after an event of its engine (R-642 … R-645). Do it before the delegate's `handleEvent` returns, take
    /// no edit between this call and the last step, and store the replica with the result.
    ///
    /// - Parameters:
    ///   - merge: what becomes of fields that were changed here and elsewhere. `newest(by:)` is the one to take: with the
    ///     others a device that was away for long may win over edits that came after its own.
    ///   - write: as in ``nextBatch(_:_:write:)``. If it throws, what depends on that record waits, and the steps come with the first
    ///     event that finds it readable. A change of account waits for all records with edits, and with it whatever comes later:
    ///     until then the app's data is the old user's.
    public func steps(
        after event: CKSyncEngine.Event, _ engine: CKSyncEngine, merging merge: TidemarkMerge,
        write: (CKRecord) throws -> Bool
    ) -> [Step] {
        guarded.withLock { state in
            let pending = Set(engine.state.pendingRecordZoneChanges.map(\.recordID))
            let plan = state.plan(.engine(event, pending: pending), merge, write)
            if !plan.settledZones.isEmpty {
                engine.state.remove(pendingDatabaseChanges: plan.settledZones.map { .deleteZone($0) })
            }
            if plan.isNewAccount {
                engine.state.remove(pendingRecordZoneChanges: engine.state.pendingRecordZoneChanges)
                tellDeletedZones(engine, of: state)
            }
            tell(engine, plan.touched, of: state)
            return plan.steps
        }
    }

    /// To be called with each event of the server's store, if the delegate is a ``TidemarkSyncEngineDelegate``: after a restore
    /// from a backup, zones that the server lacks are saved again with what is in them. Store the replica then.
    public func take(_ event: TidemarkStoreEvent, _ engine: CKSyncEngine) {
        guarded.withLock { state in
            let plan = state.plan(event)
            tell(engine, plan.touched, of: state)
        }
    }

    /// Without what the replica knows nothing of, or knows better: of an older state, or of another account.
    private func dropForeign(
        _ changes: [CKSyncEngine.PendingRecordZoneChange], _ engine: CKSyncEngine
    ) -> [CKSyncEngine.PendingRecordZoneChange] {
        guarded.withLock { state in
            let foreign = changes.filter { state.pendingChange(of: $0.recordID) != $0 }
            engine.state.remove(pendingRecordZoneChanges: foreign)
            tell(engine, foreign.map(\.recordID), of: state)
            return changes.filter { state.pendingChange(of: $0.recordID) == $0 }
        }
    }

    /// Makes the engine's pending changes of these records say what the replica says.
    ///
    /// Under the lock: another thread's edit of such a record must not come between.
    private func tell(_ engine: CKSyncEngine?, _ ids: [CKRecord.ID], of state: ReplicaState) {
        guard let engine, !ids.isEmpty, !state.isDelayed else { return }
        let wanted = ids.compactMap(state.pendingChange)
        let unwanted = Set(ids).subtracting(wanted.map(\.recordID)).flatMap { id in
            [.saveRecord(id), .deleteRecord(id)] as [CKSyncEngine.PendingRecordZoneChange]
        }
        engine.state.remove(pendingRecordZoneChanges: unwanted)
        addZones(of: wanted, engine, state)
        engine.state.add(pendingRecordZoneChanges: wanted)
    }

    private func tellDeletedZones(_ engine: CKSyncEngine, of state: ReplicaState) {
        guard !state.isDelayed else { return }
        let zoneIDs = state.deletedZones.sorted { $0.zoneName < $1.zoneName }
        engine.state.add(pendingDatabaseChanges: zoneIDs.map { .deleteZone($0) })
    }

    private func addZones(
        of changes: [CKSyncEngine.PendingRecordZoneChange], _ engine: CKSyncEngine, _ state: ReplicaState
    ) {
        let zoneIDs = Set(changes.filter(\.isSave).map(\.recordID.zoneID)).filter { zoneID in
            // Others' zones are for others to make.
            !state.zones.contains(zoneID) && zoneID.ownerName == CKCurrentUserDefaultName
                && zoneID.zoneName != CKRecordZone.ID.defaultZoneName
        }
        guard !zoneIDs.isEmpty else { return }
        // The app may have added one of its own making, or its deletion.
        let pending = Set(engine.state.pendingDatabaseChanges.map(\.zoneID))
        engine.state.add(
            pendingDatabaseChanges: zoneIDs.subtracting(pending).sorted { $0.zoneName < $1.zoneName }
                .map { .saveZone(CKRecordZone(zoneID: $0)) })
    }

    // MARK: To look at

    /// The records with edits, deletions too, that the server is not known to have.
    public var unsentIDs: [CKRecord.ID] { guarded.withLock { $0.unsentIDs } }

    /// The record as the server had it last, as far as this device knows; nil if it has none.
    public func serverRecord(for id: CKRecord.ID) -> CKRecord? {
        guarded.withLock { $0.entries[id]?.newestServerRecord }
    }
}

extension CKSyncEngine.PendingRecordZoneChange {
    fileprivate var isSave: Bool {
        if case .saveRecord = self { true } else { false }
    }
}
