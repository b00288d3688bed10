// SPDX-License-Identifier: Apache-2.0

/// What a client shows a server before it gives a command.
struct ChannelCredential: Sendable, Equatable {
    /// Whose it is, and from where.
    enum Kind: Sendable, Equatable {
        /// An operator's, which the context has.
        case context
        /// An operator's, which `cktool` was given.
        case management
        /// An account's. It opens the commands of that user's records.
        case user

        var name: String {
            switch self {
            case .context: "context's credential"
            case .management: "management token"
            case .user: "user token"
            }
        }

        /// What to do about one that is not accepted. Empty: nothing more than the context says.
        fileprivate var remedy: String {
            switch self {
            case .context: ""
            case .management: " Make a new one: tidemark admin operators issue NAME"
            case .user: " Make a new one: tidemark admin credentials create NAME"
            }
        }
    }

    let text: String
    let kind: Kind

    init(_ text: String, _ kind: Kind = .context) {
        self.text = text
        self.kind = kind
    }

    /// Whether a message has room for it.
    var isPossible: Bool { (1...4_096).contains(text.utf8.count) }

    /// The version of the protocol, which says to whom the server listens.
    var subprotocol: String { kind == .user ? "tidemark.user.v1" : "tidemark.operator.v1" }

    /// Why a server refused it.
    func refusal(_ server: String, _ reason: String) -> AdminFailure {
        AdminFailure(
            .notAllowed, "The server \(server) does not accept the \(kind.name): \(reason).\(kind.remedy)")
    }
}
