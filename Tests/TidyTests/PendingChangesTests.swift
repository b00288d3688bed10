// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The table of all places that remove a pending change, docs/pending-changes.md, is whole and true.
@Suite struct PendingChangesTests {
    private struct Row {
        let place: String
        let test: String
    }

    /// The cells of each line that is a row of a table.
    private var table: [[String]] {
        get throws {
            let url = SourceFile.root.appendingPathComponent("docs/pending-changes.md")
            return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("|") }
                .map { line in line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        }
    }

    private var rows: [Row] {
        get throws {
            try table.filter { $0.count == 3 && $0[0].contains(".swift") }
                .map { Row(place: $0[0], test: $0[2].replacing("`", with: "")) }
        }
    }

    private var tests: String {
        get throws { try SourceFile.all.filter { $0.path.hasPrefix("Tests/") }.map(\.text).joined(separator: "\n") }
    }

    /// What takes a change out of a list, or a list's place.
    nonisolated(unsafe) private static let removal =
        /(?:pending|inFlight)(?:Records|Zones)\.remove[^A-Z].*|(?:pending|inFlight)(?:Records|Zones)\.removeAll.*|inFlight(?:Records|Zones) = \[\].*|pending(?:Records|Zones) = journal.*|unsent = \[\].*|unsent\.removeAll.*|hasUntrackedChanges = false.*|state\.remove\(pending.*/
    nonisolated(unsafe) private static let function = /func (\w+)/
    /// Of which a line that takes something out has one.
    private static let words = ["remove", "[]", "journal", "hasUntrackedChanges"]

    @Test func `every place that removes a pending change is in the table`() throws {
        let rows = try rows
        #expect(rows.count >= 15, "the table cannot be read")
        var found = 0
        for file in try SourceFile.all where file.path.hasPrefix("Sources/") {
            var function = ""
            for (number, line) in file.code {
                if line.contains("func "), let match = line.firstMatch(of: Self.function) { function = String(match.1) }
                guard Self.words.contains(where: line.contains), line.firstMatch(of: Self.removal) != nil,
                    !line.contains("var ")
                else { continue }
                found += 1
                let name = URL(fileURLWithPath: file.path).lastPathComponent
                let isListed = rows.contains { $0.place.contains("`\(name)`") && $0.place.contains("`\(function)`") }
                #expect(isListed, "\(file.path):\(number): \(function) is not in docs/pending-changes.md")
            }
        }
        #expect(found >= 15, "the sources cannot be read")
    }

    @Test func `every test that the table names is there`() throws {
        let tests = try tests
        for row in try rows {
            #expect(!row.test.isEmpty && tests.contains("`" + row.test), "\(row.place): \(row.test)")
        }
    }

    @Test func `every test of what happens to apps is there`() throws {
        let tests = try tests
        let cases = try table.filter { $0.count == 2 && $0[1].hasPrefix("`") }
        #expect(cases.count >= 20, "the table cannot be read")
        for row in cases {
            for name in row[1].split(separator: "`") where name != "; " {
                #expect(tests.contains("func `\(name)`("), "\(row[0]): \(name)")
            }
        }
    }
}
