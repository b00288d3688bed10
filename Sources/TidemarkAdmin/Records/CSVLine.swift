// SPDX-License-Identifier: Apache-2.0

/// A line of CSV (RFC 4180), as `tidemark admin import` reads it.
enum CSVLine {
    /// With its end. Nil is an empty cell, and an empty text is in quotation marks.
    static func text(_ cells: [String?]) -> String { cells.map(quoted).joined(separator: ",") + "\r\n" }

    private static func quoted(_ cell: String?) -> String {
        guard let cell else { return "" }
        let isPlain = !cell.isEmpty && !cell.utf8.contains { "\",\r\n".utf8.contains($0) } && cell.first != " "
        guard !isPlain else { return cell }
        var text = "\"".unicodeScalars
        // By scalars: with a combining mark a quotation mark is another character.
        for scalar in cell.unicodeScalars {
            if scalar == "\"" { text.append(scalar) }
            text.append(scalar)
        }
        text.append("\"")
        return String(text)
    }
}
