// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkScheduling
package import TidemarkShares

/// Lets tasks wait for their owners' turns. ``Shares`` decides whose turn it is, and the gate suspends and resumes the
/// tasks. While nothing waits, entering takes one uncontended lock, and so does leaving.
package final class ShareGate: Sendable {
    /// Told nil when the turn has come.
    private typealias Waiter = Answer<ShareRefusal?>

    private struct State {
        var shares: Shares
        /// By the numbers of their tickets.
        var waiters: [UInt64: Waiter] = [:]
        /// How many tasks were given their turn and have not resumed yet.
        var comingCount = 0

        /// The tasks whose turn has come. Resume them after the lock is released.
        mutating func come(_ tickets: [ShareTicket]) -> [Waiter] {
            let coming = tickets.compactMap { waiters.removeValue(forKey: $0.number) }
            comingCount += coming.count
            return coming
        }
    }

    private let state: Mutex<State>
    private let patience: Duration
    private let scheduler: any Scheduler

    /// - Parameter patience: how long a task waits for its turn. Longer: `waitedTooLong`.
    package init(_ bounds: ShareBounds, patience: Duration, scheduler: any Scheduler) {
        state = Mutex(State(shares: Shares(bounds)))
        self.patience = patience
        self.scheduler = scheduler
    }

    /// How many tasks wait.
    package var waitingCount: Int { state.withLock { $0.shares.waitingCount } }

    /// Suspends until the owner's turn. One owner's tasks go on in the order in which they came, if they run on one loop.
    /// Call ``leave(_:charge:)`` when the work has ended, whatever becomes of it.
    ///
    /// - Throws: why the work may not begin; `cancelled` if the task is cancelled while it waits.
    package func enter(
        _ owner: ShareOwner, room: Int = 1, charge: Int = 1
    ) async throws(ShareRefusal) -> ShareTicket {
        let (answer, waiter, isBehind) = state.withLock { state -> (Shares.Answer, Waiter?, isBehind: Bool) in
            let answer = state.shares.ask(for: owner, room: room, charge: charge)
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
            try await turn(of: ticket, waiter)
            return ticket
        case (.wait, nil): preconditionFailure("Whoever waits is known.")
        }
    }

    /// The work has ended.
    ///
    /// - Parameter charge: what it cost; nil: as expected.
    package func leave(_ ticket: ShareTicket, charge: Int? = nil) {
        let begun = state.withLock { state in state.come(state.shares.finish(ticket, charge: charge)) }
        for waiter in begun { waiter.give(nil) }
    }

    /// Lets tasks resume whose turn came earlier. They are in the scheduler's queue.
    private func goBehind() async {
        await scheduler.run {}.value
        state.withLock { $0.comingCount -= 1 }
    }

    private func turn(of ticket: ShareTicket, _ waiter: Waiter) async throws(ShareRefusal) {
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
    private func giveUp(_ ticket: ShareTicket, _ reason: ShareRefusal.Reason) {
        let (waiter, begun, refusal) = state.withLock { state -> (Waiter?, [Waiter], ShareRefusal) in
            let refusal = state.shares.refusal(reason)
            guard let begun = state.shares.cancel(ticket) else { return (nil, [], refusal) }
            return (
                state.waiters.removeValue(forKey: ticket.number), state.come(begun), refusal
            )
        }
        waiter?.give(refusal)
        for waiter in begun { waiter.give(nil) }
    }

    private func dismiss(_ ticket: ShareTicket) {
        let (waiter, refusal) = state.withLock { state in
            (state.waiters.removeValue(forKey: ticket.number), state.shares.refusal(.gaveWay))
        }
        waiter?.give(refusal)
    }
}
