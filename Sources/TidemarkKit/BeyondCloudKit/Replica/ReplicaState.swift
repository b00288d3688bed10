// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Everything that a ``TidemarkReplica`` knows and decides, without an engine.
struct ReplicaState: Sendable {
    /// An edit of an account that has signed out, with the app's values.
    struct SetAside: Codable, Sendable {
        var entry: ReplicaEntry
        /// An archive of the record with the app's values; nil for a deletion.
        var values: Data?
    }

    /// The user record's name of the records' owner. Nil: the records have no owner so far, and belong to the next user
    /// who signs in.
    private(set) var owner: String?
    /// Zones that the server is known to have.
    private(set) var zones: Set<CKRecordZone.ID> = []
    /// Zones that the user has deleted and that the server may still have.
    private(set) var deletedZones: Set<CKRecordZone.ID> = []
    private(set) var entries: [CKRecord.ID: ReplicaEntry] = [:]
    /// By user.
    private(set) var setAside: [String: [CKRecord.ID: SetAside]] = [:]
    private(set) var deletedZonesSetAside: [String: Set<CKRecordZone.ID>] = [:]
    private(set) var engineState: CKSyncEngine.State.Serialization?
    /// The rows that have changed since the app last stored rows.
    private(set) var changedRows: Set<ReplicaRow> = []
    /// Records that the app turned out not to have, although it never deleted them.
    private var missing: [CKRecord.ID] = []
    /// Zones of other users that a restored server does not list. The steps come with the next event of the engine, which
    /// comes before its new state.
    private var unlistedZones: Set<CKRecordZone.ID> = []
    /// Records whose entries are unmerged.
    private var unmergedIDs: Set<CKRecord.ID> = []
    /// An account change that waits because the app's values could not be read, and the events after it. They are not
    /// stored, and neither is the engine's state from then on. An engine that begins with the earlier state reports
    /// them again.
    private var delayed: [ReplicaEvent] = []

    init() {}

    /// Restores a stored replica.
    init(
        owner: String?, zones: Set<CKRecordZone.ID>, deletedZones: Set<CKRecordZone.ID>,
        entries: [CKRecord.ID: ReplicaEntry], setAside: [String: [CKRecord.ID: SetAside]],
        deletedZonesSetAside: [String: Set<CKRecordZone.ID>], engineState: CKSyncEngine.State.Serialization?
    ) {
        self.owner = owner
        self.zones = zones
        self.deletedZones = deletedZones
        self.entries = entries
        self.setAside = setAside
        self.deletedZonesSetAside = deletedZonesSetAside
        self.engineState = engineState
        unmergedIDs = Set(entries.filter(\.value.isUnmerged).keys)
    }

    mutating func takeChangedRows() -> Set<ReplicaRow> {
        defer { changedRows = [] }
        return changedRows
    }

    /// In an order that does not depend on hashing.
    private func ids(where isWanted: (CKRecord.ID, ReplicaEntry) -> Bool) -> [CKRecord.ID] {
        Self.inOrder(entries.filter { isWanted($0.key, $0.value) }.keys)
    }

    private static func inOrder(_ ids: some Collection<CKRecordZone.ID>) -> [CKRecordZone.ID] {
        ids.sorted { ($0.zoneName, $0.ownerName) < ($1.zoneName, $1.ownerName) }
    }

    private static func inOrder(_ ids: some Collection<CKRecord.ID>) -> [CKRecord.ID] {
        ids.sorted { left, right in
            (left.zoneID.zoneName, left.recordName, left.zoneID.ownerName)
                < (right.zoneID.zoneName, right.recordName, right.zoneID.ownerName)
        }
    }

    var unsentIDs: [CKRecord.ID] { ids { $1.edit != nil } }

    private mutating func set(_ id: CKRecord.ID, _ entry: ReplicaEntry?) {
        let entry = entry?.isEmpty == true ? nil : entry
        guard entry != nil || entries[id] != nil else { return }
        entries[id] = entry
        if entry?.isUnmerged == true { unmergedIDs.insert(id) } else { unmergedIDs.remove(id) }
        changedRows.insert(.record(id))
    }

