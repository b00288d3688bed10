// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkScheduling

@testable import TidemarkSockets

/// Whose work a loop does next.
@Suite struct LoopLaneTests {
    @Test func `R-778: a flood of one owner's work lets another's work through piece by piece`() async throws {
        try await withLoop { loop in
            let flood = loop.makeLane()
            let done = Locked(0)
            let works = (0..<600).map { _ in
                flood.run {
                    loop.work(for: .milliseconds(1))
                    done.update { $0 += 1 }
                }
            }
            let other = loop.makeLane().run {
                for _ in 0..<20 {
                    loop.work(for: .microseconds(100))
                    await Task.yield()
                }
                return done.value
            }
            // It works 2 ms. On a busy computer a piece takes longer, and the flood has as much time.
            #expect(await other.value < 300)
            for work in works { await work.value }
        }
    }

    @Test func `R-778: owners with much work have equal time, however long their pieces are`() async throws {
        try await withLoop { loop in
            let lanes = [loop.makeLane(), loop.makeLane(), loop.makeLane()]
            let times = Locked([Duration](repeating: .zero, count: 3))
            let isEnough = Locked(false)
            let works = lanes.indices.flatMap { number in
                (0..<20).map { _ in
                    lanes[number].run {
                        while !isEnough.value {
                            let piece = loop.work(for: .microseconds([50, 400, 3_000][number]))
                            times.update { $0[number] += piece }
                            if times.value[number] >= .milliseconds(300) { isEnough.update { $0 = true } }
                            await Task.yield()
                        }
                    }
                }
            }
            for work in works { await work.value }
            #expect(times.value.allSatisfy { $0 >= .milliseconds(100) }, "\(times.value)")
        }
    }

    @Test func `work of a lane stays on its loop and in its order, and comes after the loop's own`() async throws {
        try await withLoop { loop in
            let lane = loop.makeLane()
            let seen = Locked<[Int]>([])
            let works = await loop.onLoop {
                let works = (1...100).map { number in
                    lane.run {
                        #expect(loop.isCurrent)
                        await withTaskGroup(of: Void.self) { group in
                            group.addTask { #expect(loop.isCurrent) }
                        }
                        seen.update { $0.append(number) }
                    }
                }
                loop.execute { seen.update { $0.append(0) } }
                return works
            }
            for work in works { await work.value }
            #expect(seen.value == Array(0...100))
        }
    }

    @Test func `R-778: what lanes have to do comes before what they make ready`() async throws {
        try await withLoop { loop in
            let lane = loop.makeLane()
            // Whether each piece was made ready by the lane.
            let seen = Locked<[Bool]>([])
            let works = await loop.onLoop {
                (1...200).map { _ in
                    lane.run {
                        seen.update { $0.append(false) }
                        loop.execute { seen.update { $0.append(true) } }
                    }
                }
            }
            for work in works { await work.value }
            await loop.onLoop {}
            let changes = zip(seen.value, seen.value.dropFirst()).count { !$0 && $1 }
            // One each, if what is ready came first. On a busy computer the lane's time ends some times.
            #expect(changes < 50)
        }
    }

    @Test func `work that other threads give a lane is done, also when the loop sleeps`() async throws {
        try await withLoop { loop in
            let lane = loop.makeLane()
            for round in 0..<200 {
                #expect(await lane.run { loop.isCurrent ? round : -1 }.value == round)
            }
        }
    }
}

extension EventLoop {
    /// Keeps a processor busy for so long. On a busy computer it takes longer, and a lane does not pay for that. Returns how
    /// long the processor worked.
    @discardableResult fileprivate func work(for time: Duration) -> Duration {
        let start = Self.processorNanoseconds
        var worked = Duration.zero
        while worked < time { worked = .nanoseconds(Self.processorNanoseconds - start) }
        return worked
    }
}
