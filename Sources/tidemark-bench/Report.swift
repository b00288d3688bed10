// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Prints each row as soon as it is known.
struct Report {
    private let isJSON: Bool
    private var hasBegun = false
    /// Of rows with a goal.
    private var count = 0
    private var metCount = 0

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    mutating func add(_ row: Row) {
        if !isJSON, !hasBegun {
            print(Self.line("name", "value", "reference", "unit", "ratio", "goal", ""))
        }
        hasBegun = true
        if row.hasGoal {
            count += 1
            if row.isMet { metCount += 1 }
        }
        print(isJSON ? Self.json(row) : Self.table(row))
        fflush(nil)
    }

    func finish() {
        if !isJSON, count > 0 { print("\(metCount) of \(count) goals are met.") }
    }

    /// Names and units are our own, so nothing in them needs to be escaped.
    private static func json(_ row: Row) -> String {
        """
        {"name": "\(row.name)", "unit": "\(row.unit)", "value": \(row.value), "reference": \(row.reference), \
        "ratio": \(String(format: "%.3f", row.ratio)), "goal": "\(row.goal.text)"}
        """
    }

    private static func table(_ row: Row) -> String {
        line(
            row.name, number(row.value), number(row.reference), row.unit, String(format: "%.2f", row.ratio),
            row.goal.text, row.hasGoal ? row.isMet ? "met" : "missed" : "")
    }

    private static func line(_ name: String, _ columns: String...) -> String {
        let widths = [12, 12, 32, 8, 10, 8]
        let right = [true, true, false, true, true, false]
        var line = pad(name, 22, isRight: false)
        for (index, column) in columns.enumerated() { line += " " + pad(column, widths[index], isRight: right[index]) }
        return line
    }

    private static func pad(_ text: String, _ width: Int, isRight: Bool) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return isRight ? space + text : text + space
    }

    private static func number(_ value: Double) -> String {
        String(format: value >= 1000 ? "%.0f" : value >= 10 ? "%.1f" : "%.3f", value)
    }
}
