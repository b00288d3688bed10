// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

/// A random history of a shared zone with its records. The naive model says who is in and what they may do; what people
/// are answered must fit to that, whatever they ask.
struct SharedZoneHistory {
    private static let people = [alice, bob, carol, dave]
    private static let names = ["a", "b", "c"]

    private var random: SeededRandom
    private(set) var zone = TestZone()
    private var naive = NaiveSharing()
    /// What was answered to those who were in, for repeats. It is remembered.
    private var answered: [(request: RecordsRequest, result: Result<RecordsOutcome, FailureReason>)] = []
    /// How often each kind of answer was given.
    private(set) var tally: [String: Int] = [:]

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        zone.limits.participantsMax = 4
        naive.countMax = 4
    }

    /// Does something, and says what is wrong then; nil: nothing is.
    mutating func step() -> String? {
        let difference: String? =
            switch Int.random(in: 0..<100, using: &random) {
            case ..<25: saveShare()
            case ..<45: comeOrGo()
            case ..<65: change()
            case ..<75: repeatRequest()
            default: read()
            }
        return difference ?? brokenZone()
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func note(_ what: String) { tally[what, default: 0] += 1 }

    private func mayRead(_ user: UserID) -> Bool { user == alice || naive.isIn(user) }

    private mutating func run(_ request: RecordsRequest) -> Result<RecordsOutcome, FailureReason> {
        let isIn = request.user == alice || zone.permission(request.user) != []
        let result = zone.run(request, now: Timestamp(milliseconds: Int64.random(in: 0..<5_000, using: &random)))
        if isIn { answered.append((request, result)) }
        return result
    }

    // MARK: What people do

    private mutating func saveShare() -> String? {
        let user = chance(70) ? alice : random.pick(Self.people)
        let copies: [NaiveSharing.Copy] =
            naive.party == nil ? [.none, .none, .old] : [.current, .current, .current, .none, .old]
        let copy = random.pick(copies)
        let permissions: [SharePermission] = [.noAccess, .noAccess, .readOnly, .readWrite]
        let everybody = chance(60) ? nil : random.pick(permissions)
        let invited = chance(30) ? nil : Self.people.dropFirst().filter { _ in chance(60) }
        var lines: [NaiveSharing.Line] = []
        var entries: [ParticipantSave] = []
        for person in invited ?? [] {
            let isPublic = naive.party?.members[person].map { $0.invitedAs == nil } ?? false
            let isAdministrator = !isPublic && chance(20)
            let permission: SharePermission = chance(50) ? .readWrite : .readOnly
            lines.append(
                NaiveSharing.Line(
                    name: .user(person),
                    guest: .init(isAdministrator: isAdministrator, mayWrite: permission == .readWrite),
                    isPublic: isPublic))
            let role: ParticipantRole = isPublic ? .publicUser : isAdministrator ? .administrator : .privateUser
            entries.append(
                ParticipantSave(id: id(of: person), person: .user(person), role: role, permission: permission))
        }
        let policy = random.pick(SavePolicy.allCases)
        let tag: ChangeTag? =
            switch copy {
            case .none: nil
            case .current: zone.livingShareTag
            case .old: .foreign
            }
        let told = NaiveSharing.Save(
            user: user, isInShared: user != alice, isMisnamed: false, copy: copy, policy: policy, everybody: everybody,
            lines: invited == nil ? nil : lines)
        let expected = naive.save(told)
        let saved = shareSave(tag: tag, public: everybody, invited == nil ? nil : entries)
        let request = zone.asked(by: user, [saved], policy: policy, atomic: chance(50))
        let failure = run(request).saves.first?.failure
        note("share: \(failure.map { "\($0.reason)" } ?? "saved")")
        if failure?.serverRecord != nil, !mayRead(user) { return "\(user) was shown a record" }
        return failure?.reason == expected
            ? nil : "\(told): \(String(describing: failure)), not \(String(describing: expected))"
    }

    /// The ID of the row that the user has, or a new one.
    private func id(of user: UserID) -> ParticipantID {
        let number = zone.sharing.livingShare(named: Share.zoneWideName)?.number
        let rows = number.flatMap { zone.sharing.participants[$0] }
        return rows?.values.first { $0.user == user }?.id ?? guest(user).id
    }

    private mutating func comeOrGo() -> String? {
        let user = random.pick(Self.people)
        let visitor = NaiveSharing.Visitor(user: user, addresses: [], hasURL: chance(70))
        switch Int.random(in: 0..<10, using: &random) {
        case ..<6:
            let expected = naive.accept(visitor)
            let answer = zone.accept(user, hasURL: visitor.hasURL)
            note("accept: \(answer.map { "\($0)" } ?? "accepted")")
            return answer == expected ? nil : "\(visitor): \(String(describing: answer))"
        case ..<7:
            // Who is only invited does not see the zone, and cannot leave it.
            if naive.isIn(user) { naive.decline(visitor) }
            zone.act(.leave(user))
            return nil
        default:
            if user == alice { naive.end() } else { naive.decline(visitor) }
            let reasons = run(zone.asked(by: user, deleting: [Share.zoneWideName], atomic: chance(50))).reasons
            return reasons == [nil] ? nil : "\(user) could not go: \(String(describing: reasons))"
        }
    }

    private mutating func change() -> String? {
        let user = random.pick(Self.people)
        let name = random.pick(Self.names)
        let isDelete = chance(30)
        let isThere = zone.living(name) != nil
        let content = fields(["k": Int64.random(in: 0..<100, using: &random)])
        let request = zone.asked(
            by: user, isDelete ? [] : [save(name, tag: zone.living(name) == nil ? nil : zone.tag(name), content)],
            deleting: isDelete ? [name] : [], policy: random.pick(SavePolicy.allCases), atomic: chance(50))
        let before = zone.living(name)
        let result = run(request)
        let reason = result.reasons?.first ?? nil
        let permission = user == alice ? .all : naive.permission(user, onShareRecord: false)
        let expected: FailureReason? =
            if permission.isEmpty {
                .zoneNotFound
            } else if permission == .all || isDelete && !isThere {
                nil
            } else {
                isThere ? .notPermitted : .createNotPermitted
            }
        note("change: \(reason.map { "\($0)" } ?? "made")")
        if reason != nil, zone.living(name) != before { return "\(user) has changed \(name)" }
        if reason == nil, !isDelete, zone.living(name)?.modifiedBy != user, zone.living(name) != before {
            return "\(name) names another than \(user)"
        }
        return reason == expected
            ? nil : "\(user), \(name): \(String(describing: reason)), not \(String(describing: expected))"
    }

    /// R-157, and I-5 before it.
    private mutating func repeatRequest() -> String? {
        guard !answered.isEmpty else { return nil }
        let (request, first) = random.pick(answered)
        let before = zone.records
        let again = zone.run(request)
        guard zone.records == before else { return "a repeat has changed something" }
        guard mayRead(request.user) else {
            note("repeat: refused")
            let reasons = again.reasons ?? []
            let isRight = zip(reasons, request.saves.map(\.name) + request.deletes).allSatisfy { reason, name in
                reason == .zoneNotFound || reason == nil && name == Share.zoneWideName && request.saves.isEmpty
            }
            return isRight && reasons.count == 1 ? nil : "\(request.user) was told \(again)"
        }
        note("repeat: answered")
        return isSame(again, first) ? nil : "\(again), not \(first)"
    }

    /// Whether a repeat got the first answer, but for records that have changed since.
    private func isSame(
        _ again: Result<RecordsOutcome, FailureReason>, _ first: Result<RecordsOutcome, FailureReason>
    ) -> Bool {
        guard let old = first.saves.first?.reason, old.isConflict else { return again.reasons == first.reasons }
        return again.saves.first?.reason == old || again.saves.first?.reason == .recordMissing
    }

    // MARK: What people read

    private mutating func read() -> String? {
        let user = random.pick(Self.people)
        let living = zone.records.values.filter { !$0.isDeleted }
        let page = zone.page(by: user)
        let found = zone.found(Self.names[0], Share.zoneWideName, by: user)
        let matches = zone.queried(by: user)
        guard mayRead(user) else {
            note("read: nothing")
            let isNothing =
                page == .failure(.zoneNotFound) && found.allSatisfy { $0 == .failure(.zoneNotFound) }
                && matches == .failure(QueryRefusal(.zoneNotFound)) && zone.keys(for: user) == .failure(.zoneNotFound)
            return isNothing ? nil : "\(user) was given something"
        }
        note("read: all")
        let names = (try? page.get().entries.filter { !$0.isDeleted }.map(\.name)) ?? []
        guard Set(names) == Set(living.map(\.name)) else { return "\(user) got \(names)" }
        let items = Set(living.filter { $0.type == "Item" }.map(\.name))
        let matched = (try? matches.get().matches.map(\.record.name)) ?? ["nothing"]
        guard Set(matched) == items else { return "\(user) found \(matched)" }
        return found.map { (try? $0.get())?.name } == [Self.names[0], Share.zoneWideName].map { zone.living($0)?.name }
            ? nil : "\(user) looked up something else"
    }

    // MARK: What must always hold

    private func brokenZone() -> String? {
        let share = zone.sharing.livingShare(named: Share.zoneWideName)
        let record = zone.living(Share.zoneWideName)
        if (share == nil) != (record == nil) { return "the share and its record do not end together" }
        let end = zone.zone?.changeNumber ?? 0
        for rows in zone.sharing.participants.values {
            for row in rows.values {
                if max(row.acceptedNumber ?? 0, row.endedNumber ?? 0) > end { return "a number of the future" }
                // R-224: the newest change of the living share is that of its record.
                if let record, row.isLiving, row.acceptedNumber ?? 0 > record.changeNumber { return "an old record" }
            }
        }
        for user in Self.people
        where user != alice && zone.permission(user) != naive.permission(user, onShareRecord: false) {
            return "\(user) has \(zone.permission(user))"
        }
        return nil
    }
}
