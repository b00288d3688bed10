// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFields

@testable import TidemarkDomain

/// How many records the rules look at for moves in shared hierarchies, however they are nested. Times are not measured.
struct HierarchyVisitsTests {
    private static let moveCount = 40
    private static let leafCount = 300
    private var zone = TestZone.ofHierarchies()

    /// c0 > c1 > … > c39 in the share of a, with many leaves below c0; and x, which is shared too.
    init() {
        zone.ask(alice, save("a"), save("x"))
        zone.share("a", as: "S", with: bob)
        zone.share("x", as: "T", with: bob)
        let chain = (0..<Self.moveCount).map { place in
            save("c\(place)", parent: .set(place == 0 ? "a" : "c\(place - 1)"))
        }
        zone.run(zone.request(saves: chain))
        zone.run(zone.request(saves: (0..<Self.leafCount).map { save("l\($0)", parent: .set("c0")) }))
    }

    /// The chain the other way round, below x: all leaves are below each of the records that move.
    private var reversal: [RecordSave] {
        (0..<Self.moveCount).map { place in
            zone.saveAgain("c\(place)", parent: .set(place == Self.moveCount - 1 ? "x" : "c\(place + 1)"))
        }
    }

    @Test mutating func `R-978: each record is covered once a request, however many above it move`() throws {
        let recordCount = Self.moveCount + Self.leafCount
        let request = zone.request(saves: reversal, policy: .changedKeys)
        let snapshot = zone.snapshot(for: request.read(within: zone.limits))
        var table = try #require(ZoneTable(snapshot, store: store))
        let plan = RecordsPlan(request, on: table, use: nil, limits: zone.limits, now: 1_000)
        #expect(!plan.isRefusedInPart && plan.hierarchyRoundCount == 0)
        // Twice to cover them, and three times at most to count what is below those that move.
        #expect(plan.hierarchyVisitCount <= 5 * recordCount)
        let outcome = plan.carryOut(request, on: &table, asBatch: false, now: 1_000)
        #expect(outcome.saves.allSatisfy { $0.reason == nil })
        let hierarchies = try #require(table.hierarchies)
        #expect(hierarchies.visitCount <= 2 * recordCount)
        let share = zone.sharing.hierarchy(rootNamed: "x")?.number
        for name in ["c0", "c39", "l0", "l299"] { #expect(hierarchies.share(of: name) == share) }
        zone.commit(table.changes(in: database, limits: zone.limits))
        #expect(zone.wronglyCovered == [])
    }

    @Test mutating func `R-978: a move within one share writes nothing of what is below it`() throws {
        let number = try #require(zone.zone?.changeNumber)
        #expect(zone.ask(alice, zone.saveAgain("c0", parent: .set("a")), policy: .changedKeys) == [nil])
        #expect(zone.ask(alice, zone.saveAgain("c1", parent: .set("a")), policy: .changedKeys) == [nil])
        #expect(zone.zone?.changeNumber == number + 1 && zone.wronglyCovered == [])
    }

    @Test mutating func `R-978: below a record whose parent stays, and below a root that stays one, nothing is read`() {
        func moved(_ saves: [RecordSave], deletes: [String] = []) -> [String] {
            let read = zone.request(saves: saves, deletes: deletes, policy: .changedKeys).read(within: zone.limits)
            return zone.snapshot(for: read).movedNames(for: read)
        }
        let kept = [zone.saveAgain("c0", parent: .set("a")), zone.saveAgain("a", parent: .removed)]
        #expect(moved(kept).isEmpty)
        #expect(moved(kept + [zone.saveAgain("c1", parent: .set("x")), save("c2", parent: .removed)]) == ["c1", "c2"])
        #expect(moved([save("new", parent: .set("a"))]) == ["new"])
        let share = hierarchySave("S", root: "a", tag: zone.tag("S"))
        #expect(moved([share]).isEmpty)
        #expect(moved([hierarchySave("C", root: "c0"), zone.saveAgain("c0")]) == ["c0"])
        // What a request deletes, a later one of its group may share again.
        #expect(moved([share], deletes: ["x"]) == ["a"])
        // To a participant the root has no parent.
        zone.ask(alice, save("top"))
        #expect(zone.ask(alice, zone.saveAgain("a", parent: .set("top")), policy: .changedKeys) == [nil])
        let edit = zone.asked(by: bob, [save("a", parent: .removed)], policy: .changedKeys)
        let his = edit.read(within: zone.limits)
        #expect(zone.snapshot(for: his).movedNames(for: his).isEmpty)
        let group = [zone.saveAgain("c5", parent: .set("x")), zone.saveAgain("c5", parent: .set("c4"))]
            .map { zone.request(saves: [$0]) }
        let read = ZoneRead(of: group, in: zone.key, limits: zone.limits)
        #expect(zone.snapshot(for: read).movedNames(for: read) == ["c5"])
    }

    @Test mutating func `R-978: rounds of refusals are bounded, and what is left is asked for in parts`() throws {
        // d0 > d1 > … > d12 > r, which is shared. All d come under x. Each refusal leaves a root below the next one.
        let count = 13
        zone.run(
            zone.request(saves: (0..<count).map { save("d\($0)", parent: $0 == 0 ? .unchanged : .set("d\($0 - 1)")) }))
        zone.ask(alice, save("r", parent: .set("d12")))
        zone.share("r", as: "R", with: bob)
        let before = zone.zone?.changeNumber
        let saves = (0..<count).map { zone.saveAgain("d\($0)", parent: .set("x")) }
        let request = zone.request(saves: saves, policy: .changedKeys)
        let table = try #require(ZoneTable(zone.snapshot(for: request.read(within: zone.limits)), store: store))
        let plan = RecordsPlan(request, on: table, use: nil, limits: zone.limits, now: 1_000)
        #expect(plan.hierarchyRoundCount == 9 && plan.hierarchyVisitCount <= 9 * 4 * (count + 1))
        let reasons: [FailureReason?] =
            Array(repeating: .tooMuchAtOnce, count: 5) + Array(repeating: .alreadyShared, count: 8)
        #expect(zone.run(request).reasons == reasons)
        #expect(zone.zone?.changeNumber == before && zone.wronglyCovered == [])
        // Fewer are told what is wrong with each.
        let few = zone.request(saves: Array(saves.suffix(6)), policy: .changedKeys)
        #expect(zone.run(few).reasons == Array(repeating: .alreadyShared, count: 6))
    }
}
