// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What was found out about one request on its way, for the log of slow requests. Only requests for which there is
/// something to find out have one.
package final class RequestNotes: Sendable {
    /// A statement that the store ran for the request.
    package struct RanStatement: Sendable {
        /// With placeholders. It has no values.
        package let sql: String
        /// How long the store took, with the wait for a connection.
        package let time: Duration
    }

    private struct State {
        var turn: Duration?
        var slowest: RanStatement?
        var storeTime: Duration?
    }

    private let state = Mutex(State())

    package init() {}

    /// When its turn came, on the clock of its scheduler. Nil: not yet.
    package var turn: Duration? {
        get { state.withLock { $0.turn } }
        set { state.withLock { $0.turn = newValue } }
    }

    /// The time of all statements together. Nil: there was none.
    package var storeTime: Duration? { state.withLock { $0.storeTime } }

    /// The one that took longest.
    package var slowest: RanStatement? { state.withLock { $0.slowest } }

    /// A statement was run.
    package func ran(_ sql: String, for time: Duration) {
        state.withLock { state in
            state.storeTime = (state.storeTime ?? .zero) + time
            if let slowest = state.slowest, slowest.time >= time { return }
            state.slowest = RanStatement(sql: sql, time: time)
        }
    }
}
