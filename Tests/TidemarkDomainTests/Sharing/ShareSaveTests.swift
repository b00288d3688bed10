// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// CKShare records among other records: how they are saved and deleted, and what participants may save.
@Suite struct ShareSaveTests {
    /// A zone with a note, in which bob administers, carol writes and dave reads.
    private func sharedZone() -> TestZone {
        var zone = TestZone()
        zone.save(save("note"))
        zone.share(with: [guest(bob, .readWrite, .administrator), guest(carol), guest(dave, .readOnly)])
        for user in [bob, carol, dave] { #expect(zone.accept(user) == nil) }
        return zone
    }

    private func overlay(_ zone: TestZone, _ requests: [RecordsRequest]) -> ZoneOverlay {
        let read = ZoneRead(of: requests, in: zone.key, limits: Limits())
        return ZoneOverlay(snapshot: zone.snapshot(for: read), store: store, limits: zone.limits)
    }

    // MARK: Making and changing a share

    @Test func `R-300, R-306: the first save of the CKShare record makes a share of the change's number, with a URL`()
        throws
    {
        var zone = TestZone()
        zone.save(save("note"))
        let request = zone.asked(by: alice, [save("other"), shareSave(fields: fields(["k": 7]))], atomic: true)
        let overlay = overlay(zone, [request])
        let saved = try #require(overlay.apply(request, now: 5).saves.last?.metadata)
        let changes = try #require(overlay.changes)
        let change = try #require(changes.sharing.first)
        #expect(changes.sharing.count == 1 && change.number == 3 && change.share == ShareNumber(3))
        #expect(change.insertedShare == Share(number: ShareNumber(3)) && change.insertedSecret == [1, 2, 3])
        #expect(!changes.isPlain && overlay.movedBy == [phone])
        let record = try #require(changes.records.last)
        #expect(record.type == Share.recordType && record.changeNumber == 3 && record.fields == fields(["k": 7]))
        #expect(record.createdBy == alice && record.batchEnd == 3)
        // The device learns what the server made of it.
        #expect(saved.content == .record(record) && saved.changeNumber == 3)
    }

    @Test func `R-224: a change of participants alone gives the CKShare record a new version with its number`() throws {
        var zone = sharedZone()
        let before = try #require(zone.living(Share.zoneWideName))
        let request = zone.asked(
            by: alice, [shareSave(tag: zone.livingShareTag, [guest(bob, .readWrite, .administrator), guest(erin)])])
        let overlay = overlay(zone, [request])
        #expect(overlay.apply(request, now: 2_000).reasons == [nil])
        let changes = try #require(overlay.changes)
        let record = try #require(changes.records.first)
        #expect(changes.records.count == 1 && record.changeNumber == before.changeNumber + 1)
        #expect(record.fields == before.fields && record.modifiedAt > before.modifiedAt)
        #expect(changes.sharing.map(\.number) == [record.changeNumber])
        zone.commit(changes)
        #expect(zone.permission(carol) == [] && zone.permission(dave) == [] && zone.permission(bob) == .all)
        #expect(zone.permission(erin) == [] && zone.accept(erin) == nil && zone.permission(erin) == .all)
    }

    @Test func `R-114: a save of a share that says what is so makes no version`() throws {
        var zone = sharedZone()
        let before = try #require(zone.living(Share.zoneWideName))
        let people = [guest(bob, .readWrite, .administrator), guest(carol), guest(dave, .readOnly)]
        let same = zone.asked(by: alice, [shareSave(tag: zone.livingShareTag, public: .noAccess, people)])
        let overlay = overlay(zone, [same])
        let saved = try #require(overlay.apply(same, now: 9).saves.first?.metadata)
        #expect(overlay.changes?.records == [] && overlay.changes?.sharing == [] && overlay.movedBy.isEmpty)
        #expect(saved.content == .record(before))
        // Fields change without the share.
        let titled = zone.asked(by: bob, [shareSave(tag: zone.livingShareTag, fields: fields(["k": 5]))])
        let changed = self.overlay(zone, [titled])
        #expect(changed.apply(titled, now: 9).reasons == [nil])
        #expect(changed.changes?.records.count == 1 && changed.changes?.sharing == [])
    }

    @Test func `R-115, R-304: a share is saved with its current tag, and whoever has another gets the record`() throws {
        for policy in SavePolicy.allCases {
            var zone = sharedZone()
            let record = try #require(zone.living(Share.zoneWideName))
            for (tag, expected) in [
                (nil, .recordExists), (.foreign, .recordChanged), (zone.tag("note"), .recordChanged),
            ] as [(ChangeTag?, FailureReason)] {
                let request = zone.asked(by: alice, [shareSave(tag: tag, [])], policy: policy)
                let failure = zone.run(request).saves.first?.failure
                #expect(failure?.reason == expected && failure?.serverRecord == record)
                #expect(failure?.serverZone == ZoneID(70))
            }
            #expect(zone.permission(carol) == .all, "nobody has lost access")
        }
    }

    @Test func `R-306, R-326: the end of a share takes access at once, and who shares again has the old URL`() throws {
        var zone = sharedZone()
        let secret = zone.sharing.secret
        let end = zone.asked(by: alice, deleting: [Share.zoneWideName])
        let overlay = overlay(zone, [end])
        #expect(overlay.apply(end, now: 9).reasons == [nil])
        let changes = try #require(overlay.changes)
        #expect(changes.records.map(\.isDeleted) == [true] && changes.records.map(\.type) == [Share.recordType])
        #expect(changes.sharing.count == 1 && changes.sharing[0].updatedShare?.endedNumber == changes.changeNumber)
        zone.commit(changes)
        #expect([bob, carol, dave].allSatisfy { zone.permission($0) == [] })
        #expect(zone.living("note") != nil, "records stay")
        #expect(zone.ask(alice, deleting: [Share.zoneWideName]) == [nil], "R-131")
        let again = shareSave(tag: nil, secret: [9])
        #expect(zone.ask(alice, again) == [nil])
        #expect(secret != nil && zone.sharing.secret == secret && zone.permission(carol) == [])
        #expect(zone.living(Share.zoneWideName)?.createdAt == zone.living(Share.zoneWideName)?.modifiedAt, "R-044")
    }

    @Test func `R-305: neither default zones nor the public database have shares`() {
        var zone = TestZone(name: ZoneName.default)
        #expect(zone.ask(alice, shareSave()) == [.zoneNotShareable])
        let inPublic = zone.asked(by: alice, [shareSave()], in: .public)
        #expect(zone.run(inPublic).reasons == [.wrongDatabase])
        let read = ZoneRead(of: [inPublic], in: zone.key, limits: Limits())
        #expect(read.sharing == .nothing, "a public database has no owner whose shares could be read")
    }

    @Test func `R-300: type and name of a zone's CKShare record are those of no other record`() {
        var zone = TestZone()
        let wrong: [(RecordSave, FailureReason)] = [
            (save(Share.zoneWideName), .shareInvalid), (shareSave(type: "Note"), .shareInvalid),
            (shareSave(name: "other", type: "Note"), .shareInvalid),
            // As CKShare(rootRecord:) makes it.
            (shareSave(name: "other"), .shareRootMissing),
            (save("other", type: Share.recordType), .shareRootMissing),
        ]
        for (index, (item, reason)) in wrong.enumerated() {
            for atomic in [false, true] {
                let other: FailureReason? = atomic ? .batchFailed : nil
                let request = zone.asked(by: alice, [item, save("a-\(index)-\(atomic)")], atomic: atomic)
                #expect(zone.run(request).reasons == [reason, other])
            }
        }
        #expect(zone.sharing.shares.isEmpty)
        // A save of its type that says nothing of the share is about its fields, and shares the zone at first.
        let plain = save(Share.zoneWideName, type: Share.recordType).with(freshSecret: [4])
        #expect(zone.ask(alice, plain) == [nil] && zone.sharing.shares.count == 1)
    }

    @Test func `R-300: an older record with the name of a CKShare record is in the way until it is deleted`() throws {
        var zone = TestZone()
        zone.save(save("old"))
        let old = try #require(zone.living("old"))
        zone.records[Share.zoneWideName] = RecordState(
            name: Share.zoneWideName, type: "Item", fields: old.fields, changeNumber: 1, isDeleted: false, parent: nil,
            createdAt: 0, createdBy: alice, createdByDevice: phone, modifiedAt: 0, modifiedBy: alice, batchEnd: 1)
        #expect(zone.ask(alice, shareSave(tag: zone.tag(Share.zoneWideName))) == [.recordTypeChanged])
        #expect(zone.ask(alice, deleting: [Share.zoneWideName]) == [nil])
        #expect(zone.sharing.shares.isEmpty && zone.ask(alice, shareSave()) == [nil])
    }

    @Test func `R-300: no parent, child or deleteSelf reference ends a share or keeps it`() throws {
        var zone = sharedZone()
        let reference = FieldReference(recordName: "note", action: .deleteSelf)
        let holder = try FieldMap([Field("to", .reference(reference))])
        let tag = zone.livingShareTag
        #expect(zone.ask(alice, shareSave(tag: tag, fields: holder)) == [.shareInvalid])
        #expect(zone.ask(alice, shareSave(tag: tag, parent: .set("note"))) == [.shareInvalid])
        for user in [alice, bob, carol] {
            let child = save("child-\(user.rawValue)", parent: .set(Share.zoneWideName))
            #expect(zone.ask(user, child) == [.shareInvalid])
        }
        // An action none may point anywhere.
        let loose = FieldReference(recordName: "note", action: .none)
        let pointer = try FieldMap([Field("to", .reference(loose))])
        #expect(zone.ask(alice, shareSave(tag: tag, fields: pointer)) == [nil])
        #expect(zone.ask(carol, deleting: ["note"]) == [nil] && zone.permission(dave) == .read)
    }

    @Test func `R-331, R-082: a share has fields of its own, which are bounded as those of other records`() {
        var zone = sharedZone()
        zone.limits.recordBytesMax = 100
        let tag = zone.livingShareTag
        #expect(zone.ask(alice, shareSave(tag: tag, [], fields: bigFields(200))) == [.recordTooLarge])
        #expect(zone.permission(carol) == .all, "a save that fails changes no share")
        #expect(zone.ask(alice, shareSave(tag: tag, [], fields: bigFields(20))) == [nil])
        #expect(zone.permission(carol) == [])
    }

    @Test func `R-012, R-331: no schema keeps anybody from sharing a zone`() {
        for isFrozen in [false, true] {
            let schema = ContainerSchema(container: ContainerID(1), version: 1, isFrozen: isFrozen, schema: Schema())
            #expect(schema.verdict(onSaving: fields(["k": 1]), type: Share.recordType) == .fits)
        }
    }

    @Test func `R-151: a batch that fails leaves the share as it is`() {
        var zone = sharedZone()
        let before = zone.sharing
        let failing = save("note", tag: .foreign)
        let items = [shareSave(tag: zone.livingShareTag, []), failing]
        #expect(zone.run(zone.asked(by: alice, items, atomic: true)).reasons == [.batchFailed, .recordChanged])
        let leave = zone.asked(by: dave, [failing], deleting: [Share.zoneWideName], atomic: true)
        #expect(zone.run(leave).reasons == [.notPermitted, .batchFailed])
        #expect(zone.sharing == before)
    }

    @Test func `R-309: a share that is full is refused with the limit`() {
        var zone = TestZone()
        zone.limits.participantsMax = 2
        let request = zone.asked(by: alice, [shareSave([guest(bob), guest(carol)])])
        let failure = zone.run(request).saves.first?.failure
        #expect(failure?.reason == .tooManyParticipants)
        #expect(failure?.detail?.hasSuffix("The limit is 2 participants per share, with the owner.") == true)
    }

    @Test func `R-724: a share whose record was not read is left for another request`() {
        var zone = sharedZone()
        for (user, deletes, atomic, expected) in [
            (alice, false, false, .tooMuchAtOnce), (alice, false, true, .tooMuchStored),
            (carol, true, false, .tooMuchAtOnce), (carol, true, true, .tooMuchStored),
        ] as [(UserID, Bool, Bool, FailureReason)] {
            let saves = deletes ? [] : [shareSave(tag: zone.livingShareTag, [])]
            let request = zone.asked(
                by: user, saves, deleting: deletes ? [Share.zoneWideName] : [], atomic: atomic)
            var snapshot = zone.snapshot(for: request.read(within: Limits()))
            snapshot.records[Share.zoneWideName] = zone.living(Share.zoneWideName)?.withoutFields
            snapshot.unread[Share.zoneWideName] = 10
            let overlay = ZoneOverlay(snapshot: snapshot, store: store, limits: Limits())
            #expect(overlay.apply(request, now: 9).reasons == [expected])
            #expect(overlay.changes?.sharing == [] && overlay.changes?.records == [])
        }
    }

    @Test func `R-300: a zone whose shares are not what its records say answers a fault, and changes nothing`() {
        var zone = sharedZone()
        zone.sharing = ZoneSharing(owner: alice)
        #expect(zone.ask(alice, shareSave(tag: zone.livingShareTag, [])) == [.serverFault])
        var other = sharedZone()
        other.records[Share.zoneWideName] = nil
        #expect(other.ask(alice, shareSave()) == [.serverFault])
        #expect(other.ask(alice, shareSave(secret: [])) == [.serverFault])
        var fresh = TestZone()
        #expect(fresh.ask(alice, shareSave(secret: [])) == [.serverFault], "no two zones may have one URL")
        if case .success = other.act(.leave(carol)) { Issue.record("left without a record") }
    }

    // MARK: What participants may do

    @Test func `R-313: administrators save the CKShare record, and others get no other news of it`() {
        var zone = sharedZone()
        for user in [carol, dave] {
            for tag in [nil, zone.livingShareTag, .foreign] as [ChangeTag?] {
                for policy in SavePolicy.allCases {
                    let request = zone.asked(by: user, [shareSave(tag: tag, [guest(erin)])], policy: policy)
                    let failure = zone.run(request).saves.first?.failure
                    #expect(failure == ItemFailure(.notShareAdministrator))
                }
            }
        }
        let people = [guest(bob, .readWrite, .administrator), guest(erin)]
        #expect(zone.share(with: people, by: bob) == [nil])
        #expect(zone.permission(carol) == [] && zone.living(Share.zoneWideName)?.modifiedBy == bob)
        #expect(zone.living(Share.zoneWideName)?.createdBy == alice)
    }

    @Test func `R-323: who may write creates, changes and deletes; who may read gets permissionFailure for each`() {
        var zone = sharedZone()
        #expect(zone.ask(carol, save("new"), save("note", tag: zone.tag("note"), fields(["k": 3]))) == [nil, nil])
        #expect(zone.ask(carol, deleting: ["new"]) == [nil])
        let before = zone.records
        for policy in SavePolicy.allCases {
            for tag in [nil, zone.tag("note"), .foreign] as [ChangeTag?] {
                let request = zone.asked(by: dave, [save("note", tag: tag)], deleting: [], policy: policy)
                let failure = zone.run(request).saves.first?.failure
                #expect(failure?.reason == .notPermitted && failure?.serverRecord == nil)
                #expect(failure?.detail?.contains("The share lets this user only read.") == true, "no word of roles")
                // A repeat says the same.
                #expect(zone.run(request).saves.first?.failure == failure)
            }
        }
        let new = zone.run(zone.asked(by: dave, [save("new-2")], deleting: ["note"]))
        #expect(new.reasons == [.createNotPermitted, .notPermitted])
        #expect(new.saves.first?.failure?.detail?.contains("The share lets this user only read.") == true)
        #expect(zone.records == before)
    }

    @Test func `R-329: who may only read from now on reads, and writes no more`() throws {
        var zone = sharedZone()
        zone.share(with: [guest(carol, .readOnly)])
        #expect(zone.ask(carol, save("note", tag: zone.tag("note"))) == [.notPermitted])
        let note = try #require(zone.living("note"))
        #expect(zone.found("note", by: carol) == [.success(note)])
        zone.share(with: [guest(carol)])
        #expect(zone.ask(carol, save("note", tag: zone.tag("note"), fields(["k": 4]))) == [nil])
    }

    @Test func `F-11, R-324: a participant is the creator of what they create, for all and in each answer`() throws {
        var zone = sharedZone()
        let made = zone.run(zone.asked(by: carol, [save("hers")]))
        let metadata = try #require(made.saves.first?.metadata)
        #expect(metadata.createdBy == carol && metadata.modifiedBy == carol)
        // She needs no name of herself; the others need hers.
        #expect(try made.get().users(besides: carol).isEmpty && made.get().users(besides: alice) == [carol])
        let names: Set<UserID> = [alice, carol]
        for user in [alice, bob, carol, dave] {
            let others = names.subtracting([user])
            let page = try zone.page(by: user).get()
            #expect(page.entries.first { $0.name == "hers" }?.createdBy == carol)
            #expect(page.entries.users(besides: user) == others)
            #expect(try zone.queried(by: user).get().users(besides: user) == others)
            #expect(try zone.found("hers", by: user)[0].get().createdBy == carol)
        }
        let conflict = zone.run(zone.asked(by: bob, [save("hers", tag: .foreign)]))
        #expect(try conflict.get().users(besides: bob) == [carol])
        #expect(conflict.saves.first?.failure?.serverRecord?.createdBy == carol)
    }

    @Test func `R-355: what a participant's device leaves in the zone is not the owner's, whatever its bits`() {
        var zone = sharedZone()
        #expect(zone.ask(carol, save("hers")) == [nil])
        let device = RecordAccess(scope: .shared, user: carol).marking(phone)
        #expect(zone.records["hers"]?.createdByDevice == device && device != phone)
        #expect(Set(zone.memories.keys).isSuperset(of: [phone, device]))
    }

    @Test func `R-011, R-324: the owner's quota pays, and its figures are the owner's alone`() {
        var zone = sharedZone()
        zone.bytesMax = zone.byteCount + 10
        for (user, hasFigures) in [(alice, true), (bob, false), (carol, false)] {
            let failure = zone.run(zone.asked(by: user, [save("big", bigFields(500))])).saves.first?.failure
            #expect(failure?.reason == .quotaExceeded && (failure?.detail != nil) == hasFigures)
        }
    }

    @Test func `R-743: an asset is a participant's to name if they sent it, or may read a record of the zone with it`()
        throws
    {
        let asset = FieldAsset(sha256: Array(repeating: 7, count: 32), byteCount: 5)
        let content = try FieldMap([Field("file", .asset(asset))])
        let own = ZoneID(70)
        for (holders, isSender, mayName) in [
            ([], false, false), ([], true, true), ([own], false, true), ([ZoneID(71)], false, false),
            ([ZoneID(71), own], false, true),
        ] as [([ZoneID], Bool, Bool)] {
            var zone = sharedZone()
            zone.assets = [asset]
            zone.assetClaims[asset] = AssetClaims(
                senders: isSender ? [carol] : [],
                holders: holders.map { AssetClaims.Holder(name: "x", type: "Item", createdBy: alice, zone: $0) })
            let expected: FailureReason? = mayName ? nil : .assetMissing
            #expect(zone.ask(carol, save("hers", content)) == [expected])
            #expect(zone.ask(alice, save("own", content)) == [nil], "a private database is its owner's as a whole")
        }
        let claims = AssetClaims(holders: [.init(name: "x", type: "Item", createdBy: alice, zone: own)])
        #expect(!claims.allow(RecordAccess(scope: .shared, user: carol)), "nobody can tell here which zone it is")
    }

    // MARK: What is read

    @Test func `I-5: what of the shares is read for requests: nothing for owners, access for others, all for a share`()
    {
        var zone = sharedZone()
        func read(_ requests: RecordsRequest...) -> ZoneRead { ZoneRead(of: requests, in: zone.key, limits: Limits()) }
        let own = zone.asked(by: alice, [save("a")], deleting: ["b"])
        let carols = zone.asked(by: carol, [save("c")])
        let bobs = zone.asked(by: bob, [save("d")])
        let saves = zone.asked(by: alice, [shareSave()])
        let ends = zone.asked(by: alice, deleting: [Share.zoneWideName])
        let leaves = zone.asked(by: bob, deleting: ["x", Share.zoneWideName])
        #expect(read(own).sharing == .nothing)
        #expect(read(zone.asked(by: alice, [save("a")])).isPlain)
        #expect(read(carols).sharing == .access(of: [carol]) && !read(carols).isPlain)
        #expect(read(own, carols, bobs, carols).sharing == .access(of: [bob, carol]))
        let named = ShareChoice(names: [Share.zoneWideName])
        #expect(read(saves).sharing == .people(of: named, and: []), "the people of the share that is saved")
        #expect(read(carols, saves, own, bobs).sharing == .people(of: named, and: [bob, carol]))
        #expect(read(ends).sharing == .access(of: []), "an end writes no people")
        #expect(read(leaves).sharing == .access(of: [bob]), "whoever leaves has a row of their own")
        // To leave is no deletion: the record is read as one that is saved.
        #expect(read(leaves).parentNames == ["x"] && read(leaves).fieldlessNames == ["x"])
        #expect(read(leaves).recordNames == [Share.zoneWideName, "x"])
        #expect(read(ends).parentNames == [Share.zoneWideName] && read(ends).fieldlessNames == [Share.zoneWideName])
    }

    @Test func `R-312: no push brings a CKShare record, which is another for each who sees it`() throws {
        var zone = sharedZone()
        func news(_ request: RecordsRequest) -> ZoneNews? {
            let overlay = overlay(zone, [request])
            _ = overlay.apply(request, now: 9)
            return overlay.changes.flatMap { ZoneNews(of: $0, before: zone.zone, store: store) }
        }
        let titled = zone.asked(by: alice, [shareSave(tag: zone.livingShareTag, fields: fields(["k": 9]))])
        let changed = zone.asked(by: alice, [shareSave(tag: zone.livingShareTag, [])])
        let ended = zone.asked(by: alice, deleting: [Share.zoneWideName])
        #expect([titled, changed, ended].allSatisfy { news($0) == nil })
        #expect(news(zone.asked(by: alice, [save("x")])) != nil)
    }
}
