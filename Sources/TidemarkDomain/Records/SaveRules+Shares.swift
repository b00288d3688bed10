// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

extension SaveRules {
    /// Decides the save of a CKShare record, which is a record like others, and plans the change of its share. The share decides
    /// who may save it, and which saves conflict: the order of failures is in `ShareRules`.
    ///
    /// - Parameters:
    ///   - said: what the save says of the share.
    ///   - sharing: set to what becomes of it. It counts if the save is not refused.
    func plan(
        _ save: RecordSave, of said: ShareSave, on table: ZoneTable, sharing: inout SharePlan?
    ) -> PlannedSave {
        let reason =
            save.refusal(within: limits)
            ?? said.refusal(in: request.access.scope, zoneNamed: request.key.name, within: limits)
            ?? save.refusalAsShare
        if let reason { return .refuse(ItemFailure(reason)) }
        guard let shares = table.shares else { return .refuse(ItemFailure(.serverFault)) }
        let previous = table[save.name]
        let current = previous?.isDeleted == false ? previous : nil
        if let current, !Share.isType(current.type) {
            return .refuse(ItemFailure(mayChange(current) ? .recordTypeChanged : .notPermitted))
        }
        let hasShare = shares.sharing.livingShare(named: save.name) != nil
        guard hasShare == (current != nil) else { return .refuse(ItemFailure(.serverFault)) }
        if table.isUnread(save.name) { return .refuse(refusalOfUnread) }
        let context = ShareSaveContext(
            scope: request.access.scope, zone: shares.zone, sharing: shares.sharing, user: request.user,
            policy: request.policy, currentTag: current.map { table.tag(of: $0) }, freshSecret: save.freshSecret,
            now: now)
        switch said.plan(in: context, limits: limits) {
        case .failure(let reason): return .refuse(failure(reason, over: current, in: table))
        case .success(let plan):
            guard shares.hasRoom(for: plan.addedRowCount, within: limits) else {
                return .refuse(failure(.tooMuchShared, over: current, in: table))
            }
            // Without a secret, all such zones would have one URL, and all such participants one link.
            guard plan.hasItsSecrets else {
                // No link was made, because hierarchies could not be shared a moment ago.
                let isLate = plan.current == nil && said.rootName != nil && save.freshSecret.isEmpty
                return .refuse(ItemFailure(isLate ? .hierarchiesUnavailable : .serverFault))
            }
            sharing = plan
            let decided =
                current.map { update($0, by: save, isChange: plan.isChange) } ?? create(save, over: previous)
            return limiting(decided, save, on: table)
        }
    }

    private func failure(_ reason: FailureReason, over current: RecordState?, in table: ZoneTable) -> ItemFailure {
        // a user who may change a share may read its record.
        if reason.isConflict { return ItemFailure(reason, serverRecord: current, serverZone: table.zone) }
        let isLimit = reason == .tooManyParticipants || reason == .tooMuchShared || reason == .tooManyBlocked
        return isLimit ? ItemFailure(reason, within: limits) : ItemFailure(reason)
    }
}

extension RecordSave {
    /// nothing takes a CKShare record along, or keeps it. Otherwise a share would end with a record that somebody
    /// else deletes, or could not be ended.
    fileprivate var refusalAsShare: FailureReason? {
        if parent.setsParent { return .shareInvalid }
        return fields.mayNameOthers && !fields.deleteSelfTargets.isEmpty ? .shareInvalid : nil
    }
}
