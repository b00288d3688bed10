// SPDX-License-Identifier: Apache-2.0

/// A list of mappings, in YAML 1.2. Strings are in quotation marks, so none is taken for a number, a truth or null.
/// Lists and mappings inside are in YAML's flow style, which is nearly that of JSON.
struct YAMLWriter: RowWriter {
    mutating func text(_ columns: [ColumnHead], _ rows: [[OutputValue]]) -> String {
        rows.map { row in
            var mark = "- "
            return zip(columns, row).map { column, value in
                defer { mark = "  " }
                return "\(mark)\(column.key): \(Self.text(value))\n"
            }.joined()
        }.joined()
    }

    private static func text(_ value: OutputValue) -> String {
        switch value {
        case .text, .number, .flag, .date, .none: JSONText.text(value)
        case .decimal(let number) where number.isNaN: ".nan"
        case .decimal(let number) where number.isInfinite: number < 0 ? "-.inf" : ".inf"
        case .decimal(let number): "\(number)"
        case .list(let values): "[" + values.map(text).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { JSONText.string($0.0) + ": " + text($0.1) }.joined(separator: ", ") + "}"
        }
    }
}
