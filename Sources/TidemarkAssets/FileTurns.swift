// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkFairness
internal import TidemarkSockets

/// The works that owners want of one thread. One of them is on the thread's loop at a time. The others wait here and
/// take turns by owner. An owner is charged for the time that its works had the thread, so a slow disk and large
/// chunks count.
final class FileTurns: Sendable {
    /// Called once: on the thread, or with the reason why it may not begin.
    typealias DiskWork = @Sendable (WorkRefusal?) -> Void

    private struct State {
        var queue: FairQueue
        /// By the numbers of their tickets.
        var waiting: [UInt64: DiskWork] = [:]
    }

    /// Most works are 512 KiB or less and take some milliseconds. So even the last work of an owner waits about as long
    /// as a refused client is told to wait. NB: calls for one upload stay in order because there is room for one work.
    static let bounds = FairBounds(room: 1, roomPerOwner: 1, waitingMax: 4_096, waitingPerOwnerMax: 512)

    private let state: Mutex<State>
    private let loop: EventLoop

    init(_ bounds: FairBounds, on loop: EventLoop) {
        state = Mutex(State(queue: FairQueue(bounds)))
        self.loop = loop
    }

    /// How many works wait.
    var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

    /// Runs the work when it is the owner's turn. From any thread.
    func run(for owner: WorkOwner, _ work: @escaping DiskWork) {
        let (answer, loser) = state.withLock { state -> (FairQueue.Answer, DiskWork?) in
            let answer = state.queue.ask(for: owner)
            guard case .wait(let ticket, let gaveWay) = answer else { return (answer, nil) }
            state.waiting[ticket.number] = work
            return (answer, gaveWay.flatMap { state.waiting.removeValue(forKey: $0.number) })
        }
        switch answer {
        case .begin(let ticket): begin(work, ticket)
        case .wait: loser?(state.withLock { $0.queue.refusal(.gaveWay) })
        case .refuse(let refusal): work(refusal)
        }
    }

    private func begin(_ work: @escaping DiskWork, _ ticket: WorkTicket) {
        loop.execute { [self] in
            let start = loop.now
            work(nil)
            let microseconds = max(1, Int((loop.now - start) / .microseconds(1)))
            let begun = state.withLock { state in
                state.queue.finish(ticket, charge: microseconds).compactMap { ticket in
                    state.waiting.removeValue(forKey: ticket.number).map { (work: $0, ticket: ticket) }
                }
            }
            for next in begun { begin(next.work, next.ticket) }
        }
    }
}
