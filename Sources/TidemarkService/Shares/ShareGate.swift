// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkScheduling
package import TidemarkShares

/// Lets tasks wait for their owners' turns: ``Shares`` decide, this suspends and resumes. While nothing waits, to enter
/// and to leave takes one free lock each.
package final class ShareGate: Sendable {
    /// Told nil when the turn has come.
    private typealias Waiter = Answer<ShareRefusal?>

    private struct State {
        var shares: Shares
        /// By the numbers of their tickets.
        var waiters: [UInt64: Waiter] = [:]
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

    /// Suspends until the owner's turn. Call ``leave(_:charge:)`` when the work has ended, whatever becomes of it.
    ///
    /// - Throws: why the work may not begin; `cancelled` if the task is cancelled while it waits.
    package func enter(
        _ owner: ShareOwner, room: Int = 1, charge: Int = 1
    ) async throws(ShareRefusal) -> ShareTicket {
        let (answer, waiter) = state.withLock { state -> (Shares.Answer, Waiter?) in
            let answer = state.shares.ask(for: owner, room: room, charge: charge)
            guard case .wait(let ticket, _) = answer else { return (answer, nil) }
            let waiter = Waiter()
            state.waiters[ticket.number] = waiter
            return (answer, waiter)
        }
        switch (answer, waiter) {
        case (.begin(let ticket), _): return ticket
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
        let begun = state.withLock { state in
            state.shares.finish(ticket, charge: charge).compactMap { state.waiters.removeValue(forKey: $0.number) }
        }
        for waiter in begun { waiter.give(nil) }
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
    }

    /// Ends the wait, unless the turn has come.
    private func giveUp(_ ticket: ShareTicket, _ reason: ShareRefusal.Reason) {
        let (waiter, begun, refusal) = state.withLock { state -> (Waiter?, [Waiter], ShareRefusal) in
            let refusal = state.shares.refusal(reason)
            guard let begun = state.shares.cancel(ticket) else { return (nil, [], refusal) }
            return (
                state.waiters.removeValue(forKey: ticket.number),
                begun.compactMap { state.waiters.removeValue(forKey: $0.number) }, refusal
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
