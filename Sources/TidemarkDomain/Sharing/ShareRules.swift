// SPDX-License-Identifier: Apache-2.0

// The order in which failures win, for a save of a CKShare. The first that applies is the answer.
//
// From what the user may see at all:
//  1. zoneNotFound          I-5: in the shared database, and the zone is not shared with the user
// From the save alone (`ShareSave.refusal`):
//  2. wrongDatabase         R-305: the public database
//     zoneNotShareable      R-305: the default zone
//  3. participantInvalid    R-310: a participant that no share can have
//     hierarchiesUnavailable  R-999: it would share a hierarchy while an older server is connected
// From stored data. As with other records, a user who may not change the share gets no other failure:
//  4. notShareAdministrator R-313
//  5. zoneNotShareable      R-304: the zone lacks the capability
//     zoneIsShared, zoneHasHierarchies   R-304: it is shared in the other way
//  6. recordExists          R-304: the zone is shared, and the client does not know it
//     recordChanged, recordMissing  . Tags are compared under every policy, unless the save is
//                           about nothing but fields of a living share
//  7. participantInvalid    R-311: an unknown participant without a person, or a role that they cannot have
//  8. tooManyParticipants   R-309
//  9. participantsFixed     R-309: somebody is added or removed while the share is public
// 10. tooManyBlocked        R-974
// 11. tooMuchShared         R-783: the owner's account has no room for the new rows
// Between 6 and 7, of the share of a hierarchy: shareRootMissing, alreadyShared, tooManyHierarchies. Last come
// alreadyShared and hierarchyTooLarge for the records above and below the root (`RecordsPlan+Hierarchies`).
// Other failures of the record itself are in `RecordsRules`.

/// The data on which a save of a CKShare is decided.
package struct ShareSaveContext: Sendable {
    /// The database in which it is saved.
    package let scope: DatabaseScope
    package let zone: ZoneState
    /// With all participants of the share that is saved.
    package let sharing: ZoneSharing
    package let user: UserID
    package let policy: SavePolicy
    /// The tag of the living CKShare record of that name; nil if there is none.
    package let currentTag: ChangeTag?
    /// A random secret for the URL, which is used if the zone has none.
    package let freshSecret: [UInt8]
    package let now: Timestamp

    package init(
        scope: DatabaseScope, zone: ZoneState, sharing: ZoneSharing, user: UserID, policy: SavePolicy,
        currentTag: ChangeTag?, freshSecret: [UInt8], now: Timestamp
    ) {
        self.scope = scope
        self.zone = zone
        self.sharing = sharing
        self.user = user
        self.policy = policy
        self.currentTag = currentTag
        self.freshSecret = freshSecret
        self.now = now
    }
}

extension ShareSave {
    /// Decides the save. Whether the share is made or changed is in ``SharePlan/current``.
    package func plan(in context: ShareSaveContext, limits: Limits) -> Result<SharePlan, FailureReason> {
        let access = ShareAccess(of: context.user, in: context.sharing)
        if context.scope == .shared, !access.isParticipant { return .failure(.zoneNotFound) }
        if let reason = refusal(in: context.scope, zoneNamed: context.zone.key.name, within: limits) {
            return .failure(reason)
        }
        let current = context.sharing.livingShare(named: recordName)
        if current == nil, !mayBeMade(within: limits) { return .failure(.hierarchiesUnavailable) }
        precondition(current.map { context.sharing.hasPeople(of: $0.number) } ?? true)
        precondition((current == nil) == (context.currentTag == nil), "a CKShare record and its share end together")
        guard access.mayChange(current?.number) else { return .failure(.notShareAdministrator) }
        if let reason = refusal(over: current, in: context) { return .failure(reason) }
        return plan(over: current, in: context, limits: limits)
    }

    private func refusal(over current: Share?, in context: ShareSaveContext) -> FailureReason? {
        let zone = context.zone
        let capabilities = ZoneCapabilities.of(
            zoneNamed: zone.key.name, in: .private, encryptedBy: zone.encryptionScope)
        let isZoneWide = Share.isZoneWide(named: recordName)
        guard capabilities.contains(isZoneWide ? .zoneWideSharing : .sharing) else { return .zoneNotShareable }
        if current == nil, isZoneWide, context.sharing.hasHierarchies { return .zoneHasHierarchies }
        if current == nil, !isZoneWide, context.sharing.livingShare != nil { return .zoneIsShared }
        // A save that would make the share sets its participants, whatever it says of them.
        let comparesTags = !isAboutFields || current == nil
        let policy: SavePolicy = comparesTags ? .ifServerRecordUnchanged : context.policy
        if case .refuse(let reason) = policy.verdict(tag: tag, current: context.currentTag) { return reason }
        return isZoneWide ? nil : refusalOfRoot(over: current, in: context.sharing)
    }

