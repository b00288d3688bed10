// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkLocalPostgres

/// Says on standard error when the private PostgreSQL dies and comes back.
final class PostgresReporter: Sendable {
    private struct State {
        var hasEnded = false
        var isStopped = false
    }

    private let state = Mutex(State())

    /// From now on an end is intended and not reported.
    func stop() {
        state.withLock { $0.isStopped = true }
    }

    func report(_ event: LocalPostgres.Event) {
        let text = state.withLock { state -> String? in
            guard !state.isStopped else { return nil }
            switch event {
            case .started:
                defer { state.hasEnded = false }
                return state.hasEnded ? "PostgreSQL runs again." : nil
            case .ended:
                state.hasEnded = true
                return "PostgreSQL ended. It is being restarted."
            case .startFailed(let error):
                return "PostgreSQL cannot be started. Trying again. \(error)"
            }
        }
        if let text { printError(text) }
    }
}
