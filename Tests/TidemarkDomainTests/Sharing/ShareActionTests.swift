// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// Accepting, declining and leaving, and what the CKShare record shows of it.
@Suite struct ShareActionTests {
    /// A zone to which bob and carol are invited.
    private func sharedZone(public permission: SharePermission? = nil) -> TestZone {
        var zone = TestZone()
        zone.save(save("note"))
        zone.share(public: permission, with: permission == nil ? [guest(bob), guest(carol, .readOnly)] : nil)
        return zone
    }

    private func row(_ user: UserID, _ zone: TestZone) -> Participant? {
        zone.sharing.participants.values.flatMap { $0.values }.first { $0.user == user }
    }

    @Test func `R-224, R-317: an acceptance is a new version of the CKShare record, whose number gives access`() throws
    {
        var zone = sharedZone()
        let before = try #require(zone.living(Share.zoneWideName))
        let plan = try zone.act(.accept(ShareVisitor(user: bob), as: .init(high: 1, low: 1)), now: 500).get()
        let changes = try #require(plan.changes)
        let record = try #require(changes.records.first)
        #expect(changes.records.count == 1 && record.changeNumber == 3 && changes.changeNumber == 3)
        #expect(changes.sharing.map(\.number) == [3] && row(bob, zone)?.acceptedNumber == 3)
        #expect(record.fields == before.fields && record.createdBy == alice && record.parent == nil)
        // the clock was set back. R-312: nobody is told by the record who has come.
        #expect(record.modifiedAt > before.modifiedAt && record.modifiedBy == alice)
        #expect(changes.byteGrowth == 0 && changes.tombstoneGrowth == 0 && changes.memories.isEmpty)
        #expect(changes.references.isEmpty && changes.assetUses.isEmpty && !changes.isPlain)
        #expect(zone.permission(bob) == .all && zone.permission(carol) == [])
    }

    @Test func `R-317: to accept twice succeeds, and writes nothing the second time`() throws {
        var zone = sharedZone()
        #expect(zone.accept(bob) == nil)
        let before = zone.records
        let again = try zone.act(.accept(ShareVisitor(user: bob), as: .init(high: 1, low: 1))).get()
        #expect(again.changes == nil)
        #expect(zone.records == before)
    }

    @Test func `R-316, R-319: five kinds of no are one answer, and an owner has nothing to accept`() throws {
        var zone = sharedZone()
        #expect(zone.accept(dave) == .shareUnknown && zone.accept(dave, hasURL: true) == .shareUnknown)
        #expect(zone.accept(alice) == .shareIsOwn)
        zone.accept(bob)
        zone.share(with: [guest(carol, .readOnly)])
        #expect(zone.accept(bob, hasURL: true) == .shareUnknown, "removed")
        zone.ask(alice, deleting: [Share.zoneWideName])
        #expect(zone.accept(carol) == .shareUnknown, "ended")
        for removal in [ZoneRemovalReason.deleted, .purged, .encryptedDataReset] {
            var gone = sharedZone()
            gone.delete(for: removal)
            #expect(gone.accept(bob) == .shareUnknown, "gone")
            #expect(try gone.act(.leave(bob)).get().changes == nil)
        }
    }

    @Test func `R-308, R-317: who joins a public share by its URL has what the share allows everybody now`() {
        var zone = sharedZone(public: .readOnly)
        #expect(zone.accept(dave) == .shareUnknown && zone.accept(dave, hasURL: true) == nil)
        #expect(zone.permission(dave) == .read && row(dave, zone)?.role == .publicUser)
        zone.share(public: .readWrite)
        #expect(zone.permission(dave) == .all && zone.ask(dave, save("his")) == [nil])
        zone.limits.participantsMax = 2
        #expect(zone.accept(erin, hasURL: true) == .tooManyParticipants)
    }

    @Test func `F-15, R-308: with the public permission goes everybody who joined by it, and not the owner`() {
        var zone = sharedZone(public: .readWrite)
        #expect(zone.accept(dave, hasURL: true) == nil)
        let underWay = zone.asked(by: dave, [save("late")])
        let off = zone.asked(by: alice, [shareSave(tag: zone.livingShareTag, public: .noAccess)])
        // On one server, in one group: the request comes just behind.
        let results = zone.run([off, underWay])
        #expect(results.map(\.reasons) == [[nil], [.zoneNotFound]] && zone.living("late") == nil)
        #expect(zone.permission(dave) == [] && zone.permission(alice) == .all)
        #expect(zone.ask(alice, save("mine")) == [nil])
        // And as it comes on again, nobody is in.
        zone.share(public: .readWrite)
        #expect(zone.permission(dave) == [] && zone.ask(dave, save("late")) == [.zoneNotFound])
        #expect(zone.accept(dave, hasURL: true) == nil && zone.permission(dave) == .all)
    }

