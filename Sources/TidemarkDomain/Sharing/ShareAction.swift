// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// A change of a zone's share by anything but a save of its CKShare record.
package enum ShareAction: Sendable {
    /// Somebody accepts, or joins by the URL. Somebody who joins gets this new random participant ID.
    case accept(ShareVisitor, as: ParticipantID)
    /// A user with the URL who is not invited asks for access. If the share takes no requests, the request succeeds without a
    /// change.
    case requestAccess(ShareVisitor)
    /// Somebody declines, or leaves.
    case decline(ShareVisitor)
    /// A participant leaves the zone. An invitation stays, because a user who is only invited does not see the zone. So a
    /// repeat of the request does not end a later invitation.
    case leave(UserID)
    /// An operator ends one participant's part, or their invitation, if it is in one of these shares.
    case remove(ParticipantID, in: ShareChoice = .every)
    /// A person's account ends: they no longer take part in these shares, and no row of them stays.
    case forget(EndedPerson, in: ShareChoice = .every)
    /// An operator ends the share of the zone, as its owner does by deleting the CKShare record.
    case end

    /// The data that must be read to decide the action: the CKShare records with their shares.
    package func read(of key: ZoneKey) -> ZoneRead {
        var read = ZoneRead(key: key, recordNames: [Share.zoneWideName], parentNames: [], lives: [])
        read.sharing = sharing
        read.action = self
        return read
    }

    private var sharing: SharingRead {
        switch self {
        // The parts of a user who accepts count.
        case .accept(let visitor, _), .requestAccess(let visitor), .decline(let visitor):
            .people(of: visitor.choice, and: [visitor.user])
        case .leave(let user): .access(of: [user])
        // Only an operator, or the end of an account, looks for people in all shares. Each read covers a few shares, because together they
        // may have ``Limits/sharingRowsMax`` rows.
        case .remove(_, let choice), .forget(_, let choice): choice.isEvery ? .whole : .people(of: choice, and: [])
        // The rows of an ended share stay as they are.
        case .end: .access(of: [])
        }
    }

    /// The CKShare records that it may change, and the roots of shares that it may end. Those of whole zones are read anyway.
    package func recordNames(in sharing: ZoneSharing) -> [String] {
        switch self {
        case .accept(let visitor, _), .requestAccess(let visitor), .decline(let visitor):
            return sharing.entryShares(of: visitor).filter(\.isOfHierarchy).map(\.recordName)
        case .leave(let user):
            return sharing.hierarchies.filter { sharing.row(of: user, in: $0.number)?.hasAccepted ?? false }
                .map(\.recordName)
        case .remove(let id, _):
            return sharing.hierarchies.filter { sharing.participants[$0.number]?[id] != nil }.map(\.recordName)
        case .forget(let person, _):
            return sharing.hierarchies.filter { sharing.hasPlace(for: person, in: $0) }.map(\.recordName)
        case .end:
            return sharing.hierarchies.flatMap { [$0.recordName] + [$0.rootName].compactMap(\.self) }
        }
    }
}

/// The data that an action writes. If there is nothing to write, the action has succeeded.
package struct ShareActionPlan: Sendable {
    /// The changes of the transaction; nil if there are none. The CKShare record has a new version in it, so
    /// everybody's feed has the change.
    package let changes: ZoneChanges?
}

extension ShareAction {
    /// Decides the action.
    ///
    /// - Parameters:
    ///   - snapshot: the snapshot of the zone to which a link leads, or whose owner and name are known. It was read by
    ///     ``read(of:)``.
    ///   - now: the server's clock.
    ///   - cause: the cause that is stored with the change.
    /// - Returns: the reason for a refusal. A user who may not enter the share gets `shareUnknown`, as if there were none.
    ///   Declining and leaving is never refused for a reason that tells of the zone.
    package func plan(
        on snapshot: ZoneSnapshot, store: StoreIncarnation, now: Timestamp, limits: Limits, cause: ChangeCause? = nil
    ) -> Result<ShareActionPlan, FailureReason> {
        var table = ZoneTable(snapshot, store: store)
        table?.cause = cause
        let before = table?.changeNumber
        if let reason = carryOut(on: &table, now: now, limits: limits) { return .failure(reason) }
        let isChanged = table?.changeNumber != before
        return .success(
            ShareActionPlan(
                changes: isChanged ? table?.changes(in: snapshot.key.database, limits: limits) : nil))
    }

