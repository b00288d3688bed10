// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc

/// Turns Ctrl-C and SIGTERM into a call, so that the program can end cleanly.
final class InterruptSignals {
    private let sources: [any DispatchSourceSignal]

    init(_ onSignal: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: onSignal)
            source.resume()
            return source
        }
    }

    func stop() {
        for source in sources { source.cancel() }
    }
}
