// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// What a database with a quota takes, and how what it holds is counted.
@Suite struct StorageQuotaTests {
    /// What a record of a one-letter name and of the type that `save` gives it counts beside its fields.
    private static let besideFields = 128 + 1 + 4

    /// Fields with which such a record counts so many bytes.
    private func content(_ byteCount: Int) -> FieldMap {
        let fieldBytes = byteCount - Self.besideFields
        let around = bigFields(fieldBytes).byteCount - fieldBytes
        let fields = bigFields(fieldBytes - around)
        precondition(fields.byteCount == fieldBytes)
        return fields
    }

    private func zone(holding names: String..., of byteCount: Int = 400, bytesMax: Int64 = 1_000) -> TestZone {
        var zone = TestZone()
        for name in names { zone.save(save(name, content(byteCount))) }
        zone.bytesMax = bytesMax
        return zone
    }

    @Test(
        arguments: [
            (0, 100, 100, true), (0, 100, 101, false), (60, 100, 40, true), (60, 100, 41, false), (100, 100, 1, false),
            (100, 100, 0, true), (100, 100, -1, true), (500, 100, 0, true), (500, 100, -1, true), (500, 100, 1, false),
            (0, 0, 0, true), (0, 0, 1, false), (0, .max, .max, true), (5, 10, .max, false),
        ] as [(Int64, Int64, Int64, Bool)])
    func `R-011: what grows must fit, and what does not grow always does`(
        byteCount: Int64, bytesMax: Int64, growth: Int64, hasRoom: Bool
    ) {
        #expect(StorageUse(byteCount: byteCount, bytesMax: bytesMax).hasRoom(for: growth) == hasRoom)
    }

    @Test func `R-011: saves take what room there is in their order, and a smaller one may still fit`() {
        var zone = zone()
        let saves = [save("a", content(600)), save("b", content(401)), save("c", content(400)), save("d", FieldMap())]
        let request = zone.request(saves: saves)
        #expect(zone.run(request).reasons == [nil, .quotaExceeded, nil, .quotaExceeded])
        #expect(zone.byteCount == 1_000 && zone.living("b") == nil)
        #expect(zone.run(request).reasons == [nil, .quotaExceeded, nil, .quotaExceeded], "remembered (R-157)")
    }

    @Test func `R-011: a database that is full or has too much takes what does not make it larger`() {
        for bytesMax in [800, 799, 0] as [Int64] {
            var zone = zone(holding: "a", "b", bytesMax: bytesMax)
            func update(_ byteCount: Int) -> [FailureReason?]? {
                zone.save(save("a", content(byteCount)), policy: .changedKeys).reasons
            }
            #expect(update(401) == [.quotaExceeded])
            #expect(zone.living("a")?.fields == content(400))
            #expect(update(400) == [nil] && update(300) == [nil] && update(200) == [nil])
            #expect(zone.delete("a", "never").reasons == [nil, nil])
            #expect(zone.byteCount == 400)
        }
    }

    @Test func `R-706: a record counts its fields, its name, type and parent's name, and 128 bytes more`() {
        var zone = TestZone()
        func growth(_ change: (inout TestZone) -> Void) -> Int64 {
            let before = zone.byteCount
            change(&zone)
            return zone.byteCount - before
        }
        #expect(growth { $0.save(save("p", type: "Folder", FieldMap())) } == 128 + 1 + 6)
        #expect(growth { $0.save(save("name", content(200), parent: .set("p"))) } == 200 + 3 + 1)
        #expect(growth { $0.save(save("long parent", FieldMap())) } == 128 + 11 + 4)
        #expect(growth { $0.save(save("name", FieldMap(), parent: .set("long parent")), policy: .changedKeys) } == 10)
        #expect(growth { $0.save(save("name", FieldMap(), parent: .removed), policy: .changedKeys) } == -11)
        #expect(growth { $0.delete("name") } == -203)
        #expect(growth { $0.save(save("name", type: "Longer", FieldMap())) } == 128 + 4 + 6, "another type than before")
        #expect(growth { $0.delete("name", "never") } == -138)
        #expect(growth { $0.delete("name") } == 0)
    }

    @Test func `R-011: records without fields are refused once their names fill the quota, and so is a longer parent`()
    {
        var zone = zone()
        let names = (0..<3).map { String(repeating: "\($0)", count: 255) }
        let request = zone.request(saves: names.map { save($0, FieldMap()) })
        #expect(zone.run(request).reasons == [nil, nil, .quotaExceeded])
        #expect(zone.byteCount == 2 * (128 + 255 + 4))
        zone.bytesMax = zone.byteCount + 254
        func move(to parent: ParentChange) -> [FailureReason?]? {
            zone.save(save(names[1], FieldMap(), parent: parent), policy: .changedKeys).reasons
        }
        #expect(move(to: .set(names[0])) == [.quotaExceeded])
        zone.bytesMax = zone.byteCount + 255
        #expect(move(to: .set(names[0])) == [nil])
        zone.bytesMax = 0
        #expect(move(to: .removed) == [nil])
    }

    @Test func `R-011: a full database can be emptied and filled again, however often`() {
        var zone = zone()
        for round in 0..<5 {
            let names = (0..<4).map { "\(round)-\($0)-" + String(repeating: "n", count: 196) }
            let outcome = zone.save(
                save(names[0], FieldMap()), save(names[1], FieldMap()), save(names[2], FieldMap()),
                save(names[3], FieldMap()))
            #expect(outcome.reasons == [nil, nil, nil, .quotaExceeded], "round \(round)")
            #expect(zone.delete(names[0], names[1], names[2]).reasons == [nil, nil, nil])
            #expect(zone.byteCount == 0)
        }
    }

