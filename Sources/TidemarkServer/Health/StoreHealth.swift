// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// Whether the store answered a moment ago. It is asked at intervals, so that a load balancer's many requests cost the
/// store nothing.
final class StoreHealth: Sendable {
    private struct State {
        /// When the store last answered.
        var answeredAt: Duration?
        var isStopped = false
    }

    /// How often the store is asked.
    private static let interval = Duration.seconds(1)
    /// How old its last answer may be.
    private static let patience = Duration.seconds(4)

    private let storage: any Storage
    private let scheduler: any Scheduler
    private let state = Mutex(State())

    init(storage: any Storage, scheduler: any Scheduler) {
        self.storage = storage
        self.scheduler = scheduler
    }

    var isGood: Bool {
        let now = scheduler.now
        return state.withLock { state in
            guard let answeredAt = state.answeredAt, !state.isStopped else { return false }
            return now - answeredAt <= Self.patience
        }
    }

    /// Asks once, then at intervals until ``stop()``.
    func start() async {
        do {
            // A database that does not exist: the store only looks into an index.
            _ = try await storage.zones(in: DatabaseID(0), after: nil, zonesMax: 1)
            state.withLock { $0.answeredAt = scheduler.now }
        } catch {
            error.note()
        }
        guard !state.withLock({ $0.isStopped }) else { return }
        _ = scheduler.schedule(after: Self.interval) { [weak self] in
            guard let self else { return }
            scheduler.run { await self.start() }
        }
    }

    /// From now on not healthy, whatever the store answers.
    func stop() {
        state.withLock { $0.isStopped = true }
    }
}
