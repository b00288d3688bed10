// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkTestSupport

let carol = UserID(3)
let dave = UserID(4)
let erin = UserID(5)

/// A zone of alice's as a store would keep it: what the rules decide is written, under the next change number.
struct SharedTestZone {
    var limits = Limits()
    /// Made on purpose between the rules and what is written, to see whether a test finds it.
    var mistake: PlantedSharingMistake?
    private(set) var zone = ZoneState(id: ZoneID(70), key: ZoneKey(database: database, name: "Notes"), createdAt: 0)
    /// Nil: the zone is deleted.
    private(set) var sharing: ZoneSharing? = ZoneSharing(owner: alice)
    private(set) var number: ChangeNumber = 10
    /// The change number of the living CKShare record.
    private(set) var shareVersion: ChangeNumber?
    private var idCount: UInt64 = 0

    // MARK: Looking

    /// The tag of the living CKShare record.
    var tag: ChangeTag? { shareVersion.map { tag(at: $0) } }

    func tag(at number: ChangeNumber) -> ChangeTag { .version(store: store, zone: zone.id, number: number) }

    var share: Share? { sharing?.livingShare }

    func access(_ user: UserID) -> ShareAccess {
        ShareAccess(of: user, in: sharing ?? ZoneSharing(owner: alice))
    }

    func history(_ user: UserID) -> AccessHistory {
        AccessHistory(of: user, in: sharing ?? ZoneSharing(owner: alice))
    }

    func permission(_ user: UserID, type: String = "Note", creator: UserID? = alice) -> Permissions {
        access(user).permission(on: RecordPlace(type: type, creator: creator))
    }

    func shown(to viewer: UserID, invitedAs id: ParticipantID? = nil) -> [ShownParticipant] {
        guard let sharing, let share else { return [] }
        return sharing.participants(of: share.number, shownTo: viewer, invitedAs: id)
    }

    /// The living share as somebody sees it.
    func shownShare(to viewer: UserID, invitedAs id: ParticipantID? = nil) -> ShownShare? {
        let asked = mistake == .everybodySeesAll ? alice : viewer
        return sharing?.share(
            named: Share.zoneWideName, shownTo: asked, invitedAs: mistake == .linkTellsURL ? nil : id)
    }

    /// How somebody comes to the living share; nil: not at all.
    func entry(of visitor: ShareVisitor) -> (share: Share, entry: ShareEntry)? { seen?.entry(of: visitor) }

    /// What the rules are asked about those who come.
    private var seen: ZoneSharing? {
        mistake == .blockedMayCome ? sharing?.forgetting(blocks: true) : sharing
    }

    /// The row of a user in the living share.
    func row(_ user: UserID) -> Participant? {
        share.flatMap { sharing?.participants[$0.number]?.values.first { $0.user == user } }
    }

    /// Those that have not ended.
    var livingRows: [Participant] {
        guard let share, let rows = sharing?.participants[share.number] else { return [] }
        return rows.values.filter { $0.status != .removed }.sorted { $0.id < $1.id }
    }

    mutating func newID() -> ParticipantID {
        idCount += 1
        return ParticipantID(high: 1, low: idCount)
    }

    // MARK: Asking

    func context(
        of user: UserID, in scope: DatabaseScope? = nil, policy: SavePolicy = .ifServerRecordUnchanged
    ) -> ShareSaveContext {
        ShareSaveContext(
            scope: scope ?? (user == alice ? .private : .shared), zone: zone,
            sharing: sharing ?? ZoneSharing(owner: alice), user: mistake == .everybodyIsOwner ? alice : user,
            policy: policy, currentTag: tag, freshSecret: [UInt8(truncatingIfNeeded: number)],
            now: Timestamp(milliseconds: number))
    }

    /// Nil: it was saved.
    @discardableResult
    mutating func save(
        _ save: ShareSave, by user: UserID = alice, in scope: DatabaseScope? = nil,
        policy: SavePolicy = .ifServerRecordUnchanged
    ) -> FailureReason? {
        var save = save
        if mistake == .tagsAreIgnored {
            save = ShareSave(
                recordName: save.recordName, tag: tag, publicPermission: save.publicPermission,
                participants: save.participants, allowsRequests: save.allowsRequests, answers: save.answers)
        }
        if mistake == .answersAreIgnored {
            save = ShareSave(
                recordName: save.recordName, tag: save.tag, publicPermission: save.publicPermission,
                participants: save.participants, allowsRequests: save.allowsRequests)
        }
        switch save.plan(in: context(of: user, in: scope, policy: policy), limits: effectiveLimits) {
        case .failure(let reason): return reason
        case .success(let plan):
            number += 1
            shareVersion = number
            write(plan.changes(at: number))
            return nil
        }
    }

