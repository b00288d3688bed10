// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// Who asks for access to a share, and what becomes of the request.
@Suite struct AccessRequestTests {
    /// A private share of a note that takes requests, with a URL, in which bob administers and carol reads.
    private func sharedZone(allowing isAllowed: Bool = true) -> TestZone {
        var zone = TestZone()
        zone.save(save("note"))
        zone.share(with: [guest(bob, .readWrite, .administrator), guest(carol, .readOnly)])
        for user in [bob, carol] { #expect(zone.accept(user) == nil) }
        if isAllowed { #expect(zone.answer(allowing: true) == [nil]) }
        return zone
    }

    @Test func `R-972: whoever has the URL asks, once, and the request is a version of the CKShare record`() throws {
        var zone = sharedZone()
        let before = try #require(zone.living(Share.zoneWideName))
        #expect(zone.ask(dave, now: 7) == nil)
        let after = try #require(zone.living(Share.zoneWideName))
        #expect(after.changeNumber == before.changeNumber + 1 && after.fields == before.fields)
        #expect(zone.requests == [AccessRequest(user: dave, requestedAt: 7)] && zone.permission(dave) == [])
        #expect(zone.ask(dave, now: 9) == nil, "the same again")
        #expect(zone.living(Share.zoneWideName)?.changeNumber == after.changeNumber)
        #expect(zone.requests == [AccessRequest(user: dave, requestedAt: 7)])
        #expect(zone.ask(erin, now: 9) == nil && zone.requests.map(\.user) == [dave, erin])
        // Who only asks is shown nothing, and cannot accept.
        #expect(zone.accept(dave) == .shareUnknown && zone.accept(dave, hasURL: true) == .shareUnknown)
    }

    @Test func `R-316, R-972: what takes no request succeeds as what does, and changes nothing`() throws {
        func check(_ name: String, _ zone: TestZone, _ visitor: ShareVisitor) {
            var zone = zone
            let number = zone.zone?.changeNumber
            switch zone.act(.requestAccess(visitor)) {
            case .success(let plan): #expect(plan.changes == nil, "\(name)")
            case .failure(let reason): Issue.record("\(name): \(reason)")
            }
            #expect(zone.zone?.changeNumber == number, "\(name)")
        }
        let zone = sharedZone()
        let secret = try #require(zone.sharing.secret)
        let asking = ShareVisitor(user: dave, secret: secret)
        check("it takes no requests", sharedZone(allowing: false), ShareVisitor(user: dave, secret: secret))
        check("another URL", zone, ShareVisitor(user: dave, secret: secret + [1]))
        check("without a URL", zone, ShareVisitor(user: dave))
        check("by a one-time link that is none", zone, ShareVisitor(user: dave, linkSecret: [1]))
        var ended = zone
        ended.act(.end)
        check("the share has ended", ended, asking)
        check("never shared", TestZone(), asking)
        var blocked = zone
        #expect(blocked.answer(blocking: [dave]) == [nil])
        check("blocked", blocked, asking)
        var full = zone
        full.limits.accessRequestsMax = 1
        #expect(full.ask(erin, now: 1) == nil)
        check("as many wait as may", full, asking)
        var crowded = zone
        crowded.limits.sharingRowsMax = 0
        check("the account has no room", crowded, asking)
        var gone = zone
        gone.delete(for: .deleted)
        check("the zone is gone", gone, asking)
    }

    @Test func `R-972: who knows the share is told so`() {
        var zone = sharedZone()
        zone.share(with: [guest(bob, .readWrite, .administrator), guest(carol, .readOnly), guest(dave)])
        #expect(zone.ask(alice, now: 1) == .shareIsOwn)
        for user in [bob, carol, dave] { #expect(zone.ask(user, now: 1) == .alreadyInvited) }
        zone.share(public: .readOnly)
        #expect(zone.ask(erin, now: 1) == .alreadyInvited, "everybody with the URL may join")
    }

    @Test func `R-973: an invitation by name answers the request, and the participant is an approved requester`() throws
    {
        var zone = sharedZone()
        zone.ask(dave, now: 1)
        zone.ask(erin, now: 2)
        let people = [guest(bob, .readWrite, .administrator), guest(carol, .readOnly), guest(dave)]
        #expect(zone.share(with: people) == [nil])
        #expect(zone.requests.map(\.user) == [erin])
        let row = try #require(zone.row(dave))
        #expect(row.isPending && row.isApprovedRequester && zone.row(carol)?.isApprovedRequester == false)
        #expect(
            zone.accept(dave) == nil && zone.permission(dave) == .all && zone.row(dave)?.isApprovedRequester == true)
        // Removed, and invited without having asked again.
        zone.share(with: [guest(bob, .readWrite, .administrator)])
        zone.share(with: [guest(bob, .readWrite, .administrator), guest(dave)])
        #expect(zone.row(dave)?.isApprovedRequester == false)
    }

    @Test func `R-973: whoever comes by another way waits for no answer any more`() throws {
        var zone = sharedZone()
        zone.ask(dave, now: 1)
        zone.ask(erin, now: 2)
        let people = [guest(bob, .readWrite, .administrator), guest(carol, .readOnly)]
        let link = ParticipantSave(id: ParticipantID(high: 3, low: 3), person: .link([5]))
        #expect(zone.share(with: people + [link]) == [nil])
        let visitor = ShareVisitor(user: dave, linkSecret: [5])
        _ = try zone.act(.accept(visitor, as: ParticipantID(high: 4, low: 4))).get()
        #expect(zone.requests.map(\.user) == [erin] && zone.permission(dave) == .read)
        zone.share(public: .readOnly)
        #expect(zone.accept(erin, hasURL: true) == nil && zone.requests == [])
    }

    @Test func `R-973: a refused request is gone, and can be made again`() {
        var zone = sharedZone()
        zone.ask(dave, now: 1)
        #expect(zone.answer(denying: [dave, erin]) == [nil] && zone.requests == [])
        #expect(zone.ask(dave, now: 3) == nil && zone.requests == [AccessRequest(user: dave, requestedAt: 3)])
    }

    @Test func `R-974: for whoever is blocked there is no such share, until they are unblocked or invited by name`()
        throws
    {
        var zone = sharedZone()
        zone.ask(dave, now: 1)
        #expect(zone.answer(blocking: [dave]) == [nil])
        #expect(zone.requests == [AccessRequest(user: dave, requestedAt: 1, isBlocked: true)])
        let people = [guest(bob, .readWrite, .administrator), guest(carol, .readOnly)]
        let others = [
            ParticipantSave(id: ParticipantID(high: 3, low: 3), person: .link([5])),
            ParticipantSave(id: ParticipantID(high: 3, low: 4), person: .address("d@x")),
        ]
        zone.share(with: people + others)
        let secret = try #require(zone.sharing.secret)
        func isShut(_ zone: TestZone) -> Bool {
            [
                ShareVisitor(user: dave, addresses: ["d@x"], secret: secret),
                ShareVisitor(user: dave, addresses: ["d@x"]),
                ShareVisitor(user: dave, linkSecret: [5]),
            ].allSatisfy { zone.sharing.entry(of: $0) == nil }
        }
        #expect(isShut(zone))
        var open = zone
        open.share(public: .readWrite)
        #expect(isShut(open) && open.accept(erin, hasURL: true) == nil)
        // Denying is not unblocking, and blocking twice is as good as once.
        #expect(zone.answer(denying: [dave]) == [nil] && zone.answer(blocking: [dave]) == [nil] && isShut(zone))
        var unblocked = zone
        #expect(unblocked.answer(unblocking: [dave]) == [nil] && unblocked.requests == [])
        #expect(unblocked.ask(dave, now: 9) == nil && unblocked.requests.map(\.isBlocked) == [false])
        zone.share(with: people + others + [guest(dave)])
        #expect(zone.requests == [] && zone.row(dave)?.isApprovedRequester == false)
        #expect(zone.accept(dave) == nil && zone.permission(dave) == .all)
    }

    @Test func `R-974: whoever is blocked is removed, also from a list that has them, and while the share is public`() {
        for isPublic in [false, true] {
            var zone = sharedZone()
            if isPublic { zone.share(public: .readOnly) }
            #expect(zone.answer(blocking: [carol]) == [nil])
            #expect(zone.permission(carol) == [] && zone.row(carol)?.status == .removed && zone.permission(bob) == .all)
            #expect(zone.ask(carol, now: 1) == nil && zone.requests.map(\.isBlocked) == [true])
        }
        // An app that blocks somebody leaves them out of the list, too. Nobody else may be left out while the share is public.
        var open = sharedZone()
        open.share(public: .readOnly)
        #expect(open.answer(blocking: [carol], with: []) == [.participantsFixed])
        #expect(open.answer(blocking: [carol], with: [guest(bob, .readWrite, .administrator)]) == [nil])
        #expect(open.permission(carol) == [] && open.permission(bob) == .all && open.requests.map(\.user) == [carol])
        var zone = sharedZone()
        let people = [guest(bob, .readWrite, .administrator), guest(carol), guest(dave)]
        #expect(zone.answer(blocking: [carol, dave], with: people) == [nil])
        #expect(zone.permission(carol) == [] && zone.row(dave) == nil && zone.requests.map(\.user) == [carol, dave])
        // Nobody blocks the owner.
        #expect(zone.answer(blocking: [alice]) == [nil] && zone.requests.map(\.user) == [carol, dave])
    }

    @Test func `R-779, R-974: whoever is blocked has a name only if they have told it`() throws {
        var zone = sharedZone()
        zone.ask(dave, now: 1)
        // Erin's record name is in a public record, say. She has nothing to do with the share.
        #expect(zone.answer(blocking: [carol, dave, erin]) == [nil])
        let sharing = zone.sharing
        let name = try #require(PersonName(given: "N", family: ""))
        let names = [carol: name, dave: name, erin: name]
        let named = ZoneSharing(
            owner: sharing.owner, shares: Array(sharing.shares.values),
            requests: sharing.requests.mapValues { Array($0.values) }, personNames: names)
        let shown = try #require(named.share(named: Share.zoneWideName, shownTo: alice))
        let told = Dictionary(uniqueKeysWithValues: shown.blocked.map { ($0.user, $0.name != nil) })
        #expect(told == [carol: true, dave: true, erin: false])
        // Nor is she told on once she is unblocked, invited, and blocked before she has accepted.
        let people = [guest(bob, .readWrite, .administrator), guest(erin)]
        #expect(zone.share(with: people) == [nil] && zone.answer(blocking: [erin]) == [nil])
        #expect(zone.requests.last == AccessRequest(user: erin, requestedAt: nil, isBlocked: true))
    }

    @Test func `R-974: a share blocks so many, and who is in two lists is blocked`() {
        var zone = sharedZone()
        zone.limits.blockedMax = 1
        #expect(zone.answer(denying: [dave], blocking: [dave], unblocking: [dave]) == [nil])
        #expect(zone.requests.map(\.isBlocked) == [true])
        #expect(zone.answer(blocking: [erin]) == [.tooManyBlocked])
        #expect(zone.answer(blocking: [erin], unblocking: [dave]) == [nil])
        #expect(zone.requests.map(\.user) == [erin])
        zone.limits.blockedMax = 0
        #expect(zone.answer(allowing: false) == [nil], "what was blocked before stays")
        #expect(zone.sharing.livingShare?.allowsRequests == false)
    }

    @Test func `R-313, R-972: only the owner and administrators see requests, and answer them`() throws {
        var zone = sharedZone()
        zone.ask(dave, now: 1)
        zone.ask(erin, now: 2)
        #expect(zone.answer(blocking: [erin], by: bob) == [nil])
        for user in [carol, dave] {
            #expect(zone.answer(denying: [dave], by: user) != [nil] && zone.answer(allowing: false, by: user) != [nil])
        }
        func shown(_ user: UserID) -> ShownShare? { zone.sharing.share(named: Share.zoneWideName, shownTo: user) }
        for user in [alice, bob] {
            let share = try #require(shown(user))
            #expect(
                share.allowsRequests && share.requesters.map(\.user) == [dave] && share.blocked.map(\.user) == [erin])
            #expect(share.users(besides: user).isSuperset(of: [dave, erin]))
        }
        let carols = try #require(shown(carol))
        #expect(!carols.allowsRequests && carols.requesters == [] && carols.blocked == [])
        #expect(shown(dave) == nil)
        #expect(zone.answer(denying: [dave], by: bob) == [nil] && zone.requests.map(\.user) == [erin])
    }

    @Test func `R-972: a new share begins without requests and without blocked identities`() {
        var zone = sharedZone()
        zone.ask(dave, now: 1)
        zone.answer(blocking: [erin])
        zone.act(.end)
        zone.share(with: [])
        #expect(zone.requests == [] && zone.sharing.livingShare?.allowsRequests == false)
        #expect(zone.answer(allowing: true) == [nil])
        #expect(zone.ask(erin, now: 5) == nil && zone.requests.map(\.user) == [erin])
    }
}

extension TestZone {
    fileprivate func row(_ user: UserID) -> Participant? {
        sharing.livingShare.flatMap { sharing.participants[$0.number] }?.values.first { $0.user == user }
    }

