// SPDX-License-Identifier: Apache-2.0

/// Makes text of rows. Pure: it writes nowhere. Rows may come in several calls.
protocol RowWriter: Sendable {
    /// - Parameter rows: each has a value for each column.
    mutating func text(_ columns: [ColumnHead], _ rows: [[OutputValue]]) -> String
}

extension OutputFormat {
    /// - Parameter hasColor: whether the output goes to a terminal that shows colours.
    func writer(hasColor: Bool) -> any RowWriter {
        switch self {
        case .table: TableWriter(isWide: false, hasColor: hasColor)
        case .wide: TableWriter(isWide: true, hasColor: hasColor)
        case .json: JSONLinesWriter()
        case .yaml: YAMLWriter()
        case .name: NameWriter()
        }
    }
}
