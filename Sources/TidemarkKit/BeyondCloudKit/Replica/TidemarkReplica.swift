// SPDX-License-Identifier: Apache-2.0

/// The sync state of one device's records: the unsent edits, the server's last known version of each record, and the
/// engine's state. CloudKit has no such type, and an engine works without it.
///
/// The app keeps its own data in its own way, with the replica beside it. It tells the replica of each edit, passes it
/// each event, and carries out the steps that it returns. So no edit is lost, whatever happens in between (R-640 …
/// There may be conflicts, lost answers, a process that dies, changes of account, deleted zones, a server that
/// begins anew.
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
/// Store the replica together with the app's data, in one file or one transaction. Do so after each edit, at the end of
/// each `handleEvent`, and before a batch is returned. It is `Codable`, for apps with one file. For apps with a table
/// there are ``takeChangedRows()`` and ``init(rows:)``. It contains whole records, with encrypted values in the clear,
/// so protect it as you protect the data.
///
/// It decides what an engine has pending: do not call `state.add` and `state.remove` for records beside it. Use one
/// replica for one engine. Safe to use from any thread.
public final class TidemarkReplica: Sendable {
    private let guarded: Locked<ReplicaState>

    /// An empty replica, for an engine without a state.
    public convenience init() {
        self.init(ReplicaState())
    }

    init(_ state: ReplicaState) {
        guarded = Locked(state)
    }

    /// The engine's state from the last `stateUpdate`, for `CKSyncEngine.Configuration`.
    public var engineState: CKSyncEngine.State.Serialization? { guarded.withLock { $0.engineState } }

    func read<Value>(_ value: (inout ReplicaState) -> Value) -> Value { guarded.withLock { value(&$0) } }

    // MARK: The user's actions

    /// Call this when the user has created or changed a record, and the app has stored that. The engine is told, with
    /// the record's zone if the server is not known to have it.
    ///
    /// - Parameters:
    ///   - id: the record.
    ///   - recordType: of a new record.
    ///   - engine: nil before there is one; ``begin(_:)`` then tells it.
    public func edited(_ id: CKRecord.ID, as recordType: CKRecord.RecordType, _ engine: CKSyncEngine?) {
        guarded.withLock { state in
            state.edited(id, recordType)
            tell(engine, [id], of: state)
        }
    }

    /// Call this when the user has deleted a record, and the app has stored that.
    ///
    /// The record comes back if somebody else has edited it, and this device fetches that edit before it sends the
    /// deletion. The reason is that a deletion carries no tag.
    public func deleted(_ id: CKRecord.ID, _ engine: CKSyncEngine?) {
        guarded.withLock { state in
            state.deleted(id)
            tell(engine, [id], of: state)
        }
    }

    /// Call this when the user has deleted a zone with everything in it, unsent edits too.
    public func deletedZone(_ zoneID: CKRecordZone.ID, _ engine: CKSyncEngine) {
        guarded.withLock { state in
            tell(engine, state.zoneDeleted(zoneID), of: state)
            tellDeletedZones(engine, of: state)
        }
    }

    /// Sends these edits, after the user purged a zone, or after the server refused them.
    public func send(_ ids: [CKRecord.ID], _ engine: CKSyncEngine) {
        guarded.withLock { state in
            state.release(ids)
            tell(engine, ids, of: state)
        }
    }

    /// Discards these edits at the user's wish.
    ///
    /// - Returns: what the app must store or delete instead.
    public func discard(_ ids: [CKRecord.ID], _ engine: CKSyncEngine) -> [Step] {
        guarded.withLock { state in
            let steps = state.discard(ids)
            tell(engine, ids, of: state)
            return steps
        }
    }

    // MARK: The engine

    /// Call this with each engine right after it was made. From then on all unsent edits are pending, whatever the
    /// engine's state had.
    public func begin(_ engine: CKSyncEngine) {
        guarded.withLock { state in
            state.engineBegins()
            tellDeletedZones(engine, of: state)
            tell(engine, state.unsentIDs, of: state)
        }
    }