    /// Of the living share, by their users.
    fileprivate var requests: [AccessRequest] {
        let rows = sharing.livingShare.flatMap { sharing.requests[$0.number] } ?? [:]
        return rows.values.sorted { $0.user.rawValue < $1.user.rawValue }
    }

    /// Nil: the request succeeded.
    @discardableResult
    fileprivate mutating func ask(_ user: UserID, now: Timestamp) -> FailureReason? {
        let visitor = ShareVisitor(user: user, secret: sharing.secret ?? [])
        if case .failure(let reason) = act(.requestAccess(visitor), now: now) { return reason }
        return nil
    }

    @discardableResult
    fileprivate mutating func answer(
        allowing allowed: Bool? = nil, denying denied: Set<UserID> = [], blocking blocked: Set<UserID> = [],
        unblocking unblocked: Set<UserID> = [], with participants: [ParticipantSave]? = nil, by user: UserID = alice
    ) -> [FailureReason?]? {
        let share = ShareSave(
            tag: livingShareTag, participants: participants, allowsRequests: allowed,
            answers: AccessAnswers(denied: denied, blocked: blocked, unblocked: unblocked))
        let save = RecordSave(
            name: Share.zoneWideName, type: Share.recordType, tag: livingShareTag, fields: FieldMap(),
            parent: .unchanged, share: share)
        return run(asked(by: user, [save])).reasons
    }
}
