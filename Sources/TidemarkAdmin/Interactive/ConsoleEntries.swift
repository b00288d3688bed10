// SPDX-License-Identifier: Apache-2.0

/// Joins lines to what is carried out as one: a line that ends with a backslash, or within quotation marks, goes on.
package struct ConsoleEntries: Sendable {
    /// What is carried out as one.
    package struct Entry: Sendable, Equatable {
        package let words: [String]
        /// As it was typed.
        package let text: String
        /// The number of its first line, from 1.
        package let line: Int
    }

    private var text = ""
    /// It has read ``text``.
    private var reader = ConsoleTextReader()
    private var lineCount = 0
    private var firstLine = 0

    /// More than anybody types: a file that is no script ends here.
    private static let textBytesMax = 1_048_576

    package init() {}

    /// Whether a line has begun something that the next one goes on with.
    package var isOpen: Bool { firstLine > 0 }

    /// What the next line goes on with, with its line's end; empty if nothing is begun.
    package var begun: String { isOpen ? text + "\n" : "" }

    /// - Parameter line: without its end.
    /// - Returns: nil if the next line belongs to it.
    package mutating func take(_ line: String) throws(AdminFailure) -> Entry? {
        lineCount += 1
        let added = isOpen ? "\n" + line : line
        if !isOpen { firstLine = lineCount }
        text += added
        guard text.utf8.count <= Self.textBytesMax else { throw end("A line is too long. Is this a script?") }
        for character in added { reader.take(character) }
        guard !reader.isOpen else { return nil }
        defer { abandon() }
        return Entry(words: reader.words, text: text, line: firstLine)
    }

    /// Forgets what a line has begun.
    package mutating func abandon() {
        text = ""
        reader = ConsoleTextReader()
        firstLine = 0
    }

    /// Call it after the last line.
    package mutating func finish() throws(AdminFailure) {
        if isOpen { throw end("A quotation mark is not closed, or the last line ends with a backslash.") }
    }

    private mutating func end(_ reason: String) -> AdminFailure {
        defer { abandon() }
        return AdminFailure(.usage, "Line \(firstLine): \(reason)")
    }
}