    /// The batch for the delegate's `nextRecordZoneChangeBatch`.
    ///
    /// - Parameters:
    ///   - context: as the delegate got it.
    ///   - engine: the engine that asks.
    ///   - write: sets all fields of the record to the app's values, and returns true. It returns false if **the record
    ///     no longer exists**; the edit is then dropped. If the app cannot read its data now (a locked database,
    ///     a missing disk), it throws any error. Then the edit stays, and is asked for again after seconds, then
    ///     minutes, and after each fetch. It must not call the replica.
    public func nextBatch(
        _ context: CKSyncEngine.SendChangesContext, _ engine: CKSyncEngine,
        write: @Sendable (CKRecord) async throws -> Bool
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        // The pending changes may belong to another account.
        guard !guarded.withLock(\.isDelayed) else { return nil }
        let changes = dropForeign(engine.state.pendingRecordZoneChanges.filter(context.options.scope.contains), engine)
        let counts = Locked<[CKRecord.ID: Int]>([:])
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            // The count comes first: it is not known whether the record contains an edit that is made meanwhile.
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

    /// The steps that the app must carry out after an event of its engine (R-642 … R-645). Carry them out before the
    /// delegate's `handleEvent` returns. Accept no edit between this call and the last step. Store the replica with the
    /// result.
    ///
    /// - Parameters:
    ///   - event: as the delegate got it.
    ///   - engine: the engine that told it.
    ///   - merge: decides fields that were changed both here and elsewhere. Use `newest(by:)`: with the others, a
    ///     device that was away for long may win over later edits.
    ///   - write: as in ``nextBatch(_:_:write:)``. If it throws, everything that depends on that record waits, and the
    ///     steps come with the first event after which it can be read. A change of account waits until all records with
    ///     edits can be read, and all later events wait with it. Until then the app's data belongs to the old user
    ///
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

    /// Call this with each event of the server's store, if the delegate is a ``TidemarkSyncEngineDelegate``. After a
    /// restore from a backup, zones that the server lacks are then saved again with their records. Zones of other
    /// users end, which the steps of the next event say. Store the replica afterwards.
    public func take(_ event: TidemarkStoreEvent, _ engine: CKSyncEngine) {
        guarded.withLock { state in
            let plan = state.plan(event)
            tell(engine, plan.touched, of: state)
        }
    }

    /// Leaves out changes that the replica does not know, or knows better: from an older state, or from another
    /// account.
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

    /// Makes the engine's pending changes of these records agree with the replica.
    ///
    /// Under the lock, because another thread's edit of such a record must not come between.
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
            // Zones of other users are not for this device to create.
            !state.zones.contains(zoneID) && zoneID.ownerName == CKCurrentUserDefaultName
                && zoneID.zoneName != CKRecordZone.ID.defaultZoneName
        }
        guard !zoneIDs.isEmpty else { return }
        // The app may have added the zone itself, or its deletion.
        let pending = Set(engine.state.pendingDatabaseChanges.map(\.zoneID))
        engine.state.add(
            pendingDatabaseChanges: zoneIDs.subtracting(pending).sorted { $0.zoneName < $1.zoneName }
                .map { .saveZone(CKRecordZone(zoneID: $0)) })
    }

    // MARK: To look at

    /// Records with edits or deletions that the server is not known to have.
    public var unsentIDs: [CKRecord.ID] { guarded.withLock { $0.unsentIDs } }

    /// The change tag of each record of a zone that the server is known to have, for
    /// ``TidemarkSyncEngineDelegate/heldChangeTags(in:syncEngine:)``.
    public func changeTags(in zoneID: CKRecordZone.ID) -> [CKRecord.ID: String] {
        guarded.withLock { state in
            state.entries.filter { $0.key.zoneID == zoneID }.compactMapValues { $0.newestServerRecord?.recordChangeTag }
        }
    }

    /// The server's last known version of the record; nil if there is none.
    public func serverRecord(for id: CKRecord.ID) -> CKRecord? {
        guarded.withLock { $0.entries[id]?.newestServerRecord }
    }
}

extension CKSyncEngine.PendingRecordZoneChange {
    fileprivate var isSave: Bool {
        if case .saveRecord = self { true } else { false }
    }
}
