// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkService

@Suite struct EvaluationTurnsTests {
    @Test func `R-847: a turn ends by the clock, and what is used up is time of the processor`() {
        var turns = EvaluationTurns(turnMax: .milliseconds(2), allMax: .milliseconds(20))
        // On a busy machine a turn of a millisecond takes a second of the clock.
        for turn in 1...20 {
            turns.begin(at: .seconds(turn), used: .milliseconds(turn))
            #expect(!turns.isOver(at: .seconds(turn) + .milliseconds(1)) && turns.isOver(at: .seconds(turn + 1)))
            turns.end(used: .milliseconds(turn + 1))
            #expect(!turns.isUsedUp)
        }
        // Between turns others work.
        turns.begin(at: .seconds(30), used: .seconds(30))
        turns.end(used: .seconds(30) + .milliseconds(1))
        #expect(turns.isUsedUp)
        // what is done beside the loop counts as well.
        var other = EvaluationTurns(turnMax: .milliseconds(2), allMax: .milliseconds(20))
        other.charge(.milliseconds(20))
        #expect(!other.isUsedUp)
        other.charge(.milliseconds(1))
        #expect(other.isUsedUp)
    }
}