    private mutating func change(_ id: CKRecord.ID, _ change: (inout ReplicaEntry) -> Void) {
        guard var entry = entries[id] else { return }
        change(&entry)
        set(id, entry)
    }

    private mutating func know(_ zoneID: CKRecordZone.ID, isThere: Bool) {
        guard zones.contains(zoneID) != isThere else { return }
        if isThere { zones.insert(zoneID) } else { zones.remove(zoneID) }
        changedRows.insert(.account)
    }

    // MARK: What the user does

    mutating func edited(_ id: CKRecord.ID, _ recordType: CKRecord.RecordType) {
        var entry = entries[id] ?? ReplicaEntry(recordType: recordType)
        entry.edited()
        set(id, entry)
    }

    mutating func deleted(_ id: CKRecord.ID) {
        guard var entry = entries[id] else { return }
        set(id, entry.deleted() ? entry : nil)
    }

    /// - Returns: the records that are forgotten.
    mutating func zoneDeleted(_ zoneID: CKRecordZone.ID) -> [CKRecord.ID] {
        deletedZones.insert(zoneID)
        changedRows.insert(.account)
        let gone = ids { id, _ in id.zoneID == zoneID }
        for id in gone { set(id, nil) }
        return gone
    }

    mutating func release(_ ids: [CKRecord.ID]) {
        for id in ids { change(id) { $0.release() } }
    }

    mutating func discard(_ ids: [CKRecord.ID]) -> [TidemarkReplica.Step] {
        var steps: [TidemarkReplica.Step] = []
        for id in ids where entries[id]?.edit != nil {
            change(id) { $0.settle() }
            steps.append(entries[id]?.serverRecord.map { .store($0) } ?? .remove(id))
        }
        return steps
    }

    // MARK: Sending

    /// The change that the engine should have pending for this record; nil if there is none.
    func pendingChange(of id: CKRecord.ID) -> CKSyncEngine.PendingRecordZoneChange? {
        switch entries[id]?.pending {
        case .save: .saveRecord(id)
        case .delete: .deleteRecord(id)
        case nil: nil
        }
    }

    /// The app has no values for a record that is to be saved. The next event corrects it.
    mutating func valuesAreMissing(_ id: CKRecord.ID) {
        missing.append(id)
    }

    /// - Parameter counts: the edit from which each record was made.
    mutating func handedOut(_ records: [CKRecord], _ counts: [CKRecord.ID: Int]) {
        for record in records {
            guard let count = counts[record.recordID] else { continue }
            change(record.recordID) { $0.handedOut(record, count: count) }
        }
    }

    // MARK: Events

    typealias Write = (CKRecord) throws -> Bool

    /// Whether an account change waits until the app's values can be read. Until then the records belong to the earlier
    /// account, and none of them may be sent.
    var isDelayed: Bool { !delayed.isEmpty }

    /// An engine begins. It reports everything again that came after the stored state.
    mutating func engineBegins() { delayed = [] }

    /// - Parameter write: fills a record with the app's values; returns false if the app has none. Throws if it cannot
    ///   read them now; everything that depends on them then waits for the next event.
    mutating func plan(_ event: ReplicaEvent, _ rules: TidemarkMerge, _ write: Write) -> ReplicaPlan {
        var plan = ReplicaPlan()
        delayed.append(event)
        while let next = delayed.first {
            switch next {
            case .store(let event):
                take(event, &plan)
            case .engine(.accountChange(let change), _):
                // First of all, so that nothing is half done.
                guard let locals = try? locals(plan, write) else { return plan }
                account(change.changeType.users, rules, locals, &plan)
            case .engine(let event, let pending):
                take(event, rules, isPending: pending.contains, &plan, write)
            }
            delayed.removeFirst()
        }
        return plan
    }

