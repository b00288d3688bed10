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
    /// All refusals that there were.
    private(set) var refusals: Set<FailureReason> = []

    init(seed: UInt64, mistake: PlantedSharingMistake? = nil) {
        random = SeededRandom(seed: seed)
        zone.mistake = mistake
        zone.limits.participantsMax = 5
        zone.limits.endedParticipantsMax = 2
        zone.limits.endedSharesMax = 2
        naive.countMax = 5
    }

    /// Does something, and says how the rules and the model differ then; nil: they agree.
    mutating func step() -> String? {
        let before = naive
        if let difference = act() { return difference }
        for user in Self.people {
            if !naive.isIn(user) { since[user] = nil } else if !before.isIn(user) { since[user] = zone.number }
        }
        return differenceInAccess() ?? differenceInView() ?? brokenRow() ?? brokenSecret()
    }

    // MARK: What people do

    private mutating func act() -> String? {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<45: return save()
        case ..<75: return accept()
        case ..<80:
            let visitor = makeVisitor()
            naive.decline(visitor)
            zone.decline(real(visitor))
        case ..<85:
            let user = random.pick(Self.people)
            naive.leave(user)
            zone.leave(user)
        case ..<90:
            naive.end()
            zone.endShare()
        case ..<92: return endZone()
        default: owners[random.pick(Self.addresses.sorted())] = random.pick(Self.people)
        }
        return nil
    }

    private mutating func save() -> String? {
        let (told, asked) = makeSave()
        let expected = naive.save(told)
        let answer = zone.save(
            asked, by: told.user, in: told.isInShared ? .shared : .private, policy: told.policy)
        if let answer { refusals.insert(answer) }
        return answer == expected ? nil : "\(told): \(text(answer)) instead of \(text(expected))"
    }

    private mutating func accept() -> String? {
        let visitor = makeVisitor()
        let expected = naive.accept(visitor)
        let answer = zone.accept(real(visitor))
        if let answer { refusals.insert(answer) }
        return answer == expected ? nil : "\(visitor): \(text(answer)) instead of \(text(expected))"
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
        let user = chance(60) ? alice : random.pick(Self.people)
        let copies: [NaiveSharing.Copy] =
            zone.share == nil ? [.none, .none, .none, .old] : [.current, .current, .current, .current, .none, .old]
        let permissions: [SharePermission] = [.noAccess, .noAccess, .readOnly, .readWrite]
        let lines = chance(25) ? nil : makeLines(by: user)
        let told = NaiveSharing.Save(
            user: user, isInShared: user != alice || chance(5), isMisnamed: chance(2), copy: random.pick(copies),
            policy: random.pick(SavePolicy.allCases), everybody: chance(60) ? nil : random.pick(permissions),
            lines: lines.map { lines in lines.map { $0.line } })
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
                publicPermission: told.everybody, participants: lines.map { lines in lines.map { $0.entry } })
        )
    }

    /// Those whom the user sees, but for some, with changes, and some more.
    private mutating func makeLines(by user: UserID) -> [(line: NaiveSharing.Line, entry: ParticipantSave)] {
        var lines: [(line: NaiveSharing.Line, entry: ParticipantSave)] = []
        for shown in zone.shown(to: user).dropFirst() where !chance(20) {
            let name: NaiveSharing.Name =
                shown.user.map(NaiveSharing.Name.user) ?? .address(shown.address ?? "")
            let guest = NaiveSharing.Guest(
                isAdministrator: shown.role == .administrator, mayWrite: shown.permission == .readWrite)
            var line = NaiveSharing.Line(name: name, guest: guest, isPublic: shown.role == .publicUser)
            if chance(20) { vary(&line) }
            lines.append((line, entry(of: line, shown.id, person: nil)))
        }
        for _ in 0..<Int.random(in: 0...2, using: &random) {
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
        line.guest.isAdministrator = !line.isPublic && chance(20)
        line.isVoid = chance(2)
    }

    private mutating func newcomer() -> (NaiveSharing.Name, InvitedPerson) {
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

    private mutating func makeVisitor() -> NaiveSharing.Visitor {
        let user = random.pick(Self.people)
        return NaiveSharing.Visitor(
            user: user, addresses: Set(owners.filter { $0.value == user }.keys), hasURL: chance(70))
    }

    private func real(_ visitor: NaiveSharing.Visitor) -> ShareVisitor {
        ShareVisitor(user: visitor.user, addresses: visitor.addresses, secret: visitor.hasURL ? zone.secret : nil)
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

    private mutating func differenceInView() -> String? {
        let visitor = makeVisitor()
        let met = zone.sharing?.entry(of: real(visitor))
        let standing = met.map { $0.entry.standing(in: $0.share) }
        let expected = naive.standing(of: visitor)
        if standing?.role != expected?.role || standing?.status != expected?.status
            || standing?.permission != expected?.permission
        {
            return "\(visitor) is \(String(describing: standing)), not \(String(describing: expected))"
        }
        var invitation: ParticipantID?
        if case .invited(let row)? = met?.entry { invitation = row.id }
        var seen: [NaiveSharing.Seen: Int] = [:]
        for shown in zone.shown(to: visitor.user, invitedAs: invitation) {
            let one = NaiveSharing.Seen(
                user: shown.user, address: shown.address, role: shown.role, permission: shown.permission,
                status: shown.status, isViewer: shown.isViewer)
            seen[one, default: 0] += 1
        }
        let all = naive.everybodySeen(by: visitor)
        return seen == all ? nil : "\(visitor) sees \(seen), not \(all)"
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
        let names = [row.user != nil, row.address != nil]
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
