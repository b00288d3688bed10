// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkFairness
internal import TidemarkPostgres
internal import TidemarkTelemetry

/// Caches the statements of queries by their text and parameter types, so that each connection parses and plans a shape
/// of query once.
///
/// The cache is bounded, because each statement takes memory in every connection. A new shape takes the place of one of the
/// owner who has most of them: of those that this owner was the last to use, the one that was used longest ago.
final class QueryStatementCache: Sendable {
    private struct Shape: Hashable {
        let sql: String
        let types: [PostgresType]
    }

    private struct Entry {
        let statement: Statement
        let place: Int
        var lastUse: UInt64
        /// Who used it last.
        var owner: WorkOwner
    }

    private struct State {
        var entries: [Shape: Entry] = [:]
        /// Counts the uses of the cache.
        var time: UInt64 = 0

        /// What gives way to a new shape of this owner, which counts among the owner's.
        func leastWanted(by owner: WorkOwner) -> (key: Shape, value: Entry)? {
            var counts = [owner: 1]
            for entry in entries.values { counts[entry.owner, default: 0] += 1 }
            func rank(_ entry: Entry) -> (Int, UInt64) { (-(counts[entry.owner] ?? 0), entry.lastUse) }
            return entries.min { rank($0.value) < rank($1.value) }
        }
    }

    /// Longer texts are not cached. Their plans may take megabytes in each connection, and a client can send any number
    /// of shapes.
    static let textBytesMax = 16 * 1_024

    private let countMax: Int
    private let state = Mutex(State())

    init(countMax: Int = 256) {
        self.countMax = countMax
    }

    /// - Parameter owner: whose query it is.
    func statement(_ query: CompiledQuery, for owner: WorkOwner = .nobody) -> Statement {
        guard query.sql.utf8.count <= Self.textBytesMax else {
            return Self.statementForOnce(query)
        }
        let shape = Shape(sql: query.sql, types: query.parameters.types)
        return state.withLock { state in
            state.time += 1
            if let known = state.entries[shape] {
                state.entries[shape]?.lastUse = state.time
                state.entries[shape]?.owner = owner
                return known.statement
            }
            var place = state.entries.count
            if place == countMax, let other = state.leastWanted(by: owner) {
                state.entries[other.key] = nil
                place = other.value.place
            }
            let statement = Statement(.read, "query", StatementHash.marked(shape.sql), shape.types, place: place)
            state.entries[shape] = Entry(statement: statement, place: place, lastUse: state.time, owner: owner)
            return statement
        }
    }

    /// A statement that no connection keeps. Texts that are too long for the cache have no hash in them: a client can make
    /// them hundreds of kilobytes long.
    static func statementForOnce(_ query: CompiledQuery) -> Statement {
        let text = query.sql.utf8.count <= textBytesMax ? StatementHash.marked(query.sql) : query.sql
        return Statement(.read, "query", text, query.parameters.types, isPrepared: false)
    }
}
