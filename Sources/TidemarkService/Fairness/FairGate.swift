// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkFairness
package import TidemarkScheduling

/// Lets tasks wait for their owners' turns. A ``FairQueue`` decides whose turn it is, and the gate suspends and resumes
/// the tasks. While nothing waits, entering takes one uncontended lock, and so does leaving.
package final class FairGate: Sendable {
    /// Told nil when the turn has come.
    private typealias Waiter = Answer<WorkRefusal?>

    private struct State {
        var queue: FairQueue
        /// By the numbers of their tickets.
        var waiters: [UInt64: Waiter] = [:]
        /// How many tasks were given their turn and have not resumed yet.
        var comingCount = 0

        /// The tasks whose turn has come. Resume them after the lock is released.
        mutating func come(_ tickets: [WorkTicket]) -> [Waiter] {
            let coming = tickets.compactMap { waiters.removeValue(forKey: $0.number) }
            comingCount += coming.count
            return coming
        }
    }

    private let state: Mutex<State>
    private let patience: Duration
    private let scheduler: any Scheduler

    /// - Parameter patience: how long a task waits for its turn. Longer: `waitedTooLong`.
    package init(_ bounds: FairBounds, patience: Duration, scheduler: any Scheduler) {
        state = Mutex(State(queue: FairQueue(bounds)))
        self.patience = patience
        self.scheduler = scheduler
    }

    /// How many tasks wait.
    package var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

    /// Suspends until the owner's turn. One owner's tasks go on in the order in which they came, if they run on one loop.
    /// Call ``leave(_:charge:)`` when the work has ended, whatever becomes of it.
    ///
    /// - Throws: why the work may not begin; `cancelled` if the task is cancelled while it waits.
    ///
    /// - Parameter patience: nil for the gate's.
    package func enter(
        _ owner: WorkOwner, room: Int = 1, charge: Int = 1, within patience: Duration? = nil
    ) async throws(WorkRefusal) -> WorkTicket {
        let (answer, waiter, isBehind) = state.withLock { state -> (FairQueue.Answer, Waiter?, isBehind: Bool) in
            let answer = state.queue.ask(for: owner, room: room, charge: charge)
            switch answer {
            case .begin:
                guard state.comingCount > 0 else { return (answer, nil, false) }
                state.comingCount += 1
                return (answer, nil, true)
            case .wait(let ticket, _):
                let waiter = Waiter()
                state.waiters[ticket.number] = waiter
                return (answer, waiter, false)
            case .refuse: return (answer, nil, false)
            }
        }
        switch (answer, waiter) {
        case (.begin(let ticket), _):
            if isBehind { await goBehind() }
            return ticket
        case (.refuse(let refusal), _): throw refusal
        case (.wait(let ticket, let gaveWay), let waiter?):
            if let gaveWay { dismiss(gaveWay) }
            try await turn(of: ticket, waiter, within: patience ?? self.patience)
            return ticket
        case (.wait, nil): preconditionFailure("Whoever waits is known.")
        }
    }

    /// Does a work in its owner's turn. The owner is charged for the time that it takes.
    ///
    /// - Parameter other: another gate at which it needs a turn afterwards. Waiting is not work, so it is not charged. Both waits together
    ///   take no longer than one at this gate.
    /// - Throws: what the work throws, and `crowded` if the turn does not come.
    package func run<Value>(
        for owner: WorkOwner, then other: FairGate? = nil, _ work: () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let asked = scheduler.now
        let ticket = try await ticket(for: owner, within: patience)
        var time = Duration.zero
        defer { leave(ticket, charge: Self.charge(for: time)) }
        let otherTicket = try await other?.ticket(for: owner, within: max(.zero, asked + patience - scheduler.now))
        defer { if let other, let otherTicket { other.leave(otherTicket, charge: Self.charge(for: time)) } }
        let start = scheduler.now
        defer { time = scheduler.now - start }
        return try await work()
    }

    private func ticket(for owner: WorkOwner, within patience: Duration) async throws(StorageError) -> WorkTicket {
        do {
            return try await enter(owner, within: patience)
        } catch {
            throw StorageError(error)
        }
    }

    /// The charge for work of this duration.
    package static func charge(for time: Duration) -> Int { max(1, Int(time / .milliseconds(1))) }

    /// The work has ended.
    ///
    /// - Parameter charge: the cost of the work; nil: as expected.
    package func leave(_ ticket: WorkTicket, charge: Int? = nil) {
        let begun = state.withLock { state in state.come(state.queue.finish(ticket, charge: charge)) }
        for waiter in begun { waiter.give(nil) }
    }

    /// Lets tasks resume whose turn came earlier. They are in the scheduler's queue.
    private func goBehind() async {
        await scheduler.run {}.value
        state.withLock { $0.comingCount -= 1 }
    }

    private func turn(
        of ticket: WorkTicket, _ waiter: Waiter, within patience: Duration
    ) async throws(WorkRefusal) {
        let timer = scheduler.schedule(after: patience) { [weak self] in self?.giveUp(ticket, .waitedTooLong) }
        let refusal = await withTaskCancellationHandler {
            await waiter.value()
        } onCancel: {
            giveUp(ticket, .cancelled)
        }
        timer.cancel()
        if let refusal { throw refusal }
        state.withLock { $0.comingCount -= 1 }
    }

    /// Ends the wait, unless the turn has come.
    private func giveUp(_ ticket: WorkTicket, _ reason: WorkRefusal.Reason) {
        let (waiter, begun, refusal) = state.withLock { state -> (Waiter?, [Waiter], WorkRefusal) in
            let refusal = state.queue.refusal(reason)
            guard let begun = state.queue.cancel(ticket) else { return (nil, [], refusal) }
            return (
                state.waiters.removeValue(forKey: ticket.number), state.come(begun), refusal
            )
        }
        waiter?.give(refusal)
        for waiter in begun { waiter.give(nil) }
    }

    private func dismiss(_ ticket: WorkTicket) {
        let (waiter, refusal) = state.withLock { state in
            (state.waiters.removeValue(forKey: ticket.number), state.queue.refusal(.gaveWay))
        }
        waiter?.give(refusal)
    }
}
