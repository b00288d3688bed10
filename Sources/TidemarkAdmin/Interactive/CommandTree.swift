// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The commands of `tidemark admin` with their options and arguments, as ArgumentParser describes them.
struct CommandTree: Sendable {
    private let root: CommandDescription?

    static let admin = CommandTree(root: CommandDescription(json: Admin._dumpHelp()))

    /// The nouns, and the commands without one, with what they are for.
    var nouns: [(name: String, abstract: String)] {
        (root?.shownSubcommands ?? []).map { ($0.commandName, $0.abstract ?? "") }
    }

    /// Whether a command has an account as an argument, and not as an option.
    ///
    /// - Parameter path: a noun and a verb. What is after the command is passed over.
    func takesAccount(_ path: [String]) -> Bool {
        var command = root
        for name in path {
            guard let next = command?.subcommands?.first(where: { $0.commandName == name }) else { break }
            command = next
        }
        guard let command, command.option(named: "--account") == nil else { return false }
        return (command.arguments ?? []).contains { $0.kind == .positional && $0.valueName == "account" }
    }

    /// What may come after some words.
    ///
    /// - Parameters:
    ///   - words: those before the cursor that are complete, without `tidemark admin`.
    ///   - prefix: what is typed of the next one.
    func expectation(after words: [String], prefix: String) -> CompletionExpectation {
        guard let root else { return CompletionExpectation() }
        var walk = CommandWalk(root)
        for word in words { walk.take(word) }
        return walk.expectation(prefix: prefix)
    }
}

/// What may be typed next, and what has been.
struct CompletionExpectation: Sendable, Equatable {
    /// Fixed words: verbs, options and values.
    var words: [String] = []
    /// Names to ask the store for.
    var live: LiveName?
    /// The values of positional arguments so far, by their names.
    var arguments: [String: String] = [:]
    /// The values of options so far, by their names without dashes.
    var options: [String: String] = [:]
}

/// Goes from word to word.
private struct CommandWalk {
    private var command: CommandDescription
    private var path: [String] = []
    private var expectation = CompletionExpectation()
    /// The option whose value comes next.
    private var open: ArgumentDescription?
    private var positionalCount = 0
    private var isAfterTerminator = false

    init(_ root: CommandDescription) { command = root }

    mutating func take(_ word: String) {
        if let option = open {
            expectation.options[option.key] = word
            open = nil
        } else if word == "--", !isAfterTerminator {
            isAfterTerminator = true
        } else if word.hasPrefix("-"), word.count > 1, !isAfterTerminator {
            takeOption(word)
        } else if let next = command.subcommands?.first(where: { $0.commandName == word }) {
            command = next
            path.append(word)
        } else if let argument = positional {
            expectation.arguments[argument.valueName ?? ""] = word
            positionalCount += 1
        }
    }

    private mutating func takeOption(_ word: String) {
        let parts = word.split(separator: "=", maxSplits: 1)
        guard let option = command.option(named: String(parts[0])), option.kind == .option else { return }
        if parts.count == 2 { expectation.options[option.key] = String(parts[1]) } else { open = option }
    }

    private var positional: ArgumentDescription? {
        let all = (command.arguments ?? []).filter { $0.kind == .positional }
        if positionalCount < all.count { return all[positionalCount] }
        return all.last.flatMap { $0.isRepeating ? $0 : nil }
    }

    func expectation(prefix: String) -> CompletionExpectation {
        var expectation = expectation
        if let open {
            expectation.words = open.allValues ?? []
            expectation.live = LiveName(open, path: path)
        } else if prefix.hasPrefix("-"), !isAfterTerminator {
            expectation.words = (command.arguments ?? []).filter { $0.kind != .positional && $0.shouldDisplay }
                .flatMap(\.longNames)
        } else if let subcommands = command.subcommands {
            expectation.words = subcommands.filter { $0.shouldDisplay ?? true }.map(\.commandName)
        } else if let positional {
            expectation.words = positional.allValues ?? []
            expectation.live = LiveName(positional, path: path)
        }
        expectation.words = expectation.words.filter { $0.hasPrefix(prefix) }.sorted()
        return expectation
    }
}
