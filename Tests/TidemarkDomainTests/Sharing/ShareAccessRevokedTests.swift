// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

/// What *revoked* means (I-5): an answer to a request that came after somebody lost access has nothing of the zone, and
/// is what somebody gets who never had access, or who asks for a zone that never was.
@Suite struct ShareAccessRevokedTests {
    /// How bob's access ends.
    enum Loss: CaseIterable {
        case removed, left, shareEnded, madePrivate, zoneDeleted, zonePurged, keysReset, zoneMadeAnew
    }

    /// A zone with notes and a share, in which bob writes.
    private func sharedZone(publicly isPublic: Bool = false) -> TestZone {
        var zone = TestZone()
        zone.save(save("a"), save("b"))
        if isPublic { zone.share(public: .readWrite) } else { zone.share(with: [guest(bob), guest(carol)]) }
        #expect(zone.accept(bob, hasURL: isPublic) == nil)
        return zone
    }

    /// The zone before and after a loss.
    private func zones(losing loss: Loss) -> (before: TestZone, after: TestZone) {
        let before = sharedZone(publicly: loss == .madePrivate)
        var after = before
        end(loss, in: &after)
        return (before, after)
    }

    private func end(_ loss: Loss, in zone: inout TestZone) {
        switch loss {
        case .removed: zone.share(with: [guest(carol)])
        case .left: zone.act(.leave(bob))
        case .shareEnded: zone.ask(alice, deleting: [Share.zoneWideName])
        case .madePrivate: zone.share(public: .noAccess)
        case .zoneDeleted: zone.delete(for: .deleted)
        case .zonePurged: zone.delete(for: .purged)
        case .keysReset: zone.delete(for: .encryptedDataReset)
        case .zoneMadeAnew:
            zone.zone = ZoneState(id: ZoneID(71), key: zone.key, createdAt: 0)
            (zone.records, zone.memories, zone.sharing) = ([:], [:], ZoneSharing(owner: alice))
            zone.save(save("a"), save("new"))
            zone.share(with: [guest(carol)])
        }
    }

    /// A zone that never was.
    private let none = TestZone(exists: false)

    // MARK: Reading

    @Test(arguments: Loss.allCases)
    func `I-5, R-328: after the loss no page, record, query or key of the zone is given, whatever token there is`(
        loss: Loss
    ) throws {
        let (before, after) = zones(losing: loss)
        let first = try before.page(by: bob, records: 2).get()
        let last = try before.page(by: bob).get()
        let matches = try before.queried(by: bob).get().matches
        #expect(first.moreComing && last.entries.count == 3 && matches.count == 2)
        for zone in [after, none] {
            for token in [[], first.token.bytes, last.token.bytes] {
                #expect(zone.page(by: bob, after: token) == .failure(.zoneNotFound))
            }
            let names = zone.found("a", "new", "never", Share.zoneWideName, "_bad", by: bob)
            #expect(names.count == 5 && names.allSatisfy { $0 == .failure(.zoneNotFound) })
            for isTypeKnown in [false, true] {
                #expect(zone.queried(by: bob, isTypeKnown: isTypeKnown) == .failure(QueryRefusal(.zoneNotFound)))
            }
            #expect(zone.keys(for: bob) == .failure(.zoneNotFound))
        }
    }

    @Test func `I-5, R-322: who never had access, or is the owner, finds no zone in the shared database`() {
        var zone = sharedZone()
        for user in [carol, dave, alice] {
            let access = RecordAccess(scope: .shared, user: user)
            var snapshot = ZoneSnapshot(key: zone.key, zone: zone.zone, records: zone.records)
            snapshot.sharing = zone.sharing
            #expect(snapshot.lookUp(["a"], by: access, within: Limits()) == [.failure(.zoneNotFound)])
            #expect(snapshot.refusal(for: access) == .zoneNotFound && snapshot.refusal(for: .owner(alice)) == nil)
            let request = zone.asked(by: user, [save("a"), save("new")], deleting: ["b"], in: .shared)
            #expect(zone.run(request).reasons == [.zoneNotFound, .zoneNotFound, .zoneNotFound])
        }
        // Of a zone whose shares were not read, nothing is given either.
        let unread = ZoneSnapshot(key: zone.key, zone: zone.zone, records: zone.records)
        let bobs = RecordAccess(scope: .shared, user: bob)
        #expect(unread.lookUp(["a"], by: bobs, within: Limits()) == [.failure(.zoneNotFound)])
        let overlay = ZoneOverlay(snapshot: unread, store: store, limits: Limits())
        #expect(overlay.apply(zone.asked(by: bob, [save("a")]), now: 9).reasons == [.zoneNotFound])
        #expect(overlay.changes == nil && overlay.movedBy.isEmpty)
    }

