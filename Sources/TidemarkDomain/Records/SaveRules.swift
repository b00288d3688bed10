// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// The decision on one save, from the record alone.
enum PlannedSave: Sendable {
    /// Writes a new version in the place of another one, which may be a tombstone. It gets its change number when the
    /// whole request is decided.
    case write(RecordState, over: RecordState?)
    /// nothing changed, so the current version stays.
    case keep(RecordState)
    case refuse(ItemFailure)

    /// The record as it would be after the save; nil if the save is refused.
    var record: RecordState? {
        switch self {
        case .write(let record, _), .keep(let record): record
        case .refuse: nil
        }
    }

    /// whether the save was refused only because its record was not read.
    var isLeftForLater: Bool {
        if case .refuse(let failure) = self { failure.reason == .tooMuchAtOnce } else { false }
    }
}

/// The rules of one save (section 5), in the order of `RecordsRules`.
///
/// NB: the table is a parameter of each call. As a property it would be copied for each request of a group.
struct SaveRules {
    let request: RecordsRequest
    let limits: Limits
    let now: Timestamp

    func plan(_ save: RecordSave, on table: ZoneTable) -> PlannedSave {
        if let reason = save.refusal(within: limits) { return .refuse(ItemFailure(reason)) }
        if let refusal = save.schemaRefusal { return .refuse(ItemFailure(refusal)) }
        let previous = table[save.name]
        let current = previous?.isDeleted == false ? previous : nil
        if let current, !mayChange(current) {
            return .refuse(ItemFailure(refusal(of: save, overForeign: current)))
        }
        if let current, current.type != save.type { return .refuse(ItemFailure(.recordTypeChanged)) }
        if table.isUnread(save.name) { return .refuse(refusalOfUnread) }
        switch request.policy.verdict(tag: save.tag, current: current.map { table.tag(of: $0) }) {
        case .refuse(let reason):
            // A conflict shows the record: who gets this far may read it.
            return .refuse(ItemFailure(reason, serverRecord: current, serverZone: current.map { _ in table.zone }))
        case .create:
            // every user may create their own user record, whatever the grants are.
            guard save.isOwnUser || request.access.mayCreate(save) else {
                return .refuse(ItemFailure(.createNotPermitted))
            }
            return limiting(create(save, over: previous), save, on: table)
        case .update:
            guard let current else { preconditionFailure("an update without a record") }
            // A user who guesses the parent's name gets the same answer as for any other name.
            if hidesParent(of: current), save.parent.setsParent { return .refuse(ItemFailure(.notPermitted)) }
            return limiting(update(current, by: save), save, on: table)
        }
    }

    /// Why a record that the user may not change cannot be saved. One that the user may not read is answered as if it
    /// were not there. Names are unique, so a user who could create the record learns that its name is taken.
    private func refusal(of save: RecordSave, overForeign current: RecordState) -> FailureReason {
        guard !permissions(on: current).contains(.read) else { return .notPermitted }
        if case .refuse(let reason) = request.policy.verdict(tag: save.tag, current: nil) { return reason }
        return request.access.mayCreate(save) ? .notPermitted : .createNotPermitted
    }

    /// Why a record cannot become the parent of the user's record; nil if it can. The child keeps its parent
    /// from being deleted, so it takes the right to change the parent.
    ///
    /// - Parameter isNew: whether the request makes the parent. A parent in a shared hierarchy is the user's, wherever it will be: its own
    ///   parent is checked too.
    func refusal(ofParent parent: RecordState?, isNew: Bool) -> FailureReason? {
        if isNew, let parent, request.access.seesHierarchies { return Share.isType(parent.type) ? .shareInvalid : nil }
        guard let parent, permissions(on: parent).contains(.read) else { return .parentMissing }
        // otherwise a child would keep its owner from ending the share.
        if Share.isType(parent.type) { return .shareInvalid }
        return mayChange(parent) ? nil : .notPermitted
    }

    /// what a batch can do without is left for another request.
    var refusalOfUnread: ItemFailure {
        request.isCarriedOutAsWhole ? ItemFailure(.tooMuchStored, within: limits) : ItemFailure(.tooMuchAtOnce)
    }

    func create(_ save: RecordSave, over tombstone: RecordState?) -> PlannedSave {
        let moment = tombstone?.nextDate(at: now) ?? now
        return .write(
            RecordState(
                name: save.name, type: save.type, fields: .init().merging(save.fields), changeNumber: 0,
                isDeleted: false, parent: save.parent.applied(to: nil), createdAt: moment, createdBy: request.user,
                createdByDevice: request.memoryDevice, modifiedAt: moment, modifiedBy: request.user, batchEnd: 0),
            over: tombstone)
    }

    /// - Parameter isChange: whether there is a new version even if no field is another.
    func update(_ current: RecordState, by save: RecordSave, isChange: Bool = false) -> PlannedSave {
        let fields = current.fields.merging(save.fields)
        // To the user it has none, so to remove it changes nothing.
        let parent = hidesParent(of: current) ? current.parent : save.parent.applied(to: current.parent)
        if !isChange, fields == current.fields, parent == current.parent { return .keep(current) }
        return .write(
            current.version(fields, parent: parent, at: current.nextDate(at: now), by: request.user), over: current)
    }

