// SPDX-License-Identifier: Apache-2.0

/// Decides the requests of a group, one after another, from the data that was read of their zone and the changes of
/// earlier requests.
///
/// Only final states are written in the end, each row once. So a group costs one statement, however many requests are
/// in it. Each request gets the outcome that it would have had alone, in this order.
///
/// There is one object for each zone of a group; a structure would be copied for each request.
package final class ZoneOverlay {
    private let key: ZoneKey
    private let missing: FailureReason
    private let limits: Limits
    /// Nil if the zone does not live.
    private var table: ZoneTable?
    /// By life, as ``RecordsRequest/memoryLife`` names it.
    private var memories: [DeviceID: RequestMemory]
    private let memoryEpoch: Int64
    private var decidedFor: Set<DeviceID> = []
    private var clientTokens: [DeviceID: [UInt8]] = [:]
    /// The users of those devices in ``clientTokens`` that are participants'.
    private var tokenUsers: [DeviceID: UserID] = [:]
    /// The lives of devices whose requests changed records, as ``RecordsRequest/memoryLife``. The zone is pushed to all
    /// other lives. Empty if no push is due.
    package private(set) var movedBy: Set<DeviceID> = []
    /// The lives that made the changes: each made those after the run before, up to this number.
    private var runs: [(end: ChangeNumber, life: DeviceID)] = []

    package init(snapshot: ZoneSnapshot, store: StoreIncarnation, limits: Limits) {
        key = snapshot.key
        missing = .missingZone(snapshot.lastRemoval)
        self.limits = limits
        memories = snapshot.memories
        memoryEpoch = snapshot.memoryEpoch
        table = ZoneTable(snapshot, store: store)
    }

    /// Decides one request and remembers its outcome. A request that is remembered gets that outcome again.
    ///
    /// - Parameters:
    ///   - arrivalEpoch: see `RequestMemory.recall`.
    ///   - now: the server's clock.
    ///   - use: of the database, including the changes of earlier requests in all of its zones; nil if there is no
    ///     quota.
    ///   - cause: the cause that is stored with the changes. A repeat changes nothing, so the first request stays their cause.
    /// - Returns: one entry for each item, or why the whole request is refused. A refused request leaves no trace.
    ///   Neither does a request to a zone that does not exist, which has no place to remember it.
    package func apply(
        _ request: RecordsRequest, arrivalEpoch: Int64? = nil, now: Timestamp, use: StorageUse? = nil,
        cause: ChangeCause? = nil
    ) -> Result<RecordsOutcome, FailureReason> {
        precondition(request.key == key)
        table?.cause = cause
        if let reason = request.refusal(within: limits) { return .failure(reason) }
        guard request.access.scope == .shared else {
            return answer(request, arrivalEpoch: arrivalEpoch, now: now, use: use)
        }
        // I-5 goes before R-157: a user who has lost access learns nothing from a repeat. The shares are those that
        // earlier requests have left.
        guard let access = request.access.sharing(table?.shares?.sharing) else {
            return .success(withoutAccess(request, now: now))
        }
        // The check of the schema has usually given the request this access already. A request before it in the group may
        // have changed the access since.
        let granted = request.access == access ? request : request.with(access: access, refusals: [])
        return answer(granted, arrivalEpoch: arrivalEpoch, now: now, use: use).map(\.ofParticipant)
    }

    /// Recalls or decides a request whose user may do something in the database.
    private func answer(
        _ request: RecordsRequest, arrivalEpoch: Int64?, now: Timestamp, use: StorageUse?
    ) -> Result<RecordsOutcome, FailureReason> {
        let life = request.memoryLife
        let memory = memories[life] ?? RequestMemory()
        switch memory.recall(request.id, arrivalEpoch: arrivalEpoch, epoch: memoryEpoch, limits: limits) {
        case .remembered(let bytes): return remembered(bytes, of: request)
        case .forgotten: return .failure(.requestForgotten)
        case .unseen: break
        }
        // Taken out of the property, so that it is changed in place rather than copied for each request.
        guard var table = self.table.take() else { return .success(request.failing(missing)) }
        defer { self.table = table }
        let changeNumber = table.changeNumber
        let outcome = Self.decide(request, on: &table, use: use, limits: limits, now: now)
        if table.changeNumber > changeNumber {
            movedBy.insert(life)
            runs.append((table.changeNumber, life))
        }
        remember(outcome, of: request)
        if !request.clientToken.isEmpty { keepToken(of: request) }
        return .success(outcome)
    }

    /// How many bytes the living records have grown in all requests together, as quotas count them.
    package var byteGrowth: Int64 { table?.byteGrowth ?? 0 }

    /// The life that made each change, for pushes of single records.
    package var makers: ChangeMakers {
        ChangeMakers(runs: runs, contested: runs.count > 1 ? table?.writtenBySeveral(runs) ?? [] : [])
    }

    /// The changes of the transaction; nil if there are none.
    package var changes: ZoneChanges? {
        guard let table, !decidedFor.isEmpty else { return nil }
        return table.changes(
            in: key.database, memories: memories.filter { decidedFor.contains($0.key) }, clientTokens: clientTokens,
            tokenUsers: tokenUsers, limits: limits)
    }

    /// A user who takes no part in the zone gets the answer that it does not exist: each item fails with `zoneNotFound`, whatever is
    /// remembered. Only the delete of the CKShare record succeeds. It ends an invitation. It may also repeat the request by which
    /// the user left.
    private func withoutAccess(_ request: RecordsRequest, now: Timestamp) -> RecordsOutcome {
        var outcome = request.outcomeWithoutAccess
        // the repeat of a delete by which a user left the share of a hierarchy. It gets the same answer again.
        if request.saves.isEmpty, request.deletes.count == 1, request.declineIndex == nil, hasLeft(by: request) {
            outcome.deletes[0] = .deleted
        }
        guard let index = request.declineIndex, let changes = declining(request) else { return outcome }
        if let reason = table?.touchShare(changes, now: now) {
            outcome.deletes[index] = .failed(ItemFailure(reason))
            return outcome
        }
        movedBy.insert(request.memoryLife)
        if let table { runs.append((table.changeNumber, request.memoryLife)) }
        remember(outcome, of: request)
        return outcome
    }

    private func hasLeft(by request: RecordsRequest) -> Bool {
        guard let sharing = table?.shares?.sharing,
            sharing.hasRow(of: request.user, inHierarchyNamed: request.deletes[0])
        else { return false }
        let memory = memories[request.memoryLife] ?? RequestMemory()
        guard case .remembered(let bytes) = memory.recall(request.id, epoch: memoryEpoch, limits: limits),
            let outcome = RecordsOutcome(decoding: bytes)
        else { return false }
        return outcome.saves.isEmpty && outcome.deletes == [.deleted]
    }

    /// The changes by which a request ends the invitation of its user. Nil if there is no invitation. Nil also if the request is a repeat,
    /// which must not end a later invitation.
    private func declining(_ request: RecordsRequest) -> SharingChanges? {
        let memory = memories[request.memoryLife] ?? RequestMemory()
        guard let table, memory.recall(request.id, epoch: memoryEpoch, limits: limits) == .unseen else { return nil }
        return ShareVisitor(user: request.user).declining(in: table.shares?.sharing, at: table.changeNumber + 1)
    }

    private func remember(_ outcome: RecordsOutcome, of request: RecordsRequest) {
        memories[request.memoryLife, default: RequestMemory()].remember(
            outcome.encoded, of: request.id, limits: limits)
        decidedFor.insert(request.memoryLife)
    }

    private func keepToken(of request: RecordsRequest) {
        clientTokens[request.memoryDevice] = request.clientToken
        // tokens of participants take no place of the owner's.
        if request.access.scope == .shared { tokenUsers[request.memoryDevice] = request.user }
    }

    private static func decide(
        _ request: RecordsRequest, on table: inout ZoneTable, use: StorageUse?, limits: Limits, now: Timestamp
    ) -> RecordsOutcome {
        let isAtomic = request.isCarriedOutAsWhole
        var plan = RecordsPlan(request, on: table, use: use, limits: limits, now: now)
        if isAtomic, plan.isRefusedInPart { plan.refuseWhole() }
        return plan.carryOut(request, on: &table, asBatch: isAtomic, now: now)
    }

    private func remembered(_ bytes: [UInt8], of request: RecordsRequest) -> Result<RecordsOutcome, FailureReason> {
        guard var outcome = RecordsOutcome(decoding: bytes) else { return .failure(.serverFault) }
        // If a device gave two requests the same counter, it must not get an answer that fits neither.
        guard outcome.saves.count == request.saves.count, outcome.deletes.count == request.deletes.count else {
            return .failure(.requestInvalid)
        }
        for (index, save) in request.saves.enumerated() {
            switch outcome.saves[index] {
            case .saved(let metadata): outcome.saves[index] = .saved(remembered(metadata, of: save, request.access))
            case .failed(let failure): outcome.saves[index] = .failed(remembered(failure, of: save, request.access))
            }
        }
        return .success(outcome)
    }

    /// the record of a save whose device must get it, if it is still the one that was saved.
    private func remembered(
        _ metadata: RecordMetadata, of save: RecordSave, _ access: RecordAccess
    ) -> RecordMetadata {
        guard metadata.content.isWithheld, let table, let record = table.living(save.name),
            metadata.zone == table.zone, metadata.changeNumber == record.changeNumber, !table.isUnread(save.name),
            access.mayRead(record)
        else { return metadata }
        var metadata = metadata
        metadata.content = .record(record)
        return metadata
    }

    private func remembered(_ failure: ItemFailure, of save: RecordSave, _ access: RecordAccess) -> ItemFailure {
        if let refusal = save.schemaRefusal, refusal.reason == failure.reason { return ItemFailure(refusal) }
        if failure.reason == .tooManyReferences, let references = table?.references {
            return ItemFailure(failure.reason, within: references.limits(limits))
        }
        guard failure.reason.isConflict else { return failure }
        // the conflicting record, with which the client has to merge. If it is gone, or if the user may no
        // longer read it, the failure is the same.
        let current = table?.living(save.name).flatMap { access.mayRead($0) ? $0 : nil }
        // the client fetches a record that is not read here.
        if current != nil, table?.isUnread(save.name) == true { return failure }
        return current.map { ItemFailure(failure.reason, serverRecord: $0, serverZone: table?.zone) }
            ?? ItemFailure(.recordMissing)
    }
}

