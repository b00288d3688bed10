// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The keys of JSON that docs/admin.md promises, beside the lines that golden commands wrote.
@Suite struct DocumentedKeysTests {
    private struct Row {
        let path: String
        /// The last cell.
        let text: String
    }

    /// The rows of the table of commands.
    private static func rows() throws -> [String: Row] {
        let document = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/admin.md")
        var rows: [String: Row] = [:]
        for line in try String(contentsOf: document, encoding: .utf8).split(separator: "\n") {
            guard let match = line.wholeMatch(of: /\| `([a-z -]+)` \| \w+ \| .* \| (.*) ?\|/) else { continue }
            rows[String(match.1)] = Row(path: String(match.1), text: String(match.2))
        }
        return rows
    }

    /// A row may say that it has those of another one.
    private static func keys(of row: Row, in rows: [String: Row]) -> [String] {
        let text = row.text.prefix { $0 != ";" }
        if let other = text.firstMatch(of: /those of `([a-z ]+)`/) {
            return rows[String(other.1)].map { keys(of: $0, in: rows) } ?? []
        }
        let noun = row.path.prefix { $0 != " " }
        let first = text.contains("those of the list") ? rows["\(noun) list"].map { keys(of: $0, in: rows) } : nil
        return (first ?? []) + text.matches(of: /`([A-Za-z]+)`/).map { String($0.1) }
    }

    /// The keys of an object in their order. A number may be masked, so it need not be JSON.
    static func keys(of line: Substring) -> [String] {
        var keys: [String] = []
        var (depth, text, isQuoted, isEscaped) = (0, "", false, false)
        for character in line {
            if isQuoted {
                if character == "\"" && !isEscaped { isQuoted = false } else { text.append(character) }
                isEscaped = character == "\\" && !isEscaped
                continue
            }
            switch character {
            case "\"": (isQuoted, text) = (true, "")
            case "{", "[": depth += 1
            case "}", "]": depth -= 1
            case ":" where depth == 1: keys.append(text)
            default: break
            }
        }
        return keys
    }

    @Test func `R-830: docs/admin.md has the keys of each command's JSON, in their order`() throws {
        let rows = try Self.rows()
        #expect(rows.count > 80)
        var comparedCount = 0
        // An archive has lines of many kinds.
        for command in GoldenCommand.all where command.path != "accounts export" {
            guard let row = rows[command.path] else { continue }
            let promised = Self.keys(of: row, in: rows)
            let lines = (GoldenFiles.blocks(of: command) ?? []).flatMap { $0.split(separator: "\n") }
            for line in lines where line.hasPrefix("| {") {
                comparedCount += 1
                let keys = Self.keys(of: line.dropFirst(2))
                switch command.path {
                case "xray": #expect(keys.first == "kind" && promised == ["kind"], "\(line)")
                case "records get", "records export":
                    #expect(keys == keys.sorted() && Set(keys).isSubset(of: promised), "\(command.path): \(line)")
                case "records query": #expect(keys == promised || keys == ["count"], "\(line)")
                default: #expect(keys == promised, "\(command.path): \(line)")
                }
            }
        }
        #expect(comparedCount > 100)
    }

    @Test func `R-830: the keys of a line are those of the outermost object`() {
        let line = #"{"a":1,"b":{"c":[2,{"d":3}]},"e":"x\"y\":{","f":N,"g":[],"h\\":null}"#
        #expect(Self.keys(of: line[...]) == ["a", "b", "e", "f", "g", #"h\\"#])
    }
}
