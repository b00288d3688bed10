// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// A kind of names that are in the store or in the operator's files, and complete what an operator types.
package enum LiveName: String, Sendable, CaseIterable {
    case accounts
    case containers
    case contexts
    /// `public` and the accounts.
    case databases
    /// Zones of the account that was typed before.
    case zones

    /// - Parameter path: the names that lead to the command.
    init?(_ argument: ArgumentDescription, path: [String]) {
        switch argument.valueName {
        case "account": self = .accounts
        case "context": self = .contexts
        case "database": self = .databases
        case "identifier": self = .containers
        case "name" where path.first == "context" && argument.kind == .positional: self = .contexts
        case "zone": self = .zones
        default: return nil
        }
    }
}

extension CompletionKind {
    /// Names from the store. A shell asks this program for them.
    package static func live(_ name: LiveName) -> CompletionKind {
        .custom { words, index, prefix in
            ShellWord.words(
                of: CompletionProgram.names(name, words: words, index: index, prefix: prefix),
                for: CompletionShell.requesting)
        }
    }
}
