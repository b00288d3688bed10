// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import cursors

/// The example of presence: the board, and two programs with a real server.
@Suite(.timeLimit(.minutes(10))) struct CursorsTests {
    @Test func `R-879: two programs see each other's cursors move, also across accounts`() async throws {
        let site = try await DevServer.shared()
        let directory = try TestDirectory()
        defer { directory.remove() }
        func start(_ arguments: [String], _ account: String) throws -> Program {
            try Program("cursors", arguments, environment: site.environment(account), directory: directory.path)
        }
        let ann = try start(["Ann", "--share", "--walk", "100000"], "alice")
        var link: String?
        try await eventually("the board is shared", within: .seconds(60)) {
            link = ann.output.firstMatch(of: /link: (\S+)/).map { String($0.1) }
            return link != nil
        }
        let bob = try start(["Bob", "--join", try #require(link), "--walk", "100000"], "bob")
        for program in [ann, bob] {
            try await eventually("\(program.name) shows both, and where they go", within: .seconds(60)) {
                guard program.isRunning else { throw NeverHappened(description: program.output) }
                let lines = program.output.split(separator: "\n").filter { $0.contains("Ann") && $0.contains("Bob") }
                return Set(lines).count >= 5
            }
        }
        bob.signal(SIGKILL)
        try await eventually("bob is gone", within: .seconds(60)) {
            ann.output.split(separator: "\n").last?.contains("Bob") == false
        }
        ann.signal(SIGKILL)
        for program in [ann, bob] { _ = try await program.exit(within: .seconds(60)) }
    }

    @Test func `cursors stay on the board, wherever they say that they are`() {
        var cursor = BoardCursor(name: "Ann", column: 0, row: 0)
        for key in "hk".utf8 { if let step = BoardCursor.Step(key: key) { cursor.move(step) } }
        #expect(cursor == BoardCursor(name: "Ann", column: 0, row: 0))
        for key in "lllj".utf8 { if let step = BoardCursor.Step(key: key) { cursor.move(step) } }
        #expect(cursor == BoardCursor(name: "Ann", column: 3, row: 1))
        #expect(BoardCursor.Step(key: UInt8(ascii: "x")) == nil)
        var board = Board()
        board.cursors = [
            cursor, BoardCursor(name: "\u{1B}[31m", column: .max, row: .min),
            BoardCursor(name: "", column: -5, row: 99),
        ]
        let rows = board.picture.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(rows.count == Board.rowCount + 3)
        #expect(rows[1].dropFirst(3).first == "A")
        #expect(rows[0].last == "[" && rows[Board.rowCount - 1].first == "?")
        #expect(rows[..<Board.rowCount].allSatisfy { $0.count == Board.columnCount })
        #expect(!board.picture.utf8.contains(0x1B))
        #expect(board.screen(link: "https://host/1").hasSuffix("\nlink: https://host/1\n"))
        #expect(board.screen(link: nil).hasSuffix(board.picture))
    }
}
