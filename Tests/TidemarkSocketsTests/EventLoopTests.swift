// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import TidemarkScheduling

@testable import TidemarkSockets

@Suite struct EventLoopTests {
    @Test func `work runs on the loop's thread, in the order in which it was given`() async throws {
        try await withLoop { loop in
            let seen = Locked<[Int]>([])
            for number in 0..<5_000 {
                loop.execute {
                    #expect(loop.isCurrent)
                    seen.update { $0.append(number) }
                }
            }
            await loop.onLoop {}
            #expect(seen.value == Array(0..<5_000))
            #expect(!loop.isCurrent)
        }
    }

    @Test func `work from many threads is all run`() async throws {
        try await withLoop { loop in
            let count = Locked(0)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<5_000 { loop.execute { count.update { $0 += 1 } } }
                    }
                }
            }
            await loop.onLoop {}
            #expect(count.value == 40_000)
        }
    }

    @Test func `tasks, child tasks and actors of the loop stay on it`() async throws {
        try await withLoop { loop in
            let task = loop.run {
                for _ in 0..<100 {
                    #expect(loop.isCurrent)
                    await Task.yield()
                }
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<10 { group.addTask { #expect(loop.isCurrent) } }
                }
                return loop.isCurrent
            }
            #expect(await task.value)
            let resident = Resident(loop: loop)
            #expect(await resident.isOnLoop())
        }
    }

    @Test func `R-723: long work in one turn lets timers and sockets have theirs`() async throws {
        try await withLoop { loop in
            let count = Locked(0)
            let seen = Locked<[Int]>([])
            await loop.onLoop {
                loop.schedule(after: .zero) { seen.update { $0.append(count.value) } }
                for _ in 0..<200 {
                    loop.execute {
                        let start = loop.now
                        while loop.now - start < .milliseconds(1) {}
                        count.update { $0 += 1 }
                    }
                }
            }
            await loop.onLoop {}
            #expect(count.value == 200)
            #expect(seen.value.count == 1 && seen.value.allSatisfy { $0 <= 32 }, "\(seen.value)")
        }
    }

    @Test func `R-723: what many connections have to send lets timers have their turn`() async throws {
        try await withLoop { loop in
            let count = Locked(0)
            let seen = Locked<[Int]>([])
            await loop.onLoop {
                loop.schedule(after: .zero) { seen.update { $0.append(count.value) } }
                for _ in 0..<40 { loop.atEndOfTick(SlowProbe(loop: loop, count: count)) }
            }
            // Each look is a tick.
            for _ in 0..<100 where count.value < 40 { await loop.onLoop {} }
            #expect(count.value == 40)
            #expect(seen.value.count == 1 && seen.value.allSatisfy { (1...24).contains($0) }, "\(seen.value)")
        }
    }

    @Test func `a loop that is busy with its own work still serves timers and other threads`() async throws {
        try await withLoop { loop in
            let mustSpin = Locked(true)
            @Sendable func spin() {
                if mustSpin.value { loop.execute(spin) }
            }
            for _ in 0..<3_000 { loop.execute(spin) }
            await withCheckedContinuation { continuation in
                _ = loop.schedule(after: .milliseconds(5)) { continuation.resume() }
            }
            await loop.onLoop { mustSpin.update { $0 = false } }
        }
    }

    @Test func `timers fire by deadline, in order of setting among equals, and not when cancelled`() async throws {
        try await withLoop { loop in
            let seen = Locked<[String]>([])
            await loop.onLoop {
                for (name, milliseconds) in [("c", 30), ("a", 10), ("b", 20), ("b2", 20), ("x", 15)] {
                    let timer = loop.schedule(after: .milliseconds(milliseconds)) { seen.update { $0.append(name) } }
                    if name == "x" {
                        timer.cancel()
                        timer.cancel()
                    }
                }
            }
            let start = loop.now
            try await loop.runThrowing { try await loop.sleep(for: .milliseconds(40)) }.value
            #expect(loop.now - start >= .milliseconds(40))
            #expect(seen.value == ["a", "b", "b2", "c"])
        }
    }

    @Test func `a timer may be set and cancelled from any thread, and delays may be absurd`() async throws {
        try await withLoop { loop in
            for delay in [Duration.seconds(Int64.max), .seconds(Int64.max / 1_000_000_000), .seconds(3_600)] {
                let timer = loop.schedule(after: delay) { Issue.record("fired") }
                timer.cancel()
            }
            for delay in [Duration.zero, .seconds(-5), .seconds(Int64.min), .nanoseconds(1)] {
                await withCheckedContinuation { continuation in
                    _ = loop.schedule(after: delay) { continuation.resume() }
                }
            }
        }
    }

    @Test func `cancelled timers do not pile up`() async throws {
        try await withLoop { loop in
            await loop.onLoop {
                for _ in 0..<100_000 { loop.schedule(after: .seconds(3_600)) {}.cancel() }
                #expect(loop.timers.count < 1_000)
            }
        }
    }

    @Test func `flushing comes once, after the work of the tick`() async throws {
        try await withLoop { loop in
            let probe = FlushProbe()
            await loop.onLoop {
                loop.execute { probe.log.update { $0.append("work") } }
                loop.atEndOfTick(probe)
                loop.execute { probe.log.update { $0.append("work") } }
            }
            await loop.onLoop {}
            await loop.onLoop {}
            #expect(probe.log.value == ["work", "work", "flush"])
        }
    }

    @Test func `stopping runs what is queued, lets go of everything, and may be done twice`() async throws {
        weak var weakLoop: EventLoop?
        weak var weakProbe: FlushProbe?
        do {
            let loop = try EventLoop(name: "short")
            let probe = FlushProbe()
            weakLoop = loop
            weakProbe = probe
            for _ in 0..<10 { loop.execute { probe.log.update { $0.append("work") } } }
            _ = loop.schedule(after: .seconds(3_600)) { probe.flush() }
            loop.stop()
            loop.stop()
            #expect(probe.log.value.count == 10)
            loop.execute { probe.flush() }
            #expect(probe.log.value.count == 10)
        }
        #expect(weakProbe == nil)
        #expect(weakLoop == nil)
    }

    @Test func `a loop may stop itself`() async throws {
        let loop = try EventLoop(name: "self")
        await withCheckedContinuation { continuation in
            loop.execute {
                loop.stop()
                #expect(loop.isCurrent)
                continuation.resume()
            }
        }
        loop.stop()
    }

    @Test func `the clock is the wall's, and random bits do not repeat`() async throws {
        try await withLoop { loop in
            #expect(abs(loop.wallClockMilliseconds - Int64(time(nil)) * 1_000) < 5_000)
            #expect(Set((0..<100).map { _ in loop.randomBits() }).count == 100)
        }
    }
}

private actor Resident {
    let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(loop: EventLoop) { self.loop = loop }

    func isOnLoop() async -> Bool {
        await Task.yield()
        preconditionIsolated()
        return loop.isCurrent
    }
}

/// Takes a millisecond each time, as a connection does that encrypts much.
private final class SlowProbe: TickFlushable, Sendable {
    let loop: EventLoop
    let count: Locked<Int>

    init(loop: EventLoop, count: Locked<Int>) {
        self.loop = loop
        self.count = count
    }

    func flush() {
        let start = loop.now
        while loop.now - start < .milliseconds(1) {}
        count.update { $0 += 1 }
    }
}

private final class FlushProbe: TickFlushable, Sendable {
    let log = Locked<[String]>([])

    func flush() { log.update { $0.append("flush") } }
}
