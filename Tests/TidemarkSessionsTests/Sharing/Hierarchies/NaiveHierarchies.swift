// SPDX-License-Identifier: Apache-2.0

import TidemarkWire

/// The shared hierarchies of one zone as one would tell them to somebody: who sees a record is found by walking up its
/// parents, each time. It has no labels, no numbers and no ends. Its code has nothing in common with the server's.
struct NaiveHierarchies {
    static let owner = "alice"

    /// A record of the zone that is no CKShare.
    struct Note: Equatable {
        var text: String
        var parent: String?
    }

    /// Somebody who takes part.
    struct Member: Equatable {
        var mayWrite: Bool
        /// False: joined by the URL of a public share.
        var isInvited: Bool
    }

    /// A living share.
    struct Party: Equatable {
        let root: String
        var everybody = WireSharePermission.noAccess
        var members: [String: Member] = [:]
        /// Whether they may write.
        var invited: [String: Bool] = [:]
    }

    /// Found by the histories that it is planted in, or they try too little.
    enum Mistake: CaseIterable {
        /// Only the root is shared.
        case nothingBelowRoots
        /// What has left the hierarchy is still seen by those who have seen it.
        case leaversStay
        ///
        case leavingIsNothing
        ///
        case endIsNothing
        /// who joins keeps the permission of that day.
        case publicPermissionIsCopied
        ///
        case participantsDeleteRoots
        ///
        case readersWrite
        /// a participant puts a record where they may not write.
        case anybodyMovesAnywhere
        ///
        case sharesOverlap
        /// an invitation needs no acceptance.
        case invitationsGrant
    }

    var mistake: Mistake?
    private(set) var notes: [String: Note] = [:]
    /// By the names of the CKShare records.
    private(set) var shares: [String: Party] = [:]
    /// For ``Mistake/leaversStay``.
    private var seen: [String: Set<String>] = [:]

    // MARK: Who sees what

    /// The share that covers a record: that of the first root on the way up.
    func cover(of name: String) -> String? {
        var next: String? = name
        while let current = next {
            if let share = share(of: current) { return share }
            if mistake == .nothingBelowRoots { return nil }
            next = notes[current]?.parent
        }
        return nil
    }

    /// The share of a root.
    func share(of root: String) -> String? { shares.first { $0.value.root == root }?.key }

    func isIn(_ user: String, _ share: String) -> Bool {
        guard let party = shares[share] else { return false }
        return party.members[user] != nil || mistake == .invitationsGrant && party.invited[user] != nil
    }

    /// Whether the zone is in the user's list.
    func hasAccess(_ user: String) -> Bool { user == Self.owner || shares.keys.contains { isIn(user, $0) } }

    func mayRead(_ user: String, _ name: String) -> Bool {
        if user == Self.owner { return notes[name] != nil || shares[name] != nil }
        if shares[name] != nil { return isIn(user, name) }
        guard notes[name] != nil else { return false }
        if mistake == .leaversStay, hasAccess(user), seen[user]?.contains(name) == true { return true }
        return cover(of: name).map { isIn(user, $0) } ?? false
    }

    func mayWrite(_ user: String, _ note: String) -> Bool {
        guard notes[note] != nil else { return false }
        if user == Self.owner { return true }
        guard let share = cover(of: note), let party = shares[share], let member = party.members[user] else {
            return false
        }
        if mistake == .readersWrite { return true }
        if mistake == .publicPermissionIsCopied { return member.mayWrite }
        return member.isInvited ? member.mayWrite : party.everybody == .readWrite
    }

    /// The names of all that a user sees.
    func visible(to user: String) -> Set<String> {
        guard hasAccess(user) else { return [] }
        return Set((Array(notes.keys) + Array(shares.keys)).filter { mayRead(user, $0) })
    }

    /// The shares in which a user takes part.
    func parts(of user: String) -> Set<String> { Set(shares.keys.filter { isIn(user, $0) }) }

    // MARK: Families

    func children(of name: String) -> [String] { notes.filter { $0.value.parent == name }.map(\.key).sorted() }

    /// The record and all below it.
    func family(of name: String) -> [String] { [name] + children(of: name).flatMap(family) }

    func isAbove(_ name: String, _ other: String) -> Bool {
        var next = notes[other]?.parent
        while let current = next {
            if current == name { return true }
            next = notes[current]?.parent
        }
        return false
    }

    /// Whether a root of a living share is the record, or below it.
    private func hasRoots(_ name: String) -> Bool { family(of: name).contains { share(of: $0) != nil } }

    // MARK: Saves and deletes. The results are all codes that are right; nil is success.

    enum ParentEdit: Equatable {
        case unchanged
        case set(String)
        case removed
    }

    typealias Codes = Set<WireErrorCode?>

    /// - Parameter isKnown: whether the save has a tag, so that it makes no new record.
    mutating func save(
        _ name: String, _ text: String, _ parent: ParentEdit, isKnown: Bool = false, by user: String
    ) -> Codes {
        let codes = refusals(of: name, parent, isKnown: isKnown, by: user)
        guard codes.isEmpty else { return codes }
        var note = notes[name] ?? Note(text: text)
        note.text = text
        switch parent {
        case .unchanged: break
        case .set(let other): note.parent = other
        case .removed: if !hidesParent(of: name, from: user) { note.parent = nil }
        }
        notes[name] = note
        look()
        return [nil]
    }

    /// a root's own parent is its owner's to know, and to others it has none.
    private func hidesParent(of name: String, from user: String) -> Bool {
        user != Self.owner && share(of: name) != nil
    }

