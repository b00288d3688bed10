// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// Rows that one server has locked, until it commits, rolls back, dies, or is idle for too long.
final class MemoryTransaction: Sendable {
    private enum Phase { case open, committing, ended }

    let id: MemoryRowLocks.Transaction
    private let store: MemoryStore
    private let phase = Mutex(Phase.open)
    private let idleTimer = Mutex<ScheduledTimer?>(nil)

    init(_ store: MemoryStore) {
        self.store = store
        id = store.database.beginTransaction()
    }

    /// Locks rows one after another.
    func lock(_ rows: [MemoryRowLocks.Row]) async throws(StorageError) {
        for row in rows {
            guard await store.database.lock(row, for: id) else {
                rollBack()
                throw StorageError(.zoneBusy)
            }
        }
    }

    /// As ``MemoryStore/reach(_:)``, but a failure rolls back.
    func reach(_ point: FaultPoint) async throws(StorageError) {
        do {
            try await store.reach(point)
        } catch {
            rollBack()
            throw error
        }
    }

    /// From here on the server must continue within the time that an idle transaction has.
    func beginIdling() {
        let timer = store.scheduler.schedule(after: MemoryDatabase.idleTimeout) { [weak self] in self?.rollBack() }
        idleTimer.withLock { $0 = timer }
    }

    /// Makes the change durable and releases the rows, in one step.
    func commit(_ change: @escaping @Sendable (inout MemoryTables) -> Void) async throws(StorageError) {
        stopIdling()
        guard start() else { throw StorageError(.unavailable, detail: "the transaction was rolled back") }
        if store.isCrashed {
            end(nil)
            throw StorageError(.unavailable, detail: "the server is dead")
        }
        let fault = store.faults.at(.commitSent)
        switch fault {
        case .none: await store.scheduler.pass(.zero)
        case .delay(let delay): await store.scheduler.pass(delay)
        case .reject:
            end(nil)
            throw StorageError(.rejected)
        case .disconnect:
            end(nil)
            throw StorageError(.commitUnknown, detail: "lost before the commit")
        case .commitLate(let delay):
            _ = store.scheduler.schedule(after: delay) { [self] in end(change) }
            throw StorageError(.commitUnknown, detail: "lost during the commit")
        case .crash:
            store.crash()
            store.faults.onCrash()
        }
        // A commit under way when its server dies may take place or not.
        end(store.isCrashed && store.scheduler.randomBits() & 1 == 0 ? nil : change)
        do {
            try await store.reach(.commitAnswered)
        } catch {
            throw StorageError(.commitUnknown, detail: "lost after the commit")
        }
    }

    /// Makes the change durable if it returns true, and releases the rows, in one step: a transaction of one statement.
    func finish(_ change: @escaping @Sendable (inout MemoryTables) -> Bool) -> Bool {
        guard start() else { return false }
        let isDone = Mutex(false)
        end { tables in
            let result = change(&tables)
            isDone.withLock { $0 = result }
        }
        return isDone.withLock(\.self)
    }

    func rollBack() {
        stopIdling()
        guard start() else { return }
        end(nil)
    }

    private func end(_ change: (@Sendable (inout MemoryTables) -> Void)?) {
        phase.withLock { $0 = .ended }
        store.database.end(id, change)
    }

    /// True for the caller that may end it.
    private func start() -> Bool {
        phase.withLock { phase in
            defer { if phase == .open { phase = .committing } }
            return phase == .open
        }
    }

    private func stopIdling() {
        idleTimer.withLock { timer in
            timer?.cancel()
            timer = nil
        }
    }
}