    private mutating func take(
        _ event: CKSyncEngine.Event, _ rules: TidemarkMerge, isPending: (CKRecord.ID) -> Bool,
        _ plan: inout ReplicaPlan, _ write: Write
    ) {
        bringBackMissing(&plan, write)
        mergeUnmerged(rules, &plan, write)
        for zoneID in Self.inOrder(unlistedZones) { zoneEnded(zoneID, .deleted, &plan) }
        unlistedZones = []
        switch event {
        case .stateUpdate(let update):
            engineState = update.stateSerialization
            changedRows.insert(.engine)
        case .fetchedDatabaseChanges(let changes):
            for deletion in changes.deletions { zoneEnded(deletion.zoneID, deletion.reason, &plan) }
            for modification in changes.modifications { know(modification.zoneID, isThere: true) }
        case .fetchedRecordZoneChanges(let changes):
            let isNews = changes.fullFetchReason != .anotherLife
            for record in changes.modifications.map(\.record) { fetched(record, isNews: isNews, rules, &plan, write) }
            if changes.isResync { storeAgain(changes.modifications.map(\.record), &plan) }
            for deletion in changes.deletions { recordEnded(deletion.recordID, &plan) }
        case .didFetchRecordZoneChanges(let end):
            if let fullFetch = end.fullFetch { ended(fullFetch, &plan) }
        case .sentDatabaseChanges(let sent):
            settle(sent, &plan)
        case .sentRecordZoneChanges(let sent):
            settle(sent, rules, &plan, isPending, write)
        default:
            break
        }
    }

    /// Has no steps, because nothing here depends on the app's values.
    mutating func plan(_ event: TidemarkStoreEvent) -> ReplicaPlan {
        var plan = ReplicaPlan()
        if isDelayed { delayed.append(.store(event)) } else { take(event, &plan) }
        return plan
    }

    /// takes in zones that a restored server does not have.
    private mutating func take(_ event: TidemarkStoreEvent, _ plan: inout ReplicaPlan) {
        guard case .didFetchZonesFromNothing(let list) = event, list.reason == .anotherLife else { return }
        let known = zones.union(entries.filter(\.value.isOnServer).keys.map(\.zoneID))
        var absent = Set(list.zoneIDsNotFetched(among: known))
        // A zone of another user cannot be created again from here.
        unlistedZones.formUnion(absent.filter(\.isOfOther))
        absent.subtract(unlistedZones)
        for id in ids(where: { id, _ in absent.contains(id.zoneID) }) { lostByServer(id, &plan) }
        for zoneID in absent { know(zoneID, isThere: false) }
    }

    ///
    private mutating func ended(_ fullFetch: TidemarkFullFetch, _ plan: inout ReplicaPlan) {
        // A record that was never known to be on the server is not missed.
        for id in fullFetch.recordIDsNotFetched(among: ids { $1.isOnServer }) {
            switch fullFetch.reason {
            case .deletionsForgotten: recordEnded(id, &plan)
            case .anotherLife: lostByServer(id, &plan)
            }
        }
    }

    private mutating func lostByServer(_ id: CKRecord.ID, _ plan: inout ReplicaPlan) {
        plan.touched.append(id)
        switch entries[id]?.edit {
        case .save: change(id) { $0.lostOnServer() }
        case .delete: set(id, nil)
        case nil: change(id) { $0.lostByServer() }
        }
    }

    /// an edit of a record that the app does not have does not count, and the server's version comes back.
    private mutating func bringBackMissing(_ plan: inout ReplicaPlan, _ write: Write) {
        var unread: [CKRecord.ID] = []
        for id in missing {
            guard let entry = entries[id], entry.edit == .save else { continue }
            do {
                guard try local(id, entry, plan, write) == nil else { continue }
            } catch {
                unread.append(id)
                continue
            }
            change(id) { $0.settle() }
            plan.touched.append(id)
            if let record = entry.newestServerRecord { plan.steps.append(.store(record)) }
        }
        missing = unread
    }

    /// merges records that arrived while the app's values could not be read.
    private mutating func mergeUnmerged(_ rules: TidemarkMerge, _ plan: inout ReplicaPlan, _ write: Write) {
        for id in Self.inOrder(unmergedIDs) {
            guard let entry = entries[id], let record = entry.unmergedRecord else { continue }
            do {
                meet(record, local: try local(id, entry, plan, write), isNews: entry.unmergedIsNews, rules, &plan)
            } catch {
                // It still waits.
            }
        }
    }

    /// - Throws: what `write` throws.
    private func local(
        _ id: CKRecord.ID, _ entry: ReplicaEntry, _ plan: ReplicaPlan, _ write: Write
    ) throws -> CKRecord? {
        guard entry.edit == .save else { return nil }
        // The app has not carried out the steps yet.
        if let planned = plan.outcome(of: id) { return planned }
        let draft = entry.draft(of: id)
        return try write(draft) ? draft : nil
    }

