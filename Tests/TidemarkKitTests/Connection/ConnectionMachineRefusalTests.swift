// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkWire

@testable import TidemarkKit

/// What a connection does that the server refuses: who hears of it, and when it is tried again.
@Suite struct ConnectionMachineRefusalTests {
    private typealias Bench = ConnectionMachineTests.Bench

    @Test func `an attempt that is refused is not made anew at once, whatever was hoped for`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        bench.take(bench.machine.opened())
        bench.take(bench.machine.retryNow(now: bench.now))
        var answer = WireServerEnvelope()
        answer.id = bench.sent.last?.id ?? 0
        answer.failure.code = .notAuthenticated
        bench.take(bench.machine.received(answer.encoded, now: bench.now))
        bench.cut()
        #expect(bench.connects == 1)
    }

    @Test func `R-352: a refused credential fails whoever waits, and is seldom tried again`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        let id = bench.request()
        bench.take(bench.machine.opened())
        var answer = WireServerEnvelope()
        answer.id = bench.sent.last?.id ?? 0
        answer.failure.code = .notAuthenticated
        bench.take(bench.machine.received(answer.encoded, now: bench.now))
        #expect(bench.failure(id) == .refused(.notAuthenticated))
        #expect(bench.closes == 1)
        bench.take(bench.machine.closed(.server(code: 4401, reason: "unknown"), now: bench.now, randomBits: .max))
        #expect(bench.notifications == [.refused(.notAuthenticated)])
        bench.clock += .seconds(55)
        bench.take(bench.machine.wokeUp(now: bench.now))
        #expect(bench.connects == 1)
        let late = bench.request()
        #expect(bench.failure(late) == .refused(.notAuthenticated))
        bench.take(bench.machine.retryNow(now: bench.now))
        try bench.open()
        #expect(bench.machine.state == .open)
    }

    @Test(arguments: [WireErrorCode.badContainer, .incompatibleVersion, .notAuthenticated, .invalidArguments])
    func `R-157, R-373: a change that was sent before the server refused the connection may have been made`(
        code: WireErrorCode
    ) throws {
        var bench = Bench()
        let (sent, asked) = (bench.request(), bench.request(isChange: false))
        try bench.open()
        bench.cut()
        let unsent = bench.request()
        bench.clock += .seconds(1)
        bench.take(bench.machine.wokeUp(now: bench.now))
        bench.take(bench.machine.opened())
        var answer = WireServerEnvelope()
        answer.id = bench.sent.last?.id ?? 0
        answer.failure.code = code
        bench.take(bench.machine.received(answer.encoded, now: bench.now))
        #expect(bench.failure(sent) == .answerLost)
        #expect(bench.failure(asked) == .refused(code) && bench.failure(unsent) == .refused(code))
        // Whatever the code is, it says nothing of what was to be saved.
        guard case .failure(let failure)? = bench.answers[unsent] else { return }
        #expect(CKError(failure).isRetriedBySyncEngine)
    }

    @Test(arguments: [WireErrorCode.serviceUnavailable, .requestRateLimited])
    func `R-157, R-377: a server that is busy is tried again soon, and what was sent waits for that`(
        code: WireErrorCode
    ) throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        let sent = bench.request()
        try bench.open()
        bench.cut()
        bench.clock += .seconds(1)
        bench.take(bench.machine.wokeUp(now: bench.now))
        let unsent = bench.request()
        bench.take(bench.machine.opened())
        var answer = WireServerEnvelope()
        answer.id = bench.sent.last?.id ?? 0
        answer.failure.code = code
        answer.failure.retryAfterSeconds = 3
        bench.take(bench.machine.received(answer.encoded, now: bench.now))
        bench.take(bench.machine.closed(.server(code: 1013, reason: "busy"), now: bench.now, randomBits: .max))
        #expect(bench.failure(unsent) == .refused(code) && bench.answers[sent] == nil)
        #expect(!bench.notifications.contains(.refused(code)))
        // Not before the time that the server said, and not much later.
        bench.clock += .milliseconds(2_900)
        bench.take(bench.machine.wokeUp(now: bench.now))
        #expect(bench.connects == 2)
        bench.clock += .milliseconds(400)
        bench.take(bench.machine.wokeUp(now: bench.now))
        #expect(bench.connects == 3)
        try bench.open()
        #expect(bench.sent.last?.modifyRecords.stamp.repeated == true)
        try bench.answer(sent)
        #expect(bench.failure(sent) == nil && bench.answers[sent] != nil)
    }

    @Test(arguments: [Double.nan, -3_600, -1e300])
    func `R-377: a busy server that says no possible time is tried again like one that is not reached`(
        seconds: Double
    ) throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        bench.take(bench.machine.opened())
        var answer = WireServerEnvelope()
        answer.id = bench.sent.last?.id ?? 0
        answer.failure.code = .serviceUnavailable
        answer.failure.retryAfterSeconds = seconds
        bench.take(bench.machine.received(answer.encoded, now: bench.now))
        bench.take(bench.machine.closed(.server(code: 1013, reason: "busy"), now: bench.now, randomBits: .max))
        bench.clock += .milliseconds(50)
        bench.take(bench.machine.wokeUp(now: bench.now))
        #expect(bench.connects == 1)
        bench.clock += .seconds(1)
        bench.take(bench.machine.wokeUp(now: bench.now))
        #expect(bench.connects == 2)
    }

    @Test func `a credential that is revoked while connected refuses too`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open()
        bench.take(bench.machine.closed(.server(code: 4401, reason: "revoked"), now: bench.now, randomBits: 0))
        #expect(bench.notifications.contains(.refused(.notAuthenticated)))
        let late = bench.request()
        #expect(bench.failure(late) == .refused(.notAuthenticated))
    }
}