    @Test func `R-755: a tombstone counts its name and 128 bytes, as long as it is there`() {
        var zone = TestZone()
        zone.save(save("p"), save("child", parent: .set("p")), save("other"))
        #expect(zone.tombstoneBytes == 0)
        zone.delete("child")
        zone.delete("child", "never")
        #expect(zone.tombstoneBytes == 128 + 5)
        zone.delete("p", "other")
        #expect(zone.tombstoneBytes == 3 * 128 + 5 + 1 + 5)
        zone.save(save("child"))
        #expect(zone.tombstoneBytes == 2 * 128 + 1 + 5)
        let both = [zone.request(saves: [save("new")]), zone.request(deletes: ["new", "child"])]
        zone.run(both)
        #expect(zone.tombstoneBytes == 4 * 128 + 1 + 5 + 3 + 5)
    }

    @Test(
        arguments: [
            (nil, nil, .max, false), (5_000, nil, 5_000, false), (5_000, nil, 5_001, true), (nil, 5_000, 5_001, true),
            (6_000, 5_000, 5_001, true), (5_000, 6_000, 5_001, true), (5_000, 6_000, 5_000, false),
            (0, nil, 1_000, false), (0, nil, 1_001, true),
        ] as [(Int64?, Int64?, Int64, Bool)])
    func `R-755: tombstones may have as many bytes as the smaller quota, and some in any case`(
        ofDatabase: Int64?, ofAccount: Int64?, tombstoneBytes: Int64, isTooMuch: Bool
    ) {
        var snapshot = ZoneSnapshot(key: ZoneKey(database: database, name: "Notes"))
        snapshot.storageUse = ofDatabase.map { StorageUse(byteCount: 0, bytesMax: $0) }
        snapshot.accountUse = ofAccount.map {
            AccountUse(account: AccountID(1), use: StorageUse(byteCount: 0, bytesMax: $0, isOfAccount: true))
        }
        snapshot.tombstoneBytes = tombstoneBytes
        var limits = Limits()
        limits.tombstoneBytesMin = 1_000
        #expect(snapshot.hasTooManyTombstones(within: limits) == isTooMuch)
    }

    @Test func `R-011: what is deleted makes room for the next request, also of the same transaction`() {
        var zone = zone(holding: "a", "b")
        let moving = zone.request(saves: [save("c", content(400))], deletes: ["a"])
        #expect(zone.run(moving).reasons == [.quotaExceeded, nil])
        #expect(zone.save(save("c", content(400))).reasons == [nil])
        let freeing = zone.request(deletes: ["b"])
        let filling = zone.request(saves: [save("d", content(400)), save("e", content(400))])
        #expect(zone.run([freeing, filling]).map(\.reasons) == [[nil], [nil, .quotaExceeded]])
        #expect(zone.byteCount == 800)
    }

    @Test func `R-011, R-151: an atomic batch that does not fit fails as a whole`() {
        var zone = zone(holding: "a", "b")
        let batch = zone.request(
            saves: [save("a", tag: zone.tag("a"), fields(["k": 1])), save("c", content(400))], deletes: ["b"],
            atomic: true)
        #expect(zone.run(batch).reasons == [.batchFailed, .quotaExceeded, .batchFailed])
        #expect(zone.byteCount == 800)
    }

    @Test func `R-011, R-120: who would hang on a record that does not fit is over quota, and says why`() throws {
        for isAtomic in [false, true] {
            var zone = zone(holding: "a", "b", bytesMax: 1_300)
            let family = zone.request(
                saves: [
                    save("g", FieldMap(), parent: .set("c")), save("c", FieldMap(), parent: .set("p")),
                    save("p", content(400)), save("alone", FieldMap()),
                ], atomic: isAtomic)
            let outcome = zone.run(family)
            let alone: FailureReason? = isAtomic ? .batchFailed : nil
            #expect(outcome.reasons == [.quotaExceeded, .quotaExceeded, .quotaExceeded, alone])
            guard case .failed(let failure)? = outcome.saves.first else { throw QuotaTestError.saved }
            let text = try #require(failure.detail)
            #expect(text.contains("holds 1068 of 1300 bytes, and this needs 400 more"), "\(text)")
            #expect(text.ranges(of: "its parent").count == 1, "said once")
            #expect(zone.run(family).reasons == outcome.reasons, "remembered (R-157)")
        }
    }

    @Test func `R-706, R-133: what a deletion takes along is counted, though nobody has read its fields`() throws {
        var zone = zone(holding: "t")
        let reference = FieldReference(recordName: "t", action: .deleteSelf)
        zone.bytesMax = nil
        zone.save(save("holder", type: "Holder", try FieldMap([Field("to", .reference(reference))])))
        #expect(zone.byteCount > 400)
        zone.delete("t")
        #expect(zone.living("holder") == nil && zone.byteCount == 0)
    }

    @Test func `R-011: the error says with how much the database is full, and what can be done`() throws {
        var zone = zone(holding: "a", "b")
        guard case .failed(let failure)? = zone.save(save("c", content(201))).saves.first else {
            throw QuotaTestError.saved
        }
        let text = try #require(failure.detail)
        #expect(text.contains("holds 800 of 1000 bytes, and this needs 201 more"), "\(text)")
        #expect(text.contains("Delete what is not needed") && text.contains("tidemark admin containers set-quota"))
    }

    private enum QuotaTestError: Error { case saved }
}
