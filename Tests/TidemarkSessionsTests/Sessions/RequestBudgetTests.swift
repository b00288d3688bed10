// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// The memory of requests under way, and who may have how much of it.
@Suite struct RequestBudgetTests {
    private static func long(_ count: Int = 60_000) -> WireClientEnvelope.OneOfRequest {
        var long = WireFetchRecords()
        long.database = .private
        long.zones = [WireZoneRecordNames()]
        long.zones[0].names = [String(repeating: "x", count: count)]
        return .fetchRecords(long)
    }

    @Test func `R-722: who fills its share is not read from, then refused with a time, and others are answered`() throws
    {
        let budget = RequestBudget(bytesMax: 1_048_576)
        let world = SessionWorld { $0.requestBudget = budget }
        let (alice, again, bob) = (try world.enter(), try world.enter(device: 2), try world.enter("bob", device: 3))
        for _ in 0..<2 { alice.post(Self.long()) }
        #expect(!alice.isReadingPaused)
        for _ in 0..<2 { alice.post(Self.long()) }
        #expect(alice.isReadingPaused && alice.failures.isEmpty)
        // Her other connections share with this one.
        again.post(Self.long())
        #expect(again.failures.map(\.code) == [.requestRateLimited])
        #expect(again.failures.allSatisfy { $0.retryAfterSeconds > 0 } && !again.isReadingPaused)
        bob.post(Self.long())
        #expect(budget.bytesUnderWay > 260_000)
        world.scheduler.runUntilIdle()
        #expect(!alice.isReadingPaused && alice.inbox.count == 5)
        #expect(bob.inbox.count == 2 && !bob.failures.map(\.code).contains(.requestRateLimited))
        #expect(budget.bytesUnderWay == 0)
        again.post(Self.long())
        world.scheduler.runUntilIdle()
        #expect(again.failures.filter { $0.code == .requestRateLimited }.count == 1)
    }

    @Test func `R-722: sessions without a credential share less, and small requests cost nothing`() throws {
        let budget = RequestBudget(bytesMax: 1_048_576)
        let world = SessionWorld { $0.requestBudget = budget }
        let nobodies = (1...3).map { _ in world.connect() }
        for client in nobodies { _ = try client.ask(.hello(SessionWorld.hello(""))) }
        for client in nobodies { client.post(Self.long()) }
        #expect(nobodies.map { $0.failures.map(\.code) } == [[], [], [.requestRateLimited]])
        let before = budget.bytesUnderWay
        for _ in 0..<2 { nobodies[2].post(Self.long(10)) }
        #expect(budget.bytesUnderWay == before)
        world.scheduler.runUntilIdle()
        #expect(budget.bytesUnderWay == 0)
    }

    @Test func `R-722: very many small requests count too, with what it takes to answer them`() throws {
        let budget = RequestBudget(bytesMax: 1_048_576)
        let world = SessionWorld { $0.requestBudget = budget }
        let client = try world.enter()
        for _ in 0..<2 { client.post(Self.long(10)) }
        #expect(budget.bytesUnderWay == 0, "one or two cost nothing")
        for _ in 0..<18 { client.post(Self.long(10)) }
        #expect(budget.bytesUnderWay > 20 * 8_192 - 20_480)
        world.scheduler.runUntilIdle()
        #expect(client.failures.map(\.code).allSatisfy { $0 != .requestRateLimited })
        #expect(budget.bytesUnderWay == 0)
    }

    @Test func `R-722: what a connection had is free again when it is gone`() throws {
        let budget = RequestBudget(bytesMax: 1_048_576)
        let world = SessionWorld {
            $0.requestBudget = budget
            $0.fetchesRunningMax = 1
        }
        let client = try world.enter()
        for _ in 0..<3 { client.post(Self.long()) }
        #expect(budget.bytesUnderWay > 0)
        client.disconnect()
        world.scheduler.runUntilIdle()
        #expect(budget.bytesUnderWay == 0)
        // A message that is refused at once leaves nothing behind.
        let other = try world.enter("bob", device: 2)
        var unknown = WireClientEnvelope()
        unknown.id = 9
        unknown.operationGroup.id = String(repeating: "x", count: 60_000)
        other.post(unknown.encoded)
        #expect(other.failures.map(\.code) == [.invalidArguments])
        #expect(budget.bytesUnderWay == 0)
    }
}
