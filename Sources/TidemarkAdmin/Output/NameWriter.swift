// SPDX-License-Identifier: Apache-2.0

/// One name a line, for `xargs` and the like. A name of several columns has a space between its parts.
struct NameWriter: RowWriter {
    mutating func text(_ columns: [ColumnHead], _ rows: [[OutputValue]]) -> String {
        let named = columns.indices.filter { columns[$0].isName }
        // Of several lists of one command some may have no names.
        guard !named.isEmpty else { return "" }
        return rows.map { row in
            named.map { PlainText.text(row[$0]).inOneLine }.joined(separator: " ") + "\n"
        }.joined()
    }
}
