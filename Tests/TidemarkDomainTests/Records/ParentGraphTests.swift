// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@Suite struct ParentGraphTests {
    /// A grandparent, its child and grandchild: g ← p ← c; and a record alone.
    private func family() -> TestZone {
        var zone = TestZone()
        zone.save(save("g"), save("p", parent: .set("g")), save("c", parent: .set("p")), save("alone"))
        return zone
    }

    private func check(
        _ saves: [RecordSave], deletes: [String] = [], _ expected: [FailureReason?],
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        var zone = family()
        let request = zone.request(saves: saves, deletes: deletes, policy: .changedKeys)
        #expect(zone.run(request).reasons == expected, sourceLocation: sourceLocation)
        for record in zone.records.values {
            guard let parent = record.parent else { continue }
            #expect(zone.living(parent) != nil, "\(record.name) hangs in the air", sourceLocation: sourceLocation)
        }
        // Atomically the same culprits, and nothing happens if there is one.
        var other = family()
        let before = other.records
        let atomic = other.request(saves: saves, deletes: deletes, policy: .changedKeys, atomic: true)
        let failed = expected.contains { $0 != nil }
        #expect(
            other.run(atomic).reasons == expected.map { $0 ?? (failed ? .batchFailed : nil) },
            sourceLocation: sourceLocation)
        if failed { #expect(other.records == before, sourceLocation: sourceLocation) }
    }

    @Test func `R-080: a parent must exist on the server or in the request`() {
        check([save("n", parent: .set("g"))], [nil])
        check([save("n", parent: .set("none"))], [.parentMissing])
        check([save("n", parent: .set("m")), save("m")], [nil, nil])
    }

    @Test func `R-119: parents may come after their children, and one that fails is no parent`() {
        check([save("n", parent: .set("m")), save("m", parent: .set("l")), save("l")], [nil, nil, nil])
        check(
            [save("n", parent: .set("m")), save("m", parent: .set("l")), save("l", type: "1")],
            [.recordTypeInvalid, .recordTypeInvalid, .recordTypeInvalid])
        // A parent whose save fails is still there if it was there.
        check([save("n", parent: .set("g")), save("g", type: "Other")], [nil, .recordTypeChanged])
    }

    @Test func `R-728: a long line of ancestors is followed once, however many saves are refused`() {
        var zone = TestZone()
        zone.save(save("l0"))
        // Each save is refused in a round of its own, because the one before it is.
        let refused = (0..<300).map { save("r\($0)", parent: .set($0 == 0 ? "none" : "r\($0 - 1)")) }
        let saves = refused + [save("low", parent: .set("l20000")), save("l0", parent: .set("low"))]
        let request = zone.request(saves: saves, policy: .changedKeys)
        var snapshot = zone.snapshot(for: request.read(within: Limits()))
        for index in 1...20_000 {
            snapshot.records["l\(index)"] = RecordState(
                name: "l\(index)", type: "Note", fields: FieldMap(), changeNumber: 1, isDeleted: false,
                parent: "l\(index - 1)", createdAt: 0, createdBy: alice, createdByDevice: phone, modifiedAt: 0,
                modifiedBy: alice, batchEnd: 1)
        }
        let overlay = ZoneOverlay(snapshot: snapshot, store: store, limits: Limits())
        let start = ContinuousClock.now
        let reasons = overlay.apply(request, now: 1_000).reasons
        #expect(ContinuousClock.now - start < .seconds(5), "it takes much longer to follow it 300 times")
        #expect(reasons == refused.map { _ in .parentMissing } + [.parentCycle, .parentCycle])
    }

    @Test func `R-080: a parent can be changed and removed, and a record created anew has none`() {
        var zone = family()
        zone.save(save("c", tag: zone.tag("c"), FieldMap(), parent: .set("g")))
        #expect(zone.living("c")?.parent == "g")
        zone.save(save("c", tag: zone.tag("c"), fields(["k": 2])))
        #expect(zone.living("c")?.parent == "g")
        zone.save(save("c", tag: zone.tag("c"), FieldMap(), parent: .removed))
        #expect(zone.living("c")?.parent == nil)
        zone.save(save("c", tag: zone.tag("c"), FieldMap(), parent: .set("p")))
        zone.delete("c")
        zone.save(save("c"))
        #expect(zone.living("c")?.parent == nil)
    }

    @Test func `R-081: no record becomes its own ancestor`() {
        check([save("alone", parent: .set("alone"))], [.parentCycle])
        check([save("new", parent: .set("new"))], [.parentCycle])
        check([save("p", parent: .set("c"))], [.parentCycle])
        check([save("x", parent: .set("y")), save("y", parent: .set("x"))], [.parentCycle, .parentCycle])
        // Whether the request names the records on the way or not.
        check([save("g", parent: .set("c")), save("n", parent: .set("p"))], [.parentCycle, nil])
        check([save("g", parent: .set("c"))], [.parentCycle])
        // Turning a family round is no cycle.
        check([save("p", parent: .removed), save("g", parent: .set("p"))], [nil, nil])
    }

    @Test func `R-081, R-117: what others of its group name decides nothing for a request`() {
        var (alone, grouped) = (family(), family())
        // The second would close a circle over p, which only the first names.
        let requests = [
            alone.request(saves: [save("n", parent: .set("p"))], policy: .changedKeys),
            alone.request(saves: [save("g", parent: .set("c"))], policy: .changedKeys),
        ]
        #expect(requests.map { alone.run($0) } == grouped.run(requests))
        #expect(alone.records == grouped.records)
    }

    @Test func `R-081: who only hangs on a cycle fails with it, or not at all`() {
        check(
            [save("x", parent: .set("y")), save("y", parent: .set("x")), save("z", parent: .set("x"))],
            [.parentCycle, .parentCycle, .parentCycle])
        check(
            [save("alone", parent: .set("y")), save("y", parent: .set("alone")), save("z", parent: .set("alone"))],
            [.parentCycle, .parentCycle, nil])
    }

    @Test func `R-136: a record that is somebody's parent is not deleted`() {
        check([], deletes: ["p"], [.stillParent])
        check([], deletes: ["c"], [nil])
        // A save in the same request makes a parent as well; nothing is lost.
        check([save("n", parent: .set("alone"))], deletes: ["alone"], [nil, .stillParent])
        check([save("n", parent: .set("none"))], deletes: ["none"], [.parentMissing, nil])
    }

    @Test func `R-136, R-137: deleting the children in the same request is enough, in any order`() {
        check([], deletes: ["g", "p", "c"], [nil, nil, nil])
        check([], deletes: ["c", "p", "g"], [nil, nil, nil])
        check([], deletes: ["g", "c"], [.stillParent, nil])
        check([save("c", parent: .removed)], deletes: ["p"], [nil, nil])
        check([save("c", parent: .set("g"))], deletes: ["p"], [nil, nil])
        // A child that cannot be deleted keeps its parents.
        check(
            [save("n", parent: .set("c"))], deletes: ["g", "p", "c"], [nil, .stillParent, .stillParent, .stillParent])
    }

    @Test func `R-136: earlier requests of a group count`() {
        var zone = family()
        let results = zone.run([
            zone.request(deletes: ["c"]),
            zone.request(deletes: ["p"]),
            zone.request(saves: [save("n", parent: .set("alone"))]),
            zone.request(deletes: ["alone"]),
            zone.request(saves: [save("n2", parent: .set("p"))]),
        ])
        #expect(results.map(\.reasons) == [[nil], [nil], [nil], [.stillParent], [.parentMissing]])
    }

    /// Every level fails because the one above it does: the worst that a request can ask for.
    @Test func `I-6: a long chain of references is decided in time`() {
        var zone = TestZone()
        let names = (0..<400).map { "n\($0)" }
        let saves = names.indices.map { save(names[$0], parent: .set($0 == 399 ? "none" : names[$0 + 1])) }
        let reasons = zone.run(zone.request(saves: saves)).reasons
        #expect(reasons == Array(repeating: .parentMissing, count: 400))
        zone.run(
            zone.request(saves: names.indices.map { save(names[$0], parent: $0 == 0 ? .removed : .set("n\($0 - 1)")) }))
        #expect(zone.records.count == 400)
        #expect(
            zone.run(zone.request(deletes: Array(names.dropLast()))).reasons?.allSatisfy { $0 == .stillParent } == true)
        #expect(zone.run(zone.request(deletes: names)).reasons?.allSatisfy { $0 == nil } == true)
    }
}
