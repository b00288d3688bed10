// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkPostgres

/// Statements of queries by their text, so that each connection prepares a shape of query once.
///
/// Bounded, because each takes memory in every connection: a shape beyond that is parsed each time it comes.
final class QueryStatementCache: Sendable {
    private static let countMax = 256

    private let statements = Mutex<[String: Statement]>([:])

    func statement(_ query: CompiledQuery) -> Statement {
        statements.withLock { statements in
            if let known = statements[query.sql] { return known }
            let isPrepared = statements.count < Self.countMax
            let statement = Statement("query", query.sql, query.parameters.types, isPrepared: isPrepared)
            if isPrepared { statements[query.sql] = statement }
            return statement
        }
    }
}
