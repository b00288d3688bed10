// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import TidemarkSockets

/// Receives the signals that a server handles, on a separate thread.
package final class ProcessSignals: Sendable {
    /// The action that a signal asks for.
    package enum Signal: Sendable {
        /// SIGINT: somebody at a terminal wants it to stop.
        case interrupt
        /// SIGTERM: a supervisor wants it to stop. Others may still send devices to it.
        case terminate
        /// SIGHUP: read the configuration again.
        case reload

        package var isToStop: Bool { self != .reload }

        fileprivate init(number: Int32) {
            self =
                switch number {
                case SIGHUP: .reload
                case SIGTERM: .terminate
                default: .interrupt
                }
        }
    }

    /// Returns whether it has handled the signal. If not, the next handler receives it. It must not set another
    /// handler.
    package typealias Handler = @Sendable (Signal) -> Bool

    private static let numbers = [SIGINT, SIGTERM, SIGHUP]

    /// NB: in a structure, because a closure that is itself the value of a generic type is wrapped again whenever it is
    /// read in place.
    private struct State {
        var handler: Handler
        /// Signals that no handler has handled yet.
        var unheeded: [Signal] = []
    }

    private let state: Mutex<State>

    /// Keeps the signals from ending the process or interrupting its threads. Call it first in `main`: threads that
    /// start later inherit it.
    package static func block() {
        var set = signalSet()
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        // A limit on the size of files becomes an error of the call that exceeds it.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Begins to receive signals; call ``block()`` before. It lives as long as the process.
    package init(_ handler: @escaping Handler) {
        state = Mutex(State(handler: handler))
        try? LoopThread.detach(name: "signals") { self.run() }
    }

    /// Sets the handler. It first receives signals that arrived before and were not handled.
    package func handle(_ handler: @escaping Handler) {
        state.withLock { state in
            state.handler = handler
            state.unheeded.removeAll(where: handler)
        }
    }

    private static func signalSet() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        return set
    }

    private func run() {
        var set = Self.signalSet()
        while true {
            var number: Int32 = 0
            guard sigwait(&set, &number) == 0 else { continue }
            let signal = Signal(number: number)
            state.withLock { state in
                if !state.handler(signal) { state.unheeded.append(signal) }
            }
        }
    }
}
