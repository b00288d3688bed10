// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkStore

/// Removes data that nobody can see any more: the records of ended zones (R-030: a deletion is visible at once, the
/// work is done afterwards), and outcomes that are too old to be asked for.
///
/// Any number of servers may do so at once. What one has removed, the others do not find.
final class StoreJanitor: Sendable {
    private let storage: PostgresStorage
    private let scheduler: any Scheduler
    private let interval: Duration
    private let memoryEpochsKept: Int64
    private let isStopped = Mutex(false)
    private let roundCount = Mutex(0)

    /// How long an epoch of memories lasts (`Limits.memoryEpochsKept`).
    private static let memoryEpoch = Duration.seconds(12 * 3_600)
    /// Rounds between two checks of the epoch.
    private static let roundsPerLook = 60
    /// Steps of one round. Each removes a bounded number of rows and lets other work go first.
    private static let stepsMax = 1_000

    init(storage: PostgresStorage, scheduler: any Scheduler, interval: Duration, limits: Limits) {
        self.storage = storage
        self.scheduler = scheduler
        self.interval = interval
        memoryEpochsKept = limits.memoryEpochsKept
    }

    /// Runs a round at every interval until ``stop()``.
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

    /// If the store cannot be reached, the next round tries again.
    private func clear() async {
        let round = roundCount.withLock { count in
            defer { count += 1 }
            return count
        }
        if round % Self.roundsPerLook == 0 { await advanceMemoryEpoch() }
        do {
            for _ in 0..<Self.stepsMax where !isStopped.withLock({ $0 }) {
                guard try await storage.clearEndedZones() else { return }
            }
        } catch {
            error.note()
        }
    }

    private func advanceMemoryEpoch() async {
        do {
            _ = try await storage.advanceMemoryEpoch(after: Self.memoryEpoch, keeping: memoryEpochsKept)
        } catch {
            error.note()
        }
    }
}
