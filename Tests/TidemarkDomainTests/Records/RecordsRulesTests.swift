// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@Suite struct RecordsRulesTests {
    // MARK: Versions and dates

    @Test func `R-045: modification dates grow strictly, also when the clock stands or goes back`() {
        var zone = TestZone()
        var dates: [Timestamp] = []
        for (index, now) in [1_000, 1_000, 500, 2_000, 1_999].enumerated() {
            zone.save(
                save("r", fields(["k": Int64(index)])), policy: .changedKeys, now: Timestamp(milliseconds: Int64(now)))
            if let record = zone.living("r") { dates.append(record.modifiedAt) }
        }
        #expect(dates == [1_000, 1_001, 1_002, 2_000, 2_001])
        zone.delete("r", now: 0)
        #expect(zone.records["r"]?.modifiedAt == 2_002)
    }

    @Test func `R-044: a record that is created anew has a new creation date and creator`() {
        var zone = TestZone()
        zone.save(save("r"), now: 1_000)
        zone.delete("r", now: 1_000)
        zone.save(save("r", type: "Other"), device: laptop, user: bob, now: 1_000)
        let record = zone.living("r")
        #expect(record?.createdAt == 1_002 && record?.createdBy == bob && record?.createdByDevice == laptop)
        #expect(record?.type == "Other")
    }

    @Test func `R-114: a save that changes nothing answers the current version and makes no new one`() {
        for policy in SavePolicy.allCases {
            var zone = TestZone()
            zone.save(save("p"), save("r", fields(["k": 1]), parent: .set("p")))
            let before = zone
            let same = [
                save("r", tag: zone.tag("r"), FieldMap()),
                save("r", tag: zone.tag("r"), fields(["k": 1, "gone": nil]), parent: .set("p")),
            ]
            for item in same {
                let request = zone.request(saves: [item], policy: policy, device: laptop)
                let overlay = ZoneOverlay(
                    snapshot: zone.snapshot(for: request.read(within: Limits())), store: store,
                    limits: Limits())
                let metadata = overlay.apply(request, now: 9_000).saves.first?.metadata
                #expect(metadata?.changeNumber == before.records["r"]?.changeNumber)
                #expect(metadata?.modifiedAt == before.records["r"]?.modifiedAt)
                #expect(overlay.changes?.records == [] && overlay.movedBy.isEmpty)
                #expect(overlay.changes?.memories[laptop] != nil, "remembered all the same")
            }
        }
    }

    @Test func `R-063: removed keys go`() {
        var zone = TestZone()
        zone.save(save("r", fields(["a": 1, "b": 2])))
        zone.save(save("r", tag: zone.tag("r"), fields(["a": nil])))
        #expect(zone.living("r")?.fields == fields(["b": 2]))
    }

    // MARK: What is refused as a whole

    @Test func `R-116: two changes to one record refuse the request`() {
        for (saves, deletes) in [(["a", "a"], []), (["a"], ["a"]), ([], ["a", "a"])] as [([String], [String])] {
            var zone = TestZone()
            let request = zone.request(saves: saves.map { save($0) }, deletes: deletes)
            #expect(request.refusal(within: Limits()) == .itemRepeated)
            #expect(zone.run(request).refusal == .itemRepeated)
            #expect(zone.records.isEmpty && zone.memories.isEmpty)
        }
    }

    @Test func `R-155: items and bytes of a request are limited, over all its zones`() {
        var zone = TestZone()
        zone.limits.itemsMax = 3
        zone.limits.requestBytesMax = 1_000
        let names = ["a", "b", "c", "d"]
        #expect(zone.run(zone.request(saves: names.map { save($0) })).refusal == .tooManyItems)
        #expect(zone.run(zone.request(saves: [save("a"), save("b")], deletes: ["c", "d"])).refusal == .tooManyItems)
        #expect(zone.run(zone.request(saves: names[..<3].map { save($0) })).refusal == nil)
        let big = zone.request(saves: [save("x", bigFields(600)), save("y", bigFields(600))])
        #expect(zone.run(big).refusal == .requestTooLarge)
        #expect(zone.run(zone.request(saves: [save("x", bigFields(600))])).reasons == [nil])

        var other = TestZone(name: "Other")
        let two = zone.request(saves: names[..<2].map { save($0) })
        let twoMore = other.request(saves: names[..<2].map { save($0) })
        #expect(RecordsRequest.refusal(of: [two, twoMore], within: zone.limits) == .tooManyItems)
        #expect(RecordsRequest.refusal(of: [two, two], within: Limits()) == .itemRepeated)
        #expect(RecordsRequest.refusal(of: [two, twoMore], within: Limits()) == nil)
    }

    @Test func `R-116: zones of two owners may have one name, and the same records`() {
        func part(in database: DatabaseID) -> RecordsRequest {
            RecordsRequest(
                id: stamp(1), key: ZoneKey(database: database, name: "Notes"), saves: [save("a")], deletes: [],
                policy: .allKeys, isAtomic: false, user: alice, access: .owner(alice))
        }
        let other = DatabaseID(database.rawValue + 1)
        #expect(RecordsRequest.refusal(of: [part(in: database), part(in: other)], within: Limits()) == nil)
        #expect(RecordsRequest.refusal(of: [part(in: other), part(in: other)], within: Limits()) == .itemRepeated)
    }

    @Test func `R-157: a stamp that no device can have made is refused`() {
        for id in [stamp(0, waitingFor: 0), stamp(3, waitingFor: 4)] {
            let request = RecordsRequest(
                id: id, key: ZoneKey(database: database, name: "Notes"), saves: [], deletes: [], policy: .allKeys,
                isAtomic: true, user: alice, access: .owner(alice))
            #expect(request.refusal(within: Limits()) == .requestInvalid)
        }
    }

    @Test func `R-020: a zone that cannot exist is not looked for`() {
        for name in ["", "_zone", "Zürich", "a\u{0}", String(repeating: "z", count: 256)] {
            var zone = TestZone(name: name)
            #expect(zone.save(save("r")).refusal == .zoneNameInvalid)
        }
    }

    // MARK: Order of failures

    /// Each row has all the faults of the rows below it as well.
    @Test func `Failures of a request win in their order`() {
        var limits = Limits()
        limits.itemsMax = 2
        limits.requestBytesMax = 100
        func refusal(stamp id: RequestID, _ saves: [RecordSave]) -> FailureReason? {
            RecordsRequest(
                id: id, key: ZoneKey(database: database, name: "_"), saves: saves, deletes: [], policy: .allKeys,
                isAtomic: false, user: alice, access: .owner(alice)
            ).refusal(within: limits)
        }
        let big = save("a", bigFields(200))
        #expect(refusal(stamp: stamp(0), [big, big, big]) == .requestInvalid)
        #expect(refusal(stamp: stamp(1), [big, big, big]) == .tooManyItems)
        #expect(refusal(stamp: stamp(1), [big, big]) == .requestTooLarge)
        #expect(refusal(stamp: stamp(1), [save("a"), save("a")]) == .itemRepeated)
        #expect(refusal(stamp: stamp(1), [save("a")]) == .zoneNameInvalid)
    }

    @Test func `Failures of a save win in their order`() {
        var zone = TestZone()
        zone.limits.recordBytesMax = 100
        zone.save(save("r"), save("s"))
        let big = bigFields(200)
        let tag = zone.tag("r")
        let rows: [(RecordSave, FailureReason?)] = [
            (save("_r", type: "1", big, parent: .set("_"), fieldsFailure: .fieldsInvalid), .recordNameInvalid),
            (save("r", type: "1", big, parent: .set("_"), fieldsFailure: .fieldsInvalid), .recordNameInvalid),
            (save("r", type: "1", big, parent: .set("x"), fieldsFailure: .fieldsInvalid), .recordTypeInvalid),
            (save("r", type: "Other", big, parent: .set("x"), fieldsFailure: .fieldsInvalid), .fieldsInvalid),
            (save("r", type: "Other", big, parent: .set("x")), .recordTypeChanged),
            (save("r", big, parent: .set("x")), .recordExists),
            (save("r", tag: .foreign, big, parent: .set("x")), .recordChanged),
            (save("new", tag: .foreign, big, parent: .set("x")), .recordMissing),
            (save("r", tag: tag, big, parent: .set("x")), .recordTooLarge),
            (save("r", tag: tag, parent: .set("x")), .parentMissing),
            (save("r", tag: tag, parent: .set("r")), .parentCycle),
            (save("r", tag: tag, parent: .set("s")), nil),
        ]
        for (item, reason) in rows {
            for atomic in [false, true] {
                var copy = zone
                #expect(copy.save(item, atomic: atomic).reasons == [reason])
            }
        }
    }

    @Test func `R-105: a missing zone wins over faults of an item, but not over those of the request`() {
        var zone = TestZone(exists: false)
        #expect(zone.save(save("_bad")).reasons == [.zoneNotFound])
        #expect(zone.save(save("a"), save("a")).refusal == .itemRepeated)
    }

    // MARK: Names, types, sizes

    @Test func `R-040, R-041: bad names and types fail their item alone and are not looked up`() {
        var zone = TestZone()
        let request = zone.request(
            saves: [save("_x"), save("ok"), save("y", type: "a b"), save("z", parent: .set("ü"))],
            deletes: ["", "gone"])
        #expect(request.read(within: Limits()).recordNames == ["gone", "ok", "y", "z"])
        #expect(request.read(within: Limits()).parentNames == ["gone"])
        #expect(
            zone.run(request).reasons
                == [.recordNameInvalid, nil, .recordTypeInvalid, .recordNameInvalid, .recordNameInvalid, nil])
        #expect(zone.records.keys.sorted() == ["ok"])
    }

    @Test func `R-108: a type never changes, whatever the policy`() {
        for policy in SavePolicy.allCases {
            var zone = TestZone()
            zone.save(save("r"))
            for tag in [nil, zone.tag("r")] {
                #expect(zone.save(save("r", type: "Other", tag: tag), policy: policy).reasons == [.recordTypeChanged])
            }
        }
    }

    @Test func `R-058: a user record has its user's name and type, is saved by its user alone, and stays`() {
        let (mine, other) = ("_" + String(repeating: "1", count: 32), "_" + String(repeating: "2", count: 32))
        var zone = TestZone(name: ZoneName.default)
        func own(_ name: String, type: String = RecordType.users) -> RecordSave {
            RecordSave(
                name: name, type: type, tag: nil, fields: fields([:]), parent: .unchanged, isOwnUser: true)
        }
        #expect(zone.save(own(mine)).reasons == [nil])
        #expect(zone.living(mine)?.type == RecordType.users)
        #expect(zone.save(own(mine)).reasons == [.recordExists])
        #expect(zone.save(own(mine, type: "Note")).reasons == [.recordTypeInvalid])
        #expect(zone.save(save(other, type: RecordType.users)).reasons == [.notPermitted])
        #expect(
            zone.save(save(other), save("_x", type: RecordType.users)).reasons == [
                .recordNameInvalid, .recordNameInvalid,
            ])
        #expect(zone.save(save("me", type: RecordType.users)).reasons == [.recordTypeInvalid])
        #expect(zone.delete(mine, other).reasons == [.notPermitted, .notPermitted])
        #expect(zone.living(mine) != nil)
        // Whatever is granted, everybody has one; and only they change it.
        let closed = [RecordType.users: Grants([.creator: .write])]
        let request = zone.request(saves: [own(other)], user: bob)
            .with(access: RecordAccess(scope: .public, user: bob, grants: closed), refusals: [])
        #expect(zone.run(request).reasons == [nil])
        #expect(RecordName.isUser(mine) && !RecordName.isUser("_1") && !RecordName.isUser(mine.uppercased() + "A"))
    }

    @Test func `R-082: the size of a record is judged as it would be after the save`() {
        var zone = TestZone()
        zone.limits.recordBytesMax = 320
        zone.save(save("r", bigFields(250)))
        #expect(zone.save(save("r", fields(["more": 1, "evenMore": 2])), policy: .changedKeys).reasons == [nil])
        var rest = fields([:])
        for key in ["x", "y", "z"] { rest = rest.merging(fields(["\(key)aaaaaaaaaaaaaaaaaaaaaaaaaa": 1])) }
        #expect(zone.save(save("r", rest), policy: .changedKeys).reasons == [.recordTooLarge])
        #expect(zone.save(save("r", fields(["big": nil])), policy: .changedKeys).reasons == [nil])
        let refused = zone.save(save("new", bigFields(320)))
        #expect(refused.reasons == [.recordTooLarge])
        let count = bigFields(320).byteCount
        let text = refused.saves.first?.failure?.detail
        #expect(text?.hasSuffix("The limit is 320 bytes of fields per record, and this has \(count).") == true)
    }

    // MARK: Deletes

    @Test func `R-130, R-131: deleting compares no tag, and what is not there is deleted already`() {
        var zone = TestZone()
        zone.save(save("r", fields(["a": 1])), device: laptop)
        #expect(zone.delete("r", "never").reasons == [nil, nil])
        let tombstone = zone.records["r"]
        #expect(tombstone?.isDeleted == true && tombstone?.fields.isEmpty == true)
        // what the feed has to know of it stays.
        #expect(tombstone?.type == "Item" && tombstone?.createdByDevice == laptop)
        #expect(zone.records["never"] == nil)
        let number = zone.zone?.changeNumber
        #expect(number == 2)
        zone.delete("r")
        #expect(zone.zone?.changeNumber == number && zone.records["r"] == tombstone)
    }

    // MARK: Atomic batches

    @Test func `R-150, R-151: in an atomic request one failure fails all, and nothing is applied`() {
        var zone = TestZone()
        zone.save(save("r"), save("same"))
        let before = zone
        let request = zone.request(
            saves: [save("new"), save("r"), save("same", tag: zone.tag("same"))], deletes: ["same2"], atomic: true)
        let outcome = zone.run(request)
        #expect(outcome.reasons == [.batchFailed, .recordExists, .batchFailed, .batchFailed])
        #expect(outcome.saves[1].failure?.serverRecord == before.records["r"])
        #expect(zone.records == before.records && zone.zone == before.zone)
        let apart = zone.request(saves: [save("new"), save("r")], atomic: false)
        #expect(zone.run(apart).reasons == [nil, .recordExists])
        #expect(zone.living("new") != nil)
    }

    @Test func `R-025, R-150: the default zone has no atomic batches`() {
        var zone = TestZone(name: ZoneName.default)
        zone.save(save("r"))
        #expect(zone.save(save("a"), save("b"), save("r"), atomic: true).reasons == [nil, nil, .recordExists])
        #expect(zone.living("a")?.batchEnd == 2 && zone.living("b")?.batchEnd == 3)
    }

    @Test func `I-3: change numbers grow by one, and an atomic batch knows its end`() {
        var zone = TestZone()
        zone.save(save("a"), save("b"))
        let batch = zone.request(saves: [save("c"), save("d")], deletes: ["a"], atomic: true)
        zone.run(batch)
        let rows = zone.records.values.sorted { $0.changeNumber < $1.changeNumber }
        #expect(rows.map(\.name) == ["b", "c", "d", "a"])
        #expect(rows.map(\.changeNumber) == [2, 3, 4, 5])
        #expect(rows.map(\.batchEnd) == [2, 5, 5, 5])
    }

    @Test func `R-248: only devices whose requests changed something have moved the zone`() {
        var zone = TestZone()
        zone.save(save("r"))
        let requests = [
            zone.request(saves: [save("r")], device: laptop),
            zone.request(saves: [save("s")], device: phone),
            zone.request(deletes: ["never"], device: DeviceID(high: 3, low: 3)),
        ]
        let read = ZoneRead(of: requests, in: zone.key, limits: Limits())
        #expect(read.lives == [phone, laptop, DeviceID(high: 3, low: 3)])
        let overlay = ZoneOverlay(snapshot: zone.snapshot(for: read), store: store, limits: Limits())
        for request in requests { _ = overlay.apply(request, now: 1) }
        #expect(overlay.movedBy == [phone])
        #expect(overlay.changes?.memories.count == 3)
    }

    // MARK: Fetching

    @Test func `R-029, R-170: records by name, in the order of the names`() {
        var zone = TestZone()
        zone.save(save("a", bigFields(100)), save("b", bigFields(100)), save("c"))
        zone.delete("c")
        let snapshot = ZoneSnapshot(key: zone.key, zone: zone.zone, records: zone.records)
        func reasons(_ names: [String], bytesMax: Int = 1_000) -> [FailureReason?] {
            snapshot.lookUp(names, by: .owner(alice), within: answers(of: bytesMax)).map { result in
                if case .failure(let reason) = result { reason } else { nil }
            }
        }
        #expect(reasons(["b", "c", "x", "_", "a"]) == [nil, .recordUnknown, .recordUnknown, .recordNameInvalid, nil])
        #expect(reasons(["a", "x", "b", "x"], bytesMax: 150) == [nil, .recordUnknown])
        #expect(reasons(["a"], bytesMax: 1) == [nil])
        let gone = ZoneSnapshot(key: zone.key, lastRemoval: .purged)
        #expect(gone.lookUp(["a"], by: .owner(alice), within: answers(of: 1)) == [.failure(.zonePurged)])
    }
}