    @Test func `R-330: to leave, to decline, and to do so where there is nothing looks the same`() throws {
        var zone = sharedZone()
        zone.accept(bob)
        for user in [bob, carol, dave] {
            let isIn = user != dave
            let before = zone.records
            let action = user == carol ? ShareAction.decline(ShareVisitor(user: user)) : .leave(user)
            let plan = try zone.act(action).get()
            #expect((plan.changes != nil) == isIn && (zone.records != before) == isIn)
            #expect(try zone.act(action).get().changes == nil, "once more")
            #expect(zone.permission(user) == [] && zone.accept(user, hasURL: true) == .shareUnknown)
        }
        #expect(row(bob, zone)?.endedNumber == 4 && row(carol, zone)?.endedNumber == 5)
        #expect(zone.living(Share.zoneWideName)?.changeNumber == 5 && zone.living("note") != nil)
    }

    @Test func `R-330: a repeat of the request by which somebody left the zone ends no later invitation`() throws {
        var zone = sharedZone()
        zone.accept(bob)
        #expect(try zone.act(.leave(bob)).get().changes != nil)
        zone.share(with: [guest(bob), guest(carol, .readOnly)])
        let before = zone.sharing
        #expect(try zone.act(.leave(bob)).get().changes == nil && zone.sharing == before)
        #expect(row(bob, zone)?.status == .pending && zone.accept(bob) == nil && zone.permission(bob) == .all)
    }

    @Test func `R-330: a participant who deletes the CKShare record leaves, and the share stays for the others`() throws
    {
        var zone = sharedZone()
        zone.share(with: [guest(bob, .readWrite, .administrator), guest(carol, .readOnly)])
        for user in [bob, carol] { zone.accept(user) }
        for user in [bob, carol] {
            let before = try #require(zone.living(Share.zoneWideName))
            let request = zone.asked(by: user, deleting: [Share.zoneWideName], atomic: true)
            #expect(zone.run(request).reasons == [nil])
            let after = try #require(zone.living(Share.zoneWideName))
            #expect(after.changeNumber == before.changeNumber + 1 && after.batchEnd == after.changeNumber)
            #expect(after.fields == before.fields && after.modifiedBy == alice)
            #expect(row(user, zone)?.endedNumber == after.changeNumber && zone.permission(user) == [])
            #expect(zone.sharing.livingShare(named: Share.zoneWideName) != nil)
            // The answer was lost: R-330 says what a repeat gets, and nothing is written.
            #expect(zone.run(request).reasons == [nil])
            #expect(zone.living(Share.zoneWideName) == after && zone.ask(user, save("late")) == [.zoneNotFound])
        }
    }

    @Test func `R-330: what a participant changes in the request by which they leave is changed`() throws {
        var zone = sharedZone()
        zone.accept(bob)
        let request = zone.asked(
            by: bob, [save("new")], deleting: ["note", Share.zoneWideName], atomic: true)
        #expect(zone.run(request).reasons == [nil, nil, nil])
        #expect(zone.living("new")?.createdBy == bob && zone.living("note") == nil && zone.permission(bob) == [])
        let numbers = ["new", "note", Share.zoneWideName].compactMap { zone.records[$0]?.batchEnd }
        #expect(numbers == [6, 6, 6] && zone.zone?.changeNumber == 6)
        #expect(zone.run(request).reasons == [.zoneNotFound, .zoneNotFound, .zoneNotFound])
    }

    @Test func `R-330: who is invited declines by deleting the CKShare record, once for each request`() throws {
        var zone = sharedZone()
        let decline = zone.asked(by: carol, deleting: ["note", Share.zoneWideName])
        #expect(zone.run(decline).reasons == [.zoneNotFound, nil])
        #expect(row(carol, zone)?.status == .removed && zone.accept(carol) == .shareUnknown)
        #expect(zone.living("note") != nil)
        zone.share(with: [guest(bob), guest(carol, .readOnly)])
        // The repeat must not end the invitation that came later.
        #expect(zone.run(decline).reasons == [.zoneNotFound, nil])
        #expect(row(carol, zone)?.status == .pending && zone.accept(carol) == nil)
        // With other items in one atomic batch, all fail.
        var other = sharedZone()
        let batch = other.asked(by: carol, deleting: ["note", Share.zoneWideName], atomic: true)
        #expect(other.run(batch).reasons == [.zoneNotFound, .zoneNotFound] && row(carol, other)?.status == .pending)
    }

    @Test func `R-330: the owner's delete ends the share, and in the shared database the owner has nothing to leave`() {
        var zone = sharedZone()
        zone.accept(bob)
        let before = zone.sharing
        let request = zone.asked(by: alice, deleting: [Share.zoneWideName], in: .shared)
        #expect(zone.run(request).reasons == [nil] && zone.sharing == before)
        #expect(zone.ask(alice, deleting: [Share.zoneWideName]) == [nil] && zone.permission(bob) == [])
    }

