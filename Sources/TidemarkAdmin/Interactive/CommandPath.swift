// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import TidemarkDomain

/// The words that lead to a command: nouns and verbs, one below the other.
///
/// ArgumentParser names the option that a mistyped one probably means. Of a word that is no command it only says that it
/// expected none, and shows the usage of another command.
package enum CommandPath {
    /// Says that no command begins as some words do, and which one is probably meant (R-834).
    ///
    /// - Parameter words: without the name of `root`.
    /// - Returns: nil if there is such a command. What comes after an option is not looked at.
    package static func mistake(in words: [String], of root: any ParsableCommand.Type) -> String? {
        var (command, path) = (root, [String]())
        for (index, word) in words.enumerated() {
            let below = command.configuration.subcommands
            guard !below.isEmpty, !word.hasPrefix("-") else { return nil }
            if word == help {
                // ArgumentParser knows the word as the first one alone.
                if path.isEmpty { continue }
                return "Help is an option: \(shown(path, of: root)) --help"
            }
            guard let next = below.first(where: { $0._commandName == word }) else {
                let advice = advice(on: word, before: words.dropFirst(index + 1).first, after: path, at: command, root)
                return "There is no command \(text(path + [word])). \(advice)"
            }
            path.append(word)
            command = next
        }
        return nil
    }

    /// Says where options belong that stand before a command; nil: none does.
    ///
    /// - Parameter words: without the name of `root`. They could not be understood.
    package static func misplacedOption(in words: [String], of root: any ParsableCommand.Type) -> String? {
        let start = words.prefix { !$0.hasPrefix("-") }
        var command = root
        for word in start {
            let next = command.configuration.subcommands.first { $0._commandName == word }
            guard let next else { return nil }
            command = next
        }
        let names = names(below: command)
        guard let verb = words.dropFirst(start.count).first(where: names.contains) else { return nil }
        return "Options come after the command: \(shown(start + [verb], of: root)) …"
    }

    private static let help = "help"
    /// With more of them, only the help lists them.
    private static let listedMax = 12

    private static func advice(
        on word: String, before next: String?, after path: [String], at command: any ParsableCommand.Type,
        _ root: any ParsableCommand.Type
    ) -> String {
        if let command = renamed[text(path + [word])] { return "Use: \(command)" }
        let names = names(below: command)
        let meant = nearest(to: word, among: names).map { [[$0]] } ?? paths(with: word, before: next, below: command)
        if !meant.isEmpty {
            // At the top level `admin` is a part of what is meant.
            let texts = meant.map { path.isEmpty ? $0.joined(separator: " ") : text(path + $0) }
            return "Did you mean \(texts.joined(separator: " or "))?"
        }
        guard names.count <= listedMax else { return "See what there is: \(shown(path, of: root)) --help" }
        return "\(path.isEmpty ? "There is" : "After \(text(path)) comes"): \(names.joined(separator: ", "))"
    }

    /// Also the plural of the word.
    private static func nearest(to word: String, among names: [String]) -> String? {
        let plurals = [word + "es", String(word.dropLast()) + "ies"]
        return names.first(where: plurals.contains) ?? NearestName.of(word, among: names)
    }

    /// The commands of which a part was left out, or that were written the wrong way round.
    private static func paths(
        with word: String, before next: String?, below command: any ParsableCommand.Type
    ) -> [[String]] {
        let all = command.configuration.subcommands.filter { names(below: $0).contains(word) }
        if let noun = all.first(where: { $0._commandName == next }) { return [[noun._commandName, word]] }
        return all.count <= 2 ? all.map { [$0._commandName, word] } : []
    }

    /// Those that users are shown.
    private static func names(below command: any ParsableCommand.Type) -> [String] {
        command.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map { $0._commandName }.sorted()
    }

    /// Without `admin`, as documents and the console name commands.
    private static func text(_ path: [String]) -> String {
        (path.count > 1 && path.first == admin ? Array(path.dropFirst()) : path).joined(separator: " ").inOneLine
    }

    /// As a shell takes it.
    private static func shown(_ path: some Sequence<String>, of root: any ParsableCommand.Type) -> String {
        let name = root._commandName
        return ((name == admin ? ["tidemark", admin] : [name]) + path).joined(separator: " ")
    }

    private static let admin = "admin"

    /// What commands of earlier versions were called.
    private static let renamed = [
        "accounts add-address": "tidemark admin addresses create",
        "accounts addresses": "tidemark admin addresses list",
        "accounts quota": "tidemark admin accounts set-quota, or tidemark admin accounts show",
        "accounts remove-address": "tidemark admin addresses delete",
        "containers quota":
            "tidemark admin containers set-quota, tidemark admin containers show or tidemark admin databases list",
        "credentials issue": "tidemark admin credentials create",
    ]
}
