// SPDX-License-Identifier: Apache-2.0

@testable import TidemarkPostgres

/// A declared statement of any types.
protocol AnyDeclaredStatement: Sendable {
    var statement: Statement { get }
    /// Whether its rows are read, and not only counted.
    var hasColumns: Bool { get }
    /// Reads a row, to learn whether that is possible.
    func reads(_ row: PostgresRow) throws(PostgresError)
}

extension DeclaredStatement: AnyDeclaredStatement {
    func reads(_ row: PostgresRow) throws(PostgresError) { _ = try decode(row) }
    var hasColumns: Bool { Row.self != Void.self }
}
