// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkWire

@testable import TidemarkKit

/// A server that wants silence for a while.
@Suite struct ConnectionMachineThrottleTests {
    private typealias Bench = ConnectionMachineTests.Bench

    /// An open connection whose first request was answered with `requestRateLimited`.
    private func throttled(for seconds: Double, inFlightMax: UInt32 = 0) throws -> Bench {
        var bench = Bench()
        let id = bench.request()
        try bench.open(inFlightMax: inFlightMax)
        try bench.refuse(id, .requestRateLimited, retryAfter: seconds)
        return bench
    }

    @Test func `R-374: until retry-after is over nothing is sent, and calls fail at once with what is left`() throws {
        var bench = try throttled(for: 30)
        let sent = bench.sent.count
        bench.clock += .milliseconds(29_000.4)
        let early = bench.request()
        #expect(bench.failure(early) == .refused(.requestRateLimited))
        #expect(bench.retryAfter(early) == 1)
        #expect(bench.sent.count == sent)

        bench.clock += .milliseconds(999.6)
        let late = bench.request()
        #expect(bench.answers[late] == nil && bench.sent.last?.id == late)
    }

    @Test func `R-374: what waits for its turn fails with the rest`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open(inFlightMax: 1)
        let (first, second) = (bench.request(), bench.request())
        #expect(bench.answers[second] == nil)
        try bench.refuse(first, .requestRateLimited, retryAfter: 5)
        #expect(bench.failure(second) == .refused(.requestRateLimited) && bench.retryAfter(second) == 5)
    }

    @Test func `R-374: no connection is made for what must not be sent, and who is signed in can be asked`() throws {
        var bench = try throttled(for: 30)
        let (who, actions) = bench.machine.identify(now: bench.now)
        bench.take(actions)
        #expect(bench.failure(who) == nil && bench.answers[who] != nil)

        bench.cut()
        let connects = bench.connects
        bench.clock += .seconds(5)
        let id = bench.request()
        #expect(bench.retryAfter(id) == 25 && bench.connects == connects)
    }

    @Test func `R-157, R-374: what was sent before a cut is sent again, once the silence is over`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open()
        let (lost, refused) = (bench.request(), bench.request())
        let envelope = bench.sent[bench.sent.count - 2]
        try bench.refuse(refused, .requestRateLimited, retryAfter: 10)
        bench.cut()
        bench.clock += bench.waits.removeLast()
        bench.take(bench.machine.wokeUp(now: bench.now))
        try bench.open()
        #expect(bench.sent.last?.id != envelope.id && bench.answers[lost] == nil)

        for _ in 0..<20 where bench.sent.last?.id != envelope.id {
            let wait = try #require(bench.waits.last, "somebody wakes it up")
            bench.waits.removeLast()
            bench.clock += wait
            bench.take(bench.machine.wokeUp(now: bench.now))
        }
        #expect(bench.clock == .seconds(110))
        #expect(bench.sent.last?.modifyRecords.stamp.counter == envelope.modifyRecords.stamp.counter)
        try bench.answer(lost)
        #expect(bench.failure(lost) == nil && bench.answers[lost] != nil)
    }

    @Test func `R-157, R-934: what was sent before a cut and is refused for its rate is asked for again later`()
        throws
    {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open()
        let id = bench.request()
        let first = try #require(bench.sent.last)
        bench.cut()
        bench.clock += bench.waits.removeLast()
        bench.take(bench.machine.wokeUp(now: bench.now))
        try bench.open()
        #expect(bench.sent.last?.id == first.id)
        try bench.refuse(id, .requestRateLimited, retryAfter: 10)
        #expect(bench.answers[id] == nil, "it may have been carried out")
        let (sentCount, start) = (bench.sent.count, bench.clock)
        for _ in 0..<20 where bench.sent.count == sentCount {
            let wait = try #require(bench.waits.last, "somebody wakes it up")
            bench.waits.removeLast()
            bench.clock += wait
            bench.take(bench.machine.wokeUp(now: bench.now))
        }
        #expect(bench.clock == start + .seconds(10))
        #expect(bench.sent.last?.modifyRecords.stamp.counter == first.modifyRecords.stamp.counter)
        try bench.answer(id)
        #expect(bench.failure(id) == nil && bench.answers[id] != nil)
        // What was never sent before is refused as ever.
        let fresh = bench.request()
        try bench.refuse(fresh, .requestRateLimited, retryAfter: 1)
        guard case .success(let answer)? = bench.answers[fresh] else {
            Issue.record("no answer")
            return
        }
        #expect(answer.failure.code == .requestRateLimited)
    }

    @Test func `R-374: another account begins afresh`() throws {
        var bench = try throttled(for: 30)
        bench.take(bench.machine.changeCredential("bob", now: bench.now))
        let id = bench.request()
        try bench.open()
        #expect(bench.sent.last?.id == id)
    }

    @Test func `R-374: after an hour's sleep the silence is over, though the monotonic clock stood still`() throws {
        var bench = try throttled(for: 1_800)
        let awake = ConnectionMachine.Moment(monotonic: bench.clock, withSleep: bench.now.withSleep + .seconds(3_600))
        let (id, actions) = bench.machine.request(isChange: false, now: awake) { _ in .init() }
        bench.take(actions)
        #expect(bench.answers[id] == nil && bench.sent.last?.id == id)
    }

    @Test func `R-374: other refusals, and one that names no time, throttle nothing`() throws {
        var bench = try throttled(for: 0)
        let second = bench.request()
        try bench.refuse(second, .zoneBusy, retryAfter: 30)
        let third = bench.request()
        #expect(bench.answers[third] == nil && bench.sent.last?.id == third)
    }
}

extension ConnectionMachineTests.Bench {
    mutating func refuse(_ id: UInt64, _ code: WireErrorCode, retryAfter: Double = 0) throws {
        var answer = WireServerEnvelope()
        answer.id = id
        answer.failure.code = code
        answer.failure.retryAfterSeconds = retryAfter
        take(machine.received(answer.encoded, now: now))
    }

    fileprivate func retryAfter(_ id: UInt64) -> Double? {
        if case .failure(let failure) = answers[id] { failure.retryAfter } else { nil }
    }
}
