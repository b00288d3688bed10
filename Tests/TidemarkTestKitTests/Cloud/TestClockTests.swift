// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

/// Nothing happens before its time, and everything at it.
@Suite struct TestClockTests {
    private let loop = TestLoop(seed: 1, wallClockStart: 0)
    private let log = TestLog<String>()

    private func plan(_ name: String, after delay: Duration) -> ScheduledTimer {
        loop.schedule(after: delay) { [loop, log] in log.append("\(name) at \(loop.now / .milliseconds(1))") }
    }

    @Test func `a wait ends when the time is moved to its end, not before`() async throws {
        _ = plan("a minute", after: .seconds(60))
        #expect(await loop.settle())
        #expect(await loop.advance(by: .milliseconds(59_999)))
        #expect(log.all.isEmpty && loop.now == .milliseconds(59_999))
        #expect(await loop.advance(by: .milliseconds(1)))
        #expect(log.all == ["a minute at 60000.0"])
    }

    @Test func `on the way of a long advance each thing happens at its own time, what it plans too`() async throws {
        _ = loop.schedule(after: .seconds(10)) { [self] in
            log.append("ten")
            _ = plan("fifteen", after: .seconds(5))
        }
        _ = plan("twelve", after: .seconds(12))
        #expect(await loop.advance(by: .seconds(20)))
        #expect(log.all == ["ten", "twelve at 12000.0", "fifteen at 15000.0"] && loop.now == .seconds(20))
    }

    @Test func `pauses pass by themselves, in order, and longer waits do not`() async throws {
        // In one piece of work on the loop, so that nothing passes meanwhile.
        await loop.run { [self] in
            _ = plan("long", after: .milliseconds(251))
            _ = plan("second", after: .milliseconds(200))
            _ = plan("first", after: .milliseconds(100))
        }.value
        #expect(await loop.settle())
        #expect(log.all == ["first at 100.0", "second at 200.0"] && loop.now == .milliseconds(200))
    }

    @Test func `what is cancelled does not happen`() async throws {
        // In one piece of work on the loop, so that nothing passes meanwhile.
        await loop.run { [self] in
            let timers = [plan("pause", after: .milliseconds(10)), plan("wait", after: .seconds(1))]
            _ = plan("now", after: .zero)
            for timer in timers { timer.cancel() }
        }.value
        #expect(await loop.advance(by: .seconds(2)))
        #expect(log.all == ["now at 0.0"])
    }

    @Test func `settle waits for an engine that is at work elsewhere`() async throws {
        loop.engineIsAtWork(true)
        let settling = Task { [loop, log] in
            let isSettled = await loop.settle()
            log.append("settled \(isSettled)")
        }
        // More than once through everything that could be done on the loop.
        for _ in 0..<3 { await loop.run {}.value }
        log.append("still at work")
        loop.engineIsAtWork(false)
        await settling.value
        #expect(log.all == ["still at work", "settled true"])
    }

    @Test func `who never comes to rest is found out`() async throws {
        // Until the test is over: else a core would be busy for as long as all tests take.
        final class Unrest: Sendable {
            let isOver = Atomic(false)
        }
        let unrest = Unrest()
        defer { unrest.isOver.store(true, ordering: .relaxed) }
        @Sendable func goOn() {
            guard !unrest.isOver.load(ordering: .relaxed) else { return }
            _ = loop.schedule(after: .milliseconds(100)) { goOn() }
        }
        goOn()
        #expect(await !loop.settle(pausesMax: 50))
        #expect(loop.now >= .seconds(5))
    }

    @Test func `a cloud's clock shows the date that its records get`() async throws {
        let cloud = TestCloud(startingAt: Date(timeIntervalSince1970: 1_000_000))
        #expect(cloud.clock.now == Date(timeIntervalSince1970: 1_000_000))
        try await cloud.clock.advance(by: .seconds(86_400))
        #expect(cloud.clock.now == Date(timeIntervalSince1970: 1_086_400) && cloud.clock.elapsed == .seconds(86_400))
        #expect(try await !cloud.clock.advanceToNext(within: .milliseconds(1)))
    }
}
