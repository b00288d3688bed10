// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkSockets

/// The thread on which all connections of the process live. Started by the first, never stopped: it sleeps when there is
/// nothing to do.
enum NetworkThread {
    private static let started = Mutex<EventLoop?>(nil)
    private static let spare = SpareScheduler()

    /// - Throws: `resourcesExhausted` while the process has no more file descriptors or threads.
    static func loop() throws(SocketError) -> EventLoop {
        try started.withLock { started throws(SocketError) in
            if let started { return started }
            let loop = try EventLoop(name: "tidemark")
            started = loop
            return loop
        }
    }

    /// Where connections live that are made now: on the thread, or without one while it cannot be started.
    static var scheduler: any Scheduler { (try? loop()) ?? spare }
}

/// A scheduler without a file descriptor, like the timers of Swift's concurrency. Its timers are up to 50 ms late.
final class SpareScheduler: Scheduler {
    private struct State {
        var timers: [UInt64: (due: Duration, work: @Sendable () -> Void)] = [:]
        var lastID: UInt64 = 0
        /// Whether a thread looks for due timers. It ends when there are none.
        var isLooking = false
    }

    private static let lookInterval: TimeInterval = 0.05
    private let base = GlobalScheduler()
    private let state = Mutex(State())

    var now: Duration { base.now }
    var wallClockMilliseconds: Int64 { base.wallClockMilliseconds }

    func randomBits() -> UInt64 { base.randomBits() }

    func enqueue(_ job: consuming ExecutorJob) { base.enqueue(job) }

    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ScheduledTimer {
        let due = now + delay
        let (id, starts) = state.withLock { state in
            state.lastID += 1
            state.timers[state.lastID] = (due, work)
            defer { state.isLooking = true }
            return (state.lastID, !state.isLooking)
        }
        if starts {
            do throws(SocketError) {
                try LoopThread.detach(name: "tidemark-timers") { self.look() }
            } catch {
                // No thread to spare either. The next timer tries again.
                state.withLock { state in
                    state.timers[id] = nil
                    state.isLooking = false
                }
                return base.schedule(after: delay, work)
            }
        }
        return ScheduledTimer { [weak self] in self?.state.withLock { _ = $0.timers.removeValue(forKey: id) } }
    }

    private func look() {
        while true {
            let now = now
            let due = state.withLock { state -> [@Sendable () -> Void]? in
                state.isLooking = !state.timers.isEmpty
                guard state.isLooking else { return nil }
                let due = state.timers.filter { $0.value.due <= now }
                for id in due.keys { state.timers[id] = nil }
                return due.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }.map(\.value.work)
            }
            guard let due else { return }
            for work in due { work() }
            Thread.sleep(forTimeInterval: Self.lookInterval)
        }
    }
}
