// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import TidemarkAdmin
internal import TidemarkServer

/// Runs the console: on a terminal with a prompt, otherwise through the lines of standard input.
struct ConsoleProgram {
    private let session: ConsoleSession
    private let terminal: ProcessTerminal
    private let variables: [String: String]
    /// The line that runs, for Ctrl-C.
    private let current = CurrentRun()

    /// - Parameter variables: of the environment.
    init(_ options: AdminOptions, terminal: ProcessTerminal, variables: [String: String]) {
        session = ConsoleSession(options, variables: variables)
        self.terminal = terminal
        self.variables = variables
    }

    func run(_ signals: ProcessSignals) throws -> ExitStatus {
        if let warning = session.warning { terminal.say(warning) }
        let isTyped = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
        let status = try isTyped ? typedLines(signals) : scriptLines()
        try blocking { [session] in await session.close() }
        return status
    }

    /// - Returns: the status of the first failure, or of the last line.
    private func scriptLines() throws -> ExitStatus {
        var entries = ConsoleEntries()
        var status = ExitStatus.ok
        do {
            while let line = readLine() {
                guard let entry = try entries.take(line), !entry.words.isEmpty else { continue }
                let run = CommandRun(entry.words, in: session, on: CommandTerminal(terminal, line: entry.line))
                guard let outcome = run.wait().outcome else { break }
                status = outcome.status
                if outcome.isOver { return status }
                if status != .ok, try blocking({ [session] in await session.endsAtFailure }) { return status }
            }
            try entries.finish()
        } catch let failure as AdminFailure {
            terminal.say("Error: \(failure)")
            return failure.status
        }
        return status
    }

    private func typedLines(_ signals: ProcessSignals) throws -> ExitStatus {
        let history = ConsoleHistory(variables: variables)
        let editor = try LineEditor(history: history.read(), historyCount: ConsoleHistory.linesMax) { [session] text in
            session.completion(of: text)
        }
        signals.handle { [current, terminal] signal in
            if signal == .interrupt, !current.interrupted() { return true }
            if signal == .interrupt { terminal.say("\nLeft the console, because the command does not end.") }
            LineEditor.restoreTerminal()
            exit(ConsoleInterrupts.status)
        }
        terminal.say("tidemark \(Server.version). Type help to see what there is; exit or Ctrl-D ends.")
        var entries = ConsoleEntries()
        while true {
            let prompt = entries.isOpen ? "... " : try blocking { [session] in await session.prompt }
            switch editor.read(prompt: prompt, after: entries.begun) {
            case .end: return .ok
            case .abandoned: entries.abandon()
            case .line(let line):
                if try perform(line, &entries, editor, history) { return .ok }
            }
        }
    }

    /// - Returns: whether the console ends.
    private func perform(
        _ line: String, _ entries: inout ConsoleEntries, _ editor: LineEditor, _ history: ConsoleHistory
    ) throws -> Bool {
        let entry: ConsoleEntries.Entry?
        do {
            entry = try entries.take(line)
        } catch {
            terminal.say("Error: \(error)")
            return false
        }
        guard let entry, !entry.words.isEmpty else { return false }
        if ConsoleHistory.mayKeep(entry.text) {
            editor.remember(entry.text)
            history.add(entry.text)
        }
        // What is typed meanwhile is for the next line, also Ctrl-D.
        terminal.keepEndKey()
        defer { terminal.releaseEndKey() }
        let run = CommandRun(entry.words, in: session, on: CommandTerminal(terminal, line: nil))
        current.set(run)
        defer { current.set(nil) }
        let (outcome, isAbandoned) = run.wait()
        guard isAbandoned else { return outcome?.isOver == true }
        guard outcome == nil else {
            terminal.say("\nInterrupted.")
            return false
        }
        let left = try blocking(atMost: Self.releaseMilliseconds) { [session] in
            await session.abandon()
            return await session.prompt
        }
        if left == nil {
            // It holds what the console needs itself.
            terminal.say("\nThe command does not end. Ctrl-C in some seconds leaves the console.")
            run.waitForEnd()
        }
        terminal.say("\nInterrupted. Look what the command did before you repeat it.")
        return false
    }

    /// How long the console waits for the connection of an abandoned command.
    private static let releaseMilliseconds = 1_000
}

/// The line that is carried out now.
private final class CurrentRun: Sendable {
    private struct State {
        var run: CommandRun?
        var interrupts = ConsoleInterrupts()
    }

    private let state = Mutex(State())
    private let start = ContinuousClock.now

    func set(_ run: CommandRun?) {
        state.withLock { state in
            state.run = run
            if run == nil { state.interrupts.ended() } else { state.interrupts.began() }
        }
    }

    /// Ctrl-C.
    ///
    /// - Returns: whether the process ends.
    func interrupted() -> Bool {
        let now = ContinuousClock.now - start
        let (action, run) = state.withLock { ($0.interrupts.interrupted(at: now), $0.run) }
        if action == .abandon { run?.abandon() }
        return action == .leave
    }
}
