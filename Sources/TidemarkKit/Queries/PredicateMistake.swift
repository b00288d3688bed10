// SPDX-License-Identifier: Apache-2.0

/// Why a predicate cannot be sent to a server.
struct PredicateMistake: Error, Hashable {
    /// One or two sentences: what is wrong, and what to write instead.
    let message: String
    /// The character (code point) of the format where it was noticed, from 1; nil if there is no format.
    var column: Int?

    init(_ message: String, at column: Int? = nil) {
        self.message = message
        self.column = column
    }

    /// The text of the error with which a query with this predicate fails.
    func text(of format: String) -> String {
        guard let column else { return message }
        return "Cannot use the predicate '\(format)' at column \(column): \(message)"
    }
}