    /// Saves the living share, or a new one, with the tag that it has.
    @discardableResult
    mutating func change(
        public permission: SharePermission? = nil, participants: [ParticipantSave]? = nil, by user: UserID = alice
    ) -> FailureReason? {
        save(ShareSave(tag: tag, publicPermission: permission, participants: participants), by: user)
    }

    /// Adds people to those who take part.
    @discardableResult
    mutating func invite(_ people: ParticipantSave..., by user: UserID = alice) -> FailureReason? {
        change(participants: livingRows.map(\.saved) + people, by: user)
    }

    @discardableResult
    mutating func accept(_ visitor: ShareVisitor) -> FailureReason? {
        var asked = visitor
        if mistake == .addressesAreIgnored { asked = visitor.with(addresses: SharingHistory.addresses) }
        if mistake == .urlIsNotNeeded { asked = visitor.bringing(.zone(secret)) }
        let id = newID()
        let now = Timestamp(milliseconds: number)
        switch asked.accepting(in: seen, as: id, at: number + 1, now: now, limits: effectiveLimits) {
        case .failure(let reason): return reason
        case .success(let acceptance):
            write(acceptance.changes)
            return nil
        }
    }

    @discardableResult
    mutating func accept(_ user: UserID, hasURL: Bool = false) -> FailureReason? {
        accept(ShareVisitor(user: user, secret: hasURL ? secret : nil))
    }

    /// Nil: it succeeded, whether something was asked or not.
    @discardableResult
    mutating func ask(_ visitor: ShareVisitor) -> FailureReason? {
        var asked = seen
        if mistake == .blockedMayAsk { asked = asked?.forgetting(blocks: true) }
        if mistake == .requestsAreAlwaysTaken { asked = asked?.forgetting(refusals: true) }
        let now = Timestamp(milliseconds: number)
        switch visitor.requesting(in: asked, at: number + 1, now: now, limits: effectiveLimits) {
        case .failure(let reason): return reason
        case .success(let changes):
            write(changes)
            return nil
        }
    }

    /// What the zone's URL ends with; something that is in no URL if it has none.
    var secret: [UInt8] { sharing?.secret ?? [] }

    mutating func decline(_ visitor: ShareVisitor) {
        write(visitor.declining(in: sharing, at: number + 1))
    }

    /// As `ShareAction.leave` decides it: who is only invited does not see the zone, and stays invited.
    mutating func leave(_ user: UserID) {
        guard row(user)?.hasAccepted == true else { return }
        decline(ShareVisitor(user: user))
    }

    mutating func endShare() {
        write(sharing?.ending(shareNamed: Share.zoneWideName, at: number + 1))
        shareVersion = nil
    }

    mutating func deleteZone() {
        sharing = nil
        shareVersion = nil
    }

    mutating func makeZone() {
        zone = ZoneState(id: ZoneID(zone.id.rawValue + 1), key: zone.key, createdAt: 0)
        sharing = ZoneSharing(owner: alice)
        number = 10
    }

    // MARK: What a store does

    /// each change gives the CKShare record a new version, with the number of the change.
    private mutating func write(_ changes: SharingChanges?) {
        guard var changes, let before = sharing else { return }
        mistake?.spoil(&changes, over: before)
        number = changes.number
        if shareVersion != nil { shareVersion = number }
        sharing = before.applying(changes)
    }

    private var effectiveLimits: Limits {
        var limits = limits
        if mistake == .oneMoreParticipant { limits.participantsMax += 1 }
        if mistake == .oneMoreRequest { limits.accessRequestsMax += 1 }
        if mistake == .oneMoreBlocked { limits.blockedMax += 1 }
        return limits
    }
}

extension Participant {
    /// The participant as a client saves them that changes nothing.
    var saved: ParticipantSave {
        ParticipantSave(id: id, role: role, permission: permission == .noAccess ? .readOnly : permission)
    }
}

extension ShareVisitor {
    func with(addresses: Set<String>) -> ShareVisitor {
        ShareVisitor(user: user, addresses: addresses, secret: secret, linkSecret: linkSecret)
    }
}
