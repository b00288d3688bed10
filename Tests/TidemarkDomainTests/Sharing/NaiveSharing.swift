// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain

/// The sharing of a whole zone as one would tell it to somebody: who is in, who is invited, who asks, who may not, and what
/// they may do. It has no rows, no numbers and no ends. Its code has nothing in common with the rules.
struct NaiveSharing {
    /// By what somebody was invited.
    enum Name: Hashable {
        case user(UserID)
        case address(String)
        /// By a one-time link: the number of the participant.
        case link(Int)
    }

    /// What somebody was invited to.
    struct Guest: Equatable {
        var isAdministrator = false
        var mayWrite = false
        /// What the one-time link ends with, by which they were invited.
        var key: Int?
        /// Whether they had asked.
        var isApproved = false
    }

    /// Somebody who is in.
    struct Member: Equatable {
        var guest: Guest
        /// Nil: joined by the URL of a public share.
        var invitedAs: Name?
    }

    struct Party: Equatable {
        var everybody = SharePermission.noAccess
        var members: [UserID: Member] = [:]
        var invited: [Name: Guest] = [:]
        var takesRequests = false
        /// Who has asked and waits.
        var asking: Set<UserID> = []
        /// Who may not ask, and what was known of them.
        var blocked: [UserID: Acquaintance] = [:]

        /// With the owner.
        var count: Int { 1 + members.count + invited.count }

        /// Whether somebody invited or inside has that link.
        func hasLink(_ key: Int) -> Bool {
            invited.values.contains { $0.key == key } || members.values.contains { $0.guest.key == key }
        }

        /// The member who is called that.
        func member(_ name: Name) -> UserID? {
            if case .user(let user) = name, members[user] != nil { return user }
            return members.first { $0.value.invitedAs == name }?.key
        }
    }

    /// Whether somebody who was blocked had told who they are.
    enum Acquaintance {
        case stranger, known
        /// They were in once, and may be forgotten.
        case former
    }

    var owner = alice
    var countMax = 100
    var askingMax = 100
    var blockedMax = 400
    /// Nil: the zone is not shared.
    private(set) var party: Party?
    /// Who was in at any time since the zone was shared.
    private var formerMembers: Set<UserID> = []

    // MARK: Who may do what

    func permission(_ user: UserID, onShareRecord: Bool) -> Permissions {
        if user == owner { return .all }
        guard let party, let member = party.members[user] else { return [] }
        if onShareRecord { return member.guest.isAdministrator ? [.read, .write] : .read }
        let mayWrite = member.invitedAs == nil ? party.everybody == .readWrite : member.guest.mayWrite
        return mayWrite ? .all : .read
    }

    func isIn(_ user: UserID) -> Bool { party?.members[user] != nil }

    private func mayManage(_ user: UserID) -> Bool {
        user == owner || party?.members[user]?.guest.isAdministrator == true
    }

    // MARK: Saving the share

    /// What the copy of the share is on which a save is based.
    enum Copy {
        case none, current, old
    }

    /// One line of the list that is saved.
    struct Line {
        var name: Name
        var guest: Guest
        /// Whether the line says that they joined by the URL.
        var isPublic = false
        /// Whether the line allows nothing.
        var isVoid = false
        /// What the link ends with that is made if the line invites by one.
        var key: Int?
    }

    struct Save {
        var user: UserID
        var isInShared: Bool
        var isMisnamed: Bool
        var copy: Copy
        var policy: SavePolicy
        var everybody: SharePermission?
        var lines: [Line]?
        var takesRequests: Bool?
        var denied: Set<UserID> = []
        var blocked: Set<UserID> = []
        var unblocked: Set<UserID> = []

        var answersNobody: Bool { denied.isEmpty && blocked.isEmpty && unblocked.isEmpty }
    }

