// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain

/// The sharing of a whole zone as one would tell it to somebody: who is in, who is invited, and what they may do. It
/// has no rows, no numbers and no ends. Its code has nothing in common with the rules.
struct NaiveSharing {
    /// By what somebody was invited.
    enum Name: Hashable {
        case user(UserID)
        case address(String)
    }

    /// What somebody was invited to.
    struct Guest: Equatable {
        var isAdministrator = false
        var mayWrite = false
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

        /// With the owner.
        var count: Int { 1 + members.count + invited.count }

        /// The member who is called that.
        func member(_ name: Name) -> UserID? {
            if case .user(let user) = name, members[user] != nil { return user }
            return members.first { $0.value.invitedAs == name }?.key
        }
    }

    var owner = alice
    var countMax = 100
    /// Nil: the zone is not shared.
    private(set) var party: Party?

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
    }

    struct Save {
        var user: UserID
        var isInShared: Bool
        var isMisnamed: Bool
        var copy: Copy
        var policy: SavePolicy
        var everybody: SharePermission?
        var lines: [Line]?
    }

    mutating func save(_ save: Save) -> FailureReason? {
        if save.isInShared, !isIn(save.user) { return .zoneNotFound }
        if save.isMisnamed { return .hierarchiesUnavailable }
        if (save.lines ?? []).contains(where: \.isVoid) { return .participantInvalid }
        if !mayManage(save.user) { return .notShareAdministrator }
        if let reason = conflict(save) { return reason }
        var next = party ?? Party()
        next.everybody = save.everybody ?? next.everybody
        let isOpen = next.everybody != .noAccess
        let wasOpen = (party?.everybody ?? .noAccess) != .noAccess
        if isOpen { next.invited = [:] }
        if wasOpen, !isOpen { next.members = [:] }
        if let lines = save.lines {
            if let reason = apply(lines, to: &next, isOpen: isOpen, wasOpen: wasOpen) { return reason }
        }
        party = next
        return nil
    }

    private func conflict(_ save: Save) -> FailureReason? {
        guard party != nil else { return save.copy == .none ? nil : .recordMissing }
        let isAboutFields = save.everybody == nil && save.lines == nil
        if isAboutFields, save.policy != .ifServerRecordUnchanged { return nil }
        return switch save.copy {
        case .none: .recordExists
        case .old: .recordChanged
        case .current: nil
        }
    }

    private func apply(_ lines: [Line], to next: inout Party, isOpen: Bool, wasOpen: Bool) -> FailureReason? {
        var after = Party(everybody: next.everybody)
        var newcomers: [Name: Guest] = [:]
        for line in lines where line.name != .user(owner) {
            if let user = next.member(line.name), var member = next.members[user] {
                guard line.isPublic == (member.invitedAs == nil) else { return .participantInvalid }
                if !line.isPublic { member.guest = line.guest }
                after.members[user] = member
            } else if next.invited[line.name] != nil {
                guard !line.isPublic else { return .participantInvalid }
                after.invited[line.name] = line.guest
            } else if !isOpen || party?.invited[line.name] == nil {
                newcomers[line.name] = line.guest
            }
        }
        let count = after.count + newcomers.count
        if count > countMax, count > party?.count ?? 1 { return .tooManyParticipants }
        if isOpen, !newcomers.isEmpty { return .participantsFixed }
        if isOpen, wasOpen, after.members.count < next.members.count { return .participantsFixed }
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
    }

    /// The invitation that is theirs.
    func invitation(of visitor: Visitor) -> Name? {
        guard let party else { return nil }
        if party.invited[.user(visitor.user)] != nil { return .user(visitor.user) }
        let addressed = visitor.addresses.sorted().filter { party.invited[.address($0)] != nil }
        for guest in [(true, true), (true, false), (false, true), (false, false)] {
            for address in addressed
            where party.invited[.address(address)] == Guest(isAdministrator: guest.0, mayWrite: guest.1) {
                return .address(address)
            }
        }
        return nil
    }

    mutating func accept(_ visitor: Visitor) -> FailureReason? {
        guard var next = party else { return .shareUnknown }
        if visitor.user == owner { return .shareIsOwn }
        if isIn(visitor.user) { return nil }
        if let name = invitation(of: visitor), let guest = next.invited.removeValue(forKey: name) {
            next.members[visitor.user] = Member(guest: guest, invitedAs: name)
        } else if next.everybody != .noAccess, visitor.hasURL {
            if next.count == countMax { return .tooManyParticipants }
            next.members[visitor.user] = Member(guest: Guest())
        } else {
            return .shareUnknown
        }
        party = next
        return nil
    }

    mutating func decline(_ visitor: Visitor) {
        party?.members[visitor.user] = nil
        party?.invited[.user(visitor.user)] = nil
        for address in visitor.addresses { party?.invited[.address(address)] = nil }
    }

    mutating func leave(_ user: UserID) { party?.members[user] = nil }

    mutating func end() { party = nil }
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
    }

    /// What a visitor is told of themselves before they accept; nil if they are told that there is nothing.
    func standing(of visitor: Visitor) -> Seen? {
        guard let party else { return nil }
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
        return party.everybody != .noAccess && visitor.hasURL ? seen : nil
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
        if case .address(let address) = name, mayManage(viewer) { seen.address = address }
        return seen
    }

    private func seen(_ name: Name, _ guest: Guest, isViewer: Bool, withAddress: Bool) -> Seen {
        var seen = Seen(
            role: guest.isAdministrator ? .administrator : .privateUser,
            permission: guest.mayWrite ? .readWrite : .readOnly, status: .pending, isViewer: isViewer)
        switch name {
        case .user(let user): seen.user = user
        case .address(let address): seen.address = withAddress ? address : nil
        }
        return seen
    }
}
