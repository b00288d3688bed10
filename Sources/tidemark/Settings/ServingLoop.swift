// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
internal import Synchronization
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
            guard signal.isToStop else { return false }
            if let text { printError(text) }
            exit(130)
        }
    }

    /// Returns when the server has stopped, after SIGINT or SIGTERM. A second signal ends the process at once. SIGHUP
    /// reads the certificates again.
    ///
    /// - Parameters:
    ///   - drainTime: how long the server serves on after SIGTERM, while load balancers hear that it is not ready. Whoever
    ///     types Ctrl-C does not wait.
    ///   - supervisor: who else hears of all that.
    static func run(
        _ server: Server, _ signals: ProcessSignals, drainTime: Duration = .zero, supervisor: Supervisor? = nil
    ) throws {
        let stop = StopSignal()
        signals.handle { signal in
            guard signal.isToStop else {
                if let supervisor { supervisor.reload { reload(server) } } else { reload(server) }
                return true
            }
            guard stop.take(signal) else { exit(130) }
            return true
        }
        // Whoever is told that it serves may signal it at once.
        server.announce()
        if let supervisor { server.report(to: supervisor) }
        let signal = stop.wait()
        supervisor?.stop(drainTime: signal == .terminate ? drainTime : .zero)
        if signal == .terminate, drainTime > .zero {
            server.beginDraining()
            // Nobody signals it: the handler ends the process.
            _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .seconds(Int(drainTime.components.seconds)))
        }
        // Whoever types Ctrl-C does not wait for this either.
        try blocking { await server.stop(spread: signal == .terminate ? Server.closingSpread : .zero) }
    }

    private static func reload(_ server: Server) {
        do {
            try server.reloadCertificates()
        } catch {
            printError("\(error) The old certificate stays in use.")
        }
    }
}

/// The first signal to stop.
private final class StopSignal: Sendable {
    private let first = Mutex<ProcessSignals.Signal?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    /// - Returns: false for a second one.
    func take(_ signal: ProcessSignals.Signal) -> Bool {
        let isFirst = first.withLock { first in
            guard first == nil else { return false }
            first = signal
            return true
        }
        if isFirst { isThere.signal() }
        return isFirst
    }

    func wait() -> ProcessSignals.Signal? {
        isThere.wait()
        return first.withLock { $0 }
    }
}

/// Writes a line to standard error, whether or not anybody reads it.
func printError(_ text: String) {
    ProcessTerminal.writeError(text + "\n")
}
