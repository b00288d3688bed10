// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Synchronization
internal import TidemarkScheduling

/// One push of presence for some sessions of a hub.
struct PresenceDelivery: Sendable {
    let message: SharedMessage
    /// Their numbers, each with that of its member.
    let sessions: [(session: UInt64, member: UInt64)]
    /// Called once, with the members whose connections are too slow. They did not get it.
    let isDone: @Sendable (_ behind: [UInt64]) -> Void
}

/// Sends news of presence to the sessions of one hub, in steps. Between two steps the loop does everything else, and
/// places take turns: one with many sessions delays no other.
final class PresenceOutlet: Sendable {
    private struct Line {
        let delivery: PresenceDelivery
        var sentCount = 0
        var behind: [UInt64] = []
    }

    private struct State {
        /// The first is next. Each place has one at the most, because ``PresenceHall`` waits for ``PresenceDelivery/isDone``.
        var lines: Deque<Line> = []
        var isSending = false
    }

    /// What one step sends at the most: sessions, and bytes that are encrypted. It takes a millisecond or two.
    private static let sessionsPerStep = 128
    private static let bytesPerStep = 524_288
    /// What one place sends in its turn.
    private static let sessionsPerTurn = 32
    /// A connection that has not taken so many bytes is left out. Later it is told everything anew.
    private static let queuedBytesMax = 65_536

    private let state = Mutex(State())

    func send(_ delivery: PresenceDelivery, by hub: SessionHub) {
        let starts = state.withLock { state in
            state.lines.append(Line(delivery: delivery))
            defer { state.isSending = true }
            return !state.isSending
        }
        if starts { step(after: .zero, by: hub) }
    }

    private func step(after delay: Duration, by hub: SessionHub) {
        _ = hub.scheduler.schedule(after: delay) { [weak self, weak hub] in
            guard let self, let hub else { return }
            var (sessions, bytes) = (Self.sessionsPerStep, Self.bytesPerStep)
            while sessions > 0, bytes > 0, var line = state.withLock({ $0.lines.popFirst() }) {
                let message = line.delivery.message
                let room = min(sessions, Self.sessionsPerTurn, max(1, bytes / max(1, message.bytes.count)))
                let some = line.delivery.sessions.dropFirst(line.sentCount).prefix(room)
                for (number, member) in some {
                    let isSent = hub.session(numbered: number)?.present(message, queuedMax: Self.queuedBytesMax)
                    if isSent == false { line.behind.append(member) }
                }
                line.sentCount += some.count
                sessions -= max(1, some.count)
                bytes -= some.count * message.bytes.count
                if line.sentCount < line.delivery.sessions.count {
                    state.withLock { $0.lines.append(line) }
                } else {
                    line.delivery.isDone(line.behind)
                }
            }
            let isMore = state.withLock { state in
                state.isSending = !state.lines.isEmpty
                return state.isSending
            }
            if isMore { step(after: .zero, by: hub) }
        }
    }
}
