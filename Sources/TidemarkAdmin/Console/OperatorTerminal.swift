// SPDX-License-Identifier: Apache-2.0

/// Where a command's data and messages go, and who answers its questions: the terminal of this process, or an operator
/// who is connected to a server.
package protocol OperatorTerminal: Sendable {
    /// Whether data is shown on a terminal with colours.
    var hasColor: Bool { get }
    /// Whether somebody can be asked.
    var canAsk: Bool { get }
    /// Whether progress is shown.
    var showsProgress: Bool { get }
    /// Whether the operator's files and the program's are on one machine.
    var hasLocalFiles: Bool { get }
    /// Writes data, to standard output.
    ///
    /// - Throws: ``CommandEnd/readerGone``, or an ``AdminFailure``.
    func write(_ text: String) async throws
    /// Writes a message for people, with a line's end, to standard error.
    func say(_ text: String)
    /// Shows a line that the next call replaces, if somebody watches; nil: removes it.
    func showProgress(_ text: String?)
    /// Asks, and returns the line that is answered; nil if there is none.
    func ask(_ question: String) async -> String?
    /// Whether a command may read what the operator names; `-` is standard input, which a console reads itself.
    func mayRead(_ path: String) -> Bool
    /// Opens a file that the operator names; `-` for standard input.
    func open(_ path: String) throws(AdminFailure) -> InputFile
}

extension OperatorTerminal {
    package var showsProgress: Bool { canAsk }
    package func mayRead(_ path: String) -> Bool { true }
}