extension FailureReason {
    /// Whether the failure brings the record that is in the way.
    package var isConflict: Bool { self == .recordExists || self == .recordChanged }
}

extension RecordsRequest {
    /// Whether the items succeed or fail together.: the default zone has no atomic batches. Each of its
    /// records stands alone.
    var isCarriedOutAsWhole: Bool { isAtomic && key.name != ZoneName.default }

    /// The answer for a user who neither takes part in the zone nor is invited, whatever is stored (I-5, R-330).
    package var outcomeWithoutAccess: RecordsOutcome {
        var outcome = failing(.zoneNotFound)
        if let declineIndex { outcome.deletes[declineIndex] = .deleted }
        return outcome
    }

    /// The delete of the CKShare record, by which an invitation ends. Nil in an atomic batch with other items: these fail, so
    /// the whole batch does.
    fileprivate var declineIndex: Int? {
        guard saves.count + deletes.count == 1 || !isCarriedOutAsWhole else { return nil }
        return deletes.firstIndex(where: Share.isZoneWide(named:))
    }

    /// The outcome in which every item fails for this reason (R-105 … ).
    package func failing(_ reason: FailureReason) -> RecordsOutcome {
        RecordsOutcome(
            saves: saves.map { _ in .failed(ItemFailure(reason)) },
            deletes: deletes.map { _ in .failed(ItemFailure(reason)) })
    }
}

