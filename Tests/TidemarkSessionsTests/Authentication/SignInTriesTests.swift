// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkSessions

@Suite struct SignInTriesTests {
    private typealias Place = SignInTries.Place

    @Test func `R-926: after a burst of failures there is one try in each interval`() {
        for place in [Place.network("4/7f000001"), .credential([1])] {
            var tries = SignInTries()
            for _ in 0..<place.burst {
                #expect(tries.wait([place], now: .seconds(9)) == nil)
                tries.failed([place], now: .seconds(9))
            }
            #expect(tries.wait([place], now: .seconds(9)) == place.interval)
            let later = Duration.seconds(9) + place.interval
            #expect(tries.wait([place], now: later) == nil)
            tries.failed([place], now: later)
            #expect(tries.wait([place], now: later) == place.interval)
            #expect(tries.wait([place], now: later + place.interval * (place.burst + 1)) == nil)
        }
    }

    /// A thousand connections of one address may try before the first of them has failed.
    @Test func `R-926: however many tries fail at once, the wait is about a minute`() {
        for place in [Place.network("4/7f000001"), .credential([1])] {
            var tries = SignInTries()
            for _ in 0..<5_000 { tries.failed([place], now: .seconds(9)) }
            let wait = tries.wait([place], now: .seconds(9)) ?? .zero
            #expect(wait > .seconds(59) && wait < .seconds(63), "\(wait)")
            let later = Duration.seconds(9) + wait
            #expect(tries.wait([place], now: later) == nil)
            tries.failed([place], now: later)
            #expect(tries.wait([place], now: later) == place.interval)
        }
    }

    @Test func `R-926: an office with a hundred devices of a disabled account locks itself out of nothing`() {
        var tries = SignInTries()
        let place = Place.network("4/1")
        // Each tries once in 45 seconds.
        for second in 0..<3_600 {
            for _ in 0..<(second.isMultiple(of: 45) ? 90 : 0) {
                #expect(tries.wait([place], now: .seconds(second)) == nil)
                tries.failed([place], now: .seconds(second))
            }
        }
    }

    @Test func `R-926: places do not count for each other, and the longest wait holds`() {
        var tries = SignInTries()
        let (one, other) = (Place.credential([1]), Place.credential([2]))
        for _ in 0..<40 { tries.failed([one], now: .zero) }
        for _ in 0..<31 { tries.failed([other], now: .zero) }
        #expect(tries.wait([one], now: .zero) == .seconds(22) && tries.wait([other], now: .zero) == .seconds(4))
        #expect(tries.wait([other, one], now: .zero) == .seconds(22))
        #expect(tries.wait([.credential([3]), .network("a")], now: .zero) == nil && tries.wait([], now: .zero) == nil)
    }

    @Test func `R-926: what is remembered is bounded, and whoever failed most is remembered`() {
        var tries = SignInTries()
        let worst = Place.credential([0])
        for _ in 0..<100 { tries.failed([worst], now: .zero) }
        for number in 0..<(3 * SignInTries.placesMax) { tries.failed([.network("\(number)")], now: .zero) }
        #expect(tries.placeCount <= SignInTries.placesMax)
        #expect(tries.wait([worst], now: .zero) != nil)
        tries.failed([worst], now: .seconds(1_000))
        for number in 0..<SignInTries.placesMax { tries.failed([.network("new \(number)")], now: .seconds(1_000)) }
        #expect(tries.placeCount <= SignInTries.placesMax)
    }
}
