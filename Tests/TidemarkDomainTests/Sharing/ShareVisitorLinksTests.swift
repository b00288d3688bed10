// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// A participant who is whoever comes first with their one-time link.
@Suite struct ShareVisitorLinksTests {
    private static let secret = [UInt8](repeating: 0x17, count: 16)
    private static let other = [UInt8](repeating: 0x18, count: 16)

    private func visitor(
        _ user: UserID, _ secret: [UInt8] = ShareVisitorLinksTests.secret, addresses: Set<String> = []
    ) -> ShareVisitor {
        ShareVisitor(user: user, addresses: addresses, linkSecret: secret)
    }

    private func linked(
        _ zone: inout SharedTestZone, _ secret: [UInt8] = ShareVisitorLinksTests.secret,
        _ permission: SharePermission = .readWrite
    ) -> ParticipantSave {
        ParticipantSave(id: zone.newID(), person: .link(secret), permission: permission)
    }

    @Test func `R-970: the first who comes with the link takes part, and it is theirs from then on`() {
        var zone = SharedTestZone()
        let entry = linked(&zone)
        zone.invite(entry)
        #expect(zone.livingRows.map(\.isUntakenLink) == [true] && zone.permission(bob) == [])
        #expect(zone.accept(visitor(bob)) == nil && zone.permission(bob) == .all)
        #expect(zone.row(bob)?.id == entry.id && zone.row(bob)?.linkSecret == Self.secret)
        let before = zone.sharing
        // Whoever took it uses it as the zone's URL. For everybody else there is no such share.
        #expect(zone.accept(visitor(bob)) == nil)
        for user in [carol, dave] {
            #expect(zone.sharing?.entry(of: visitor(user)) == nil && zone.accept(visitor(user)) == .shareUnknown)
            #expect(visitor(user).declining(in: zone.sharing, at: 99) == nil)
        }
        #expect(zone.accept(visitor(alice)) == .shareIsOwn)
        #expect(zone.sharing == before)
    }

    @Test func `R-970: a link that is not a living participant's opens nothing, whoever comes`() {
        var zone = SharedTestZone()
        zone.invite(linked(&zone))
        for secret in [Self.other, [], Array(Self.secret.dropLast()), Self.secret + [0]] {
            #expect(zone.sharing?.entry(of: visitor(bob, secret)) == nil, "\(secret)")
            #expect(zone.accept(visitor(bob, secret)) == .shareUnknown)
        }
        // Removed before somebody has taken it, and after.
        var removed = zone
        removed.change(participants: [])
        #expect(removed.accept(visitor(bob)) == .shareUnknown)
        zone.accept(visitor(bob))
        zone.change(participants: [])
        #expect(zone.accept(visitor(bob)) == .shareUnknown && zone.accept(visitor(carol)) == .shareUnknown)
        // The share ends, and lives again with the same URL.
        var ended = SharedTestZone()
        ended.invite(linked(&ended))
        ended.endShare()
        #expect(ended.accept(visitor(bob)) == .shareUnknown)
        ended.change(participants: [])
        #expect(ended.accept(visitor(bob)) == .shareUnknown && ended.permission(bob) == [])
    }

    @Test func `R-970: who takes part or is invited by name does not use up the link`() {
        var zone = SharedTestZone()
        zone.invite(
            ParticipantSave(id: zone.newID(), person: .user(bob)),
            ParticipantSave(id: zone.newID(), person: .user(carol)),
            linked(&zone))
        zone.accept(bob)
        #expect(zone.accept(visitor(bob)) == nil && zone.permission(bob) == .read)
        #expect(zone.accept(visitor(carol)) == nil && zone.permission(carol) == .read, "her own invitation counts")
        #expect(zone.livingRows.filter(\.isUntakenLink).count == 1)
        #expect(zone.accept(visitor(dave)) == nil && zone.permission(dave) == .all)
    }

    @Test func `R-970: somebody who was removed comes again with a new link, and has one row`() {
        var zone = SharedTestZone()
        zone.invite(ParticipantSave(id: zone.newID(), person: .user(bob)))
        zone.accept(bob)
        zone.change(participants: [linked(&zone)])
        #expect(zone.permission(bob) == [])
        #expect(zone.accept(visitor(bob)) == nil && zone.permission(bob) == .all)
        let rows = zone.share.flatMap { zone.sharing?.participants[$0.number] } ?? [:]
        #expect(rows.values.count { $0.user == bob } == 1)
    }

    @Test func `R-970: whoever has the link may decline it, and then nobody can take it`() {
        var zone = SharedTestZone()
        zone.invite(linked(&zone), linked(&zone, Self.other))
        zone.decline(visitor(bob))
        #expect(zone.livingRows.map(\.linkSecret) == [Self.other])
        #expect(zone.accept(visitor(carol)) == .shareUnknown)
        #expect(zone.accept(visitor(carol, Self.other)) == nil)
    }

