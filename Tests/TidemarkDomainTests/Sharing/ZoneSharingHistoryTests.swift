// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

/// Whatever people do with the sharing of a zone, the rules must say what the naive model says.
@Suite struct ZoneSharingHistoryTests {
    private static let stepCount = 100

    @Test
    func
        `R-304, R-308, R-309, R-311, R-312, R-313, R-317, R-330, R-970, R-972 … R-976: the rules and the naive model agree`()
    {
        let histories = RandomHistories(of: "sharing of a zone", stepCount: Self.stepCount, count: 150)
        var tried: Set<SharingHistory.Trial> = []
        var refusals: Set<FailureReason> = []
        for seed in histories.seeds {
            var history = SharingHistory(seed: seed)
            for step in 0..<Self.stepCount {
                guard let difference = history.step() else { continue }
                Issue.record("seed \(seed), step \(step): \(difference)")
                return
            }
            refusals.formUnion(history.refusals)
            tried.formUnion(history.tried)
        }
        guard histories.areMany else { return }
        // Otherwise the histories try less than they should.
        #expect(
            refusals == [
                .zoneNotFound, .hierarchiesUnavailable, .participantInvalid, .notShareAdministrator, .recordExists,
                .recordChanged, .recordMissing, .tooManyParticipants, .participantsFixed, .shareUnknown, .shareIsOwn,
                .tooManyBlocked, .alreadyInvited,
            ], "seed \(histories.seeds[0])")
        let missing = SharingHistory.Trial.all.subtracting(tried)
        // Each is tried some ten times in as many histories, and chance may leave out one.
        #expect(missing.count <= 2, "\(missing), seed \(histories.seeds[0])")
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
