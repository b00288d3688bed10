// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What a command says and asks, in the form that the operator chose.
package final class Screen: Sendable {
    package let output: OutputFormat
    package let isDryRun: Bool
    /// Whether each SQL statement is shown.
    let isDebugging: Bool
    private let isConfirmed: Bool
    private let terminal: any OperatorTerminal
    private let writer: Mutex<any RowWriter>
    private let outcome = Mutex(Outcome())

    private struct Outcome {
        var hasEmptyTable = false
        var hasText = false
    }

    /// - Parameter isConfirmed: whether questions are answered with yes (`--yes`).
    package init(
        output: OutputFormat, isDryRun: Bool = false, isConfirmed: Bool = false, isDebugging: Bool = false,
        terminal: any OperatorTerminal
    ) {
        self.isDebugging = isDebugging
        self.output = output
        self.isDryRun = isDryRun
        self.isConfirmed = isConfirmed
        self.terminal = terminal
        writer = Mutex(output.writer(hasColor: terminal.hasColor))
    }

    /// Rows of a list, or of a stream: may be called several times; the table's head is written once.
    package func show<Row: Sendable>(_ rows: [Row], as columns: [Column<Row>]) async throws {
        let heads = columns.map(\.head)
        let values = rows.map { row in columns.map { $0.value(row) } }
        let text = writer.withLock { $0.text(heads, values) }
        if rows.isEmpty { outcome.withLock { $0.hasEmptyTable = true } }
        try await write(text)
    }

    /// Text that has a form of its own whatever `--output` says, such as a schema.
    package func write(_ text: String) async throws {
        guard !text.isEmpty else { return }
        outcome.withLock { $0.hasText = true }
        try await terminal.write(text)
    }

    /// A message for people, to standard error.
    package func say(_ text: String) {
        outcome.withLock { $0.hasText = true }
        terminal.say(text)
    }

    /// Says that a table is empty, if somebody watches and nothing else was said: silence could be a mistake as well.
    func sayIfEmpty() {
        let isEmpty = outcome.withLock { $0.hasEmptyTable && !$0.hasText }
        guard isEmpty, output == .table || output == .wide, terminal.showsProgress else { return }
        terminal.say("There is nothing to show.")
    }

    /// A line that the next one replaces, only on a terminal; nil: removes it.
    package func showProgress(_ text: String?) { terminal.showProgress(text) }

    /// Opens a file that the operator names; `-` for standard input.
    package func open(_ path: String) throws(AdminFailure) -> InputFile { try terminal.open(path) }

    /// Whether the operator's files and the program's are on one machine.
    package var hasLocalFiles: Bool { terminal.hasLocalFiles }

    /// For a command that works on files of the program's own machine.
    ///
    /// - Parameter reason: a sentence that says why.
    package func requireLocalFiles(_ reason: String) throws(AdminFailure) {
        guard terminal.hasLocalFiles else {
            throw AdminFailure(.refused, "\(reason) Run the command there, with --database-url.")
        }
    }

    /// Call it before anything is changed that nobody needs to confirm. With `--dry-run` it says what would be done, and
    /// throws the quiet end.
    ///
    /// - Parameter action: such as "create the account alice".
    package func plan(_ action: String) throws {
        guard isDryRun else { return }
        say("Would \(action).")
        throw CommandEnd.dryRun
    }

    /// Asks before something is destroyed.
    ///
    /// - Parameters:
    ///   - action: such as "delete the zone Notes of alice".
    ///   - loss: a sentence that says in numbers what will be lost.
    ///   - name: what must be typed; nil: a yes is enough.
    package func confirm(_ action: String, loss: String, typing name: String? = nil) async throws {
        if isDryRun {
            say("Would \(action). \(loss)")
            throw CommandEnd.dryRun
        }
        guard !isConfirmed else { return }
        guard terminal.canAsk else {
            throw AdminFailure(
                .usage,
                "This would \(action), and nobody can be asked here. \(loss) Repeat the command with --yes, or with "
                    + "--dry-run to change nothing.")
        }
        say(loss)
        let isWanted =
            if let name {
                await terminal.ask("Type \(name) to \(action): ") == name
            } else {
                ["y", "yes"].contains(await terminal.ask("Really \(action)? [y/N] ")?.lowercased() ?? "")
            }
        guard isWanted else { throw AdminFailure(.refused, "Not confirmed. Nothing was changed.") }
    }
}
