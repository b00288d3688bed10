// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkWire

@testable import TidemarkKit

/// What names a device's requests, and who else may have the name.
@Suite struct ConnectionMachineLivesTests {
    private typealias Bench = ConnectionMachineTests.Bench

    @Test func `R-157: after a cut the same request is sent again, and says so`() throws {
        var bench = Bench()
        let id = bench.request()
        try bench.open(memoryEpoch: 7)
        var first = try #require(bench.sent.last)
        #expect(first.modifyRecords.stamp.epoch == 7 && !first.modifyRecords.stamp.repeated)
        bench.cut()
        #expect(bench.answers[id] == nil)
        #expect(bench.waits.count == 1)
        bench.clock += bench.waits[0]
        bench.take(bench.machine.wokeUp(now: bench.now))
        #expect(bench.connects == 2)
        bench.clock += .seconds(5)
        // The epoch stays that of the first sending: by it the server tells what may be forgotten.
        try bench.open(memoryEpoch: 9)
        first.modifyRecords.stamp.repeated = true
        #expect(bench.sent.last == first)
        try bench.answer(id)
        #expect(bench.answers[id] != nil)
    }

    @Test(arguments: [Int64.min, 0, 1_700_000_000_000, .max])
    func `R-157: counters begin with 1 in each life and grow, whatever any clock says`(serverTime: Int64) throws {
        var bench = Bench()
        bench.machine.begin(life: Array(repeating: 1, count: 16))
        _ = bench.request()
        try bench.open(serverTime: serverTime)
        #expect(bench.sent.first?.hello.life == [UInt8](repeating: 1, count: 16))
        #expect(bench.sent.last?.modifyRecords.stamp.counter == 1)
        let second = bench.request()
        #expect(bench.sent.last?.modifyRecords.stamp.counter == 2)
        try bench.answer(second)
        bench.cut()
        bench.clock += bench.waits[0]
        bench.take(bench.machine.wokeUp(now: bench.now))
        try bench.open(serverTime: 0)
        _ = bench.request()
        #expect(bench.sent.last?.modifyRecords.stamp.counter == 3)
    }

    @Test func `R-157: a life that another lives too is ended, and what was sent in it has lost its answer`() throws {
        var bench = Bench()
        bench.machine.begin(life: Array(repeating: 1, count: 16))
        let (first, second, question) = (bench.request(), bench.request(), bench.request(isChange: false))
        try bench.open()
        try bench.refuse(first, .serverResponseLost)
        #expect(bench.failure(first) == .answerLost && bench.failure(second) == .answerLost)
        #expect(bench.lifeRenewals == 1 && bench.closes == 1 && bench.answers[question] == nil)
        bench.machine.begin(life: Array(repeating: 2, count: 16))
        // The channel is still open, and the server takes all that comes over it for the old life's.
        let count = bench.sent.count
        let third = bench.request()
        #expect(bench.sent.count == count)
        bench.cut()
        bench.clock += bench.waits[0]
        bench.take(bench.machine.wokeUp(now: bench.now))
        try bench.open()
        #expect(bench.sent.map(\.hello.life).last { !$0.isEmpty } == [UInt8](repeating: 2, count: 16))
        #expect(bench.sent.last?.modifyRecords.stamp.counter == 1)
        // The same of a repeat: the server has forgotten it, or knows it of somebody else.
        bench.cut()
        bench.clock += bench.waits.removeLast()
        bench.take(bench.machine.wokeUp(now: bench.now))
        try bench.open()
        #expect(bench.sent.last?.modifyRecords.stamp.repeated == true)
        try bench.refuse(third, .serverResponseLost)
        #expect(bench.failure(third) == .answerLost && bench.lifeRenewals == 2)
    }

