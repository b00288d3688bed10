// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
package import TidemarkFairness
package import TidemarkScheduling
package import TidemarkService

/// The record types that this server is preparing for queries. Each is prepared by one task at a time. Owners take turns
/// because each preparation reads all records of a container.
package final class Preparations: Sendable {
    /// Names a type of a container.
    package struct Key: Hashable, Sendable {
        let container: ContainerID
        let type: String

        package init(container: ContainerID, type: String) {
            self.container = container
            self.type = type
        }
    }

    /// One preparation, for all who wait for it.
    package final class Preparation: Sendable {
        fileprivate typealias Waiter = Answer<Result<Void, StorageError>>

        private struct State {
            /// Nil while it is under way, or waits for its turn.
            var result: Result<Void, StorageError>?
            /// By the numbers of their tickets.
            var waiters: [UInt64: Waiter] = [:]
        }

        private let state = Mutex(State())

        fileprivate func end(_ result: Result<Void, StorageError>) {
            let waiters = state.withLock { state in
                state.result = result
                return state.waiters.sorted { $0.key < $1.key }.map(\.value)
            }
            for waiter in waiters { waiter.give(result) }
        }

        fileprivate func tell(_ waiter: Waiter, _ ticket: WorkTicket) {
            let result = state.withLock { state in
                state.waiters[ticket.number] = waiter
                return state.result
            }
            if let result { waiter.give(result) }
        }

        fileprivate func forget(_ ticket: WorkTicket) { state.withLock { $0.waiters[ticket.number] = nil } }
    }

    private static let bounds = FairBounds(
        room: 2, roomPerOwner: 1, waitingMax: 256, waitingPerOwnerMax: 16, workTime: .seconds(1))
    /// How long a preparation waits for its turn. Queries wait much less, and ask again.
    private static let patience = Duration.seconds(300)
    /// The queries that wait for preparations. Those who come back find room among the queries that wait for their turns.
    private static let queryBounds = FairBounds(
        room: 1_024, roomPerOwner: 32, waitingMax: 0, waitingPerOwnerMax: 0, workTime: queryPatience)
    /// How long a query waits for a preparation.
    private static let queryPatience = Duration.seconds(3)

    private let scheduler: any Scheduler
    private let gate: FairGate
    private let queries: FairGate
    private let underWay = Mutex<[Key: Preparation]>([:])

    package init(scheduler: any Scheduler) {
        self.scheduler = scheduler
        gate = FairGate(Self.bounds, patience: Self.patience, scheduler: scheduler)
        queries = FairGate(Self.queryBounds, patience: Self.queryPatience, scheduler: scheduler)
    }

    /// The type's preparation that is under way. If there is none, `work` is done in the owner's turn.
    ///
    /// - Returns: its result is `crowded` if the owner's turn does not come.
    package func join(
        _ key: Key, for owner: WorkOwner, _ work: @escaping @Sendable () async throws(StorageError) -> Void
    ) -> Preparation {
        let (preparation, isNew) = underWay.withLock { underWay in
            if let preparation = underWay[key] { return (preparation, false) }
            let preparation = Preparation()
            underWay[key] = preparation
            return (preparation, true)
        }
        guard isNew else { return preparation }
        scheduler.run { [self] in
            let result = await run(for: owner, work)
            underWay.withLock { $0[key] = nil }
            preparation.end(result)
        }
        return preparation
    }

    /// Suspends a query of the owner's until the preparation has ended.
    ///
    /// - Throws: `zoneBusy` if it takes longer than a query waits, and `crowded` if too many queries wait. Otherwise what the
    ///   preparation has thrown.
    package func wait(for preparation: Preparation, for owner: WorkOwner) async throws(StorageError) {
        let ticket: WorkTicket
        do {
            ticket = try await queries.enter(owner)
        } catch {
            throw StorageError(error)
        }
        defer { queries.leave(ticket) }
        let waiter = Preparation.Waiter()
        preparation.tell(waiter, ticket)
        defer { preparation.forget(ticket) }
        let timer = scheduler.schedule(after: Self.queryPatience) {
            waiter.give(.failure(StorageError(.zoneBusy, detail: "the record type is being prepared for queries")))
        }
        defer { timer.cancel() }
        let result = await withTaskCancellationHandler {
            await waiter.value()
        } onCancel: {
            waiter.give(.failure(StorageError(WorkRefusal(.cancelled, retryAfter: .zero))))
        }
        try result.get()
    }

    private func run(
        for owner: WorkOwner, _ work: () async throws(StorageError) -> Void
    ) async -> Result<Void, StorageError> {
        do {
            try await gate.run(for: owner, work)
            return .success(())
        } catch {
            // Whoever waited for it may be gone.
            error.note()
            return .failure(error)
        }
    }
}