    mutating func save(_ save: Save) -> FailureReason? {
        if save.isInShared, !isIn(save.user) { return .zoneNotFound }
        if (save.lines ?? []).contains(where: \.isVoid) { return .participantInvalid }
        if save.isMisnamed { return .hierarchiesUnavailable }
        if !mayManage(save.user) { return .notShareAdministrator }
        if let reason = conflict(save) { return reason }
        var next = party ?? Party()
        next.everybody = save.everybody ?? next.everybody
        let isOpen = next.everybody != .noAccess
        let wasOpen = (party?.everybody ?? .noAccess) != .noAccess
        if isOpen { next.invited = [:] }
        if wasOpen, !isOpen { next.members = [:] }
        next.takesRequests = save.takesRequests ?? next.takesRequests
        if let lines = save.lines {
            let reason = apply(lines, to: &next, isOpen: isOpen, wasOpen: wasOpen, mayLose: save.blocked)
            if let reason { return reason }
        }
        if let reason = answer(save, in: &next) { return reason }
        become(next)
        return nil
    }

    private mutating func become(_ next: Party) {
        formerMembers.formUnion(next.members.keys)
        party = next
    }

    /// What becomes of those who ask and of those who may not, after the list was carried out.
    private func answer(_ save: Save, in next: inout Party) -> FailureReason? {
        let before = party?.blocked.keys.map { $0 } ?? []
        let newcomers = next.invited.keys.compactMap { name -> UserID? in
            guard case .user(let user) = name, party?.invited[name] == nil else { return nil }
            return user
        }
        // Whoever is invited by name need not ask, and may come again.
        for user in newcomers where !save.blocked.contains(user) {
            if next.asking.remove(user) != nil { next.invited[.user(user)]?.isApproved = true }
            next.blocked[user] = nil
        }
        next.asking.subtract(save.denied.subtracting(save.blocked))
        for user in save.unblocked where !save.blocked.contains(user) { next.blocked[user] = nil }
        for user in save.blocked where user != owner {
            let hasAsked = next.asking.remove(user) != nil
            let wasIn = party?.members[user] != nil
            next.members[user] = nil
            next.invited[.user(user)] = nil
            if next.blocked[user] == nil {
                next.blocked[user] =
                    hasAsked || wasIn ? .known : formerMembers.contains(user) ? .former : .stranger
            }
        }
        let isWorse = next.blocked.keys.contains { !before.contains($0) }
        return isWorse && next.blocked.count > blockedMax ? .tooManyBlocked : nil
    }

    private func conflict(_ save: Save) -> FailureReason? {
        guard party != nil else { return save.copy == .none ? nil : .recordMissing }
        let isAboutFields =
            save.everybody == nil && save.lines == nil && save.takesRequests == nil && save.answersNobody
        if isAboutFields, save.policy != .ifServerRecordUnchanged { return nil }
        return switch save.copy {
        case .none: .recordExists
        case .old: .recordChanged
        case .current: nil
        }
    }

    /// - Parameter blocked: who may be left out although the share is public.
    private func apply(
        _ lines: [Line], to next: inout Party, isOpen: Bool, wasOpen: Bool, mayLose blocked: Set<UserID>
    ) -> FailureReason? {
        var after = next
        (after.members, after.invited) = ([:], [:])
        var newcomers: [Name: Guest] = [:]
        for line in lines where line.name != .user(owner) {
            if let user = next.member(line.name), var member = next.members[user] {
                guard line.isPublic == (member.invitedAs == nil) else { return .participantInvalid }
                if !line.isPublic { member.guest.become(line.guest) }
                after.members[user] = member
            } else if var guest = next.invited[line.name] {
                guard !line.isPublic else { return .participantInvalid }
                guest.become(line.guest)
                after.invited[line.name] = guest
            } else if !isOpen || party?.invited[line.name] == nil {
                newcomers[line.name] = line.guest
                newcomers[line.name]?.key = line.key
            }
        }
        let count = after.count + newcomers.count
        if count > countMax, count > party?.count ?? 1 { return .tooManyParticipants }
        if isOpen, !newcomers.isEmpty { return .participantsFixed }
        let lost = Set(next.members.keys).subtracting(after.members.keys).subtracting(blocked)
        if isOpen, wasOpen, !lost.isEmpty { return .participantsFixed }
        after.invited.merge(newcomers) { _, new in new }
        next = after
        return nil
    }

