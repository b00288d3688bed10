// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// What becomes of records that a transaction did not read, because all of them together are too large.
@Suite struct ZoneOverlayStoredBytesTests {
    private let reference = Field("to", .reference(FieldReference(recordName: "t", action: .deleteSelf)))

    /// Decides on a zone in which the fields of some records were not read.
    private func overlay(_ zone: TestZone, _ request: RecordsRequest, unread: String...) -> ZoneOverlay {
        var snapshot = zone.snapshot(for: request.read(within: Limits()))
        for name in unread {
            snapshot.unread[name] = snapshot.records[name]?.fields.byteCount
            snapshot.records[name] = snapshot.records[name]?.withoutFields
        }
        return ZoneOverlay(snapshot: snapshot, store: store, limits: Limits())
    }

    @Test func `R-724: what was not read is left for another request, but in an atomic batch it is too much`() {
        var zone = TestZone()
        zone.save(save("a"), save("b"))
        let saves = [save("a", fields(["k": 2])), save("b", fields(["k": 2])), save("new")]
        for (atomic, reasons) in [
            (false, [nil, .tooMuchAtOnce, nil]), (true, [.batchFailed, .tooMuchStored, .batchFailed]),
        ] as [(Bool, [FailureReason?])] {
            let request = zone.request(saves: saves, policy: .changedKeys, atomic: atomic)
            let overlay = overlay(zone, request, unread: "b")
            #expect(overlay.apply(request, now: 1).reasons == reasons)
            #expect(overlay.changes?.records.map(\.name) == (atomic ? [] : ["a", "new"]))
        }
    }

    @Test func `R-724, R-111: a record that was not read is never told as a conflict without its fields`() throws {
        var zone = TestZone()
        zone.save(save("a"))
        let request = zone.request(saves: [save("a")])
        #expect(overlay(zone, request, unread: "a").apply(request, now: 1).reasons == [.tooMuchAtOnce])
        // a conflict that is remembered is told again. The client fetches the record.
        zone.run(request)
        let failure = try #require(overlay(zone, request, unread: "a").apply(request, now: 1).saves.first?.failure)
        #expect(failure.reason == .recordExists && failure.serverRecord == nil)
    }

    @Test func `R-724, R-133, R-706: a record is deleted unread, with its references and its bytes`() throws {
        var zone = TestZone()
        zone.save(save("t"), save("a", type: "Holder", try FieldMap([reference])))
        let request = zone.request(deletes: ["a"])
        let overlay = overlay(zone, request, unread: "a")
        #expect(overlay.apply(request, now: 1).reasons == [nil])
        let changes = try #require(overlay.changes)
        #expect(changes.references == ReferenceChanges(dropped: ["a"]))
        let fieldBytes = try #require(zone.living("a")).fields.byteCount
        #expect(changes.byteGrowth == -Int64(fieldBytes + "a".utf8.count + "Holder".utf8.count + 128))
        #expect(changes.assetUses.map(\.removesUnread) == [true])
    }

    @Test func `R-724, R-133: a save that waits may keep its record out of a cascade, so the delete waits too`() throws
    {
        var zone = TestZone()
        zone.save(save("t"), save("x", type: "Holder", try FieldMap([reference])))
        let free = save("x", type: "Holder", try FieldMap([Field("to", .string("nobody"))]))
        let request = zone.request(saves: [free], deletes: ["t"], policy: .allKeys)
        let overlay = overlay(zone, request, unread: "x")
        #expect(overlay.apply(request, now: 1).reasons == [.tooMuchAtOnce, .tooMuchAtOnce])
        #expect(overlay.changes?.records.isEmpty == true)
    }

    @Test func `R-724, R-136: nothing is deleted if some parents may have children that nobody knows`() {
        var zone = TestZone()
        zone.save(save("p"), save("q"))
        let request = zone.request(saves: [save("new")], deletes: ["p", "q", "never"])
        var snapshot = zone.snapshot(for: request.read(within: Limits()))
        snapshot.areChildrenCut = true
        let overlay = ZoneOverlay(snapshot: snapshot, store: store, limits: Limits())
        #expect(overlay.apply(request, now: 1).reasons == [nil, .cascadeTooLarge, .cascadeTooLarge, nil])
    }

    @Test func `R-724: the fields of records are needed if they are saved, not if they are deleted or parents`() {
        var zone = TestZone()
        let request = zone.request(
            saves: [save("a", parent: .set("p")), save("b", parent: .set("a"))], deletes: ["d", "_odd"])
        let other = zone.request(saves: [save("d")])
        let alone = request.read(within: Limits())
        #expect(alone.recordNames.map { alone.fieldlessNames.contains($0) } == [false, false, true, true])
        #expect(alone.storedBytesMax == Limits().storedBytesMax)
        let both = ZoneRead(of: [request, other], in: zone.key, limits: Limits())
        #expect(both.recordNames.map { both.fieldlessNames.contains($0) } == [false, false, false, true])
    }

    @Test func `R-724, R-170: a fetch ends before the first record that was not read, unless it may not be seen`() {
        var zone = TestZone()
        zone.save(save("a"), save("b"), save("c"))
        var snapshot = ZoneSnapshot(key: zone.key, zone: zone.zone, records: zone.records)
        snapshot.unread["b"] = 10
        func names(_ names: String..., by access: RecordAccess) -> [String?] {
            snapshot.lookUp(names, by: access, within: Limits()).map { try? $0.get().name }
        }
        #expect(names("a", "never", "b", "c", by: .owner(alice)) == ["a", nil])
        #expect(names("a", "b", "c", by: RecordAccess(scope: .shared, user: alice)) == [nil, nil, nil])
    }
}
