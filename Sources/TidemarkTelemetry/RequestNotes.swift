// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Notes about one request on its way, for the log of slow requests and for its trace. Only traced requests
/// have one, and queries if slow requests are logged.
package final class RequestNotes: Sendable {
    /// A statement that the store ran for the request.
    package struct RanStatement: Sendable {
        /// With placeholders. It has no values.
        package let sql: String
        /// How long the store took, with the wait for a connection.
        package let time: Duration
    }

    /// A wait for the store, on the clock of the request's scheduler.
    package struct StoreWait: Sendable, Equatable {
        package let start: Duration
        package let end: Duration

        package init(start: Duration, end: Duration) {
            self.start = start
            self.end = end
        }
    }

    private struct State {
        var turn: Duration?
        var slowest: RanStatement?
        var storeTime: Duration?
        var waits: [StoreWait] = []
        var storeEnd: Duration?
    }

    /// More waits of one request are in no trace.
    private static let waitsMax = 32

    /// Whether the request is traced.
    package let isTraced: Bool

    private let state = Mutex(State())

    package init(isTraced: Bool = false) { self.isTraced = isTraced }

    /// When its turn came, on the clock of its scheduler. Nil: it has not come.
    package var turn: Duration? {
        get { state.withLock { $0.turn } }
        set { state.withLock { $0.turn = newValue } }
    }

    /// The time of all statements together. Nil: there was none.
    package var storeTime: Duration? { state.withLock { $0.storeTime } }

    /// The one that took longest.
    package var slowest: RanStatement? { state.withLock { $0.slowest } }

    /// When a traced request waited for the store, the first wait first.
    package var storeWaits: [StoreWait] { state.withLock { $0.waits } }

    /// When the last wait for the store ended. There may have been more of them than ``storeWaits`` has.
    package var storeEnd: Duration? { state.withLock { $0.storeEnd } }

    /// The request has waited for the store.
    package func waitedForStore(from start: Duration, to end: Duration) {
        state.withLock { state in
            state.storeEnd = max(state.storeEnd ?? end, end)
            if state.waits.count < Self.waitsMax { state.waits.append(StoreWait(start: start, end: end)) }
        }
    }

    /// A statement was run.
    package func ran(_ sql: String, for time: Duration) {
        state.withLock { state in
            state.storeTime = (state.storeTime ?? .zero) + time
            if let slowest = state.slowest, slowest.time >= time { return }
            state.slowest = RanStatement(sql: sql, time: time)
        }
    }
}