    // MARK: Coming and going

    /// What somebody brings who comes.
    struct Visitor {
        var user: UserID
        var addresses: Set<String>
        var hasURL: Bool
        /// What the one-time link ends with that they bring instead.
        var link: Int?
    }

    /// Whether what they bring leads to the share at all: a link dies with its participant.
    private func isLed(_ visitor: Visitor) -> Bool {
        guard let party else { return false }
        return visitor.link.map { party.hasLink($0) } ?? true
    }

    /// The invitation that is theirs.
    func invitation(of visitor: Visitor) -> Name? {
        guard let party, isLed(visitor) else { return nil }
        if party.invited[.user(visitor.user)] != nil { return .user(visitor.user) }
        if party.blocked[visitor.user] != nil { return nil }
        if let key = visitor.link { return party.invited.first { $0.value.key == key }?.key }
        let addressed = visitor.addresses.sorted().filter { party.invited[.address($0)] != nil }
        for guest in [(true, true), (true, false), (false, true), (false, false)] {
            for address in addressed
            where party.invited[.address(address)]?.isLike(guest) == true {
                return .address(address)
            }
        }
        return nil
    }

    mutating func accept(_ visitor: Visitor) -> FailureReason? {
        guard var next = party, isLed(visitor) else { return .shareUnknown }
        if visitor.user == owner { return .shareIsOwn }
        if isIn(visitor.user) { return nil }
        if let name = invitation(of: visitor), let guest = next.invited.removeValue(forKey: name) {
            next.members[visitor.user] = Member(guest: guest, invitedAs: name)
        } else if next.everybody != .noAccess, visitor.hasURL, next.blocked[visitor.user] == nil {
            if next.count == countMax { return .tooManyParticipants }
            next.members[visitor.user] = Member(guest: Guest())
        } else {
            return .shareUnknown
        }
        next.asking.remove(visitor.user)
        become(next)
        return nil
    }

    /// Whoever knows the share hears so. Everybody else hears that they have asked, whether somebody hears of it or not.
    mutating func ask(_ visitor: Visitor) -> FailureReason? {
        if let seen = standing(of: visitor) { return seen.role == .owner ? .shareIsOwn : .alreadyInvited }
        guard let party, visitor.hasURL, party.takesRequests, party.blocked[visitor.user] == nil,
            party.asking.count < askingMax
        else { return nil }
        self.party?.asking.insert(visitor.user)
        return nil
    }

    mutating func decline(_ visitor: Visitor) {
        guard isLed(visitor) else { return }
        if let key = visitor.link, let taken = party?.invited.first(where: { $0.value.key == key })?.key {
            party?.invited[taken] = nil
        }
        party?.members[visitor.user] = nil
        party?.invited[.user(visitor.user)] = nil
        for address in visitor.addresses { party?.invited[.address(address)] = nil }
    }

    mutating func leave(_ user: UserID) { party?.members[user] = nil }

    mutating func end() {
        party = nil
        formerMembers = []
    }
}

// MARK: What people see

extension NaiveSharing {
    /// A participant as somebody sees them.
    struct Seen: Hashable {
        var user: UserID?
        var address: String?
        var role: ParticipantRole
        var permission: SharePermission
        var status: ParticipantStatus
        var isViewer: Bool
        /// What their one-time link ends with.
        var link: Int?
        var isApproved = false
    }

    /// What a visitor is told of themselves before they accept; nil if they are told that there is nothing.
    func standing(of visitor: Visitor) -> Seen? {
        guard let party, isLed(visitor) else { return nil }
        var seen = Seen(
            user: visitor.user, role: .owner, permission: .readWrite, status: .accepted, isViewer: true)
        if visitor.user == owner { return seen }
        if let member = party.members[visitor.user] { return self.seen(visitor.user, member, by: visitor.user) }
        (seen.status, seen.role) = (.pending, .publicUser)
        if let name = invitation(of: visitor), let guest = party.invited[name] {
            seen.role = guest.isAdministrator ? .administrator : .privateUser
            seen.permission = guest.mayWrite ? .readWrite : .readOnly
            return seen
        }
        seen.permission = party.everybody
        let mayJoin = party.everybody != .noAccess && visitor.hasURL && party.blocked[visitor.user] == nil
        return mayJoin ? seen : nil
    }

