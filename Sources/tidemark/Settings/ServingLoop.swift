// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
internal import TidemarkAdmin
internal import TidemarkServer

/// Runs a server until the process is told to stop.
enum ServingLoop {
    /// Handles signals for the whole process. Before a server runs, and in commands without a server, a signal to stop
    /// ends the process at once. Programs that it started end too, because the kernel ends a private PostgreSQL with
    /// its parent.
    ///
    /// - Parameter text: what to print then.
    @discardableResult
    static func listenForSignals(saying text: String? = nil) -> ProcessSignals {
        ProcessSignals { signal in
            guard signal == .stop else { return false }
            if let text { printError(text) }
            exit(130)
        }
    }

    /// Returns when the server has stopped, after SIGINT or SIGTERM. A second signal ends the process at once. SIGHUP
    /// reads the certificates again.
    static func run(_ server: Server, _ signals: ProcessSignals) throws {
        let stop = DispatchSemaphore(value: 0)
        signals.handle { signal in
            switch signal {
            case .stop: stop.signal()
            case .reload:
                do {
                    try server.reloadCertificates()
                } catch {
                    printError("\(error) The old certificate stays in use.")
                }
            }
            return true
        }
        stop.wait()
        signals.handle { signal in
            if signal == .stop { exit(130) }
            return true
        }
        try blocking { await server.stop() }
    }
}

/// Writes a line to standard error, whether or not anybody reads it.
func printError(_ text: String) {
    ProcessTerminal.writeError(text + "\n")
}
