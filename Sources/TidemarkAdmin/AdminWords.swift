// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// What the words of a command mean, without `tidemark admin`.
enum AdminWords {
    case command(any ParsableCommand)
    /// The text of the help that was asked for.
    case help(String)
    /// What is wrong with the words.
    case mistake(String)

    init(_ words: [String]) {
        if let text = CommandPath.mistake(in: words, of: Admin.self) {
            self = .mistake("Error: \(text)")
            return
        }
        do {
            var parsed = try Admin.parseAsRoot(words)
            switch parsed {
            case is any AdminCommand, is any ContextCommand, is any LocalCommand: self = .command(parsed)
            default:
                // A noun alone, and what ArgumentParser makes of `--help`, throw their help here.
                try parsed.run()
                self = .mistake("Error: \(words.joined(separator: " ")) is no command.")
            }
        } catch {
            let text = Admin.fullMessage(for: error)
            guard Admin.exitCode(for: error) != .success else {
                self = .help(text)
                return
            }
            let hint = Admin.hint(for: ["admin"] + words)
            self = .mistake(hint.map { "\(text)\n\($0)" } ?? text)
        }
    }
}
