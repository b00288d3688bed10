// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkTestSupport

/// A random history of one zone, which the rules and the naive model live through together.
struct SharingHistory {
    static let people = [alice, bob, carol, dave, erin, UserID(6)]
    static let addresses: Set = ["b@x", "c@x", "c@y", "d@x", "nobody@x"]

    private var random: SeededRandom
    private var zone = SharedTestZone()
    private var naive = NaiveSharing()
    /// The users who have the addresses verified.
    private var owners: [String: UserID] = ["b@x": bob, "c@x": carol, "c@y": carol, "d@x": dave]
    /// The numbers at which people last got access.
    private var since: [UserID: ChangeNumber] = [:]
    /// The secret of the zone's URL, since it was first shared.
    private var secret: [UInt8]?
    /// What the one-time links ended with that were made, the newest last.
    private var keys: [Int] = []
    /// The participants of one-time links that nobody has taken.
    private var untakenLinks: [ParticipantID] = []
    /// All refusals that there were.
    private(set) var refusals: Set<FailureReason> = []
    /// What was done, and by whom.
    private(set) var tried: Set<Trial> = []

    /// What people do.
    enum Operation: CaseIterable {
        case save, answer, acceptByURL, acceptByLink, acceptByName, ask, decline, leave
    }

    /// What somebody is in the share when they do something.
    enum Standing: CaseIterable {
        case owner, administrator, writer, reader, publicUser, invited, addressed, asking, blocked, stranger
    }

    struct Trial: Hashable {
        let operation: Operation
        let standing: Standing

        static let all = Set(
            Operation.allCases.flatMap { operation in
                Standing.allCases.map { Trial(operation: operation, standing: $0) }
            })
    }

    init(seed: UInt64, mistake: PlantedSharingMistake? = nil) {
        random = SeededRandom(seed: seed)
        zone.mistake = mistake
        zone.limits.participantsMax = 6
        zone.limits.servesHierarchies = false
        zone.limits.endedParticipantsMax = 2
        zone.limits.endedSharesMax = 2
        naive.countMax = 6
        (zone.limits.accessRequestsMax, naive.askingMax) = (2, 2)
        (zone.limits.blockedMax, naive.blockedMax) = (2, 2)
    }

    /// Does something, and says how the rules and the model differ then; nil: they agree.
    mutating func step() -> String? {
        let before = naive
        if let difference = act() { return difference }
        for user in Self.people {
            if !naive.isIn(user) { since[user] = nil } else if !before.isIn(user) { since[user] = zone.number }
        }
        return differenceInAccess() ?? differenceInViews() ?? differenceAtDoor() ?? brokenRow() ?? brokenSecret()
    }

    // MARK: What people do

