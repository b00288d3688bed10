// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// Links, acceptance, leaving, and what is told of them.
@Suite struct ChangeSharesTests {
    @Test func `R-306, R-315: the link of a zone stays the same, and says what it leads to`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            try await fixture.share(counter: 1, by: service)
            let secret = try await fixture.secret()
            #expect(secret.count == 16)
            let found = try await service.shareMetadata(ofLinks: [secret], for: bob.bearer).get()
            let metadata = try #require(try? found[0].get())
            #expect(metadata.owner.user == fixture.identity.user && metadata.zone.key == fixture.key())
            #expect(metadata.record.name == Share.zoneWideName && metadata.share.secret == secret)
            #expect(metadata.role == .publicUser && metadata.status == .pending && metadata.permission == .readWrite)
            #expect(metadata.share.participants.map(\.role) == [.owner])

            _ = try await service.modify(fixture.sharing(nil, counter: 2)).get()
            #expect(
                try await service.shareMetadata(ofLinks: [secret], for: bob.bearer).get().reasons == [.shareUnknown])
            try await fixture.share(counter: 3, by: service)
            #expect(try await fixture.secret() == secret)
            #expect(try await service.shareMetadata(ofLinks: [secret], for: bob.bearer).get().reasons == [nil])
        }
    }

    @Test func `R-317, R-318: who accepts has the zone at once, and accepts again without a change`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            try await fixture.share(counter: 1, by: service)
            let viewer = bob.sharedDatabase
            #expect(try await service.sharedZonesPage(of: viewer, for: bob.user, after: nil).get().zones == [])
            try await fixture.accept(bob, by: service)
            let zones = try await service.sharedZonesPage(of: viewer, for: bob.user, after: nil).get().zones
            #expect(zones.map(\.key) == [fixture.key()])
            #expect(try await service.databaseChanges(of: viewer, token: [], zonesMax: 0).get().changed.count == 1)
            try await fixture.accept(bob, by: service)
            let again = try await service.sharedZonesPage(of: viewer, for: bob.user, after: nil).get().zones
            #expect(again == zones, "the zone has not changed")
            let own = await service.acceptShares(
                ofLinks: [try await fixture.secret()], for: fixture.identity.bearer)
            #expect(try own.get().reasons == [.shareIsOwn])
        }
    }

    @Test func `R-317, R-330, R-727: who accepts again, or declines without an invitation, needs no transaction`()
        throws
    {
        let (script, fixture) = (FaultScript(), try ServiceFixture(zones: ["public", "private"]))
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let (bob, carol) = (
                try await fixture.user("bob", by: service), try await fixture.user("carol", by: service)
            )
            try await fixture.share(zone: "public", counter: 1, by: service)
            try await fixture.share(nil, [carol.invited()], zone: "private", counter: 2, by: service)
            func zone(of user: Identity) -> String { user.user == bob.user ? "public" : "private" }
            func transactions(_ work: () async throws -> Void) async throws -> Int {
                let before = script.count(.beginSent)
                try await work()
                return script.count(.beginSent) - before
            }
            func accept(_ user: Identity) async throws -> Int {
                try await transactions { try await fixture.accept(user, zone: zone(of: user), by: service) }
            }
            func decline(_ user: Identity) async throws -> Int {
                let secret = try await fixture.secret(zone: zone(of: user))
                return try await transactions {
                    let declined = try await service.declineShares(ofLinks: [secret], for: user.bearer).get()
                    #expect(declined.map(\.reason) == [nil])
                }
            }
            func isIn(_ user: Identity) async throws -> Bool {
                let key = fixture.key(zone(of: user))
                return try await service.sharedZones([key], for: user.user).get().map(\.reason) == [nil]
            }
            #expect(try await decline(bob) == 0)
            #expect(try await accept(bob) == 1)
            #expect(try await accept(bob) == 0)
            #expect(try await isIn(bob))
            // Who has left or was removed joins anew.
            #expect(try await decline(bob) == 1)
            #expect(try await !isIn(bob))
            #expect(try await decline(bob) == 0)
            #expect(try await accept(bob) == 1)
            #expect(try await isIn(bob))
            // An invitation ends with one too.
            #expect(try await accept(carol) == 1)
            #expect(try await isIn(carol))
            #expect(try await decline(carol) == 1)
            #expect(try await !isIn(carol))
        }
    }

    @Test func `R-716: who accepts is shown the shares in a turn of the fetches`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            try await fixture.share(counter: 1, by: service)
            let secret = try await fixture.secret()
            let bounds = FairBounds(room: 4, roomPerOwner: 4, waitingMax: 9, waitingPerOwnerMax: 9)
            let gate = FairGate(bounds, patience: .seconds(6), scheduler: fixture.scheduler)
            let other = try await gate.enter(.nobody)
            let reading = WorkTurn(of: .account(1), at: gate, room: 4)
            let refused = await service.acceptShares(ofLinks: [secret], for: bob.bearer, reading: reading)
            #expect(refused.reason == .tooManyRequests, "no turn came")
            let zones = try await service.sharedZonesPage(of: bob.sharedDatabase, for: bob.user, after: nil).get().zones
            #expect(zones.map(\.key) == [fixture.key()], "accepted all the same")
            gate.leave(other)
            let shown = await service.acceptShares(ofLinks: [secret], for: bob.bearer, reading: reading)
            #expect(try shown.get().reasons == [nil])
            reading.leave()
        }
    }

    @Test func `F-13, R-316: everything that is not for a user is one answer, after as many questions to the store`()
        throws
    {
        let script = FaultScript()
        let fixture = try ServiceFixture(zones: ["closed", "ended", "left", "gone", "notes"])
        let service = fixture.server(faults: script.plan)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            let carol = try await fixture.user("carol", by: service)
            var links: [[UInt8]?] = [nil, [1, 2, 3]]
            var counter: UInt64 = 0
            for zone in ["closed", "ended", "left", "gone"] {
                counter += 1
                let tag = try await fixture.share(
                    .noAccess, [carol.invited(), bob.invited()], zone: zone, counter: counter, by: service)
                links.append(try await fixture.secret(zone: zone))
                counter += 1
                switch zone {
                case "closed":
                    try await fixture.share(nil, [carol.invited()], tag: tag, zone: zone, counter: counter, by: service)
                case "ended": _ = try await service.modify(fixture.sharing(nil, zone: zone, counter: counter)).get()
                case "left":
                    let link = try #require(links.last)
                    _ = try await service.declineShares(ofLinks: [link], for: bob.bearer).get()
                default:
                    let request = ZonesRequest(
                        id: RequestID(DeviceID(high: 0, low: 9), counter), saves: [], deletes: [zone])
                    _ = try await service.modifyZones(
                        in: fixture.identity.privateDatabase, request, for: .account(1)
                    ).get()
                }
            }
            var questions: Set<Int> = []
            for link in links {
                for accepts in [false, true] {
                    let before = script.count(.callSent)
                    let found =
                        accepts
                        ? await service.acceptShares(ofLinks: [link], for: bob.bearer)
                        : await service.shareMetadata(ofLinks: [link], for: bob.bearer)
                    #expect(try found.get().reasons == [.shareUnknown])
                    questions.insert(script.count(.callSent) - before)
                }
            }
            #expect(questions.count == 1, "\(questions)")
            let marks = try await MemoryStore(fixture.database).sharedMarks(of: [bob.sharedDatabase: bob.user])
            #expect(marks[bob.sharedDatabase]?.zoneCount == 0, "nothing is in his list")
        }
    }

    @Test func `F-13, R-316: how often links that are not for a user ask the store depends on their number alone`()
        throws
    {
        let script = FaultScript()
        let zones = (1...12).map { "closed \($0)" }
        let fixture = try ServiceFixture(zones: zones + ["open"])
        var limits = Limits()
        limits.pageSharesMax = 5
        let service = fixture.server(faults: script.plan, limits: limits)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            let carol = try await fixture.user("carol", by: service)
            var closed: [[UInt8]?] = []
            for (index, zone) in zones.enumerated() {
                try await fixture.share(
                    .noAccess, [carol.invited()], zone: zone, counter: UInt64(index) + 1, by: service)
                closed.append(try await fixture.secret(zone: zone))
            }
            try await fixture.share(zone: "open", counter: 100, by: service)
            let open = try await fixture.secret(zone: "open")
            let unknown: [[UInt8]?] = (UInt8(1)...12).map { [$0] }
            /// How often the store is asked for the answer to these links, of which none is for the user.
            func questions(_ links: [[UInt8]?]) async throws -> Int {
                let before = script.count(.callSent)
                let found = try await service.shareMetadata(ofLinks: links, for: bob.bearer).get()
                #expect(found.count == links.count && found.reasons.allSatisfy { $0 == .shareUnknown })
                return script.count(.callSent) - before
            }
            let usual = try await questions([nil])
            #expect(usual > 0)
            let again = [[UInt8]?](repeating: closed[0], count: 100)
            let few: [[[UInt8]?]] = [
                [closed[0]], again, Array(unknown.prefix(5)), Array(closed.prefix(5)), [nil, [], closed[0]],
            ]
            // Those of a page are read together.
            let many: [[[UInt8]?]] = [
                unknown, closed, closed + closed, Array(closed.prefix(6)) + Array(unknown.prefix(6)),
            ]
            for (lists, more) in [(few, 0), (many, 2)] {
                for links in lists {
                    let count = try await questions(links)
                    #expect(count == usual + more, "\(links.count)")
                }
            }
            let mixed: [[UInt8]?] = [unknown[0], closed[0], open, unknown[1], closed[0], open]
            let found = try await service.shareMetadata(ofLinks: mixed, for: bob.bearer).get()
            #expect(found.reasons == [.shareUnknown, .shareUnknown, nil, .shareUnknown, .shareUnknown, nil])
            #expect(found.compactMap { try? $0.get().zone.key.name } == ["open", "open"])
        }
    }

    @Test func `R-770: whose list of zones of others is full accepts no share, but one of these again`() throws {
        let fixture = try ServiceFixture(zones: ["a", "b"])
        var limits = Limits()
        limits.sharedZonesMax = 1
        let service = fixture.server(limits: limits)
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            for (zone, counter) in [("a", 1), ("b", 2)] as [(String, UInt64)] {
                try await fixture.share(zone: zone, counter: counter, by: service)
            }
            try await fixture.accept(bob, zone: "a", by: service)
            let link = try await fixture.secret(zone: "b")
            let refused = try await service.acceptShares(ofLinks: [link], for: bob.bearer).get()
            #expect(refused.reasons == [.tooManySharedZones])
            let zones = try await service.sharedZones([fixture.key("a"), fixture.key("b")], for: bob.user).get()
            #expect(zones.map(\.reason) == [nil, .zoneNotFound])
            try await fixture.accept(bob, zone: "a", by: service)
        }
    }

    @Test func `R-317: an acceptance that was interrupted gives nothing, and is done by its repeat`() throws {
        for point in [FaultPoint.callAnswered, .beginLocked, .commitSent, .commitAnswered] {
            let fixture = try ServiceFixture()
            let service = fixture.server()
            // Each attempt fails there, so the acceptance does.
            let failing = fixture.server(faults: FaultScript(always: [point: .disconnect]).plan)
            try fixture.scheduler.simulate {
                let bob = try await fixture.user("bob", by: service)
                try await fixture.share(counter: 1, by: service)
                let secret = try await fixture.secret()
                let failed = await failing.acceptShares(ofLinks: [secret], for: bob.bearer)
                // If only the answer to the commit is lost, the next attempt finds that it is done.
                let isDone = point == .commitAnswered
                let accepted = (try? failed.get())?.first?.reason == nil && failed.reason == nil
                #expect(accepted == isDone, "\(point)")
                let zones = try await service.sharedZones([fixture.key()], for: bob.user).get()
                #expect(zones.map(\.reason) == [isDone ? nil : .zoneNotFound], "\(point)")
                try await fixture.accept(bob, by: service)
                #expect(try await service.sharedZones([fixture.key()], for: bob.user).get().map(\.reason) == [nil])
            }
        }
    }

    @Test func `R-316: a link does not open the zone that is made in place of its own meanwhile`() throws {
        for declines in [false, true] {
            let fixture = try ServiceFixture()
            let service = fixture.server()
            let script = FaultScript(first: [.beginSent: [.delay(.seconds(2))]])
            let slow = fixture.server(faults: script.plan)
            try fixture.scheduler.simulate {
                let bob = try await fixture.user("bob", by: service)
                try await fixture.share(.noAccess, [bob.invited()], counter: 1, by: service)
                let secret = try await fixture.secret()
                let visit = fixture.scheduler.run { () -> FailureReason? in
                    if declines {
                        return (try? await slow.declineShares(ofLinks: [secret], for: bob.bearer).get())?[0].reason
                    }
                    return (try? await slow.acceptShares(ofLinks: [secret], for: bob.bearer).get())?[0].reason
                }
                try await fixture.scheduler.sleep(for: .seconds(1))
                #expect(script.count(.beginSent) == 1, "it has looked at the link")
                for (saves, deletes, counter) in [([], ["notes"], 1), (["notes"], [], 2)]
                    as [([String], [String], UInt64)]
                {
                    let request = ZonesRequest(
                        id: RequestID(DeviceID(high: 0, low: 9), counter), saves: saves, deletes: deletes)
                    let database = fixture.identity.privateDatabase
                    _ = try await service.modifyZones(in: database, request, for: .account(1)).get()
                }
                try await fixture.share(.noAccess, [bob.invited()], counter: 2, by: service)
                #expect(try await fixture.secret() != secret)
                #expect(await visit.value == (declines ? nil : .shareUnknown))
                let sharing = try await MemoryStore(fixture.database).sharing(of: fixture.key(), .whole)?.sharing
                let rows = sharing?.livingShare.flatMap { sharing?.participants[$0.number]?.values.map(\.status) }
                #expect(rows == [.pending], "the invitation to the new zone is as it was")
            }
        }
    }

    @Test func `R-330: who leaves is out at once, and may do so again; the others stay`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            let (bob, carol) = (
                try await fixture.user("bob", by: service), try await fixture.user("carol", by: service)
            )
            try await fixture.share(counter: 1, by: service)
            for user in [bob, carol] { try await fixture.accept(user, by: service) }
            let none = ZoneKey(database: fixture.identity.privateDatabase, name: "none")
            for _ in 1...2 {
                let left = await service.leaveZones([fixture.key(), none], for: bob.bearer)
                #expect(left.map(\.reason) == [nil, nil])
            }
            let readers = [bob, carol].map(\.sharedAccess)
            var found: [FailureReason?] = []
            for reader in readers {
                found.append(await service.records(named: ["a"], in: fixture.key(), by: reader).reason)
            }
            #expect(found == [.zoneNotFound, nil])
            var shownCounts: [Int] = []
            for reader in readers {
                let names: Set = ["notes", "none"]
                let shares = await service.shares(
                    of: names, in: fixture.key().database, named: [Share.zoneWideName], by: reader)
                shownCounts.append(try shares.get().count)
            }
            #expect(shownCounts == [0, 1])
        }
    }

    @Test func `R-326, R-328: an operator's revocation is done once, also if its answer is lost, and is told`() throws {
        let fixture = try ServiceFixture()
        let (told, service) = (Log<ZoneNotice>(), fixture.server())
        let script = FaultScript(first: [.commitAnswered: [.disconnect, .disconnect]])
        let operators = fixture.server(faults: script.plan) { moved in
            for notice in moved.notices { told.append(notice) }
        }
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            try await fixture.share(counter: 1, by: service)
            try await fixture.accept(bob, by: service)
            let sharing = try await MemoryStore(fixture.database).sharing(of: fixture.key(), .whole)?.sharing
            let rows = try #require(sharing?.participants.values.first)
            let id = try #require(rows.keys.first)
            var revoked: [Result<Bool, FailureReason>] = []
            for participant in [id, id, nil, nil] as [ParticipantID?] {
                revoked.append(await operators.revokeShare(of: fixture.key(), participant: participant))
            }
            #expect(revoked == [.success(true), .success(false), .success(true), .success(false)])
            let notice = ZoneNotice(
                database: fixture.key().database, life: .nobody, zoneName: "notes", changesShares: true)
            #expect(told.all.count == 2 && Set(told.all) == [notice])
            let found = await service.records(named: ["a"], in: fixture.key(), by: bob.sharedAccess)
            #expect(found.reason == .zoneNotFound)
        }
    }

    @Test func `R-992: whose account ends leaves the share once, also if the answer is lost, and others are told`()
        throws
    {
        let fixture = try ServiceFixture()
        let (told, service) = (Log<ZoneNotice>(), fixture.server())
        let script = FaultScript(first: [.commitAnswered: [.disconnect]])
        let operators = fixture.server(faults: script.plan) { moved in
            for notice in moved.notices { told.append(notice) }
        }
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            let carol = try await fixture.user("carol", by: service)
            try await fixture.share(counter: 1, by: service)
            for person in [bob, carol] { try await fixture.accept(person, by: service) }
            let ended = EndedPerson(users: [bob.user])
            var done: [Result<Bool, FailureReason>] = []
            for _ in 1...2 { done.append(await operators.forget(ended, in: fixture.key())) }
            done.append(await operators.forget(ended, in: fixture.key("none")))
            #expect(done == [.success(true), .success(false), .success(false)])
            let notice = ZoneNotice(
                database: fixture.key().database, life: .nobody, zoneName: "notes", changesShares: true)
            #expect(told.all == [notice])
            var found: [FailureReason?] = []
            for reader in [bob, carol] {
                found.append(await service.records(named: ["a"], in: fixture.key(), by: reader.sharedAccess).reason)
            }
            #expect(found == [.zoneNotFound, nil])
        }
    }

    @Test func `R-260, R-318: an acceptance is told to the owner's devices and to all of the user's`() throws {
        let fixture = try ServiceFixture()
        let told = Log<ZoneNotice>()
        let service = fixture.server(onMoved: { moved in for notice in moved.notices { told.append(notice) } })
        try fixture.scheduler.simulate {
            let bob = try await fixture.user("bob", by: service)
            try await fixture.share(counter: 1, by: service)
            let before = told.all.count
            try await fixture.accept(bob, by: service)
            let expected = [
                ZoneNotice(database: fixture.key().database, life: bob.bearer.life, zoneName: "notes"),
                ZoneNotice(database: bob.sharedDatabase, life: .nobody, zoneName: ""),
            ]
            #expect(Array(told.all[before...]) == expected)
            try await fixture.accept(bob, by: service)
            #expect(told.all.count == before + 2, "nothing has changed")
        }
    }
}
