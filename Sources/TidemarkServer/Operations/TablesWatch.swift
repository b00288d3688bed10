// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkStore
internal import TidemarkTelemetry

/// Looks at intervals whether the database still has the tables of this version. An operator may have restored an older
/// backup while the server ran.
final class TablesWatch: Sendable {
    private static let log = Log("operations")

    private let storage: PostgresStorage
    private let scheduler: any Scheduler
    private let interval: Duration
    private let state: ServingState
    private let isStopped = Mutex(false)
    private let hadTables = Mutex(true)

    init(storage: PostgresStorage, scheduler: any Scheduler, interval: Duration, state: ServingState) {
        self.storage = storage
        self.scheduler = scheduler
        self.interval = interval
        self.state = state
    }

    /// Looks at every interval until ``stop()``.
    func start() {
        _ = scheduler.schedule(after: interval) { [weak self] in
            guard let self, !isStopped.withLock({ $0 }) else { return }
            scheduler.run { [self] in
                await look()
                start()
            }
        }
    }

    func stop() { isStopped.withLock { $0 = true } }

    /// If the store does not answer, its last answer counts.
    private func look() async {
        do {
            let hasTables = try await storage.hasMigrations()
            state.noteTables(areThere: hasTables)
            let hadTables = hadTables.withLock { had in
                defer { had = hasTables }
                return had
            }
            if hadTables, !hasTables { Self.log.error("the database has lost tables of this version: run migrate") }
        } catch {
            error.note()
        }
    }
}
