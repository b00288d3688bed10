// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkStore

/// Clears away what nobody can see any more: the records of ended zones (R-030: deleting is visible at once, the work is
/// done afterwards), and outcomes that are too old to be asked for.
///
/// Any number of servers may do so at once: what one has cleared the others do not find.
final class StoreJanitor: Sendable {
    private let storage: PostgresStorage
    private let scheduler: any Scheduler
    private let interval: Duration
    private let memoryMilliseconds: Int64
    private let isStopped = Mutex(false)
    private let roundCount = Mutex(0)

    /// Rounds from one look at the memories to the next: they are all looked at, and are in nobody's way.
    private static let roundsPerLook = 60
    /// Steps of one round; each clears a bounded number of rows, and lets others go first.
    private static let stepsMax = 1_000

    init(storage: PostgresStorage, scheduler: any Scheduler, interval: Duration, limits: Limits) {
        self.storage = storage
        self.scheduler = scheduler
        self.interval = interval
        // A second time over: a request that is just old enough may be under way.
        memoryMilliseconds = limits.requestMemoryMilliseconds * 2
    }

    /// From now on, every interval until ``stop()``.
    func start() {
        _ = scheduler.schedule(after: interval) { [weak self] in
            guard let self, !isStopped.withLock({ $0 }) else { return }
            scheduler.run { [self] in
                await clear()
                start()
            }
        }
    }

    func stop() {
        isStopped.withLock { $0 = true }
    }

    /// A store that cannot be reached is cleared the next time.
    private func clear() async {
        let round = roundCount.withLock { count in
            defer { count += 1 }
            return count
        }
        if round % Self.roundsPerLook == 0 {
            let before = scheduler.wallClockMilliseconds - memoryMilliseconds
            try? await storage.clearMemories(before: Timestamp(milliseconds: before))
        }
        for _ in 0..<Self.stepsMax where !isStopped.withLock({ $0 }) {
            guard (try? await storage.clearEndedZones()) == true else { return }
        }
    }
}
