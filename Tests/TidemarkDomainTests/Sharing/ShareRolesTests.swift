// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// Who may do what with a shared zone: each role with each action.
@Suite struct ShareRolesTests {
    private static let frank = UserID(6)
    private static let gina = UserID(7)
    private static let henry = UserID(8)
    private static let ida = UserID(9)

    /// Alice's zone: bob administers, carol writes, dave reads, erin is invited, frank was removed, gina asks for access, henry
    /// is blocked, and ida has nothing to do with it.
    private func sharedZone() -> TestZone {
        var zone = TestZone()
        zone.save(save("note"))
        let people = [guest(bob, .readWrite, .administrator), guest(carol), guest(dave, .readOnly)]
        zone.share(with: people + [guest(erin), guest(Self.frank), guest(Self.henry)])
        for user in [bob, carol, dave, Self.frank, Self.henry] { #expect(zone.accept(user) == nil) }
        zone.share(with: people + [guest(erin), guest(Self.henry)])
        let answers = AccessAnswers(blocked: [Self.henry])
        #expect(zone.change(ShareSave(tag: zone.livingShareTag, allowsRequests: true, answers: answers)) == "ok")
        let asking = ShareVisitor(user: Self.gina, secret: zone.sharing.secret ?? [])
        zone.act(.requestAccess(asking))
        return zone
    }

    /// A public share, which carol has joined.
    private func publicZone() -> TestZone {
        var zone = TestZone()
        zone.save(save("note"))
        zone.share(public: .readWrite)
        #expect(zone.accept(carol, hasURL: true) == nil)
        return zone
    }

    private typealias Action = (name: String, perform: (inout TestZone, UserID) -> String)

    /// Each begins with the zone as it was. What it says is "ok", or why not.
    private static var actions: [Action] {
        [
            (
                "read",
                { zone, user in zone.found("note", by: user).first.map { text($0.map { _ in () }) } ?? "nothing" }
            ),
            ("write", { zone, user in zone.items(user, [save("note", tag: zone.tag("note"), fields(["k": 9]))]) }),
            (
                "title",
                { zone, user in
                    zone.items(
                        user, [shareSave(tag: zone.livingShareTag, fields: fields(["k": 9]))], policy: .changedKeys)
                }
            ),
            ("invite", { zone, user in zone.change(of: user) { $0 + [guest(ida)] } }),
            (
                "link",
                { zone, user in
                    zone.change(of: user) {
                        $0 + [ParticipantSave(id: ParticipantID(high: 5, low: 5), person: .link([5]))]
                    }
                }
            ),
            ("remove", { zone, user in zone.change(of: user) { $0.filter { $0.id != guest(dave).id } } }),
            (
                "permit",
                { zone, user in
                    zone.change(of: user) { $0.map { $0.id == guest(dave).id ? guest(dave, .readWrite) : $0 } }
                }
            ),
            (
                "appoint",
                { zone, user in
                    zone.change(of: user) {
                        $0.map { $0.id == guest(dave).id ? guest(dave, .readOnly, .administrator) : $0 }
                    }
                }
            ),
            (
                "demote",
                { zone, user in
                    zone.change(of: user) { $0.map { $0.id == guest(bob).id ? guest(bob) : $0 } }
                }
            ),
            (
                "publish",
                { zone, user in
                    zone.change(ShareSave(tag: zone.livingShareTag, publicPermission: .readOnly), by: user)
                }
            ),
            (
                "close",
                { zone, user in zone.change(ShareSave(tag: zone.livingShareTag, allowsRequests: false), by: user) }
            ),
            (
                "deny",
                { zone, user in
                    zone.change(ShareSave(tag: zone.livingShareTag, answers: AccessAnswers(denied: [gina])), by: user)
                }
            ),
            (
                "block",
                { zone, user in
                    zone.change(ShareSave(tag: zone.livingShareTag, answers: AccessAnswers(blocked: [gina])), by: user)
                }
            ),
            (
                "unblock",
                { zone, user in
                    zone.change(
                        ShareSave(tag: zone.livingShareTag, answers: AccessAnswers(unblocked: [henry])), by: user)
                }
            ),
        ]
    }

    fileprivate static func text(_ result: Result<Void, FailureReason>) -> String {
        if case .failure(let reason) = result { "\(reason)" } else { "ok" }
    }

    private func check(_ zone: TestZone, _ user: UserID, allowed: Set<String>, otherwise: (String) -> String) {
        for action in Self.actions {
            var changed = zone
            let seen = action.perform(&changed, user)
            let expected = allowed.contains(action.name) ? "ok" : otherwise(action.name)
            #expect(seen == expected, "\(user) \(action.name)")
            if seen != "ok" {
                #expect(changed.sharing == zone.sharing && changed.records == zone.records, "\(action.name)")
            }
        }
    }

    @Test
    func
        `R-313, R-975: the owner and administrators do everything, others what their permission says, and strangers nothing`()
    {
        let all = Set(Self.actions.map(\.name))
        let zone = sharedZone()
        for user in [alice, bob] { check(zone, user, allowed: all) { $0 } }
        let withoutShare: (String) -> String = { name in name == "write" ? "notPermitted" : "notShareAdministrator" }
        check(zone, carol, allowed: ["read", "write"], otherwise: withoutShare)
        check(zone, dave, allowed: ["read"], otherwise: withoutShare)
        check(publicZone(), carol, allowed: ["read", "write"], otherwise: withoutShare)
        for user in [erin, Self.frank, Self.gina, Self.henry, Self.ida] {
            check(zone, user, allowed: []) { _ in "zoneNotFound" }
        }
    }

    @Test func `R-330, R-975: whoever deletes the CKShare record in the shared database leaves, administrators too`() {
        let zone = sharedZone()
        for user in [bob, carol, dave] {
            var left = zone
            #expect(left.run(left.asked(by: user, deleting: [Share.zoneWideName])).reasons == [nil])
            #expect(left.permission(user) == [] && left.sharing.livingShare != nil)
            for other in [bob, carol, dave] where other != user {
                #expect(left.permission(other) == zone.permission(other))
            }
        }
        var ended = zone
        #expect(ended.run(ended.asked(by: alice, deleting: [Share.zoneWideName])).reasons == [nil])
        #expect(ended.sharing.livingShare == nil && ended.permission(bob) == [])
    }

    @Test func `R-975: an administrator may remove the others and themselves, and never the owner`() {
        var zone = sharedZone()
        #expect(zone.change(of: bob) { _ in [guest(carol, .readWrite, .administrator)] } == "ok")
        #expect(zone.permission(bob) == [] && zone.permission(carol) == .all && zone.permission(dave) == [])
        // Who is no administrator any more is none at once.
        #expect(zone.change(of: bob) { $0 } == "zoneNotFound")
        let owner = ParticipantSave(id: .owner, person: .user(alice), role: .privateUser, permission: .readOnly)
        #expect(zone.change(of: carol) { $0 + [owner] } == "ok")
        #expect(zone.permission(alice) == .all)
        #expect(zone.change(of: alice) { _ in [] } == "ok" && zone.permission(carol) == [])
    }

    @Test func `R-312, R-975: only the owner and administrators see addresses, links and requests`() {
        var zone = sharedZone()
        let more = [
            ParticipantSave(id: ParticipantID(high: 5, low: 5), person: .link([5])),
            ParticipantSave(id: ParticipantID(high: 5, low: 6), person: .address("x@x")),
        ]
        #expect(zone.change(of: bob) { $0 + more } == "ok")
        func seen(_ user: UserID) -> [Int] {
            guard let share = zone.sharing.share(named: Share.zoneWideName, shownTo: user) else { return [] }
            return [
                share.participants.count, share.participants.compactMap(\.address).count,
                share.participants.compactMap(\.linkSecret).count, share.requesters.count, share.blocked.count,
            ]
        }
        for user in [alice, bob] { #expect(seen(user) == [7, 1, 1, 1, 1]) }
        for user in [carol, dave] { #expect(seen(user) == [4, 0, 0, 0, 0]) }
        #expect(seen(erin) == [2, 0, 0, 0, 0])
        for user in [Self.frank, Self.gina, Self.henry, Self.ida] { #expect(seen(user) == []) }
    }
}

extension TestZone {
    /// "ok", or why the first item failed.
    fileprivate mutating func items(
        _ user: UserID, _ saves: [RecordSave], policy: SavePolicy = .ifServerRecordUnchanged
    ) -> String {
        switch run(asked(by: user, saves, policy: policy)) {
        case .failure(let reason): "\(reason)"
        case .success(let outcome): outcome.saves.first.flatMap(\.reason).map { "\($0)" } ?? "ok"
        }
    }

    fileprivate mutating func change(_ share: ShareSave, by user: UserID = alice) -> String {
        let save = RecordSave(
            name: Share.zoneWideName, type: Share.recordType, tag: share.tag, fields: FieldMap(), parent: .unchanged,
            share: share)
        return items(user, [save])
    }

    /// Saves the list of those who take part or are invited, changed.
    fileprivate mutating func change(
        of user: UserID, _ edit: ([ParticipantSave]) -> [ParticipantSave]
    ) -> String {
        let rows = sharing.livingShare.flatMap { sharing.participants[$0.number] } ?? [:]
        let living = rows.values.filter(\.isLiving).sorted { $0.id < $1.id }.map(\.saved)
        return change(ShareSave(tag: livingShareTag, participants: edit(living)), by: user)
    }
}