extension RecordsPlan {
    /// Writes the items that were not refused: saves first, then deletes and the records that they take along. Returns
    /// the outcome of each item.
    func carryOut(
        _ request: RecordsRequest, on table: inout ZoneTable, asBatch: Bool, now: Timestamp
    ) -> RecordsOutcome {
        let writeCount = writeCount
        let batchEnd = asBatch ? table.changeNumber + ChangeNumber(writeCount) : nil
        table.reserve(writeCount)
        let zone = table.zone
        let (roots, before) = (table.hierarchies?.roots ?? [:], table.changeNumber)
        let outcome = RecordsOutcome(
            saves: saves.indices.map { index in
                let save = request.saves[index]
                switch saves[index] {
                case .write(let record, let old):
                    let number = table.write(record, over: old, batchEnd: batchEnd)
                    if save.isShare { table.change(shares[index]?.changes(at: number)) }
                    let content = request.content(of: record, savedBy: save, over: old, in: table)
                    return .saved(RecordMetadata(of: record, number, in: zone, content))
                case .keep(let record):
                    let content = request.content(of: record, savedBy: save, over: record, in: table)
                    return .saved(RecordMetadata(of: record, record.changeNumber, in: zone, content))
                case .refuse(let failure): return .failed(failure)
                }
            },
            deletes: deletes.map { delete in
                switch delete {
                case .write(let tombstone):
                    _ = table.write(tombstone, over: table[tombstone.name], batchEnd: batchEnd)
                    return .deleted
                case .leave(let record):
                    let number = table.write(record, over: table[record.name], batchEnd: batchEnd)
                    let visitor = ShareVisitor(user: request.user, shareName: record.name)
                    table.change(visitor.declining(in: table.shares?.sharing, at: number))
                    return .deleted
                case .skip: return .deleted
                case .refuse(let reason): return .failed(ItemFailure(reason))
                }
            })
        // these are in the feed, but not in the outcome.
        for tombstone in cascade { _ = table.write(tombstone, over: table[tombstone.name], batchEnd: batchEnd) }
        table.followRoots(roots, since: before, now: now, by: request.user)
        table.settleMoves()
        return table.hierarchies == nil ? outcome : outcome.placed(in: table)
    }

