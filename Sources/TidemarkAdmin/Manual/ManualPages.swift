// SPDX-License-Identifier: Apache-2.0

/// The pages of the manual, made from the help of the commands (R-903). They have neither a date nor a version, so that they
/// change only with the commands.
package enum ManualPages {
    /// The nesting of commands that have pages: `tidemark`, `tidemark admin`, `tidemark admin zones`.
    private static let depthMax = 3

    /// - Parameter json: what `--experimental-dump-help` prints of the program.
    /// - Returns: the text of each file; nil if it is no such JSON.
    package static func files(json: String) -> [String: String]? {
        guard let root = CommandDescription(json: json) else { return nil }
        var files: [String: String] = [:]
        add(root, path: [], to: &files)
        return files
    }

    private static func add(
        _ command: CommandDescription, path: [String], to files: inout [String: String]
    ) {
        let path = path + [command.commandName]
        let page = ManualPage(command, path: path, hasPagesBelow: path.count < depthMax)
        files["\(path.joined(separator: "-")).1"] = page.text
        guard path.count < depthMax else { return }
        for next in command.shownSubcommands { add(next, path: path, to: &files) }
    }
}

extension CommandDescription {
    /// The title of the options that each command of an operator has.
    private static let sharedTitle = "Options of all commands"

    /// Without those, and without help and version, which each command has.
    fileprivate var ownArguments: [ArgumentDescription] {
        shownArguments.filter { $0.sectionTitle != Self.sharedTitle }
    }

    fileprivate var sharedArguments: [ArgumentDescription] {
        shownArguments.filter { $0.sectionTitle == Self.sharedTitle }
    }

    private var shownArguments: [ArgumentDescription] {
        (arguments ?? []).filter { $0.shouldDisplay && !["help", "version"].contains($0.key) }
    }
}

/// One page, in the macros of man(7).
private struct ManualPage {
    private let command: CommandDescription
    private let path: [String]
    /// Whether the commands below have pages of their own.
    private let hasPagesBelow: Bool

    init(_ command: CommandDescription, path: [String], hasPagesBelow: Bool) {
        (self.command, self.path, self.hasPagesBelow) = (command, path, hasPagesBelow)
    }

    private var name: String { path.joined(separator: "-") }

    var text: String {
        let lines =
            [
                #".\" Made from the help of the commands: make manual"#,
                ".TH \"\(name.uppercased())\" 1 \"\" Tidemark \"Tidemark\"", ".SH NAME",
                "\(Self.escaped(name)) \\- \(Self.escaped(Self.title(command.abstract)))", ".SH SYNOPSIS",
            ] + Self.synopsis(of: command, path) + Self.described(command, ".SH DESCRIPTION")
            + Self.list(of: command.ownArguments, ".SH ARGUMENTS AND OPTIONS") + below
            + Self.list(of: shared, ".SH OPTIONS OF ALL COMMANDS") + ends
        return lines.map { $0 + "\n" }.joined()
    }

    /// The options that all commands of the page have, which stand there once.
    private var shared: [ArgumentDescription] {
        let commands = hasPagesBelow ? [command] : [command] + command.shownSubcommands
        return commands.lazy.map(\.sharedArguments).first { !$0.isEmpty } ?? []
    }

    private var below: [String] {
        guard !command.shownSubcommands.isEmpty else { return [] }
        return [".SH COMMANDS"]
            + command.shownSubcommands.flatMap { next in
                hasPagesBelow
                    ? [".TP", ".BR \(Self.escaped("\(name)-\(next.commandName)")) (1)", Self.line(next.abstract)]
                    : Self.section(of: next, path)
            }
    }

    private static func section(of command: CommandDescription, _ path: [String]) -> [String] {
        let path = path + [command.commandName]
        let parts = command.shownSubcommands
        return [".SS \"\(escaped(path.joined(separator: " ")))\""] + synopsis(of: command, path)
            + [".PP", line(command.abstract)] + described(command, nil) + list(of: command.ownArguments, nil)
            + parts.flatMap { section(of: $0, path) }
    }

    private var ends: [String] {
        var ends = [
            ".SH EXIT STATUS",
            "0 done, 1 a check failed, 2 usage, 3 unreachable, 4 not allowed, 5 refused, 6 a fault, 130 a signal.",
        ]
        if path.count > 1 {
            ends += [".SH SEE ALSO", ".BR \(Self.escaped(path.dropLast().joined(separator: "-"))) (1)"]
        }
        return ends
    }

    private static func synopsis(of command: CommandDescription, _ path: [String]) -> [String] {
        let arguments = (command.arguments ?? []).filter(\.shouldDisplay)
        var words = arguments.filter { $0.kind != .positional && !$0.isOptional && $0.kind == .option }
            .map { "\($0.longNames.first ?? $0.spellings.first ?? "") <\($0.valueName ?? "value")>" }
        words += arguments.filter { $0.kind == .positional }.map { argument in
            let name = "<\(argument.valueName ?? "value")>\(argument.isRepeating ? "..." : "")"
            return argument.isOptional ? "[\(name)]" : name
        }
        let isChoice = arguments.contains { $0.kind != .positional && $0.isOptional && $0.key != "help" }
        if isChoice { words.append("[options]") }
        if !command.shownSubcommands.isEmpty { words.append("<command>") }
        return [".B \(escaped(path.joined(separator: " ")))", escaped(words.joined(separator: " "))]
            .filter { !$0.isEmpty }
    }

    /// Lines that are set in by the help stay lines.
    private static func described(_ command: CommandDescription, _ head: String?) -> [String] {
        guard let discussion = command.discussion, !discussion.isEmpty else { return [] }
        var lines = [head ?? ".PP"]
        var isVerbatim = false
        for text in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
            let isSetIn = text.hasPrefix("  ")
            if isSetIn != isVerbatim { lines.append(isSetIn ? ".RS 4\n.nf" : ".fi\n.RE") }
            isVerbatim = isSetIn
            lines.append(text.isEmpty ? ".PP" : escaped(isSetIn ? String(text.dropFirst(2)) : String(text)))
        }
        if isVerbatim { lines.append(".fi\n.RE") }
        return lines
    }

    private static func list(of arguments: [ArgumentDescription], _ head: String?) -> [String] {
        guard !arguments.isEmpty else { return [] }
        return (head.map { [$0] } ?? []) + arguments.flatMap { [".TP", ".B \(escaped(usage(of: $0)))", text(of: $0)] }
    }

    private static func usage(of argument: ArgumentDescription) -> String {
        let value = "<\(argument.valueName ?? "value")>"
        switch argument.kind {
        case .positional: return value
        case .flag: return argument.spellings.joined(separator: ", ")
        case .option: return "\(argument.spellings.joined(separator: ", ")) \(value)"
        }
    }

    private static func text(of argument: ArgumentDescription) -> String {
        var parts = [argument.abstract, argument.discussion].compactMap { $0 }
        if let values = argument.allValues, !values.allSatisfy({ argument.abstract?.contains($0) == true }) {
            parts.append("One of \(values.joined(separator: ", ")).")
        }
        if let value = argument.defaultValue { parts.append("Default: \(value).") }
        return line(parts.joined(separator: " "))
    }

    private static func title(_ abstract: String?) -> String {
        let text = abstract ?? ""
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// A text that is one line of the page.
    private static func line(_ text: String?) -> String {
        escaped((text ?? "").split(whereSeparator: \.isNewline).joined(separator: " "))
    }

    /// As groff(7) asks: a backslash and a dash are escaped, and a line begins with no control character.
    private static func escaped(_ text: String) -> String {
        let text = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
    }
}
