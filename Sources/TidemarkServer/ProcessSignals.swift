// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The signals that a server heeds, told on a thread of their own.
package final class ProcessSignals: Sendable {
    /// What a signal asks the process to do.
    package enum Signal: Sendable {
        /// SIGINT or SIGTERM: stop.
        case stop
        /// SIGHUP: read configuration again.
        case reload
    }

    /// Says whether it has heeded the signal; if not, the next handler is told of it. It must not set another one.
    package typealias Handler = @Sendable (Signal) -> Bool

    private static let numbers = [SIGINT, SIGTERM, SIGHUP]

    /// NB: in a structure, because a closure that is itself the value of a generic type is wrapped anew whenever it is
    /// read in place.
    private struct State {
        var handler: Handler
        /// Those that no handler has heeded yet.
        var unheeded: [Signal] = []
    }

    private let state: Mutex<State>

    /// Keeps the signals from ending the process or interrupting its threads. To be called first in `main`, before
    /// anything starts a thread, because threads inherit it.
    package static func block() {
        var set = signalSet()
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        // A limit to the size of files is an error of the call that meets it.
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Begins to listen; needs ``block()`` before. Lives as long as the process.
    package init(_ handler: @escaping Handler) {
        state = Mutex(State(handler: handler))
        var thread = pthread_t()
        let box = Unmanaged.passRetained(self)
        let code = pthread_create(&thread, nil, { ProcessSignals.run($0) }, box.toOpaque())
        guard code == 0 else {
            box.release()
            return
        }
        pthread_detach(thread)
    }

    /// Tells `handler` from now on, first of what came before and was not heeded.
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

    private static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context else { return nil }
        let signals = Unmanaged<ProcessSignals>.fromOpaque(context).takeUnretainedValue()
        var set = signalSet()
        while true {
            var number: Int32 = 0
            guard sigwait(&set, &number) == 0 else { continue }
            let signal = number == SIGHUP ? Signal.reload : .stop
            signals.state.withLock { state in
                if !state.handler(signal) { state.unheeded.append(signal) }
            }
        }
    }
}
