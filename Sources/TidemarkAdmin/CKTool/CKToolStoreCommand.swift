// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// A command of `cktool` that works on a store: on a database in this process, or in a server that is told its words.
protocol CKToolStoreCommand: CKToolCommand {
    /// Whose token it needs.
    static var right: CKToolRight { get }

    var access: CKToolAccess { get }

    /// The container that it works on; nil: none.
    var place: CKToolPlace? { get }

    /// The file of this machine into which its output goes; nil: standard output.
    var outputFile: String? { get }

    /// What a server is told. It gets neither the token nor paths that begin with `~`.
    func words(_ program: CKToolProgram) -> CKToolWords
}

extension CKToolStoreCommand {
    var outputFile: String? { nil }
}

/// Whose token a command needs. Neither opens what the other does.
enum CKToolRight: Equatable, Sendable {
    /// An operator's, with at least this role.
    case management(OperatorRole)
    /// A user's, for what that user may do.
    case user(mayChange: Bool)

    var mayChange: Bool {
        switch self {
        case .management(let role): role > .viewer
        case .user(let mayChange): mayChange
        }
    }

    /// Why somebody may not give the command over a server; nil: they may.
    func refusal(of sender: ChannelSender) -> String? {
        switch (self, sender) {
        case (.user, .user): nil
        case (.management(let needed), .operator(let found)): found.refusal(needing: needed)
        case (.user, .operator(let found)):
            "\(found.name) is an operator, and this command needs the token of a user: --token, or "
                + "CLOUDKIT_USER_TOKEN."
        case (.management, .user):
            "A user token opens the commands of records alone. This command needs a management token: the credential of an "
                + "operator."
        }
    }
}

extension SignedInOperator {
    /// Why the role is too small for a command; nil: it is not.
    func refusal(needing needed: OperatorRole) -> String? {
        guard needed > role else { return nil }
        return
            "\(name) is \(role.name), and this command needs \(needed.name). An owner may change that: tidemark admin "
            + "operators set-role \(name) \(needed.name)"
    }
}
