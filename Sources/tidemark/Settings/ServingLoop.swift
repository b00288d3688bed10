// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
internal import TidemarkServer

/// Runs a server until the process is told to stop.
enum ServingLoop {
    /// For the whole process: before a server runs, a signal to stop ends it at once. What was started with it ends as
    /// well, because the kernel ends a private PostgreSQL with its parent.
    static func listenForSignals() -> ProcessSignals {
        ProcessSignals { signal in
            if signal == .stop { exit(130) }
        }
    }

    /// Returns when the server has stopped, after SIGINT or SIGTERM; a second one ends the process at once. SIGHUP reads
    /// the certificates again.
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
        }
        stop.wait()
        signals.handle { signal in
            if signal == .stop { exit(130) }
        }
        try blocking { await server.stop() }
    }
}

func printError(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
}