    /// Checks what must hold for the record as it would be after the save.
    func limiting(_ plan: PlannedSave, _ save: RecordSave, on table: ZoneTable) -> PlannedSave {
        guard case .write(let record, let old) = plan else { return plan }
        if record.fields.byteCount > limits.recordBytesMax {
            return .refuse(ItemFailure(.recordTooLarge, within: limits, count: record.fields.byteCount))
        }
        if let reason = refusalOfMove(of: record, over: old, on: table) { return .refuse(ItemFailure(reason)) }
        if record.fields.refersElsewhere { return .refuse(ItemFailure(.referenceElsewhere)) }
        if let count = tooManyTargets(of: record, save, over: old) {
            return .refuse(ItemFailure(.tooManyTargets, within: limits, count: count))
        }
        if !save.assets.allSatisfy({ table.mayName($0, in: save.name, request.access) }) {
            return .refuse(ItemFailure(.assetMissing))
        }
        if !save.zoneKeyIDs.allSatisfy(table.zoneKeyIDs.contains) { return .refuse(ItemFailure(.zoneKeyUnknown)) }
        return plan
    }

    /// Whether the record is a root whose own parent the user is not told. It stays, whatever they save.
    private func hidesParent(of current: RecordState) -> Bool {
        request.access.seesHierarchies && current.shareName != nil
    }

    /// a participant moves no root, and nothing out of every share.
    private func refusalOfMove(
        of record: RecordState, over old: RecordState?, on table: ZoneTable
    ) -> FailureReason? {
        guard request.access.seesHierarchies, let old, !old.isDeleted, old.parent != record.parent else { return nil }
        return record.parent == nil || table.hierarchies?.isRoot(record.name) ?? true ? .notPermitted : nil
    }

    /// how many targets the record would have; nil if it may have them. A record that already has more, from a
    /// server without the limit, can still be changed, but gets no more.
    private func tooManyTargets(of record: RecordState, _ save: RecordSave, over old: RecordState?) -> Int? {
        guard record.fields.mayNameOthers else { return nil }
        let count = record.livingTargets.count
        guard count > limits.targetsMax else { return nil }
        let isNamed = save.fields.deleteSelfTargets.count > limits.targetsMax
        return isNamed || count > old?.livingTargets.count ?? 0 ? count : nil
    }

    /// if there is no living record there is nothing to delete, which is a success too. A record that the user
    /// may not read is not there.
    func planDelete(of name: String, on table: ZoneTable) -> PlannedDelete {
        guard let current = table.living(name), permissions(on: current).contains(.read) else { return .skip }
        // the share stays, and with it the record.
        if request.access.scope == .shared, Share.isType(current.type) {
            return table.isUnread(name) ? .refuse(refusalOfUnread.reason) : .leave(current.touched(at: now))
        }
        // participants delete no root.
        if request.access.seesHierarchies, table.hierarchies?.isRoot(name) ?? true { return .refuse(.notPermitted) }
        // the root gets a new version, so it must have been read.
        if Share.isType(current.type), let root = table.shares?.sharing.livingShare(named: name)?.rootName,
            table.isUnread(root)
        {
            return .refuse(refusalOfUnread.reason)
        }
        return mayChange(current) ? .write(tombstone(of: current)) : .refuse(.notPermitted)
    }

    /// Whether the user may change and delete the record. Permission to write is not enough: what the user may not read
    /// is not there. Otherwise a save that fails would show it.
    func mayChange(_ record: RecordState) -> Bool {
        let permissions = permissions(on: record)
        return permissions.contains(.read) && permissions.contains(.write)
    }

    private func permissions(on record: RecordState) -> Permissions {
        request.access.effectivePermission(on: RecordPlace(of: record))
    }

    /// The tombstone that a deleted record leaves.
    func tombstone(of current: RecordState) -> RecordState { current.tombstone(at: now, by: request.user) }
}

extension RecordSave {
    /// A fault of the save that depends on neither stored data nor the schema; nil if there is none.
    package func refusal(within limits: Limits) -> FailureReason? {
        guard isOwnUser || RecordName.isValid(name, limits: limits) else {
            return RecordName.isUser(name) && type == RecordType.users ? .notPermitted : .recordNameInvalid
        }
        if case .set(let parent) = parent, !RecordName.isValid(parent, limits: limits) { return .recordNameInvalid }
        // the type and the name of a CKShare record are those of no other.
        if isShare { return Share.isType(type) ? fieldsFailure : .shareInvalid }
        if Share.isZoneWide(named: name) { return .shareInvalid }
        let hasType = isOwnUser ? type == RecordType.users : RecordType.isValid(type, limits: limits)
        return hasType ? fieldsFailure : .recordTypeInvalid
    }
}

extension ParentChange {
    func applied(to parent: String?) -> String? {
        switch self {
        case .unchanged: parent
        case .set(let name): name
        case .removed: nil
        }
    }
}
