// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkServer

@Suite struct KeySetMachineTests {
    private typealias Machine = KeySetMachine

    /// When the machine wants to be woken; nil: it does not.
    private func delay(_ actions: [Machine.Action]) -> Duration? {
        guard case .wake(_, let delay)? = actions.first, actions.count == 1 else { return nil }
        return delay
    }

    /// A token with an unknown key comes after so many seconds.
    private func expectMiss(
        _ machine: inout Machine, _ seconds: Int, _ answer: Machine.Answer, fetches: Bool = false, _ why: Comment? = nil
    ) {
        let (found, actions) = machine.missed(now: .seconds(seconds))
        #expect(found == answer && actions == (fetches ? [.fetch] : []), why)
    }

    @Test func `R-922: keys are fetched before they are old, within bounds`() {
        let hours = Duration.seconds(3_600)
        for (said, wait) in [
            (nil, hours * 4 / 5), (Duration.zero, .seconds(240)), (.seconds(299), .seconds(240)),
            (.seconds(1_000), .seconds(800)), (hours * 24 * 365, hours * 24 * 4 / 5),
        ] as [(Duration?, Duration)] {
            var machine = Machine()
            let first = machine.start(now: .zero)
            #expect(first == [.fetch])
            let found = delay(machine.fetched(freshFor: said, now: .zero))
            #expect(found == wait)
        }
    }

    @Test func `R-922: an issuer that is down is asked less and less, and its keys stay`() {
        var machine = Machine()
        _ = machine.start(now: .zero)
        var now = Duration.zero
        guard case .wake(var number, _)? = machine.fetched(freshFor: nil, now: now).first else {
            Issue.record("no wake-up")
            return
        }
        var waits: [Duration] = []
        for _ in 0..<20 {
            now += .seconds(3_600)
            let actions = machine.woke(number, now: now)
            #expect(actions == [.fetch])
            guard case .wake(let next, let delay)? = machine.failed(now: now).first else { return }
            number = next
            waits.append(delay)
            #expect(machine.hasKeys)
        }
        #expect(waits.prefix(4) == [.seconds(5), .seconds(10), .seconds(20), .seconds(40)])
        #expect(waits.suffix(10).allSatisfy { $0 == Machine.retryMax })
        _ = machine.woke(number, now: now)
        _ = machine.fetched(freshFor: nil, now: now)
        let late = machine.woke(number, now: now)
        #expect(late.isEmpty, "an earlier wake-up does nothing")
    }

    @Test func `R-922: an unknown key makes a server ask once in 30 seconds`() {
        var machine = Machine()
        _ = machine.start(now: .zero)
        expectMiss(&machine, 0, .wait, "a fetch is under way")
        _ = machine.fetched(freshFor: nil, now: .zero)
        expectMiss(&machine, 29, .unknown)
        expectMiss(&machine, 30, .wait, fetches: true)
        expectMiss(&machine, 31, .wait)
        _ = machine.fetched(freshFor: nil, now: .seconds(32))
        expectMiss(&machine, 59, .unknown)
        expectMiss(&machine, 60, .wait, fetches: true)
        _ = machine.failed(now: .seconds(61))
        expectMiss(&machine, 62, .unavailable, "the issuer may have it")
    }

    @Test func `R-922: without any keys a token waits, or is told to come again`() {
        var machine = Machine()
        expectMiss(&machine, 0, .wait, fetches: true)
        _ = machine.failed(now: .seconds(1))
        expectMiss(&machine, 4, .unavailable)
        expectMiss(&machine, 5, .wait, fetches: true)
        #expect(!machine.hasKeys)
    }
}
