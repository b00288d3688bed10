// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkDomain

/// Tables for a terminal: columns as wide as their widest cell, readable for people and for `awk`.
enum Table {
    static func print(_ head: [String], _ rows: [[String]]) {
        let cells = ([head] + rows).map { row in row.map { $0.isEmpty ? "-" : $0.inOneLine } }
        let widths = head.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        for row in cells {
            // The last column is not padded.
            let padded = zip(row, widths).dropLast().map { cell, width in
                cell + String(repeating: " ", count: width - cell.count)
            }
            Swift.print((padded + row.suffix(1)).joined(separator: "  "))
        }
    }

    /// UTC, to the second.
    static func date(_ timestamp: Timestamp) -> String {
        Date(timeIntervalSince1970: Double(timestamp.milliseconds) / 1_000).formatted(.iso8601)
    }
}

extension String {
    /// With spaces in place of line breaks and control characters: text from users must not control an operator's
    /// terminal.
    var inOneLine: String {
        let scalars = unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: " "
            default: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