    @Test func `I-5: why a zone ended is its owner's to know`() {
        for (loss, reason) in [(.zonePurged, .zonePurged), (.keysReset, .zoneKeysReset)] as [(Loss, FailureReason)] {
            let after = zones(losing: loss).after
            #expect(after.page(by: alice) == .failure(reason) && after.found("a", by: alice) == [.failure(reason)])
            #expect(
                after.queried(by: alice) == .failure(QueryRefusal(reason)) && after.keys(for: alice) == .failure(reason)
            )
        }
    }

    @Test func `R-010, R-202: a default zone is not in the shared database`() {
        for feedsEverywhere in [false, true] {
            let key = ZoneKey(database: database, name: ZoneName.default)
            let query = ZonePageQuery.make(
                key: key, token: [], limit: 0, device: phone, reader: RecordAccess(scope: .shared, user: bob),
                feedsEverywhere: feedsEverywhere, store: store, limits: Limits())
            var read = ZonePageRead(
                zone: ZoneState(id: ZoneID(70), key: key, createdAt: 0), lastRemoval: nil, records: [], hasMore: false)
            read.sharing = ZoneSharing(owner: alice)
            let page = query.flatMap { ZonePage.make(of: read, for: $0, store: store) }
            #expect(page == .failure(.zoneNotFound))
        }
    }

    @Test func `R-200, R-320: a participant's pages and tokens are their own, and have what the owner's have`() throws {
        let zone = sharedZone()
        let (own, his) = (try zone.page(by: alice).get(), try zone.page(by: bob).get())
        #expect(own.entries == his.entries && own.token != his.token && !his.moreComing)
        for (user, token) in [(alice, his.token), (bob, own.token)] {
            #expect(zone.page(by: user, after: token.bytes) == .failure(.tokenInvalid))
        }
        #expect(try zone.page(by: bob, after: his.token.bytes).get().entries.isEmpty)
        #expect(zone.keys(for: bob) == zone.keys(for: alice))
        #expect(
            zone.queried("None", by: bob, isTypeKnown: false) == zone.queried("None", by: alice, isTypeKnown: false))
    }

    @Test func `R-328: a token of before the loss is good again with the next acceptance, and skips nothing`() throws {
        var zone = sharedZone()
        let token = try zone.page(by: bob).get().token.bytes
        zone.share(with: [])
        zone.ask(alice, save("while-out"), deleting: ["a"])
        #expect(zone.page(by: bob, after: token) == .failure(.zoneNotFound))
        zone.share(with: [guest(bob)])
        #expect(zone.page(by: bob, after: token) == .failure(.zoneNotFound), "invited is not in")
        #expect(zone.accept(bob) == nil)
        let page = try zone.page(by: bob, after: token).get()
        #expect(page.entries.map(\.name) == ["while-out", "a", Share.zoneWideName])
        #expect(page.entries.map(\.isDeleted) == [false, true, false])
    }

    // MARK: Conflicts and repeats

    @Test(arguments: Loss.allCases)
    func `F-4, R-157: a repeat after the loss brings neither the record in the way nor what was answered`(
        loss: Loss
    ) throws {
        var zone = sharedZone(publicly: loss == .madePrivate)
        let conflict = zone.asked(by: bob, [save("a", tag: .foreign), save("a2")], deleting: ["b", "never"])
        let blind = zone.asked(by: bob, [save("b2", tag: .foreign)], policy: .allKeys)
        let first = zone.run(conflict)
        #expect(first.reasons == [.recordChanged, nil, nil, nil])
        let shown = try #require(zone.living("a"))
        #expect(first.saves[0].failure?.serverRecord == shown)
        let made = zone.run(blind).saves.first?.metadata?.content
        #expect(made == zone.living("b2").map { SavedContent.record($0) })
        // A repeat while nothing has happened is the first answer.
        #expect(zone.run(conflict) == first && zone.run(blind).saves.first?.metadata?.content == made)
        end(loss, in: &zone)
        let before = zone.records
        for request in [conflict, blind] {
            let again = try zone.run(request).get()
            let unheard = try zone.run(zone.asked(by: bob, request.saves, deleting: request.deletes)).get()
            #expect(again == request.failing(.zoneNotFound) && unheard == again)
        }
        #expect(zone.records == before)
    }

    @Test func `R-157: who has access again gets the answer of the first time, and nothing twice`() throws {
        var zone = sharedZone()
        let request = zone.asked(by: bob, [save("mine")])
        let first = zone.run(request)
        zone.share(with: [])
        #expect(zone.run(request).reasons == [.zoneNotFound])
        zone.share(with: [guest(bob)])
        #expect(zone.accept(bob) == nil && zone.run(request) == first)
        #expect(zone.records.values.count { $0.createdBy == bob } == 1)
    }

    @Test func `R-111, R-329: a conflict shows its record to who may write, and a repeat to who may still read`() throws
    {
        var zone = sharedZone()
        let request = zone.asked(by: bob, [save("a", tag: .foreign)])
        let first = zone.run(request)
        #expect(first.saves.first?.failure?.serverRecord == zone.living("a"))
        zone.share(with: [guest(bob, .readOnly)])
        #expect(zone.run(request) == first)
        #expect(zone.run(zone.asked(by: bob, [save("a", tag: .foreign)])).saves.first?.failure?.serverRecord == nil)
    }

    // MARK: Races

    @Test(arguments: [Loss.removed, .left, .shareEnded, .madePrivate])
    func `F-1: a save that comes after the loss in one group fails, and one that comes before it stays`(
        loss: Loss
    ) throws {
        var zone = sharedZone(publicly: loss == .madePrivate)
        let early = zone.asked(by: bob, [save("early")])
        let late = zone.asked(by: bob, [save("late", tag: nil), save("a", tag: .foreign)], deleting: ["b"])
        let taking =
            switch loss {
            case .left: zone.asked(by: bob, deleting: [Share.zoneWideName])
            case .shareEnded: zone.asked(by: alice, deleting: [Share.zoneWideName])
            case .madePrivate: zone.asked(by: alice, [shareSave(tag: zone.livingShareTag, public: .noAccess)])
            default: zone.asked(by: alice, [shareSave(tag: zone.livingShareTag, [])])
            }
        let results = zone.run([early, taking, late, early])
        #expect(
            results.map(\.reasons) == [
                [nil], [nil], [.zoneNotFound, .zoneNotFound, .zoneNotFound], [.zoneNotFound],
            ])
        #expect(results[2].saves.allSatisfy { $0.failure?.serverRecord == nil })
        #expect(zone.living("early")?.createdBy == bob && zone.living("late") == nil && zone.living("b") != nil)
    }

    @Test func `F-1: a participant's save is never decided by what a server remembers, and writes beside no plain one`()
    {
        var zone = sharedZone()
        let requests = [zone.asked(by: bob, [save("x")]), zone.asked(by: alice, [shareSave()])]
        for request in requests { #expect(!request.read(within: Limits()).isPlain) }
        #expect(zone.asked(by: alice, [save("x")]).read(within: Limits()).isPlain)
        // Whoever removes bob writes a version of the CKShare record, so the zone is at another number.
        let number = zone.zone?.changeNumber
        zone.share(with: [])
        #expect(zone.zone?.changeNumber == number.map { $0 + 1 })
    }

    /// Where the zone stays.
    @Test(arguments: [Loss.removed, .left, .shareEnded, .madePrivate])
    func `I-5: what was given before the loss is older than the loss, number for number`(loss: Loss) throws {
        let (before, after) = zones(losing: loss)
        let seen = try before.page(by: bob).get().entries.map(\.changeNumber)
        try #require(after.zone != nil && after.zone?.id == before.zone?.id)
        #expect(seen.count == 3, "two notes, and the share")
        let access = AccessHistory(of: bob, in: after.sharing)
        #expect(seen.allSatisfy(access.canHaveSeen) && !ShareAccess(of: bob, in: after.sharing).isParticipant)
        let newer = (seen.max() ?? 0) + 1
        #expect(!access.canHaveSeen(newer), "the change that took the access away is not his to see")
        #expect(after.records.values.contains { $0.changeNumber == newer && $0.name == Share.zoneWideName })
    }

    @Test func `F-17: two owners' zones of one name have tokens and cursors of their own`() throws {
        let zone = sharedZone()
        let token = try zone.page(by: bob).get().token.bytes
        let other = ZoneKey(database: DatabaseID(8), name: zone.key.name)
        let reader = RecordAccess(scope: .shared, user: bob)
        let query = ZonePageQuery.make(
            key: other, token: token, limit: 0, device: phone, reader: reader, store: store, limits: Limits())
        guard case .failure(.tokenInvalid) = query else {
            Issue.record("the token of another owner's zone")
            return
        }
        let asked = Query(recordType: "Item", zoneName: zone.key.name)
        let record = try #require(zone.living("a"))
        let cursor = QueryCursor(
            store: store, database: zone.key.database, viewer: bob, query: asked,
            position: QueryOrder(asked).position(of: record, in: zone.key.name)
        ).bytes
        let opened = QueryCursor.opened(cursor, for: asked, in: zone.key.database, viewer: bob)
        #expect(try opened.get() != nil)
        // Of another owner's zone, and of another participant.
        for (database, viewer) in [(other.database, bob), (zone.key.database, carol)] {
            guard case .failure(.cursorInvalid) = QueryCursor.opened(cursor, for: asked, in: database, viewer: viewer)
            else {
                Issue.record("the cursor of \(database), \(viewer)")
                continue
            }
        }
    }
}