    /// For all records that are still to be saved.
    private func locals(_ plan: ReplicaPlan, _ write: Write) throws -> [CKRecord.ID: CKRecord] {
        try entries.reduce(into: [:]) { $0[$1.key] = try local($1.key, $1.value, plan, write) }
    }

    private mutating func meet(
        _ record: CKRecord, isNews: Bool, _ rules: TidemarkMerge, _ plan: inout ReplicaPlan,
        _ write: Write
    ) {
        let id = record.recordID
        guard var entry = entries[id] else {
            set(id, ReplicaEntry(server: record))
            plan.touched.append(id)
            return plan.steps.append(.store(record))
        }
        do {
            meet(record, local: try local(id, entry, plan, write), isNews: isNews, rules, &plan)
        } catch {
            entry.keepUnmerged(record, isNews: isNews)
            set(id, entry)
            plan.touched.append(id)
        }
    }

    private mutating func meet(
        _ record: CKRecord, local: CKRecord?, isNews: Bool, _ rules: TidemarkMerge, _ plan: inout ReplicaPlan
    ) {
        let id = record.recordID
        guard var entry = entries[id] else { return }
        plan.touched.append(id)
        let stored = entry.meet(record, local: local, isNews: isNews, rules)
        set(id, entry)
        if let stored { plan.steps.append(.store(stored)) }
    }

    private mutating func fetched(
        _ record: CKRecord, isNews: Bool, _ rules: TidemarkMerge, _ plan: inout ReplicaPlan,
        _ write: Write
    ) {
        // A record that this device has saved comes back with the next fetch.
        guard entries[record.recordID]?.isKnown(record, isNews: isNews) != true else { return }
        if !isNews { change(record.recordID) { $0.dispute(record) } }
        meet(record, isNews: isNews, rules, &plan, write)
    }

    private mutating func recordEnded(_ id: CKRecord.ID, _ plan: inout ReplicaPlan) {
        plan.touched.append(id)
        guard entries[id]?.edit == .save else {
            set(id, nil)
            return plan.steps.append(.remove(id))
        }
        // an edit outlives a deletion.
        change(id) { $0.lostOnServer() }
    }

    // MARK: Zones

    private mutating func zoneEnded(
        _ zoneID: CKRecordZone.ID, _ reason: CKDatabase.DatabaseChange.Deletion.Reason, _ plan: inout ReplicaPlan
    ) {
        // Failed saves also tell the app that another user's zone has ended. The list may say nothing: the zone may be
        // shared again by then, or access never began. The app is told once.
        guard !zoneID.isOfOther || zones.contains(zoneID) || deletedZones.contains(zoneID) || hasNews(in: zoneID) else {
            return
        }
        var unsent: [CKRecord.ID] = []
        for id in ids(where: { id, _ in id.zoneID == zoneID }) {
            plan.touched.append(id)
            switch entries[id]?.edit {
            case .save where zoneID.isOfOther:
                if entries[id]?.isHeld != true { unsent.append(id) }
                // it can be saved nowhere else.
                change(id) { $0.lostAccess() }
            case .save:
                unsent.append(id)
                change(id) {
                    $0.lostOnServer()
                    if reason == .purged { $0.hold() }
                }
            case nil where reason == .encryptedDataReset && !zoneID.isOfOther:
                change(id) { $0.lostByServer() }
            case nil:
                set(id, nil)
                plan.steps.append(.remove(id))
            case .delete:
                set(id, nil)
            }
        }
        know(zoneID, isThere: false)
        if deletedZones.remove(zoneID) != nil {
            changedRows.insert(.account)
            plan.settledZones.append(zoneID)
        }
        plan.steps.append(.zoneDeleted(zoneID, reason, unsent: unsent))
    }

    /// Whether anything of the zone is left, except edits that wait until the app says that they may be sent.
    private func hasNews(in zoneID: CKRecordZone.ID) -> Bool {
        entries.contains { $0.key.zoneID == zoneID && ($0.value.edit != .save || $0.value.isHeld != true) }
    }

