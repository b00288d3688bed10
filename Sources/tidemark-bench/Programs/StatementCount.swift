// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Counts the statements that PostgreSQL runs for servers that start from now on, by its log. A statement is in the log
/// before it is run.
final class StatementCount {
    private static let mark = Data("LOG:  execute ".utf8)

    /// What was run.
    struct Taken {
        var statementCount: Int
        /// Bytes of texts and values, as the log has them.
        var byteCount: Int
    }

    private let database: BenchDatabase
    private let log: FileHandle

    init(_ database: BenchDatabase) throws {
        self.database = database
        log = try FileHandle(forReadingFrom: URL(fileURLWithPath: database.logPath))
        try log.seekToEnd()
        try database.execute("ALTER DATABASE tidemark SET log_statement = 'all'")
    }

    /// What was run since the last call.
    func take() throws -> Taken {
        let text = try log.readToEnd() ?? Data()
        var (count, place) = (0, text.startIndex)
        while let found = text.range(of: Self.mark, in: place..<text.endIndex) {
            count += 1
            place = found.upperBound
        }
        return Taken(statementCount: count, byteCount: text.count)
    }

    /// Servers that start from now on are not counted.
    func stop() {
        try? database.execute("ALTER DATABASE tidemark RESET log_statement")
        try? log.close()
    }
}