    private mutating func act() -> String? {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<38: return save()
        case ..<66: return accept()
        case ..<81: return ask()
        case ..<86:
            let visitor = makeVisitor(somebody())
            note(.decline, by: visitor.user)
            naive.decline(visitor)
            zone.decline(real(visitor))
        case ..<90:
            let user = somebody()
            note(.leave, by: user)
            naive.leave(user)
            zone.leave(user)
        case ..<91:
            naive.end()
            zone.endShare()
        case ..<92: return endZone()
        default: owners[random.pick(Self.addresses.sorted())] = random.pick(Self.people)
        }
        return nil
    }

    /// Anybody, and more often than not somebody whose standing few others have.
    private mutating func somebody() -> UserID {
        let user = random.pick(Self.people)
        guard chance(60) else { return user }
        let groups = Dictionary(grouping: Self.people) { standing(of: $0) }
        let chosen = random.pick(Standing.allCases.filter { groups[$0] != nil })
        return random.pick(groups[chosen] ?? [user])
    }

    /// Often somebody who is invited.
    private mutating func comer() -> UserID {
        let awaited = Self.people.filter { [.invited, .addressed].contains(standing(of: $0)) }
        return !awaited.isEmpty && chance(50) ? random.pick(awaited) : somebody()
    }

    private mutating func note(_ operation: Operation, by user: UserID) {
        tried.insert(Trial(operation: operation, standing: standing(of: user)))
    }

    private func standing(of user: UserID) -> Standing {
        if user == alice { return .owner }
        guard let party = naive.party else { return .stranger }
        if let member = party.members[user] {
            if member.invitedAs == nil { return .publicUser }
            return member.guest.isAdministrator ? .administrator : member.guest.mayWrite ? .writer : .reader
        }
        if party.invited[.user(user)] != nil { return .invited }
        if party.blocked[user] != nil { return .blocked }
        if party.asking.contains(user) { return .asking }
        let isAddressed = owners.contains { $0.value == user && party.invited[.address($0.key)] != nil }
        return isAddressed ? .addressed : .stranger
    }

    private mutating func save() -> String? {
        let (told, asked) = makeSave()
        note(told.answersNobody ? .save : .answer, by: told.user)
        let expected = naive.save(told)
        let answer = zone.save(
            asked, by: told.user, in: told.isInShared ? .shared : .private, policy: told.policy)
        if let answer { refusals.insert(answer) }
        return answer == expected ? nil : "\(told): \(text(answer)) instead of \(text(expected))"
    }

    private mutating func accept() -> String? {
        let visitor = makeVisitor(comer())
        note(visitor.hasURL ? .acceptByURL : visitor.link == nil ? .acceptByName : .acceptByLink, by: visitor.user)
        let expected = naive.accept(visitor)
        let answer = zone.accept(real(visitor))
        if let answer { refusals.insert(answer) }
        if case .link(let number)? = naive.party?.members[visitor.user]?.invitedAs {
            untakenLinks.removeAll { $0.low == UInt64(number) }
        }
        return answer == expected ? nil : "\(visitor): \(text(answer)) instead of \(text(expected))"
    }

    private mutating func ask() -> String? {
        let visitor = makeVisitor(somebody())
        note(.ask, by: visitor.user)
        let expected = naive.ask(visitor)
        let answer = zone.ask(real(visitor))
        if let answer { refusals.insert(answer) }
        return answer == expected ? nil : "\(visitor) asks: \(text(answer)) instead of \(text(expected))"
    }

    /// of a zone that is gone nobody learns anything.
    private mutating func endZone() -> String? {
        zone.deleteZone()
        let answers = Self.people.map { zone.accept($0, hasURL: true) }
        zone.makeZone()
        naive.end()
        secret = nil
        return answers.allSatisfy { $0 == .shareUnknown } ? nil : "a zone that is gone answers \(answers)"
    }

    private func text(_ reason: FailureReason?) -> String { reason.map { "\($0)" } ?? "success" }

    // MARK: Saves

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func makeSave() -> (NaiveSharing.Save, ShareSave) {
        let user = chance(50) ? alice : somebody()
        let copies: [NaiveSharing.Copy] =
            zone.share == nil ? [.none, .none, .none, .old] : [.current, .current, .current, .current, .none, .old]
        let permissions: [SharePermission] = [.noAccess, .noAccess, .readOnly, .readWrite]
        let lines = chance(25) ? nil : makeLines(by: user)
        var told = NaiveSharing.Save(
            user: user, isInShared: user != alice || chance(5), isMisnamed: chance(2), copy: random.pick(copies),
            policy: random.pick(SavePolicy.allCases), everybody: chance(75) ? nil : random.pick(permissions),
            lines: lines.map { lines in lines.map { $0.line } })
        if chance(40) { told.takesRequests = chance(90) }
        if chance(35) { makeAnswers(in: &told) }
        let tag: ChangeTag? =
            switch told.copy {
            case .none: nil
            case .current: zone.tag
            case .old: zone.tag(at: 1)
            }
        return (
            told,
            ShareSave(
                recordName: told.isMisnamed ? "other" : Share.zoneWideName, tag: tag,
                publicPermission: told.everybody, participants: lines.map { lines in lines.map { $0.entry } },
                allowsRequests: told.takesRequests,
                answers: AccessAnswers(denied: told.denied, blocked: told.blocked, unblocked: told.unblocked))
        )
    }

    /// Mostly what makes sense, and sometimes of anybody anything.
    private mutating func makeAnswers(in save: inout NaiveSharing.Save) {
        for user in Self.people {
            let isAsking = naive.party?.asking.contains(user) ?? false
            let isBlocked = naive.party?.blocked[user] != nil
            if chance(isAsking ? 15 : 5) { save.denied.insert(user) }
            if chance(isAsking ? 15 : 10) { save.blocked.insert(user) }
            if chance(isBlocked ? 30 : 5) { save.unblocked.insert(user) }
        }
    }

    /// Those whom the user sees, but for some, with changes, and some more.
    private mutating func makeLines(by user: UserID) -> [(line: NaiveSharing.Line, entry: ParticipantSave)] {
        var lines: [(line: NaiveSharing.Line, entry: ParticipantSave)] = []
        for shown in zone.shown(to: user).dropFirst() where !chance(12) {
            let name: NaiveSharing.Name =
                shown.user.map(NaiveSharing.Name.user) ?? shown.address.map(NaiveSharing.Name.address)
                ?? .link(Int(shown.id.low))
            let guest = NaiveSharing.Guest(
                isAdministrator: shown.role == .administrator, mayWrite: shown.permission == .readWrite)
            var line = NaiveSharing.Line(name: name, guest: guest, isPublic: shown.role == .publicUser)
            if chance(20) { vary(&line) }
            lines.append((line, entry(of: line, shown.id, person: nil)))
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
            if chance(25), let linked = makeLink(besides: lines.map { $0.entry.id }) {
                lines.append(linked)
                continue
            }
            let id = zone.newID()
            let (name, person) = newcomer()
            var line = NaiveSharing.Line(name: name, guest: .init())
            vary(&line)
            lines.append((line, entry(of: line, id, person: person)))
        }
        return lines
    }

    private mutating func vary(_ line: inout NaiveSharing.Line) {
        line.guest.mayWrite = chance(50)
        if chance(5) { line.isPublic.toggle() }
        line.guest.isAdministrator = !line.isPublic && chance(35)
        line.isVoid = chance(2)
    }

    /// Somebody who is invited by a one-time link: a new one, or one that nobody took.
    private mutating func makeLink(
        besides used: [ParticipantID]
    ) -> (line: NaiveSharing.Line, entry: ParticipantSave)? {
        let id = chance(50) || untakenLinks.isEmpty ? zone.newID() : random.pick(untakenLinks)
        guard !used.contains(id) else { return nil }
        let key = (keys.last ?? 0) + 1
        keys.append(key)
        if !untakenLinks.contains(id) { untakenLinks.append(id) }
        var line = NaiveSharing.Line(name: .link(Int(id.low)), guest: .init(), key: key)
        vary(&line)
        return (line, entry(of: line, id, person: .link(secret(of: key))))
    }

    private func secret(of key: Int) -> [UInt8] {
        [7, UInt8(truncatingIfNeeded: key >> 8), UInt8(truncatingIfNeeded: key)]
    }

    private mutating func newcomer() -> (NaiveSharing.Name, InvitedPerson) {
        let asking = (naive.party?.asking ?? []).sorted { $0.rawValue < $1.rawValue }
        if !asking.isEmpty, chance(30) {
            let user = random.pick(asking)
            return (.user(user), .user(user))
        }
        switch Int.random(in: 0..<6, using: &random) {
        case ..<4:
            let user = random.pick(Self.people)
            return (.user(user), .user(user))
        default:
            let address = random.pick(Self.addresses.sorted())
            return (.address(address), .address(address))
        }
    }

    private func entry(of line: NaiveSharing.Line, _ id: ParticipantID, person: InvitedPerson?) -> ParticipantSave {
        let role: ParticipantRole =
            line.isPublic ? .publicUser : line.guest.isAdministrator ? .administrator : .privateUser
        let permission: SharePermission = line.guest.mayWrite ? .readWrite : .readOnly
        return ParticipantSave(id: id, person: person, role: role, permission: line.isVoid ? .noAccess : permission)
    }

    // MARK: Visitors

    private mutating func makeVisitor(_ user: UserID) -> NaiveSharing.Visitor {
        let link = chance(35) && !keys.isEmpty ? random.pick(Array(keys.suffix(Self.keysTried))) : nil
        return NaiveSharing.Visitor(
            user: user, addresses: Set(owners.filter { $0.value == user }.keys), hasURL: link == nil && chance(70),
            link: link)
    }

    /// Of the newest links, which may live.
    private static let keysTried = 8

    private func real(_ visitor: NaiveSharing.Visitor) -> ShareVisitor {
        ShareVisitor(
            user: visitor.user, addresses: visitor.addresses, secret: visitor.hasURL ? zone.secret : nil,
            linkSecret: visitor.link.map { secret(of: $0) })
    }

    // MARK: What is compared

    private func differenceInAccess() -> String? {
        if (zone.share != nil) != (naive.party != nil) { return "the share lives in one alone" }
        for user in Self.people {
            let access = zone.access(user)
            for type in ["Note", Share.recordType] {
                for creator in [nil, alice, user] {
                    let expected = naive.permission(user, onShareRecord: type == Share.recordType)
                    let permission = access.permission(on: RecordPlace(type: type, creator: creator))
                    if permission != expected { return "\(user) has \(permission) on \(type), not \(expected)" }
                }
            }
            let view = zone.history(user).viewNumber
            if view != since[user] { return "\(user) has access since \(text(view)), not \(text(since[user]))" }
        }
        let readers = Self.people.filter { zone.access($0).isParticipant }
        let members = Self.people.filter { naive.isIn($0) }
        return readers == members ? nil : "\(readers) take part, not \(members)"
    }

    private func text(_ number: ChangeNumber?) -> String { number.map { "\($0)" } ?? "never" }

    /// Each of the people looks, with whatever they may bring.
    private mutating func differenceInViews() -> String? {
        for user in Self.people {
            if let difference = differenceInView(of: makeVisitor(user)) { return difference }
        }
        return nil
    }

    private func differenceInView(of visitor: NaiveSharing.Visitor) -> String? {
        let met = zone.entry(of: real(visitor))
        let standing = met.map { $0.entry.standing(in: $0.share) }
        let expected = naive.standing(of: visitor)
        if standing?.role != expected?.role || standing?.status != expected?.status
            || standing?.permission != expected?.permission
        {
            return "\(visitor) is \(String(describing: standing)), not \(String(describing: expected))"
        }
        // Who brings what leads nowhere is shown nothing.
        guard met != nil || visitor.link == nil else { return nil }
        var invitation: ParticipantID?
        if case .invited(let row)? = met?.entry { invitation = row.id }
        let share = zone.shownShare(to: visitor.user, invitedAs: invitation)
        var seen: [NaiveSharing.Seen: Int] = [:]
        for shown in share?.participants ?? [] {
            let one = NaiveSharing.Seen(
                user: shown.user, address: shown.address, role: shown.role, permission: shown.permission,
                status: shown.status, isViewer: shown.isViewer, link: shown.linkSecret.map(key),
                isApproved: shown.isApprovedRequester)
            seen[one, default: 0] += 1
        }
        let all = naive.everybodySeen(by: visitor)
        if seen != all { return "\(visitor) sees \(seen), not \(all)" }
        guard let share else { return nil }
        if share.secret.isEmpty == naive.isToldURL(visitor) { return "\(visitor) is told the URL, or is not" }
        let door = naive.doorSeen(by: visitor.user)
        let isSame =
            share.allowsRequests == door.takesRequests && Set(share.requesters.map(\.user)) == door.asking
            && Set(share.blocked.map(\.user)) == door.blocked
        return isSame ? nil : "\(visitor) sees \(share.requesters) and \(share.blocked), not \(door)"
    }

    /// As ``secret(of:)``.
    private func key(_ secret: [UInt8]) -> Int { secret.suffix(2).reduce(0) { $0 << 8 | Int($1) } }

    /// What is stored of those who ask and of those who may not.
    private func differenceAtDoor() -> String? {
        guard let sharing = zone.sharing, let share = zone.share, let party = naive.party else { return nil }
        let rows = sharing.requests[share.number] ?? [:]
        let asking = Set(rows.values.filter { !$0.isBlocked }.map(\.user))
        let blocked = Set(rows.values.filter(\.isBlocked).map(\.user))
        if asking != party.asking || blocked != Set(party.blocked.keys) {
            return "\(asking) ask and \(blocked) may not, instead of \(party.asking) and \(party.blocked.keys)"
        }
        for row in rows.values {
            if !row.isBlocked, row.requestedAt == nil { return "nobody knows when \(row.user) has asked" }
            // a name is told with the time.
            if row.isBlocked, let tells = naive.tellsName(ofBlocked: row.user), tells != (row.requestedAt != nil) {
                return "the name of \(row.user), who is blocked, is told, or is not"
            }
            // whoever takes part or is invited waits for nothing.
            if sharing.hasPlace(of: row.user) { return "\(row.user) is in, and at the door" }
        }
        return nil
    }

    /// What must hold for the rows of the zone, whoever takes part.
    private func brokenRow() -> String? {
        guard let sharing = zone.sharing else { return nil }
        let limits = zone.limits
        if sharing.shares.values.count(where: { !$0.isLiving }) > limits.endedSharesMax + 1 { return "too many shares" }
        for rows in sharing.participants.values {
            let users = rows.values.compactMap(\.user)
            if Set(users).count < users.count { return "two rows of a user" }
            let ended = rows.values.count { $0.status == .removed }
            if ended > limits.endedParticipantsMax + 2 * limits.participantsMax { return "too many ended rows" }
            for row in rows.values where !isWhole(row) { return "\(row)" }
        }
        return nil
    }

    private func isWhole(_ row: Participant) -> Bool {
        if (row.status == .removed) != (row.endedNumber != nil) { return false }
        let names = [row.user != nil, row.address != nil, row.linkSecret != nil]
        return switch row.status {
        case .pending: names.count(where: { $0 }) == 1 && row.acceptedNumber == nil
        case .accepted: row.user != nil && row.acceptedNumber != nil
        case .removed: true
        }
    }

    /// whoever shares the zone again has the same URL.
    private mutating func brokenSecret() -> String? {
        let now = zone.sharing?.secret
        defer { secret = secret ?? now }
        return secret == nil || secret == now ? nil : "another URL"
    }
}
