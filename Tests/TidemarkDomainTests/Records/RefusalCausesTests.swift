// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

/// What an item says that fails because another item of its request failed.
@Suite struct RefusalCausesTests {
    /// What tells an app what to do with that very record is said of that record alone.
    private static let ofOneRecord: [FailureReason] = [.recordExists, .recordChanged, .recordMissing]

    private func said(by cause: FailureReason, else own: FailureReason) -> FailureReason {
        Self.ofOneRecord.contains(cause) ? own : cause
    }

    @Test(arguments: FailureReason.allCases, [false, true])
    func `R-120, R-080: children of a refused parent say its reason, near and far, in any order`(
        reason: FailureReason, isAtomic: Bool
    ) {
        let saves = [
            save("p", fieldsFailure: reason), save("c", parent: .set("p")), save("g", parent: .set("c")), save("alone"),
        ]
        for order in [[0, 1, 2, 3], [2, 1, 0, 3], [1, 3, 0, 2], [2, 0, 1, 3]] {
            var zone = TestZone()
            let reasons = zone.run(zone.request(saves: order.map { saves[$0] }, atomic: isAtomic)).reasons
            let child = said(by: reason, else: .parentMissing)
            let all = [reason, child, child, isAtomic ? .batchFailed : nil]
            #expect(reasons == order.map { all[$0] }, "\(order)")
        }
    }

    /// A line of descendants could otherwise make an answer longer by the square of its length (I-7).
    @Test func `R-120: the text of a descendant is as long as that of a child`() throws {
        let names = (0..<50).map { "r\($0)" }
        let saves = zip(names, names.dropFirst()).map { save($1, parent: .set($0)) }
        var zone = TestZone()
        let outcome = zone.run(zone.request(saves: [save("r0", fieldsFailure: .quotaExceeded)] + saves))
        let texts = outcome.saves.dropFirst().map { $0.failure?.detail }
        #expect(texts.count == 49 && Set(texts).count == 1 && texts.first != .some(nil))
    }

    @Test(arguments: FailureReason.allCases)
    func `R-120, R-136: a delete says why its record's child could not be moved out of the way`(reason: FailureReason) {
        var zone = TestZone()
        zone.save(save("p"), save("q"), save("c", parent: .set("p")), save("d", parent: .set("p")))
        func delete(_ saves: [RecordSave], deletes: [String] = ["p"]) -> [FailureReason?]? {
            var zone = zone
            return zone.run(zone.request(saves: saves, deletes: deletes, policy: .changedKeys)).reasons
        }
        let expected = said(by: reason, else: .stillParent)
        let moving = save("c", FieldMap(), parent: .set("q"), fieldsFailure: reason)
        // no delete goes ahead of a save that is left for another request, whatever is in its way.
        let other = reason == .tooMuchAtOnce ? reason : nil
        #expect(delete([moving], deletes: ["p", "d"]) == [reason, expected, other])
        let freeing = save("c", FieldMap(), parent: .removed, fieldsFailure: reason)
        #expect(delete([freeing, save("d", FieldMap(), parent: .removed)]) == [reason, nil, expected])
        guard reason != .tooMuchAtOnce else { return }
        // The other child is in the way whatever becomes of this one.
        #expect(delete([moving]) == [reason, .stillParent])
        // It would not have been moved.
        let staying = save("c", fields(["k": 2]), fieldsFailure: reason)
        #expect(delete([staying], deletes: ["p", "d"]) == [reason, .stillParent, nil])
    }

    @Test func `R-120, R-139: a delete says why its record's child could not be deleted`() {
        var zone = TestZone(name: ZoneName.default)
        zone.save(save("p"), save("p2"), user: bob)
        zone.save(save("c", parent: .set("p")), user: alice)
        zone.save(save("d", parent: .set("p2")), user: bob)
        let request = zone.request(deletes: ["p", "c", "p2", "d", "none"], user: bob)
            .with(access: RecordAccess(scope: .public, user: bob), refusals: [])
        #expect(zone.run(request).reasons == [.notPermitted, .notPermitted, nil, nil, nil])
        let alone = zone.request(deletes: ["p"], user: bob)
            .with(access: RecordAccess(scope: .public, user: bob), refusals: [])
        #expect(zone.run(alone).reasons == [.stillParent])
    }

    @Test(arguments: FailureReason.allCases)
    func `R-120, R-081: who stays on a circle because another was not taken off it says that one's reason`(
        reason: FailureReason
    ) {
        var zone = TestZone()
        zone.save(save("a"), save("b", parent: .set("a")), save("x", parent: .set("b")))
        let off = save("b", FieldMap(), parent: .removed, fieldsFailure: reason)
        let turned = save("a", FieldMap(), parent: .set("x"))
        #expect(
            zone.run(zone.request(saves: [off, turned], policy: .changedKeys)).reasons
                == [reason, said(by: reason, else: .parentCycle)])
        // It would have been a circle anyhow.
        let kept = save("b", fields(["k": 2]), fieldsFailure: reason)
        #expect(
            zone.run(zone.request(saves: [kept, turned], policy: .changedKeys)).reasons == [reason, .parentCycle])
    }

    /// Families with faults of every kind: whoever says that its parent is missing has none that the request failed to save.
    @Test func `R-120: no item says less than why the item failed on which it depends`() {
        var random = SeededRandom()
        let faults: [FailureReason?] = [
            .fieldsInvalid, .recordMissing, .assetMissing, .recordChanged, nil, nil, nil, nil,
        ]
        for _ in 0..<3_000 {
            var zone = TestZone()
            zone.save(save("n0"), save("n1", parent: .set("n0")))
            zone.bytesMax = Int64.random(in: 20...80, using: &random)
            let names = (0..<7).map { "n\($0)" }.shuffled(using: &random)
            let saves = names.prefix(5).map { name in
                let parent = names.randomElement(using: &random).map { ParentChange.set($0) } ?? .unchanged
                return save(
                    name, bigFields(Int.random(in: 0...30, using: &random)),
                    parent: Bool.random(using: &random) ? parent : .unchanged,
                    fieldsFailure: faults.randomElement(using: &random) ?? nil)
            }
            let before = zone
            let reasons = zone.run(zone.request(saves: saves, policy: .allKeys)).reasons ?? []
            let reasonOf = Dictionary(uniqueKeysWithValues: zip(saves.map(\.name), reasons))
            for (save, reason) in zip(saves, reasons) {
                guard save.fieldsFailure == nil, case .set(let parent) = save.parent, before.living(parent) == nil,
                    let cause = reasonOf[parent] ?? .parentMissing
                else { continue }
                let allowed: Set<FailureReason> = [.quotaExceeded, said(by: cause, else: .parentMissing), .parentCycle]
                #expect(reason.map(allowed.contains) == true, "\(save.name): \(reason as Any), seed \(random.seed)")
                if reason == .parentMissing {
                    #expect([.parentMissing, .recordMissing, .recordChanged].contains(cause), "seed \(random.seed)")
                }
            }
        }
    }
}
