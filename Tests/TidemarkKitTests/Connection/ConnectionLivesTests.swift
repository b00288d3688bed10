// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkWire

@testable import TidemarkKit

/// What names a device's requests, and who else may have the name.
@Suite struct ConnectionLivesTests {
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
