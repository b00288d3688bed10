// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkPostgres

/// Caches the statements of queries by their text and parameter types, so that each connection parses and plans a shape
/// of query once.
///
/// The cache is bounded, because each statement takes memory in every connection. A new shape replaces the one that was
/// used longest ago.
final class QueryStatementCache: Sendable {
    private struct Shape: Hashable {
        let sql: String
        let types: [PostgresType]
    }

    private struct Entry {
        let statement: Statement
        let place: Int
        var lastUse: UInt64
    }

    private struct State {
        var entries: [Shape: Entry] = [:]
        /// Counts the uses of the cache.
        var time: UInt64 = 0
    }

    /// Longer texts are not cached. Their plans may take megabytes in each connection, and a client can send any number
    /// of shapes.
    static let textBytesMax = 16 * 1_024

    private let countMax: Int
    private let state = Mutex(State())

    init(countMax: Int = 256) {
        self.countMax = countMax
    }

    func statement(_ query: CompiledQuery) -> Statement {
        guard query.sql.utf8.count <= Self.textBytesMax else {
            return Statement(.read, "query", query.sql, query.parameters.types, isPrepared: false)
        }
        let shape = Shape(sql: query.sql, types: query.parameters.types)
        return state.withLock { state in
            state.time += 1
            if let known = state.entries[shape] {
                state.entries[shape]?.lastUse = state.time
                return known.statement
            }
            var place = state.entries.count
            if place == countMax, let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse }) {
                state.entries[oldest.key] = nil
                place = oldest.value.place
            }
            let statement = Statement(.read, "query", shape.sql, shape.types, place: place)
            state.entries[shape] = Entry(statement: statement, place: place, lastUse: state.time)
            return statement
        }
    }
}
