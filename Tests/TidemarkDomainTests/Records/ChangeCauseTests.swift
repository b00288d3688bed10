// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// Which request is stored with which change.
@Suite struct ChangeCauseTests {
    private func cause(_ number: UInt64) -> ChangeCause { ChangeCause(high: 0x8000, low: number) }

    /// Decides requests as one group, each with its cause, and keeps what they change.
    ///
    /// - Returns: the names of the records that were written.
    @discardableResult
    private func run(_ requests: [(RecordsRequest, ChangeCause?)], on zone: inout TestZone) throws -> [String] {
        let read = ZoneRead(of: requests.map(\.0), in: zone.key, limits: Limits())
        let overlay = ZoneOverlay(snapshot: zone.snapshot(for: read), store: store, limits: Limits())
        for (request, cause) in requests { _ = try overlay.apply(request, now: 1_000, cause: cause).get() }
        guard let changes = overlay.changes else { return [] }
        zone.commit(changes)
        return changes.records.map(\.name)
    }

    @Test func `R-918: each request of a group is the cause of its own changes`() throws {
        var zone = TestZone()
        zone.save(save("old"), save("x", fields(["k": 1])))
        #expect(zone.records["old"]?.cause == nil)
        try run(
            [
                (zone.request(saves: [save("a"), save("b")], atomic: true), cause(1)),
                (zone.request(saves: [save("b", fields(["k": 2]))], policy: .changedKeys), cause(2)),
                (zone.request(deletes: ["old"]), cause(3)),
                (zone.request(saves: [save("x", fields(["k": 2]))], policy: .changedKeys), nil),
            ], on: &zone)
        #expect(zone.records["a"]?.cause == cause(1))
        #expect(zone.records["b"]?.cause == cause(2), "the last change counts")
        #expect(zone.records["old"]?.isDeleted == true && zone.records["old"]?.cause == cause(3))
        #expect(zone.records["x"]?.cause == nil)
        // A later change takes the place of the cause, also if nobody knows its own.
        zone.save(save("a", fields(["k": 7])), policy: .changedKeys)
        #expect(zone.records["a"]?.changeNumber == 8 && zone.records["a"]?.cause == nil)
    }

    @Test func `R-918: a save that changes nothing, and a repeat, leave the record with the request that changed it`()
        throws
    {
        var zone = TestZone()
        let first = zone.request(saves: [save("a")], policy: .changedKeys)
        let written = try run([(first, cause(1))], on: &zone)
        #expect(written == ["a"])
        let same = zone.request(saves: [save("a")], policy: .changedKeys)
        let rewritten = try run([(same, cause(2)), (first, cause(3))], on: &zone)
        #expect(rewritten.isEmpty)
        #expect(zone.records["a"]?.changeNumber == 1 && zone.records["a"]?.cause == cause(1))
    }

    @Test func `R-918: what a cascade deletes has the request that deleted its target`() throws {
        var zone = TestZone()
        let reference = Field("to", .reference(FieldReference(recordName: "t", action: .deleteSelf)))
        zone.save(save("t"), save("holder", type: "Holder", try FieldMap([reference])))
        let written = try run([(zone.request(deletes: ["t"]), cause(5))], on: &zone)
        #expect(written.sorted() == ["holder", "t"])
        #expect(zone.records["holder"]?.isDeleted == true)
        #expect(["holder", "t"].allSatisfy { zone.records[$0]?.cause == cause(5) })
    }

    @Test func `R-918: a share that ends has the request that ended it`() throws {
        var zone = TestZone()
        zone.records[Share.zoneWideName] = record(type: Share.recordType, name: Share.zoneWideName, cause: cause(1))
        let plan = ShareAction.end.plan(
            on: zone.snapshot(for: ShareAction.end.read(of: zone.key)), store: store, now: 2, limits: Limits(),
            cause: cause(2))
        let ended = try #require(try plan.get().changes?.records.first)
        #expect(ended.isDeleted && ended.cause == cause(2))
    }

    @Test func `R-918: no rule sees what made a version`() {
        let (one, other) = (record(cause: cause(1)), record(cause: cause(2)))
        #expect(one == other && one == record(cause: nil))
        #expect(one.withoutFields.cause == cause(1))
    }

    @Test func `R-918: the requests of a session are all between two UUIDs, and no others are`() {
        let range = ChangeCause(high: 5, low: 77).session
        #expect(range.contains(ChangeCause(high: 5, low: 0)) && range.contains(ChangeCause(high: 5, low: .max)))
        #expect(!range.contains(ChangeCause(high: 4, low: .max)) && !range.contains(ChangeCause(high: 6, low: 0)))
    }

    private func record(type: String = "Item", name: String = "a", cause: ChangeCause?) -> RecordState {
        RecordState(
            name: name, type: type, fields: fields(["k": 1]), changeNumber: 1, isDeleted: false, parent: nil,
            createdAt: 1, createdBy: alice, createdByDevice: phone, modifiedAt: 1, modifiedBy: alice, batchEnd: 1,
            cause: cause)
    }
}
