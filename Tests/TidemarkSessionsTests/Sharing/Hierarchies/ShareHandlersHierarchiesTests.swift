// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

/// Whatever people do with shared hierarchies, a server answers what the naive model says, and each device comes to what the
/// model shows its user.
@Suite struct ShareHandlersHierarchiesTests {
    private static let stepCount = 120

    /// - Returns: what is wrong, and at which step; nil: nothing.
    private func live(_ history: inout HierarchyHistory) throws -> String? {
        for step in 0..<Self.stepCount {
            if let difference = try history.step() { return "step \(step): \(difference)" }
        }
        return try history.judge().map { "at the end: \($0)" }
    }

    @Test func `F-7, F-8, F-9, F-10, R-226, R-303, R-323, R-326: a server and the naive model agree`() throws {
        let histories = RandomHistories(of: "shared hierarchies", stepCount: Self.stepCount, count: 100)
        var tally: [String: Int] = [:]
        for seed in histories.seeds {
            var history = try HierarchyHistory(seed: seed)
            if let difference = try live(&history) {
                Issue.record("seed \(seed), \(difference)")
                return
            }
            tally.merge(history.tally, uniquingKeysWith: +)
        }
        guard histories.areMany else { return }
        // Otherwise the histories try less than they should.
        let common = [
            "save: success", "save: permissionFailure", "save: referenceViolation", "save: zoneNotFound", "moved",
            "delete: success", "delete: referenceViolation", "share: success", "share: alreadyShared",
            "share: invalidArguments", "same link", "change of a share: success", "accept: success",
            "accept: unknownItem", "left one", "left all", "share ended", "look-up: found", "look-up: unknownItem",
            "look-up: zoneNotFound", "query: found",
        ]
        #expect(common.filter { tally[$0] == nil } == [], "seed \(histories.seeds[0]): \(tally)")
    }

    @Test(arguments: NaiveHierarchies.Mistake.allCases)
    func `I-5: a mistake in the model is found, so the histories try what it is about`(
        mistake: NaiveHierarchies.Mistake
    ) throws {
        let first = SeededRandom().seed
        for number in 0..<1_000 {
            var history = try HierarchyHistory(seed: first &+ UInt64(number), mistake: mistake)
            // What a mistake makes impossible is no answer that the history expects.
            do {
                if try live(&history) != nil { return }
            } catch {
                return
            }
        }
        Issue.record("seed \(first): \(mistake) was not found")
    }

    @Test func `names are found in bytes, wherever they stand`() {
        let (one, two) = (NameWatch.name(1), NameWatch.name(20))
        let bytes: [UInt8] = [0] + Array(one.utf8) + Array(two.utf8) + Array("secret-00".utf8)
        #expect(NameWatch.names(in: bytes) == [one, two] && NameWatch.names(in: []) == [])
    }
}
