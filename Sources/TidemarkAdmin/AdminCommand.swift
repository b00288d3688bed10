// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import TidemarkDomain

/// A command of an operator. It runs in the program that talks to the database: `tidemark admin`, or a server to which
/// the operator is connected.
package protocol AdminCommand: ParsableCommand, Sendable {
    /// The least role that may run it over a server.
    static var role: OperatorRole { get }

    /// Whether it needs this version's tables.
    static var needsMigrations: Bool { get }

    /// Whether it gives away all that a user has stored. Then the audit has it too, although it changes nothing.
    static var readsAllData: Bool { get }

    /// Whether it opens keys of encrypted values, which its options say. The audit has that in the action's name.
    var opensKeys: Bool { get }

    /// Whether it writes the audit itself, because there may be no table for it yet.
    static var auditsItself: Bool { get }

    /// `@OptionGroup(title: "Options of all commands") var options: AdminOptions`
    var options: AdminOptions { get }

    /// What to say if a signal ends it; nil: nothing.
    var interruption: String? { get }

    /// - Throws: ``AdminFailure``, `StorageError` or ``CommandEnd``.
    func run(_ console: Console) async throws
}

extension AdminCommand {
    package static var needsMigrations: Bool { true }
    package static var readsAllData: Bool { false }
    package var opensKeys: Bool { false }
    package static var auditsItself: Bool { false }
    package var interruption: String? { nil }
}

/// A command that needs no store: it works on files of the operator's own machine, such as the list of contexts. It never
/// travels to a server.
package protocol LocalCommand: ParsableCommand, Sendable {
    var options: AdminOptions { get }

    /// - Throws: ``AdminFailure`` or ``CommandEnd``.
    func run(_ screen: Screen) async throws
}

extension CommandConfiguration {
    /// A command with examples in its help, which each command has.
    ///
    /// - Parameter examples: each a whole line, which begins with `tidemark admin`.
    package init(
        _ name: String, abstract: String, discussion: String = "", examples: String...
    ) {
        let text =
            (examples.count == 1 ? "EXAMPLE:\n" : "EXAMPLES:\n") + examples.map { "  \($0)" }.joined(separator: "\n")
        self.init(
            commandName: name, abstract: abstract, discussion: discussion.isEmpty ? text : "\(discussion)\n\n\(text)")
    }
}