    @Test func `R-970: each link is a participant of its own, and counts`() {
        var zone = SharedTestZone()
        zone.limits.participantsMax = 3
        zone.invite(linked(&zone), linked(&zone, Self.other))
        #expect(zone.livingRows.count == 2)
        #expect(zone.invite(linked(&zone, [9])) == .tooManyParticipants)
        // invitations end as the share becomes public, and a used link gives nobody else what the URL would.
        zone.accept(visitor(bob))
        zone.change(public: .readOnly)
        #expect(zone.livingRows.map(\.user) == [bob])
        #expect(
            zone.accept(visitor(carol)) == .shareUnknown && zone.accept(visitor(carol, Self.other)) == .shareUnknown)
        #expect(zone.accept(carol, hasURL: true) == nil)
    }

    @Test func `R-970: a link that ended untaken is made anew with another secret`() {
        var zone = SharedTestZone()
        let entry = linked(&zone)
        zone.invite(entry)
        zone.change(participants: [])
        let again = ParticipantSave(id: entry.id, person: .link(Self.other))
        #expect(zone.change(participants: [again]) == nil)
        #expect(zone.livingRows.map(\.id) == [entry.id])
        #expect(zone.accept(visitor(bob)) == .shareUnknown && zone.accept(visitor(bob, Self.other)) == nil)
        // A participant is theirs who took it: inviting them anew is an invitation by name.
        zone.change(participants: [])
        #expect(zone.change(participants: [again]) == nil && zone.row(bob)?.linkSecret == nil)
        #expect(zone.accept(visitor(carol, Self.other)) == .shareUnknown && zone.accept(bob) == nil)
    }

    @Test func `R-313, R-970: only the owner and administrators see links, and make them`() {
        var zone = SharedTestZone()
        let people = [(bob, ParticipantRole.administrator), (carol, .privateUser)].map { user, role in
            ParticipantSave(id: zone.newID(), person: .user(user), role: role)
        }
        zone.change(participants: people)
        for user in [bob, carol] { zone.accept(user) }
        #expect(zone.invite(linked(&zone), by: carol) == .notShareAdministrator)
        #expect(zone.invite(linked(&zone), by: bob) == nil)
        func links(_ viewer: UserID) -> [[UInt8]] { zone.shown(to: viewer).compactMap(\.linkSecret) }
        #expect(links(alice) == [Self.secret] && links(bob) == [Self.secret] && links(carol) == [])
        zone.accept(visitor(dave))
        #expect(links(alice) == [Self.secret] && links(dave) == [], "also once somebody has taken it")
    }

    @Test func `R-970: who has only looked at a one-time link is not told the URL of the zone`() throws {
        var zone = SharedTestZone()
        let entry = linked(&zone)
        zone.invite(entry, ParticipantSave(id: zone.newID(), person: .user(carol)))
        let share = zone.sharing?.share(named: Share.zoneWideName, shownTo: bob, invitedAs: entry.id)
        #expect(share?.secret == [] && share?.participants.map(\.role) == [.owner, .privateUser])
        #expect(share?.participants.map(\.isViewer) == [false, true])
        #expect(zone.sharing?.share(named: Share.zoneWideName, shownTo: carol)?.secret == zone.secret)
        zone.accept(visitor(bob))
        #expect(zone.sharing?.share(named: Share.zoneWideName, shownTo: bob)?.secret == zone.secret)
    }

    @Test func `R-970: a save gets a new secret for each link, and is not saved without`() {
        let id = ParticipantID(high: 1, low: 1)
        func request(_ person: InvitedPerson) -> RecordsRequest {
            let share = ShareSave(tag: nil, participants: [ParticipantSave(id: id, person: person)])
            let save = RecordSave(
                name: share.recordName, type: Share.recordType, tag: nil, fields: FieldMap(), parent: .unchanged,
                share: share)
            return RecordsRequest(
                id: RequestID(device: phone, life: phone, counter: 1, lowestUnanswered: 1),
                key: ZoneKey(database: database, name: "Notes"), saves: [save], deletes: [],
                policy: .ifServerRecordUnchanged, isAtomic: true, user: alice, access: .owner(alice))
        }
        var count: UInt8 = 0
        func next() -> [UInt8] {
            count += 1
            return [count]
        }
        let given = request(.link([])).givingLinks(next)
        #expect(given.saves[0].share?.participants?.map(\.person) == [.link([1])])
        #expect(request(.user(bob)).givingLinks(next).saves[0].share?.participants?.map(\.person) == [.user(bob)])
        #expect(count == 1)
        var zone = TestZone()
        func saved(_ secret: [UInt8]) -> [FailureReason?]? {
            zone.share(with: [ParticipantSave(id: id, person: .link(secret))])
        }
        #expect(saved([]) == [.serverFault] && zone.livingShareTag == nil)
        #expect(saved([1]) == [nil])
    }
}