    private var writeCount: Int {
        var count = cascade.count
        for case .write in saves { count += 1 }
        for delete in deletes {
            switch delete {
            case .write, .leave: count += 1
            case .skip, .refuse: break
            }
        }
        return count
    }
}

extension RecordsRequest {
    /// The data that the device needs about the record as it is after one of the request's saves.
    ///
    /// - Parameter old: the version until then, or the tombstone.
    fileprivate func content(
        of record: RecordState, savedBy save: RecordSave, over old: RecordState?, in table: ZoneTable
    ) -> SavedContent {
        // the device cannot know the state of the share, nor its URL.
        if save.isShare { return .record(record) }
        // This policy compares the tags itself.
        if policy == .ifServerRecordUnchanged { return .known }
        let current = old.flatMap { $0.isDeleted ? nil : table.tag(of: $0) }
        if save.tag == current { return .known }
        return access.mayRead(record) ? .record(record) : .withheld
    }
}

extension RecordMetadata {
    /// The data that the server adds to the client's.
    package init(
        of record: RecordState, _ changeNumber: ChangeNumber, in zone: ZoneID, _ content: SavedContent = .known
    ) {
        self.init(
            zone: zone, changeNumber: changeNumber, createdAt: record.createdAt, createdBy: record.createdBy,
            modifiedAt: record.modifiedAt, modifiedBy: record.modifiedBy, content: content)
    }
}

extension RecordsOutcome {
    /// The same. Records that come with it say where they are in shared hierarchies, which is known once all is written.
    fileprivate func placed(in table: ZoneTable) -> RecordsOutcome {
        var outcome = self
        for (index, save) in outcome.saves.enumerated() {
            guard case .saved(var metadata) = save, case .record(let record) = metadata.content,
                let placed = table[record.name], placed.changeNumber == record.changeNumber
            else { continue }
            metadata.content = .record(placed)
            outcome.saves[index] = .saved(metadata)
        }
        return outcome
    }
}
