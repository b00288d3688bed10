// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Synchronization
import TidemarkAdmin
import TidemarkTestSupport

/// What a line of a command has said.
struct GoldenBlock: Sendable, Equatable {
    /// The line, as it stands in the file.
    let title: String
    let status: Int32
    let output: String
    let messages: String

    var text: String {
        "$ tidemark admin \(title)\nstatus \(status)\n" + Self.marked(output, "|") + Self.marked(messages, "!")
    }

    /// What a program of its own writes to one file after the other.
    var bothTexts: String { output + messages }

    private static func marked(_ text: String, _ mark: String) -> String {
        guard !text.isEmpty else { return "" }
        // The end of a line of CSV, which is one Character.
        var lines = text.replacing("\r\n", with: "\\r\n").split(separator: "\n", omittingEmptySubsequences: false)
        let hasEnd = lines.last == ""
        if hasEnd { lines.removeLast() }
        return lines.map { $0.isEmpty ? "\(mark)\n" : "\(mark) \($0)\n" }.joined()
            + (hasEnd ? "" : "\\ no end of line\n")
    }
}

/// Runs lines of commands in this process, as the program does.
struct GoldenRun: Sendable {
    let directory: TestDirectory
    /// They say where the commands go.
    let variables: [String: String]
    /// Of a database, for all lines; nil: each has its own.
    var connection: KeptConnection?

    /// Runs the lines of a command.
    func blocks(of command: GoldenCommand) async throws -> [GoldenBlock] {
        var blocks: [GoldenBlock] = []
        for line in command.lines {
            let title = line.isEmpty ? command.path : "\(command.path) \(line)"
            blocks.append(try await block(of: title, title: title, command.mask))
        }
        return blocks
    }

    func block(
        of line: String, title: String, _ mask: GoldenNormalizer.Mask = .usual
    ) async throws -> GoldenBlock {
        let terminal = GoldenTerminal()
        let status = try await status(of: words(of: line), terminal)
        func normalized(_ text: String) -> String {
            GoldenNormalizer.text(text, mask, directory: directory.path)
        }
        return GoldenBlock(
            title: title.replacing(" @", with: " "), status: status.rawValue, output: normalized(terminal.output),
            messages: normalized(terminal.messages))
    }

    func words(of line: String) -> [String] { Self.words(of: line, directory: directory.path) }

    /// A word that begins with `@` is a file.
    static func words(of line: String, directory: String) -> [String] {
        line.split(separator: " ").map { $0.hasPrefix("@") ? "\(directory)/\($0.dropFirst())" : String($0) }
    }

    private func status(of words: [String], _ terminal: GoldenTerminal) async throws -> TidemarkAdmin.ExitStatus {
        let parsed: any ParsableCommand
        do {
            parsed = try Admin.parseAsRoot(words)
        } catch {
            terminal.say(Admin.fullMessage(for: error))
            return .usage
        }
        if let command = parsed as? any AdminCommand {
            return await AdminProgram.run(
                command, arguments: words, terminal: terminal, variables: variables, over: connection)
        }
        if let command = parsed as? any ContextCommand {
            return await AdminProgram.run(command, terminal: terminal, variables: variables)
        }
        guard let command = parsed as? any LocalCommand else {
            throw NeverHappened(description: "\(words) is no command")
        }
        return await AdminProgram.run(command, terminal: terminal)
    }
}

/// Keeps what commands say. Nobody can be asked.
private final class GoldenTerminal: OperatorTerminal {
    let hasColor = false
    let canAsk = false
    let hasLocalFiles = true
    private let texts = Mutex((output: "", messages: ""))

    var output: String { texts.withLock { $0.output } }
    var messages: String { texts.withLock { $0.messages } }

    func write(_ text: String) async throws { texts.withLock { $0.output += text } }
    func say(_ text: String) { texts.withLock { $0.messages += text + "\n" } }
    func showProgress(_ text: String?) {}
    func ask(_ question: String) async -> String? { nil }

    func open(_ path: String) throws(AdminFailure) -> InputFile { try ProcessTerminal(variables: [:]).open(path) }
}
