// SPDX-License-Identifier: Apache-2.0

/// The messages of a service to its supervisor, in the words of sd_notify(3).
enum SupervisorMessage: Equatable {
    /// It serves. After ``reloading(at:)`` too, whether or not that worked.
    case ready
    /// It reads its configuration again. By the clock of the system that does not count while it sleeps.
    case reloading(at: Duration)
    /// It ends, and takes no longer than that.
    case stopping(within: Duration)
    /// All is well. Without it, the supervisor ends and restarts the service after a while.
    case alive

    /// - Parameter status: what operators see of the service; nil: what they see does not change.
    func text(status: String? = nil) -> String {
        let status = status.map { "\nSTATUS=\($0.replacing("\n", with: " "))" } ?? ""
        return switch self {
        case .ready: "READY=1\(status)"
        case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(Int64(time / .microseconds(1)))\(status)"
        case .stopping(let time): "STOPPING=1\nEXTEND_TIMEOUT_USEC=\(Int64(time / .microseconds(1)))\(status)"
        case .alive: "WATCHDOG=1\(status)"
        }
    }
}

/// The settings of a supervisor for a service, in variables.
struct SupervisorSettings: Equatable {
    /// Where it hears.
    let socket: String
    /// How long the service may say nothing; nil: for ever.
    let watchdogTime: Duration?

    /// Nil: nobody wants to hear.
    ///
    /// - Parameter processID: of this process. The watchdog may be meant for another one, which passed its variables on.
    init?(variables: [String: String], processID: Int32) {
        guard let socket = variables["NOTIFY_SOCKET"], !socket.isEmpty else { return nil }
        self.socket = socket
        let isForOther = variables["WATCHDOG_PID"].map { $0 != "\(processID)" } ?? false
        guard !isForOther, let microseconds = variables["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 0 else {
            watchdogTime = nil
            return
        }
        watchdogTime = .microseconds(microseconds)
    }
}
