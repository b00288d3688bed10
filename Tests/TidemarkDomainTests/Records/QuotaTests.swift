// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// What a database with a quota takes, and how what it holds is counted.
@Suite struct QuotaTests {
    /// Fields of so many bytes.
    private func content(_ byteCount: Int) -> FieldMap {
        let around = bigFields(1).byteCount - 1
        let fields = bigFields(byteCount - around)
        precondition(fields.byteCount == byteCount)
        return fields
    }

    private func zone(holding names: String..., of byteCount: Int = 40, bytesMax: Int64 = 100) -> TestZone {
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
        let saves = [save("a", content(60)), save("b", content(41)), save("c", content(40)), save("d", content(12))]
        let request = zone.request(saves: saves)
        #expect(zone.run(request).reasons == [nil, .quotaExceeded, nil, .quotaExceeded])
        #expect(zone.byteCount == 100 && zone.living("b") == nil)
        #expect(zone.run(request).reasons == [nil, .quotaExceeded, nil, .quotaExceeded], "remembered (R-157)")
        // Without fields, nothing is larger than before.
        #expect(zone.save(save("empty", FieldMap())).reasons == [nil])
    }

    @Test func `R-011: a database that is full or has too much takes what does not make it larger`() {
        for bytesMax in [80, 79, 0] as [Int64] {
            var zone = zone(holding: "a", "b", bytesMax: bytesMax)
            func update(_ byteCount: Int) -> [FailureReason?]? {
                zone.save(save("a", content(byteCount)), policy: .changedKeys).reasons
            }
            #expect(update(41) == [.quotaExceeded])
            #expect(zone.living("a")?.fields == content(40))
            #expect(update(40) == [nil] && update(30) == [nil] && update(12) == [nil])
            #expect(zone.delete("a", "never").reasons == [nil, nil])
            #expect(zone.byteCount == 40)
        }
    }

    @Test func `R-011: what is deleted makes room for the next request, also of the same transaction`() {
        var zone = zone(holding: "a", "b")
        let moving = zone.request(saves: [save("c", content(40))], deletes: ["a"])
        #expect(zone.run(moving).reasons == [.quotaExceeded, nil])
        #expect(zone.save(save("c", content(40))).reasons == [nil])
        let freeing = zone.request(deletes: ["b"])
        let filling = zone.request(saves: [save("d", content(40)), save("e", content(40))])
        #expect(zone.run([freeing, filling]).map(\.reasons) == [[nil], [nil, .quotaExceeded]])
        #expect(zone.byteCount == 80)
    }

    @Test func `R-011, R-151: an atomic batch that does not fit fails as a whole`() {
        var zone = zone(holding: "a", "b")
        let batch = zone.request(
            saves: [save("a", tag: zone.tag("a"), fields(["k": 1])), save("c", content(40))], deletes: ["b"],
            atomic: true)
        #expect(zone.run(batch).reasons == [.batchFailed, .quotaExceeded, .batchFailed])
        #expect(zone.byteCount == 80)
    }

    @Test func `R-011, R-120: who would hang on a record that does not fit is over quota, and says why`() throws {
        for isAtomic in [false, true] {
            var zone = zone(holding: "a", "b")
            let family = zone.request(
                saves: [
                    save("g", FieldMap(), parent: .set("c")), save("c", FieldMap(), parent: .set("p")),
                    save("p", content(40)), save("alone", FieldMap()),
                ], atomic: isAtomic)
            let outcome = zone.run(family)
            let alone: FailureReason? = isAtomic ? .batchFailed : nil
            #expect(outcome.reasons == [.quotaExceeded, .quotaExceeded, .quotaExceeded, alone])
            guard case .failed(let failure)? = outcome.saves.first else { throw QuotaTestError.saved }
            let text = try #require(failure.detail)
            #expect(text.contains("holds 80 of 100 bytes, and this needs 40 more"), "\(text)")
            #expect(text.ranges(of: "its parent").count == 1, "said once")
            #expect(zone.run(family).reasons == outcome.reasons, "remembered (R-157)")
        }
    }

    @Test func `R-706, R-133: what a deletion takes along is counted, though nobody has read its fields`() throws {
        var zone = zone(holding: "t")
        let reference = FieldReference(recordName: "t", action: .deleteSelf)
        zone.bytesMax = nil
        zone.save(save("holder", type: "Holder", try FieldMap([Field("to", .reference(reference))])))
        #expect(zone.byteCount > 40)
        zone.delete("t")
        #expect(zone.living("holder") == nil && zone.byteCount == 0)
    }

    @Test func `R-011: the error says with how much the database is full, and what can be done`() throws {
        var zone = zone(holding: "a", "b")
        guard case .failed(let failure)? = zone.save(save("c", content(21))).saves.first else {
            throw QuotaTestError.saved
        }
        let text = try #require(failure.detail)
        #expect(text.contains("holds 80 of 100 bytes, and this needs 21 more"), "\(text)")
        #expect(text.contains("Delete what is not needed") && text.contains("tidemark admin containers quota"))
    }

    private enum QuotaTestError: Error { case saved }
}