    private mutating func settle(_ sent: CKSyncEngine.Event.SentDatabaseChanges, _ plan: inout ReplicaPlan) {
        for zone in sent.savedZones { know(zone.zoneID, isThere: true) }
        let gone = sent.failedZoneDeletes.filter { $0.value.saysZoneIsGone }.keys
        for zoneID in sent.deletedZoneIDs + gone { zoneEnded(zoneID, .deleted, &plan) }
        for (zoneID, error) in sent.failedZoneDeletes where !error.saysZoneIsGone && !error.keepsChangePending {
            plan.steps.append(.zoneRefused(zoneID, error))
        }
        for failure in sent.failedZoneSaves where !failure.error.keepsChangePending {
            plan.steps.append(.zoneRefused(failure.zone.zoneID, failure.error))
        }
    }

    // MARK: What became of records that were sent

    private mutating func settle(
        _ sent: CKSyncEngine.Event.SentRecordZoneChanges, _ rules: TidemarkMerge, _ plan: inout ReplicaPlan,
        _ isPending: (CKRecord.ID) -> Bool, _ write: Write
    ) {
        var lost: [CKRecordZone.ID] = []
        for record in sent.savedRecords {
            guard let entry = entries[record.recordID] else {
                meet(record, isNews: true, rules, &plan, write)
                continue
            }
            change(record.recordID) { $0.saved(record) }
            plan.touched.append(record.recordID)
            // The user discarded the edit while it was being sent.
            if entry.edit == nil { plan.steps.append(.store(record)) }
        }
        for failure in sent.failedRecordSaves {
            let id = failure.record.recordID
            if failure.error.endsAccess(to: id) {
                lost.append(id.zoneID)
            } else {
                saveFailed(id, failure.error, rules, &plan, isPending, write)
            }
        }
        for id in sent.deletedRecordIDs { deletionEnded(id, &plan) }
        for id in Self.inOrder(sent.failedRecordDeletes.keys) {
            guard let error = sent.failedRecordDeletes[id] else { continue }
            if error.endsAccess(to: id) {
                lost.append(id.zoneID)
            } else if error.code == .unknownItem || error.saysZoneIsGone {
                deletionEnded(id, &plan)
            } else {
                settle(id, error, &plan, isPending)
            }
        }
        // they are not shared with this user any more.
        var told: Set<CKRecordZone.ID> = []
        for zoneID in lost where told.insert(zoneID).inserted { zoneEnded(zoneID, .deleted, &plan) }
    }

    private mutating func saveFailed(
        _ id: CKRecord.ID, _ error: CKError, _ rules: TidemarkMerge, _ plan: inout ReplicaPlan,
        _ isPending: (CKRecord.ID) -> Bool, _ write: Write
    ) {
        switch error.code {
        case .serverRecordChanged:
            // without the files of its assets, the record waits for the fetch that brings them.
            guard let record = error.serverRecord, record.hasFiles else { return }
            meet(record, isNews: false, rules, &plan, write)
        case .unknownItem, .zoneNotFound:
            if error.code == .zoneNotFound { know(id.zoneID, isThere: false) }
            change(id) { $0.lostOnServer() }
            plan.touched.append(id)
        case .userDeletedZone: zoneWasErased(id, &plan)
        default: settle(id, error, &plan, isPending)
        }
    }

    private mutating func settle(
        _ id: CKRecord.ID, _ error: CKError, _ plan: inout ReplicaPlan, _ isPending: (CKRecord.ID) -> Bool
    ) {
        if error.code == .batchRequestFailed { return plan.touched.append(id) }
        guard !error.keepsChangePending, !isPending(id), entries[id]?.edit != nil else { return }
        plan.steps.append(.refused(id, error))
    }

    /// the list of changed zones will report it too. Until then no record of the zone is sent.
    private mutating func zoneWasErased(_ id: CKRecord.ID, _ plan: inout ReplicaPlan) {
        guard entries[id]?.edit == .save else { return }
        know(id.zoneID, isThere: false)
        change(id) {
            $0.lostOnServer()
            $0.hold()
        }
        plan.touched.append(id)
        plan.steps.append(.zoneDeleted(id.zoneID, .purged, unsent: [id]))
    }