    /// All reasons why a save is refused: which one wins does not matter here.
    private func refusals(of name: String, _ parent: ParentEdit, isKnown: Bool, by user: String) -> Codes {
        guard hasAccess(user) else { return [.zoneNotFound] }
        var codes: Codes = []
        if !mayRead(user, name) {
            if isKnown { codes.insert(.unknownItem) } else if notes[name] != nil { codes.insert(.permissionFailure) }
        } else if !mayWrite(user, name) {
            codes.insert(.permissionFailure)
        }
        switch parent {
        case .set where hidesParent(of: name, from: user): codes.insert(.permissionFailure)
        case .removed where hidesParent(of: name, from: user): break
        case .set(let other):
            guard notes[other] != nil, mayRead(user, other) else { return codes.union([.referenceViolation]) }
            if other == name || isAbove(name, other) { codes.insert(.invalidArguments) }
            if !mayWrite(user, other), mistake != .anybodyMovesAnywhere { codes.insert(.permissionFailure) }
            if notes[name] != nil, hasRoots(name), cover(of: other) != nil { codes.insert(.alreadyShared) }
        case .unchanged where notes[name] == nil, .removed where notes[name]?.parent != nil || notes[name] == nil:
            // it would be in no share.
            if user != Self.owner { codes.insert(.permissionFailure) }
        case .unchanged, .removed: break
        }
        return codes
    }

    /// R-136 keeps parents. A share ends with its root.
    mutating func delete(_ names: [String], by user: String) -> [Codes] {
        guard hasAccess(user) else { return names.map { _ in [.zoneNotFound] } }
        let codes = names.map { refusals(ofDeleting: $0, with: names, by: user) }
        for (name, codes) in zip(names, codes) where codes.isEmpty && mayRead(user, name) {
            if let share = share(of: name) { shares[share] = nil }
            notes[name] = nil
        }
        look()
        return codes.map { $0.isEmpty ? [nil] : $0 }
    }

    private func refusals(ofDeleting name: String, with names: [String], by user: String) -> Codes {
        guard mayRead(user, name) else { return [] }
        var codes: Codes = []
        if !mayWrite(user, name) { codes.insert(.permissionFailure) }
        if user != Self.owner, share(of: name) != nil, mistake != .participantsDeleteRoots {
            codes.insert(.permissionFailure)
        }
        if children(of: name).contains(where: { !names.contains($0) }) { codes.insert(.referenceViolation) }
        return codes
    }

    // MARK: Shares

    /// The owner shares a record, which is saved with the share, or forgotten.
    ///
    /// - Returns: why the share is refused; nil: it is saved.
    mutating func share(
        _ root: String, as name: String, _ text: String, withRoot: Bool, everybody: WireSharePermission,
        inviting invited: [String: Bool]
    ) -> WireErrorCode? {
        if mistake != .sharesOverlap, overlaps(root) { return .alreadyShared }
        guard withRoot else { return .invalidArguments }
        notes[root, default: Note(text: text)].text = text
        shares[name] = Party(root: root, everybody: everybody, invited: invited)
        look()
        return nil
    }

    /// whether a share of this record would share what is shared already.
    func overlaps(_ root: String) -> Bool { cover(of: root) != nil || notes[root] != nil && hasRoots(root) }

    /// to become public ends invitations; to be public no more ends all.
    mutating func publish(_ share: String, _ permission: WireSharePermission) {
        guard var party = shares[share] else { return }
        if permission == .noAccess, party.everybody != .noAccess { party.members = [:] }
        if permission != .noAccess { party.invited = [:] }
        party.everybody = permission
        shares[share] = party
        look()
    }

    /// Of a share that is not public: all who are to take part, and whether they may write.
    mutating func invite(_ people: [String: Bool], to share: String) {
        guard var party = shares[share] else { return }
        party.members = party.members.filter { people[$0.key] != nil }
        for (user, mayWrite) in people where party.members[user] != nil { party.members[user]?.mayWrite = mayWrite }
        party.invited = people.filter { party.members[$0.key] == nil }
        shares[share] = party
        look()
    }

    mutating func accept(_ root: String, by user: String) -> WireErrorCode? {
        guard let share = share(of: root), var party = shares[share] else { return .unknownItem }
        if user == Self.owner { return .invalidArguments }
        if party.members[user] != nil { return nil }
        if let mayWrite = party.invited.removeValue(forKey: user) {
            party.members[user] = Member(mayWrite: mayWrite, isInvited: true)
        } else if party.everybody != .noAccess {
            party.members[user] = Member(mayWrite: party.everybody == .readWrite, isInvited: false)
        } else {
            return .unknownItem
        }
        shares[share] = party
        look()
        return nil
    }

    mutating func leave(_ share: String, by user: String) {
        guard mistake != .leavingIsNothing else { return }
        shares[share]?.members[user] = nil
        shares[share]?.invited[user] = nil
        look()
    }

    /// Deletes the zone in the shared database. Whoever is only invited stays so.
    mutating func leaveAll(by user: String) {
        for share in shares.keys where shares[share]?.members[user] != nil { leave(share, by: user) }
    }

    /// The owner deletes a CKShare record.
    mutating func end(_ share: String) {
        guard mistake != .endIsNothing else { return }
        shares[share] = nil
        look()
    }

    mutating func endZone() { self = NaiveHierarchies(mistake: mistake) }

    init(mistake: Mistake? = nil) { self.mistake = mistake }

    private mutating func look() {
        guard mistake == .leaversStay else { return }
        for party in shares.values {
            for user in party.members.keys {
                let names = notes.keys.filter { cover(of: $0).map { isIn(user, $0) } ?? false }
                seen[user, default: []].formUnion(names)
            }
        }
    }
}
