// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkTestSupport

/// Whatever people do with the sharing of a zone, the rules must say what the naive model says. Environment:
/// - `TIDEMARK_SEEDS`: how many histories of 100 steps; unless set as many as take some three seconds.
/// - `TIDEMARK_TEST_SEED`: the seed of the only one.
@Suite struct ZoneSharingHistoryTests {
    private static let stepCount = 100

    @Test
    func
        `R-304, R-308, R-309, R-311, R-312, R-313, R-317, R-330, R-970, R-972 … R-976: the rules and the naive model agree`()
    {
        let environment = ProcessInfo.processInfo.environment
        let isReplay = environment["TIDEMARK_TEST_SEED"] != nil
        let historyCount = isReplay ? 1 : Int(environment["TIDEMARK_SEEDS"] ?? "") ?? 150
        let first = SeededRandom().seed
        var tried: Set<SharingHistory.Trial> = []
        var refusals: Set<FailureReason> = []
        for number in 0..<historyCount {
            let seed = first &+ UInt64(number)
            var history = SharingHistory(seed: seed)
            for step in 0..<Self.stepCount {
                guard let difference = history.step() else { continue }
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
            refusals.formUnion(history.refusals)
            tried.formUnion(history.tried)
        }
        guard historyCount >= 100 else { return }
        // Otherwise the histories try less than they should.
        #expect(
            refusals == [
                .zoneNotFound, .hierarchiesUnavailable, .participantInvalid, .notShareAdministrator, .recordExists,
                .recordChanged, .recordMissing, .tooManyParticipants, .participantsFixed, .shareUnknown, .shareIsOwn,
                .tooManyBlocked, .alreadyInvited,
            ], "seed \(first)")
        let missing = SharingHistory.Trial.all.subtracting(tried)
        // Each is tried some ten times in as many histories, and chance may leave out one.
        #expect(missing.count <= 2, "\(missing), seed \(first)")
    }

    @Test(arguments: PlantedSharingMistake.allCases)
    func `I-5: the naive model finds a planted mistake`(mistake: PlantedSharingMistake) {
        let first = SeededRandom().seed
        let isFound = (0..<300).contains { number in
            var history = SharingHistory(seed: first &+ UInt64(number), mistake: mistake)
            return (0..<Self.stepCount).contains { _ in history.step() != nil }
        }
        #expect(isFound, "seed \(first)")
    }
}
