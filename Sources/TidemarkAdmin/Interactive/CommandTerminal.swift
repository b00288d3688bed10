// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The terminal as one command of the console sees it. Once the operator has abandoned the command, it says nothing more.
package final class CommandTerminal: OperatorTerminal {
    package let hasColor: Bool
    package let canAsk: Bool
    package let showsProgress: Bool
    package let hasLocalFiles: Bool
    private let terminal: any OperatorTerminal
    private let line: Int?
    private let isAbandoned = Atomic<Bool>(false)

    /// - Parameter line: of a script, for messages of errors; nil: somebody types.
    package init(_ terminal: any OperatorTerminal, line: Int?) {
        self.terminal = terminal
        self.line = line
        hasColor = terminal.hasColor
        canAsk = terminal.canAsk
        showsProgress = terminal.showsProgress
        hasLocalFiles = terminal.hasLocalFiles
    }

    package func abandon() { isAbandoned.store(true, ordering: .relaxed) }

    private var isSilent: Bool { isAbandoned.load(ordering: .relaxed) }

    package func write(_ text: String) async throws {
        guard !isSilent else { throw CommandEnd.readerGone }
        try await terminal.write(text)
    }

    package func say(_ text: String) {
        guard !isSilent else { return }
        guard let line, text.hasPrefix(Self.errorMark) else { return terminal.say(text) }
        terminal.say("Error in line \(line): \(text.dropFirst(Self.errorMark.count))")
    }

    /// As all failures of commands begin, and those of ArgumentParser.
    private static let errorMark = "Error: "

    package func showProgress(_ text: String?) {
        if !isSilent { terminal.showProgress(text) }
    }

    package func ask(_ question: String) async -> String? {
        isSilent ? nil : await terminal.ask(question)
    }

    package func mayRead(_ path: String) -> Bool { path != "-" }

    package func open(_ path: String) throws(AdminFailure) -> InputFile {
        guard mayRead(path) else { throw AdminFailure.inputOfConsole }
        return try terminal.open(path)
    }
}

extension AdminFailure {
    static let inputOfConsole = AdminFailure(.usage, "Standard input belongs to the console. Name a file.")
}
