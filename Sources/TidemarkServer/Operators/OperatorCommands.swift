// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkService
package import TidemarkTelemetry

/// Carries out the commands of operators who are connected to a server. The program gives it to the server, because the
/// commands are above it.
package protocol OperatorCommands: Sendable {
    /// Runs a command to its end, on a separate thread. Cancelled, it ends soon.
    ///
    /// - Returns: its exit status.
    func run(_ request: OperatorRequest, over channel: any OperatorChannel) async -> Int32
}

/// A command that an operator sent.
package struct OperatorRequest: Sendable {
    /// How the command is named in the log, in the audit, and with the changes that it makes.
    package let uuid: RequestUUID
    /// The sender of the command.
    package let sender: ChannelSender
    /// From where.
    package let address: String
    /// Without `tidemark admin`; or the word `cktool`, the sender's time zone, and the words after `tidemark cktool`.
    package let arguments: [String]
    /// The container in the operator's context; nil: none.
    package let container: String?
    /// Likewise: `development` or `production`.
    package let environment: String?
    package let hasColor: Bool
    /// Whether the operator can be asked.
    package let canAsk: Bool
    package let showsProgress: Bool
    package let databaseURL: String
    /// Those of the server, as its options have set them.
    package let limits: Limits
    package let connections: ConnectionLimits
    /// Where the long queries of all operators take turns, or those of all users.
    package let longQueries: FairGate
    /// The server's directory of assets; nil: it stores none.
    package let assetDirectory: String?

    package init(
        uuid: RequestUUID = .random(), sender: ChannelSender, address: String, arguments: [String],
        container: String?, environment: String?, hasColor: Bool, canAsk: Bool, showsProgress: Bool,
        databaseURL: String, limits: Limits, connections: ConnectionLimits, longQueries: FairGate,
        assetDirectory: String? = nil
    ) {
        self.uuid = uuid
        self.sender = sender
        self.address = address
        self.arguments = arguments
        self.container = container
        self.environment = environment
        self.hasColor = hasColor
        self.canAsk = canAsk
        self.showsProgress = showsProgress
        self.databaseURL = databaseURL
        self.limits = limits
        self.connections = connections
        self.longQueries = longQueries
        self.assetDirectory = assetDirectory
    }
}

/// The operator's end of a command: where output goes, and who answers. From any thread.
package protocol OperatorChannel: Sendable {
    /// Sends data. Returns when the operator's program has room for more.
    ///
    /// - Returns: false if the operator is gone.
    func write(_ text: String) async -> Bool
    /// Sends a message for people. Some are left out, and counted, if they come faster than they are read.
    func say(_ text: String)
    /// Shows a line that the next one replaces; nil: removes it.
    func showProgress(_ text: String?)
    /// Asks, and returns the answer; nil: there is none.
    func ask(_ question: String) async -> String?
    /// Opens a file of the operator's. It blocks the thread, which must be the command's own.
    func openFile(_ path: String) -> OperatorFileAnswer
    /// Reads on in the file of this number; the first that was opened is 0. It blocks the thread, as ``openFile(_:)`` does.
    func readFile(_ number: Int) -> OperatorPartAnswer
}

/// The result of opening a file of an operator.
package enum OperatorFileAnswer: Sendable, Equatable {
    /// - Parameter byteCount: nil if it is unknown, as for a pipe.
    case opened(name: String, byteCount: Int?)
    case failed(String)
    /// The operator is gone, or the command was cancelled.
    case gone
}

/// The next part of a file of an operator's.
package enum OperatorPartAnswer: Sendable, Equatable {
    /// Empty at the end.
    case bytes([UInt8])
    case failed(String)
    case gone
}
