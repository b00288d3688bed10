// SPDX-License-Identifier: Apache-2.0

/// Tables for a terminal: columns as wide as their widest cell, readable for people and for `awk`.
///
/// The head and the widths come from the first rows. Later rows with wider cells stand out of line. Where there are no
/// rows, there is no head.
struct TableWriter: RowWriter {
    let isWide: Bool
    let hasColor: Bool
    private var heads: [ColumnHead] = []
    private var widths: [Int] = []

    private static let bold = "\u{1B}[1m"
    private static let plain = "\u{1B}[0m"

    init(isWide: Bool, hasColor: Bool) {
        self.isWide = isWide
        self.hasColor = hasColor
    }

    mutating func text(_ columns: [ColumnHead], _ rows: [[OutputValue]]) -> String {
        guard !rows.isEmpty else { return "" }
        let shown = columns.indices.filter { isWide || !columns[$0].isWide }
        let cells = rows.map { row in shown.map { PlainText.cell(row[$0]) } }
        var text = ""
        if columns != heads {
            if !heads.isEmpty { text += "\n" }
            heads = columns
            let titles = shown.map { columns[$0].title }
            widths = titles.indices.map { column in
                cells.reduce(titles[column].cellCount) { max($0, $1[column].cellCount) }
            }
            let head = line(titles)
            text += hasColor ? Self.bold + head + Self.plain + "\n" : head + "\n"
        }
        for row in cells { text += line(row) + "\n" }
        return text
    }

    /// The last column is not padded.
    private func line(_ cells: [String]) -> String {
        let padded = zip(cells, widths).dropLast().map { cell, width in
            cell + String(repeating: " ", count: max(0, width - cell.cellCount))
        }
        return (padded + cells.suffix(1)).joined(separator: "  ")
    }
}

/// Values as people read them, without quotation marks.
enum PlainText {
    /// A cell of a table: never empty, so that `awk` finds each column.
    static func cell(_ value: OutputValue) -> String {
        let text = text(value).inOneLine
        return text.isEmpty ? "-" : text
    }

    static func text(_ value: OutputValue) -> String {
        switch value {
        case .text(let text): text
        case .number(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .flag(let flag): flag ? "yes" : "no"
        case .date(let date): DateForm.seconds(date)
        case .list(let values): values.map(text).joined(separator: ", ")
        case .object(let members): members.map { "\($0.0)=\(text($0.1))" }.joined(separator: ", ")
        case .none: ""
        }
    }
}