    /// - Returns: why it is refused; nil: it is done, or there was nothing to do.
    private func carryOut(on table: inout ZoneTable?, now: Timestamp, limits: Limits) -> FailureReason? {
        let sharing = table?.shares?.sharing
        let number = (table?.changeNumber ?? 0) + 1
        switch self {
        case .accept(let visitor, let id):
            switch visitor.accepting(in: sharing, as: id, at: number, now: now, limits: limits) {
            case .failure(let reason): return reason
            case .success(let acceptance):
                guard let changes = acceptance.changes else { return nil }
                if table?.shares?.hasRoom(for: changes.addedRowCount, within: limits) == false { return .tooMuchShared }
                return table?.touchShare(changes, now: now)
            }
        case .requestAccess(let visitor):
            switch visitor.requesting(in: sharing, at: number, now: now, limits: limits) {
            case .failure(let reason): return reason
            case .success(let changes):
                guard let changes, table?.shares?.hasRoom(for: changes.addedRowCount, within: limits) == true else {
                    return nil
                }
                return table?.touchShare(changes, now: now)
            }
        case .decline(let visitor):
            return visitor.declining(in: sharing, at: number).flatMap { table?.touchShare($0, now: now) }
        case .leave(let user):
            // a user who leaves the zone leaves all of its shares, each with a separate change.
            while let changes = table?.shares?.sharing.leaving(user, at: (table?.changeNumber ?? 0) + 1) {
                if let reason = table?.touchShare(changes, now: now) { return reason }
            }
            return nil
        case .remove(let id, _):
            return sharing?.removing(id, at: number).flatMap { table?.touchShare($0, now: now) }
        case .forget(let person, _):
            // Each share has a separate change.
            while let changes = table?.shares?.sharing.forgetting(person, at: (table?.changeNumber ?? 0) + 1) {
                if let reason = table?.touchShare(changes, now: now) { return reason }
            }
            return nil
        case .end:
            guard let sharing else { return nil }
            let roots = table?.hierarchies?.roots ?? [:]
            let before = table?.changeNumber ?? 0
            table?.endShares(of: sharing, now: now)
            table?.followRoots(roots, since: before, now: now, by: sharing.owner)
            return nil
        }
    }
}

extension ZoneTable {
    /// Ends the shares of the zone with tombstones of their CKShare records.
    ///
    /// A share may have lost its record. It ends as well: otherwise nobody could share the zone again.
    fileprivate mutating func endShares(of sharing: ZoneSharing, now: Timestamp) {
        for name in [Share.zoneWideName] + sharing.hierarchies.map(\.recordName) {
            endShare(named: name, of: sharing.owner, now: now)
        }
    }

    private mutating func endShare(named name: String, of owner: UserID, now: Timestamp) {
        let record = self[name]
        let isLiving = record?.isDeleted == false
        guard isLiving || shares?.sharing.livingShare(named: name) != nil else { return }
        // A record of another type does not belong to a share.
        if isLiving, let record, !Share.isType(record.type) { return }
        let tombstone = record?.tombstone(at: now, by: owner) ?? .lostShare(named: name, at: now, by: owner)
        _ = write(tombstone, over: record, batchEnd: nil)
    }
}

extension RecordState {
    /// The tombstone of a CKShare record whose data is gone.
    static func lostShare(named name: String, at now: Timestamp, by owner: UserID) -> RecordState {
        RecordState(
            name: name, type: Share.recordType, fields: FieldMap(), changeNumber: 0, isDeleted: true,
            parent: nil, createdAt: now, createdBy: owner, createdByDevice: .nobody, modifiedAt: now,
            modifiedBy: owner, batchEnd: 0)
    }
}