    /// Who asks and who may not, as somebody sees them.
    func doorSeen(by user: UserID) -> (takesRequests: Bool, asking: Set<UserID>, blocked: Set<UserID>) {
        guard let party, mayManage(user) else { return (false, [], []) }
        return (party.takesRequests, party.asking, Set(party.blocked.keys))
    }

    /// Whether a name must come with somebody who is blocked; nil: it may.
    func tellsName(ofBlocked user: UserID) -> Bool? {
        switch party?.blocked[user] {
        case .known: true
        case .stranger, nil: false
        case .former: nil
        }
    }

    /// Whether the visitor is told the URL of the share: not while they come by a link that they have not taken.
    func isToldURL(_ visitor: Visitor) -> Bool {
        guard party?.members[visitor.user] == nil, visitor.user != owner, let name = invitation(of: visitor) else {
            return true
        }
        if case .link = name { return false }
        return true
    }

    func everybodySeen(by visitor: Visitor) -> [Seen: Int] {
        guard let party else { return [:] }
        let own = visitor.user == owner ? nil : invitation(of: visitor)
        let member = party.members[visitor.user]
        guard visitor.user == owner || member != nil || own != nil || party.everybody != .noAccess else { return [:] }
        let sees = mayManage(visitor.user)
        var seen = [
            Seen(
                user: owner, role: .owner, permission: .readWrite, status: .accepted,
                isViewer: visitor.user == owner): 1
        ]
        for (user, other) in party.members
        where sees || user == visitor.user || member.map({ $0.invitedAs != nil }) ?? false {
            seen[self.seen(user, other, by: visitor.user), default: 0] += 1
        }
        for (name, guest) in party.invited where sees || member == nil && name == own {
            let isViewer = member == nil && name == own
            seen[self.seen(name, guest, isViewer: isViewer, withAddress: sees), default: 0] += 1
        }
        return seen
    }

    private func seen(_ user: UserID, _ member: Member, by viewer: UserID) -> Seen {
        var seen = Seen(
            user: user, role: .publicUser, permission: party?.everybody ?? .noAccess, status: .accepted,
            isViewer: user == viewer)
        guard let name = member.invitedAs else { return seen }
        seen.role = member.guest.isAdministrator ? .administrator : .privateUser
        seen.permission = member.guest.mayWrite ? .readWrite : .readOnly
        seen.isApproved = member.guest.isApproved
        if case .address(let address) = name, mayManage(viewer) { seen.address = address }
        if mayManage(viewer) { seen.link = member.guest.key }
        return seen
    }

    private func seen(_ name: Name, _ guest: Guest, isViewer: Bool, withAddress: Bool) -> Seen {
        var seen = Seen(
            role: guest.isAdministrator ? .administrator : .privateUser,
            permission: guest.mayWrite ? .readWrite : .readOnly, status: .pending, isViewer: isViewer)
        seen.isApproved = guest.isApproved
        switch name {
        case .user(let user): seen.user = user
        case .address(let address): seen.address = withAddress ? address : nil
        case .link: seen.link = withAddress ? guest.key : nil
        }
        return seen
    }
}

extension NaiveSharing.Guest {
    /// What a line says of somebody who is there.
    fileprivate mutating func become(_ other: NaiveSharing.Guest) {
        (isAdministrator, mayWrite) = (other.isAdministrator, other.mayWrite)
    }

    fileprivate func isLike(_ other: (isAdministrator: Bool, mayWrite: Bool)) -> Bool {
        isAdministrator == other.isAdministrator && mayWrite == other.mayWrite
    }
}
