// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkWire

@testable import TidemarkKit

@Suite struct ChangeNumbersTests {
    @Test func `R-157: the server is told to remember every change that may be asked for again`() {
        var numbers = ChangeNumbers()
        let first = numbers.stamp(nonce: 11, epoch: 7, lowestUnanswered: nil)
        #expect(first.counter == 1 && first.lowestUnanswered == 1 && first.epoch == 7 && first.nonce == 11)
        numbers.keep(first)
        let second = numbers.stamp(nonce: 12, epoch: 7, lowestUnanswered: 2)
        #expect(second.counter == 2 && second.lowestUnanswered == 1, "the first one is kept")
        let taken = numbers.take(nonce: 11)
        #expect(taken == first, "a repeat has the stamp of the first sending")
        let again = numbers.take(nonce: 11)
        #expect(again == nil)
        let third = numbers.stamp(nonce: 13, epoch: 7, lowestUnanswered: 2)
        #expect(third.lowestUnanswered == 2, "the second one waits for its answer")
        let fourth = numbers.stamp(nonce: 14, epoch: 7, lowestUnanswered: nil)
        #expect(fourth.counter == 4 && fourth.lowestUnanswered == 4)
    }

    @Test func `R-157: what became of a change of an earlier life cannot be asked for`() {
        var numbers = ChangeNumbers()
        let first = numbers.stamp(nonce: 11, epoch: 7, lowestUnanswered: nil)
        numbers.keep(first)
        numbers.beginLife()
        #expect(numbers.hasLost(nonce: 11) && !numbers.hasLost(nonce: 12))
        let taken = numbers.take(nonce: 11)
        #expect(taken == nil)
        let next = numbers.stamp(nonce: 12, epoch: 7, lowestUnanswered: nil)
        #expect(next.counter == 1 && next.lowestUnanswered == 1, "a life begins with 1")
        numbers.forget(nonce: 11)
        #expect(!numbers.hasLost(nonce: 11))
    }
}
