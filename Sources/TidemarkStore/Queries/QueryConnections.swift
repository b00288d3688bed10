// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkPostgres
package import TidemarkService
package import TidemarkSockets
internal import TidemarkTelemetry

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
    /// For those of operators over a server, where apps have queries too: as long, but the long ones take turns.
    package static let served = QueryTimes(short: .milliseconds(100), long: .seconds(9))
}

/// Connections for queries alone. A slow query delays only other queries, and the planner may choose plans that the
/// store's own statements forbid.
///
/// There are two lanes. A query begins in the short one and must end soon. If it does not, it waits for a turn
/// in the long one, which has one connection. So scans of whole zones delay each other, and not queries with an index.
///
/// A query whose kind was late again and again begins in the long lane. Otherwise each of very many scans would
/// have a short connection for as long as it may. Of the long lanes of all event loops a bounded number runs at once, so
/// that PostgreSQL has processors left for everything else.
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
    private let slow = Mutex(SlowQueries())
    private let loop: EventLoop
    private let times: QueryTimes

    /// - Parameter longQueries: where the long queries of all event loops take turns. Nil: there is no other loop.
    init(url: String, loop: EventLoop, times: QueryTimes, longQueries: FairGate? = nil) {
        self.loop = loop
        self.times = times
        func lane(_ time: Duration, _ bounds: FairBounds, _ processGate: FairGate? = nil) -> FairConnections {
            // PostgreSQL stops a query that takes longer.
            let timeout = ("statement_timeout", "\(Int(time / .milliseconds(1)))ms")
            return FairConnections(
                url: url, loop: loop, bounds, settings: QueryConnections.sessionSettings + [timeout],
                name: "tidemark-query", kind: .query, processGate: processGate)
        }
        // One owner leaves a connection to the others.
        short = lane(
            times.short,
            FairBounds(room: 4, roomPerOwner: 3, waitingMax: 512, waitingPerOwnerMax: 128, workTime: times.short))
        long = lane(
            times.long,
            FairBounds(room: 1, roomPerOwner: 1, waitingMax: 64, waitingPerOwnerMax: 8, workTime: times.long / 2),
            longQueries)
    }

    /// - Parameter isRepeated: whether the statement is worth caching.
    /// - Throws: `queryTooSlow`, and `crowded`.
    func run(
        _ query: CompiledQuery, for owner: WorkOwner, isRepeated: Bool = true
    ) async throws(StorageError) -> PostgresRows {
        let answers = try await run(query, for: owner) { isCached in
            batch(query, isCached: isRepeated && isCached, for: owner)
        }
        return answers[answers.count - 1]
    }

    /// The rows of a query, and of a statement that reads shares, in one snapshot.
    func run(
        _ query: CompiledQuery, and sharing: BoundStatement, for owner: WorkOwner
    ) async throws(StorageError) -> (rows: PostgresRows, sharing: PostgresRows) {
        let answers = try await run(query, for: owner) { isCached in
            [.beginSnapshot, sharing] + batch(query, isCached: isCached, for: owner) + [.commit]
        }
        return (answers[answers.count - 2], answers[1])
    }

    private func run(
        _ query: CompiledQuery, for owner: WorkOwner, _ batch: (_ isCached: Bool) -> [BoundStatement]
    ) async throws(StorageError) -> [PostgresRows] {
        // the time with the waits for a connection, and with both lanes.
        let notes = RequestTrace.current?.notes
        let start = notes == nil ? .zero : loop.now
        defer { notes?.ran(query.sql, for: loop.now - start) }
        let kind = SlowQueries.Kind(query.sql, of: owner)
        if !isSlow(kind), let answers = try await runSoon(kind, batch(true)) { return answers }
        // Planned for its values, which takes no time beside the rest.
        return try await runLong(kind, batch(false))
    }

    /// - Returns: nil if the batch must begin anew among the long ones.
    private func runSoon(
        _ kind: SlowQueries.Kind, _ batch: [BoundStatement]
    ) async throws(StorageError) -> [PostgresRows]? {
        do throws(StorageError) {
            let answers = try await short.run(for: kind.owner) {
                connection throws(PostgresError) -> [PostgresRows]? in
                // Others of its kind may have been late while it waited.
                if isSlow(kind) { return nil }
                return try await connection.execute(batch)
            }
            if answers != nil { slow.withLock { $0.noteSoon(kind) } }
            return answers
        } catch {
            guard error.code == .tooSlow else { throw error }
            slow.withLock { $0.noteLate(kind, at: loop.now) }
            return nil
        }
    }

    private func runLong(
        _ kind: SlowQueries.Kind, _ batch: [BoundStatement]
    ) async throws(StorageError) -> [PostgresRows] {
        do throws(StorageError) {
            let (answers, time) = try await long.run(for: kind.owner) {
                connection throws(PostgresError) -> ([PostgresRows], Duration) in
                let start = loop.now
                let answers = try await connection.execute(batch)
                return (answers, loop.now - start)
            }
            slow.withLock { slow in
                if time < times.short { slow.noteSoon(kind) } else { slow.noteLate(kind, at: loop.now) }
            }
            return answers
        } catch {
            guard error.code == .tooSlow else { throw error }
            slow.withLock { $0.noteLate(kind, at: loop.now) }
            throw StorageError(.queryTooSlow, detail: error.detail)
        }
    }

    private func isSlow(_ kind: SlowQueries.Kind) -> Bool { slow.withLock { $0.isSlow(kind, at: loop.now) } }

    /// One transaction: the settings hold until its end.
    private func batch(_ query: CompiledQuery, isCached: Bool, for owner: WorkOwner) -> [BoundStatement] {
        let statement =
            isCached ? statements.statement(query, for: owner) : QueryStatementCache.statementForOnce(query)
        return query.settings.map { sql.queries.set(($0.name, $0.value)).bound }
            + [statement.bind(query.parameters.values)]
    }

    func stop(cancels: Bool = false) async {
        await short.stop(cancels: cancels)
        await long.stop(cancels: cancels)
    }
}

extension PostgresStorage {
    /// Where the long queries of all event loops take turns. Each takes PostgreSQL a processor.
    ///
    /// - Parameters:
    ///   - room: how many run at once. One account leaves a place to others, unless there is only one.
    ///   - loop: any of the loops.
    package static func longQueryTurns(_ room: Int, within limits: Limits, on loop: EventLoop) -> FairGate {
        // A loop sends one at a time, so few wait.
        FairGate(
            FairBounds(
                room: room, roomPerOwner: max(1, room - 1), waitingMax: 64, waitingPerOwnerMax: 64,
                workTime: Duration.seconds(limits.querySecondsMax) / 2),
            patience: FairConnections.patience, scheduler: loop)
    }
}