    @Test func `R-326: an operator ends a share as its owner does`() throws {
        var zone = sharedZone()
        zone.accept(bob)
        let asset = FieldAsset(sha256: Array(repeating: 7, count: 32), byteCount: 5)
        zone.assets = [asset]
        let picture = try FieldMap([Field("file", .asset(asset))])
        #expect(zone.ask(alice, shareSave(tag: zone.livingShareTag, fields: picture)) == [nil])
        let record = try #require(zone.living(Share.zoneWideName))
        let plan = try zone.act(.end).get()
        let changes = try #require(plan.changes)
        #expect(changes.records.map(\.isDeleted) == [true] && changes.records[0].modifiedBy == alice)
        #expect(changes.sharing.map(\.updatedShare?.endedNumber) == [changes.changeNumber])
        #expect(changes.byteGrowth < -Int64(record.fields.byteCount) && changes.tombstoneGrowth > 0)
        #expect(changes.assetUses.map(\.removed) == [[asset]])
        #expect(zone.living(Share.zoneWideName) == nil && zone.permission(bob) == [] && zone.living("note") != nil)
        #expect(try zone.act(.end).get().changes == nil, "once more")
        var gone = TestZone(exists: false)
        #expect(try gone.act(.end).get().changes == nil)
    }

    @Test func `R-328: an operator removes one participant, or ends one invitation, by its ID`() throws {
        var zone = sharedZone()
        zone.accept(bob)
        for user in [bob, carol] {
            let id = try #require(row(user, zone)?.id)
            let changes = try #require(try zone.act(.remove(id)).get().changes)
            #expect(changes.sharing.map { $0.ended.map(\.id) } == [[id]] && changes.records.count == 1)
            #expect(row(user, zone)?.endedNumber == changes.changeNumber && zone.permission(user) == [])
            #expect(try zone.act(.remove(id)).get().changes == nil, "once more")
        }
        #expect(try zone.act(.remove(ParticipantID(high: 5, low: 5))).get().changes == nil)
    }

    @Test func `R-326: a share that has lost its record ends as well, and the zone can be shared again`() throws {
        for leavesTombstone in [false, true] {
            var zone = sharedZone()
            zone.accept(bob)
            let record = try #require(zone.records[Share.zoneWideName])
            zone.records[Share.zoneWideName] =
                leavesTombstone
                ? RecordState(
                    name: record.name, type: record.type, fields: FieldMap(), changeNumber: record.changeNumber,
                    isDeleted: true, parent: nil, createdAt: record.createdAt, createdBy: alice,
                    createdByDevice: record.createdByDevice, modifiedAt: record.modifiedAt, modifiedBy: alice,
                    batchEnd: record.batchEnd) : nil
            #expect(zone.ask(alice, shareSave()) == [.serverFault])
            let changes = try #require(try zone.act(.end).get().changes)
            #expect(changes.sharing.map(\.updatedShare?.endedNumber) == [changes.changeNumber])
            #expect(zone.permission(bob) == [] && zone.ask(alice, shareSave()) == [nil])
        }
    }

    @Test func `R-985: what is read for an action is the CKShare record, and the people of one share`() {
        let read = ShareAction.end.read(of: TestZone().key)
        #expect(read.sharing == .access(of: []) && read.recordNames == [Share.zoneWideName] && !read.isPlain)
        func sharing(_ action: ShareAction) -> SharingRead { action.read(of: TestZone().key).sharing }
        let id = ParticipantID(high: 1, low: 1)
        let linked = ShareVisitor(user: bob).bringing(.zone([7]), foundBy: [9])
        let byLink = SharingRead.people(of: ShareChoice(linkHashes: [[9]]), and: [bob])
        #expect(sharing(.accept(linked, as: id)) == byLink && sharing(.decline(linked)) == byLink)
        #expect(sharing(.requestAccess(linked)) == byLink)
        let oneTime = ShareVisitor(user: bob).bringing(.oneTime([7]), foundBy: [8])
        #expect(sharing(.accept(oneTime, as: id)) == .people(of: ShareChoice(linkHashes: [[8]]), and: [bob]))
        let named = ShareVisitor(user: bob, shareName: "s")
        #expect(sharing(.accept(named, as: id)) == .people(of: ShareChoice(names: ["s"]), and: [bob]))
        #expect(sharing(.leave(bob)) == .access(of: [bob]))
        #expect(sharing(.remove(id)) == .whole, "an operator finds somebody wherever they are")
        let (some, person) = (ShareChoice(names: ["s"]), EndedPerson(users: [bob]))
        #expect(sharing(.remove(id, in: some)) == .people(of: some, and: []))
        #expect(sharing(.forget(person, in: some)) == .people(of: some, and: []))
        #expect(read.fieldlessNames.isEmpty && read.storedBytesMax == .max && read.lives.isEmpty)
    }
}