    private mutating func deletionEnded(_ id: CKRecord.ID, _ plan: inout ReplicaPlan) {
        plan.touched.append(id)
        switch entries[id]?.edit {
        case .save: change(id) { $0.lostOnServer() }
        case .delete: set(id, nil)
        case nil:
            guard entries[id] != nil else { return }
            set(id, nil)
            plan.steps.append(.remove(id))
        }
    }
}

// MARK: Accounts

extension ReplicaState {
    /// Takes in a change of account.
    ///
    /// - Parameter locals: the app's values of each record that is still to be saved.
    private mutating func account(
        _ users: (previous: CKRecord.ID?, current: CKRecord.ID?), _ rules: TidemarkMerge,
        _ locals: [CKRecord.ID: CKRecord], _ plan: inout ReplicaPlan
    ) {
        let user = users.current
        // If an app first uses a replica while somebody is signed in, the replica learns of that user only when they
        // leave.
        if let owner = owner ?? users.previous?.recordName, owner != user?.recordName {
            setAsideEdits(of: owner, locals)
            for id in Array(entries.keys) { set(id, nil) }
            if !deletedZones.isEmpty { deletedZonesSetAside[owner] = deletedZones }
            deletedZones = []
            plan.steps.append(.removeAll)
        }
        owner = user?.recordName
        // The engine has forgotten its zones, and another user may have zones of the same names.
        (zones, unlistedZones) = ([], [])
        // The process may end before the engine's new state is stored, and the account may change back. Then the engine
        // must not take its account for the one of the records.
        engineState = nil
        changedRows.formUnion([.account, .engine])
        plan.isNewAccount = true
        if let owner { bringBackEdits(of: owner, rules, &plan, locals) }
        plan.touched += unsentIDs
    }

    private mutating func setAsideEdits(of owner: String, _ locals: [CKRecord.ID: CKRecord]) {
        for id in unsentIDs {
            guard let entry = entries[id] else { continue }
            let values = locals[id].flatMap(ReplicaArchive.data)
            guard values != nil || entry.edit == .delete else { continue }
            setAside[owner, default: [:]][id] = SetAside(entry: entry, values: values)
            changedRows.insert(.setAside(owner, id))
        }
    }

    private mutating func bringBackEdits(
        of owner: String, _ rules: TidemarkMerge, _ plan: inout ReplicaPlan, _ locals: [CKRecord.ID: CKRecord]
    ) {
        deletedZones.formUnion(deletedZonesSetAside.removeValue(forKey: owner) ?? [])
        let kept = setAside.removeValue(forKey: owner) ?? [:]
        for (id, kept) in kept.sorted(by: { $0.key.recordName < $1.key.recordName }) {
            changedRows.insert(.setAside(owner, id))
            var entry = kept.entry
            let values = kept.values.flatMap(ReplicaArchive.record)
            if entries[id] != nil, let local = locals[id] {
                // It was written while nobody was signed in, so it is newer than the edits that were set aside. It was
                // made without seeing them or the server's version, so missing values were not removed by anybody.
                entry.edited()
                if let values {
                    plan.steps.append(.store(rules.merge(ancestor: nil, server: values, client: local)))
                }
            } else if let values {
                plan.steps.append(.store(values))
            }
            set(id, entry)
        }
    }
}

extension CKError {
    fileprivate var saysZoneIsGone: Bool { code == .zoneNotFound || code == .userDeletedZone }
    fileprivate func endsAccess(to id: CKRecord.ID) -> Bool { code == .zoneNotFound && id.zoneID.isOfOther }
}

extension CKSyncEngine.Event.AccountChange.ChangeType {
    fileprivate var users: (previous: CKRecord.ID?, current: CKRecord.ID?) {
        switch self {
        case .signIn(let user): (nil, user)
        case .switchAccounts(let previous, let user): (previous, user)
        case .signOut(let previous): (previous, nil)
        }
    }
}

extension CKRecord {
    /// Whether all its assets have been downloaded.
    fileprivate var hasFiles: Bool {
        unpacked { state in
            (state.plain.values.values).allSatisfy { value in
                ((value as? NSArray).map { $0.compactMap { $0 as? CKAsset } } ?? [value as? CKAsset].compactMap(\.self))
                    .allSatisfy { $0.fileURL != nil }
            }
        }
    }
}