    @Test func `R-157, R-397: a change that is asked for again is the same request, until its caller gives up`() throws
    {
        var bench = Bench()
        func stamp() throws -> WireRequestStamp { try #require(bench.sent.last).modifyRecords.stamp }
        let first = bench.request(nonce: 5)
        try bench.open(memoryEpoch: 7)
        var expected = try stamp()
        #expect(expected.counter == 1 && expected.nonce == 5)
        // The server may have lost its store during the commit.
        try bench.refuse(first, .serviceUnavailable)
        let other = bench.request()
        #expect(try stamp().counter == 2 && stamp().lowestUnanswered == 1, "the outcome of the first is remembered")
        try bench.answer(other)
        _ = bench.request(nonce: 5)
        expected.repeated = true
        #expect(try stamp() == expected)
        // The same after a connection that was cut before it went, with one that cannot be made.
        bench.cut()
        bench.clock += bench.waits.removeLast()
        bench.take(bench.machine.wokeUp(now: bench.now))
        try bench.open(memoryEpoch: 8)
        #expect(try stamp() == expected)
        bench.machine.giveUp(nonce: 5)
        try bench.refuse(try #require(bench.sent.last).id, .serviceUnavailable)
        bench.machine.giveUp(nonce: 5)
        _ = bench.request(nonce: 5)
        #expect(try stamp().counter == 3 && stamp().lowestUnanswered == 3 && !stamp().repeated)
    }

    @Test(arguments: [WireErrorCode.zoneBusy, .requestRateLimited])
    func `R-157, R-397: a change that was surely not carried out is another request when it is asked for again`(
        code: WireErrorCode
    ) throws {
        var bench = Bench()
        func stamp() throws -> WireRequestStamp { try #require(bench.sent.last).modifyRecords.stamp }
        let first = bench.request(nonce: 5)
        try bench.open()
        try bench.refuse(first, code)
        let second = bench.request(nonce: 5)
        #expect(try stamp().counter == 2 && stamp().lowestUnanswered == 2 && !stamp().repeated)
        // What an earlier attempt left open stays so.
        try bench.refuse(second, .serviceUnavailable)
        let third = bench.request(nonce: 5)
        #expect(try stamp().counter == 2 && stamp().repeated)
        try bench.refuse(third, code)
        _ = bench.request(nonce: 5)
        #expect(try stamp().counter == 2 && stamp().repeated)
    }

    @Test func `R-157, R-397: in a new life nobody can tell what became of a change that was left open`() throws {
        var bench = Bench()
        let (first, second) = (bench.request(nonce: 5), bench.request())
        try bench.open()
        try bench.refuse(first, .serviceUnavailable)
        try bench.refuse(second, .serverResponseLost)
        #expect(bench.lifeRenewals == 1)
        bench.machine.begin(life: Array(repeating: 2, count: 16))
        bench.cut()
        let count = bench.sent.count
        let again = bench.request(nonce: 5)
        #expect(bench.failure(again) == .answerLost && bench.sent.count == count)
        bench.machine.giveUp(nonce: 5)
        _ = bench.request(nonce: 5)
        try bench.open()
        let stamp = try #require(bench.sent.last).modifyRecords.stamp
        #expect(stamp.counter == 1 && !stamp.repeated)
    }

    @Test func `R-157, R-014: a server that counts no epochs gets no request, which it would refuse for good`() throws {
        var bench = Bench()
        let id = bench.request()
        try bench.open(memoryEpoch: 0)
        #expect(bench.failure(id) == .refused(.incompatibleVersion) && bench.closes == 1)
        #expect(bench.sent.count == 1, "nothing but Hello")
    }

    @Test func `R-355: a device whose identity another has takes a new one, and says so with the next Hello`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open(deviceTaken: true)
        #expect(bench.deviceReplacements == 1 && bench.closes == 0)
        bench.machine.replace(device: Array(repeating: 9, count: 16))
        bench.cut()
        bench.clock += bench.waits[0]
        bench.take(bench.machine.wokeUp(now: bench.now))
        try bench.open()
        #expect(bench.sent.last?.hello.device == [UInt8](repeating: 9, count: 16))
        #expect(bench.deviceReplacements == 1)
    }
}
