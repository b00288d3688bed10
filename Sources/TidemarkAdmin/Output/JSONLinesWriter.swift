// SPDX-License-Identifier: Apache-2.0

/// One JSON object a line, with the keys in the order of the columns.
struct JSONLinesWriter: RowWriter {
    mutating func text(_ columns: [ColumnHead], _ rows: [[OutputValue]]) -> String {
        rows.map { row in JSONText.object(zip(columns, row).map { ($0.key, $1) }) + "\n" }.joined()
    }
}

/// Values as JSON in one line (RFC 8259).
enum JSONText {
    static func text(_ value: OutputValue) -> String {
        switch value {
        case .text(let text): string(text)
        case .number(let number): "\(number)"
        case .decimal(let number): decimal(number)
        case .flag(let flag): flag ? "true" : "false"
        case .date(let date): string(DateForm.milliseconds(date))
        case .list(let values): "[" + values.map(text).joined(separator: ",") + "]"
        case .object(let members): object(members)
        case .none: "null"
        }
    }

    static func object(_ members: [(String, OutputValue)]) -> String {
        "{" + members.map { string($0.0) + ":" + text($0.1) }.joined(separator: ",") + "}"
    }

    /// In quotation marks. All control characters are escaped, also those that JSON allows: they can carry commands to a
    /// terminal.
    static func string(_ text: String) -> String {
        var result = "\"".unicodeScalars
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result.append(contentsOf: "\\\"".unicodeScalars)
            case "\\": result.append(contentsOf: "\\\\".unicodeScalars)
            case "\n": result.append(contentsOf: "\\n".unicodeScalars)
            case "\r": result.append(contentsOf: "\\r".unicodeScalars)
            case "\t": result.append(contentsOf: "\\t".unicodeScalars)
            case _ where scalar.controlsTerminals: result.append(contentsOf: escape(scalar).unicodeScalars)
            default: result.append(scalar)
            }
        }
        result.append("\"")
        return String(result)
    }

    /// All such characters are below U+10000, so one escape is enough.
    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// JSON has no infinity and no NaN, so these become strings.
    private static func decimal(_ number: Double) -> String {
        number.isFinite ? "\(number)" : string("\(number)")
    }
}