    ///
    private func refusalOfRoot(over current: Share?, in sharing: ZoneSharing) -> FailureReason? {
        if let current { return rootName == nil || rootName == current.rootName ? nil : .shareRootMissing }
        guard let rootName else { return .shareRootMissing }
        return sharing.hierarchy(rootNamed: rootName) == nil ? nil : .alreadyShared
    }

    private func plan(
        over current: Share?, in context: ShareSaveContext, limits: Limits
    ) -> Result<SharePlan, FailureReason> {
        let sharing = context.sharing
        if current == nil, rootName != nil, sharing.hierarchyCount >= limits.hierarchiesMax {
            return .failure(.tooManyHierarchies)
        }
        let before = current?.publicPermission ?? .noAccess
        let after = publicPermission ?? before
        let rows = current.flatMap { sharing.participants[$0.number] } ?? [:]
        let rules = ParticipantsRules(
            rows: rows, owner: sharing.owner, before: before, after: after, blocked: answers.blocked,
            now: context.now, limits: limits)
        let requestsRules = AccessRequestsRules(
            requests: current.flatMap { sharing.requests[$0.number] } ?? [:], owner: sharing.owner, now: context.now,
            limits: limits)
        return rules.plan(participants).flatMap { planned in
            var participants = planned
            return requestsRules.plan(answers, over: rows, &participants).map { (participants, $0) }
        }.map { participants, requests in
            let revived = Set(participants.updated.map(\.id))
            return SharePlan(
                current: current, recordName: recordName, rootName: current?.rootName ?? rootName,
                publicPermission: after,
                allowsRequests: allowsRequests ?? current?.allowsRequests ?? false, participants: participants,
                requests: requests,
                forgotten: current.map { sharing.forgettableRows(of: $0.number, but: revived, limits: limits) } ?? [],
                forgottenShares: current == nil ? sharing.forgettableShares(limits: limits) : [],
                endedHierarchies: current == nil ? sharing.endedHierarchies : [],
                insertedSecret: needsSecret(over: current, in: sharing) ? context.freshSecret : nil)
        }
    }
}

extension ShareSave {
    /// a zone keeps its secret. So does the root of a hierarchy: the store keeps the one that it has.
    fileprivate func needsSecret(over current: Share?, in sharing: ZoneSharing) -> Bool {
        Share.isZoneWide(named: recordName) ? sharing.secret == nil : current == nil
    }
}

/// The decision on a save of a CKShare: what becomes of the share and of its participants.
package struct SharePlan: Sendable, Equatable {
    /// The living share that the save changes; nil: it makes a new one.
    package let current: Share?
    let recordName: String
    let rootName: String?
    let publicPermission: SharePermission
    let allowsRequests: Bool
    let participants: ParticipantsPlan
    let requests: AccessRequestsPlan
    let forgotten: [ParticipantID]
    let forgottenShares: [ShareNumber]
    let endedHierarchies: [ShareNumber]
    let insertedSecret: [UInt8]?

    /// Whether the share or its participants change. Then the CKShare record gets a new version, also if none of its
    /// fields does.
    package var isChange: Bool {
        guard let current else { return true }
        return !participants.isEmpty || !requests.isEmpty || current != row(numbered: current.number)
    }

    /// Whether the service has made all random secrets that the plan needs.
    var hasItsSecrets: Bool {
        let rows = participants.inserted + participants.updated
        return insertedSecret?.isEmpty != true && !rows.contains { $0.linkSecret?.isEmpty ?? false }
    }

    /// How many rows the shares of the zone have more afterwards. The link of a root may be there already.
    var addedRowCount: Int {
        participants.inserted.count + (current == nil ? rootName == nil ? 1 : 2 : 0) - forgotten.count
            + requests.inserted.count - requests.dropped.count
    }

    /// The changes to write, once the change has its number; nil if there are none.
    package func changes(at number: ChangeNumber) -> SharingChanges? {
        guard isChange else { return nil }
        let share = row(numbered: current?.number ?? ShareNumber(number))
        var changes = SharingChanges(share.number, at: number)
        if current == nil { changes.insertedShare = share } else if share != current { changes.updatedShare = share }
        if current == nil { changes.insertedSecret = insertedSecret }
        changes.inserted = participants.inserted
        changes.updated = participants.updated
        changes.ended = participants.ended.map { $0.ended(at: number) }
        changes.forgotten = forgotten
        changes.insertedRequests = requests.inserted
        changes.updatedRequests = requests.updated
        changes.droppedRequests = requests.dropped
        changes.forgottenShares = forgottenShares
        changes.endedHierarchies = endedHierarchies
        return changes
    }

    private func row(numbered number: ShareNumber) -> Share {
        Share(
            number: number, recordName: recordName, rootName: rootName, rootSecret: current?.rootSecret,
            publicPermission: publicPermission, allowsRequests: allowsRequests)
    }
}
