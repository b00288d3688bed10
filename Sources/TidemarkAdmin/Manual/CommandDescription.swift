// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A command with its options and arguments, as ArgumentParser describes them in JSON (`--experimental-dump-help`).
struct CommandDescription: Decodable, Sendable {
    let commandName: String
    let abstract: String?
    let discussion: String?
    let subcommands: [CommandDescription]?
    let arguments: [ArgumentDescription]?
    let shouldDisplay: Bool?

    private struct Tool: Decodable {
        let command: CommandDescription
    }

    /// Nil if it is no such JSON.
    init?(json: String) {
        guard let tool = try? JSONDecoder().decode(Tool.self, from: Data(json.utf8)) else { return nil }
        self = tool.command
    }

    /// Those that users are shown.
    var shownSubcommands: [CommandDescription] {
        (subcommands ?? []).filter { $0.commandName != "help" && $0.shouldDisplay ?? true }
    }

    func option(named word: String) -> ArgumentDescription? {
        arguments?.first { $0.spellings.contains(word) }
    }
}

/// An option, flag or positional argument.
struct ArgumentDescription: Decodable, Sendable {
    enum Kind: String, Decodable {
        case positional, option, flag
    }

    struct Spelling: Decodable {
        let kind: String
        let name: String

        var text: String { kind == "long" ? "--\(name)" : "-\(name)" }
    }

    let kind: Kind
    let shouldDisplay: Bool
    let sectionTitle: String?
    let isOptional: Bool
    let isRepeating: Bool
    let names: [Spelling]?
    let valueName: String?
    let defaultValue: String?
    let allValues: [String]?
    let abstract: String?
    let discussion: String?

    /// The long name of an option without its dashes.
    var key: String { names?.first { $0.kind == "long" }?.name ?? valueName ?? "" }

    var longNames: [String] { (names ?? []).filter { $0.kind == "long" }.map(\.text) }

    var spellings: [String] { (names ?? []).map(\.text) }
}
