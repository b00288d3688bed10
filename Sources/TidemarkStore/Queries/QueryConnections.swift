// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkPostgres
internal import TidemarkService
internal import TidemarkSockets

/// How long PostgreSQL works on a query.
package struct QueryTimes: Sendable {
    /// A query that an index serves takes a few milliseconds. What takes longer than this begins anew among the long
    /// ones, so that others need not wait for it.
    package var short = Duration.milliseconds(100)
    /// A query that takes longer fails.
    package var long: Duration

    package init(within limits: Limits) {
        long = .seconds(limits.querySecondsMax)
    }

    private init(short: Duration, long: Duration) {
        self.short = short
        self.long = long
    }

    /// For an operator's own queries, which may look at everything.
    package static let patient = QueryTimes(short: .seconds(9), long: .seconds(9))
}

/// Connections for queries alone. A slow query delays only other queries, and the planner may choose plans that the
/// store's own statements forbid.
///
/// There are two lanes. A query begins in the short one and must end soon. If it does not, it waits for a turn
/// in the long one, which has one connection. So scans of whole zones delay each other, and not queries with an index.
final class QueryConnections: Sendable {
    static let sessionSettings: [(String, String)] = [
        ("default_transaction_isolation", "read committed"),
        ("default_transaction_read_only", "on"),
        ("standard_conforming_strings", "on"),
        ("lock_timeout", "2s"),
        ("tcp_user_timeout", "10s"),
        // One table holds the records of all users.
        ("enable_seqscan", "off"),
        // Planning a query takes longer than running one that an index serves. PostgreSQL plans the first runs of a
        // statement for their values. Then it keeps a plan for all values unless that seems worse, and plans again when
        // statistics or indexes change.
        ("plan_cache_mode", "auto"),
        ("jit", "off"),
    ]

    private let short: FairConnections
    private let long: FairConnections
    private let statements = QueryStatementCache()

    init(url: String, loop: EventLoop, times: QueryTimes) {
        func lane(_ time: Duration, _ bounds: FairBounds) -> FairConnections {
            // PostgreSQL stops a query that takes longer.
            let timeout = ("statement_timeout", "\(Int(time / .milliseconds(1)))ms")
            return FairConnections(
                url: url, loop: loop, bounds, settings: QueryConnections.sessionSettings + [timeout],
                name: "tidemark-query", kind: .query)
        }
        // One owner leaves a connection to the others.
        short = lane(
            times.short,
            FairBounds(room: 4, roomPerOwner: 3, waitingMax: 512, waitingPerOwnerMax: 128, workTime: times.short))
        long = lane(
            times.long,
            FairBounds(room: 1, roomPerOwner: 1, waitingMax: 64, waitingPerOwnerMax: 8, workTime: times.long / 2))
    }

    /// - Parameter isRepeated: whether the statement is worth caching.
    /// - Throws: `queryTooSlow`, and `crowded`.
    func run(
        _ query: CompiledQuery, for owner: WorkOwner, isRepeated: Bool = true
    ) async throws(StorageError) -> PostgresRows {
        let answers = try await run(for: owner) { isCached in
            batch(query, isCached: isRepeated && isCached, for: owner)
        }
        return answers[answers.count - 1]
    }

    /// The rows of a query, and of a statement that reads shares, in one snapshot.
    func run(
        _ query: CompiledQuery, and sharing: BoundStatement, for owner: WorkOwner
    ) async throws(StorageError) -> (rows: PostgresRows, sharing: PostgresRows) {
        let answers = try await run(for: owner) { isCached in
            [.beginSnapshot, sharing] + batch(query, isCached: isCached, for: owner) + [.commit]
        }
        return (answers[answers.count - 2], answers[1])
    }

    private func run(
        for owner: WorkOwner, _ batch: (_ isCached: Bool) -> [BoundStatement]
    ) async throws(StorageError) -> [PostgresRows] {
        do throws(StorageError) {
            return try await run(batch(true), on: short, for: owner)
        } catch {
            guard error.code == .queryTooSlow else { throw error }
            // Planned for its values, which takes no time beside the rest.
            return try await run(batch(false), on: long, for: owner)
        }
    }

    /// The rows of each statement.
    private func run(
        _ batch: [BoundStatement], on lane: FairConnections, for owner: WorkOwner
    ) async throws(StorageError) -> [PostgresRows] {
        do throws(StorageError) {
            return try await lane.run(for: owner) { connection throws(PostgresError) in
                try await connection.execute(batch)
            }
        } catch {
            throw error.code == .tooSlow ? StorageError(.queryTooSlow, detail: error.detail) : error
        }
    }

    /// One transaction: the settings hold until its end.
    private func batch(_ query: CompiledQuery, isCached: Bool, for owner: WorkOwner) -> [BoundStatement] {
        let statement =
            isCached
            ? statements.statement(query, for: owner)
            : Statement(.read, "query", query.sql, query.parameters.types, isPrepared: false)
        return query.settings.map { sql.queries.set(($0.name, $0.value)).bound }
            + [statement.bind(query.parameters.values)]
    }

    func stop() async {
        await short.stop()
        await long.stop()
    }
}
