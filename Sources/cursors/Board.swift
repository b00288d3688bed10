// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// Where a cursor is, as devices publish it.
struct BoardCursor: Codable, Equatable, Sendable {
    /// A step to a neighbouring place.
    enum Step: Equatable {
        case left, down, up, right

        /// The keys of vi.
        init?(key: UInt8) {
            switch key {
            case UInt8(ascii: "h"): self = .left
            case UInt8(ascii: "j"): self = .down
            case UInt8(ascii: "k"): self = .up
            case UInt8(ascii: "l"): self = .right
            default: return nil
            }
        }
    }

    var name: String
    var column: Int
    var row: Int

    mutating func move(_ step: Step) {
        switch step {
        case .left: column -= 1
        case .right: column += 1
        case .up: row -= 1
        case .down: row += 1
        }
        (column, row) = (Board.near(column, Board.columnCount), Board.near(row, Board.rowCount))
    }
}

/// The board with all cursors, as text.
struct Board: Equatable, Sendable {
    static let columnCount = 40
    static let rowCount = 12

    /// What others publish may be anything.
    static func near(_ value: Int, _ count: Int) -> Int { min(max(value, 0), count - 1) }

    var cursors: [BoardCursor] = []
    var message = ""

    init(_ members: [TidemarkPresenceMember] = []) {
        cursors = members.compactMap { try? JSONDecoder().decode(BoardCursor.self, from: $0.state) }
    }

    /// Printable ASCII, so that nobody writes to somebody else's terminal.
    static func shown(_ text: String) -> String {
        String(decoding: text.utf8.filter { (0x20...0x7E).contains($0) }.prefix(40), as: UTF8.self)
    }

    /// Names with their places, in order.
    var line: String {
        cursors.map { "\(Self.shown($0.name)) \($0.column),\($0.row)" }.sorted().joined(separator: " | ")
    }

    /// What a terminal shows. The link is below the board, because the screen is cleared each time.
    func screen(link: String?) -> String {
        "\u{1B}[H\u{1B}[2J" + picture + (link.map { "link: \($0)\n" } ?? "")
    }

    /// Each cursor is the first letter of its name.
    var picture: String {
        var rows = [[Character]](
            repeating: [Character](repeating: ".", count: Self.columnCount), count: Self.rowCount)
        for cursor in cursors {
            let (row, column) = (Self.near(cursor.row, Self.rowCount), Self.near(cursor.column, Self.columnCount))
            rows[row][column] = Self.shown(cursor.name).first ?? "?"
        }
        return rows.map { String($0) }.joined(separator: "\n") + "\n\(line)\n\(Self.shown(message))\n"
    }
}
