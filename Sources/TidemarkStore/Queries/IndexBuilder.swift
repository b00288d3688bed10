// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSockets

/// Builds indexes for queries while others read and write: one index after another, and one server at a time. It has a
/// connection of its own, which is open only meanwhile.
final class IndexBuilder: Sendable {
    private static let buildTimeMax = Duration.seconds(6 * 3_600)
    private static let statisticsTimeMax = Duration.seconds(60)
    private static let stopTimeMax = Duration.seconds(2)
    private static let statisticsSQL = "ANALYZE record"

    private static let sessionSettings: [(String, String)] = [
        ("standard_conforming_strings", "on"),
        // A new index waits for older transactions. That may take longer than a save may wait for a lock.
        ("lock_timeout", "10min"),
        ("tcp_user_timeout", "10s"),
    ]

    private struct State {
        var isStopped = false
        var building: [Int: PostgresPool] = [:]
        var lastNumber = 0
        /// Builds under way, from opening the connection to closing it.
        var buildCount = 0
        /// Indexes to be built in the background, and what bounds each.
        var wanted = WantedIndexes()
        var isInBackground = false
    }

    private let url: String
    private let loop: EventLoop
    private let bounds: IndexBounds
    private let state = Mutex(State())

    init(url: String, loop: EventLoop, bounds: IndexBounds) {
        self.url = url
        self.loop = loop
        self.bounds = bounds
    }

    /// Builds these in the background too. An index only makes queries faster, so one that fails is built when it is
    /// next asked for.
    ///
    /// - Parameter places: of the container that asks for them; nil for production.
    func buildSoon(_ wanted: [PhysicalIndex], within places: IndexPlaces?) {
        let starts = state.withLock { state in
            state.wanted.add(wanted, within: places, bounds: bounds)
            defer { state.isInBackground = true }
            return !state.isInBackground
        }
        guard starts else { return }
        loop.run { [self] in
            while let next = takeWanted() {
                do throws(StorageError) {
                    try await withBuilder { connection throws(PostgresError) in
                        try await build(next, dropsOthers: false, on: connection)
                    }
                } catch {
                    error.note(request: nil)
                }
            }
        }
    }

    private func takeWanted() -> [WantedIndex]? {
        state.withLock { state in
            guard !state.wanted.isEmpty, !state.isStopped else {
                state.isInBackground = false
                return nil
            }
            return state.wanted.takeAll()
        }
    }

    /// Builds missing indexes and rebuilds broken ones; then the planner collects statistics of them. Returns when they
    /// exist.
    ///
    /// - Parameter dropsOthers: whether indexes that are not in the list are dropped.
    func build(_ wanted: [WantedIndex], dropsOthers: Bool = false) async throws(StorageError) {
        try await withBuilder { connection throws(PostgresError) in
            try await build(wanted, dropsOthers: dropsOthers, on: connection)
        }
    }

    /// Runs `body` when no other process builds.
    private func withBuilder(
        _ body: (PostgresConnection) async throws(PostgresError) -> Void
    ) async throws(StorageError) {
        try await withConnection { connection throws(PostgresError) in
            try await lock(connection)
            try await body(connection)
        }
    }

    /// Lets the planner collect statistics of the records now. It waits only a while for an index that is being built,
    /// because its builder collects them too in the end.
    func refreshStatistics() async throws(StorageError) {
        try await withConnection { connection throws(PostgresError) in
            try await connection.executeScript(Self.statisticsSQL, timeout: Self.statisticsTimeMax)
        }
    }

    private func withConnection(
        _ body: (PostgresConnection) async throws(PostgresError) -> Void
    ) async throws(StorageError) {
        do {
            let (number, pool) = try open()
            let result: Result<Void, PostgresError>
            do {
                let lease = try await pool.acquire()
                defer { pool.release(lease) }
                try await body(lease.connection)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            // The lock ends with the session. Whoever removes the pool from the list stops it, so that it is stopped
            // once.
            if let pool = state.withLock({ $0.building.removeValue(forKey: number) }) { await pool.stop() }
            state.withLock { $0.buildCount -= 1 }
            try result.get()
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    /// Interrupts builds under way. The next build starts them again.
    func stop(cancels: Bool = false) async {
        let pools = state.withLock { state in
            state.isStopped = true
            defer { state.building = [:] }
            return Array(state.building.values)
        }
        for pool in pools { await pool.stop(cancels: cancels) }
        let deadline = loop.now + Self.stopTimeMax
        while loop.now < deadline, state.withLock({ $0.buildCount > 0 }) {
            try? await loop.sleep(for: .milliseconds(5))
        }
    }

    private func open() throws(PostgresError) -> (Int, PostgresPool) {
        var limits = PostgresPoolLimits()
        limits.stopTimeout = .milliseconds(200)
        let pool = try PostgresPool(
            url: url, connections: 1, sharedConnections: 0, loop: loop, sessionSettings: Self.sessionSettings,
            applicationName: "tidemark-indexes", limits: limits)
        let number = state.withLock { state -> Int? in
            guard !state.isStopped else { return nil }
            state.lastNumber += 1
            state.buildCount += 1
            state.building[state.lastNumber] = pool
            return state.lastNumber
        }
        guard let number else {
            loop.run { await pool.stop() }
            throw PostgresError(.stopped)
        }
        return (number, pool)
    }

    /// NB: asks again and again. A statement that waits has a snapshot, and a new index would wait for its end.
    private func lock(_ connection: PostgresConnection) async throws(PostgresError) {
        let deadline = loop.now + Self.buildTimeMax
        while loop.now < deadline {
            if try await connection.run(sql.queries.tryLock()).rows == [true] { return }
            try? await loop.sleep(for: .milliseconds(50))
        }
        throw PostgresError(.timeout, subject: "lock=indexes, which another process makes")
    }

    private func build(
        _ wanted: [WantedIndex], dropsOthers: Bool, on connection: PostgresConnection
    ) async throws(PostgresError) {
        let existing = try await connection.run(sql.queries.indexes(PhysicalIndex.namePrefix)).rows
        let names = Set(wanted.map(\.index.name))
        var kept: [ExistingIndex] = []
        for index in existing {
            if index.isValid && (!dropsOthers || names.contains(index.name)) {
                kept.append(index)
            } else {
                try await drop(index.name, on: connection)
            }
        }
        var built = BuiltIndexes(kept)
        // The least used last. Read once, when the first of them must give way.
        var yielding: [String]?
        for wish in wanted where !built.names.contains(wish.index.name) {
            if let places = wish.places {
                guard places.hasRoom(beside: built, within: bounds) else { continue }
            } else if built.names.count >= bounds.inStoreMax {
                // production comes first, and what an operator asks for.
                if yielding == nil { yielding = try await developmentNames(kept, beside: wanted, on: connection) }
                guard let name = yielding?.popLast() else { continue }
                try await drop(name, on: connection)
                built.remove(name)
            }
            try await connection.executeScript(wish.index.createSQL, timeout: Self.buildTimeMax)
            if let account = wish.places?.account {
                try await connection.executeScript(wish.index.askerSQL(account), timeout: Self.buildTimeMax)
            }
            built.insert(wish.index.name, askedBy: wish.places?.account)
        }
        // A builder may have ended between building an index and collecting its statistics.
        let uncounted = wanted.map(\.index).filter { index in
            built.names.contains(index.name) && !existing.contains { $0.isGood(as: index) }
        }
        for sql in uncounted.compactMap(\.statisticsSQL) {
            try await connection.executeScript(sql, timeout: Self.buildTimeMax)
        }
        if !uncounted.isEmpty {
            try await connection.executeScript(Self.statisticsSQL, timeout: Self.buildTimeMax)
        }
    }

    private func drop(_ name: String, on connection: PostgresConnection) async throws(PostgresError) {
        for sql in PhysicalIndex.dropSQL(name) {
            try await connection.executeScript(sql, timeout: Self.buildTimeMax)
        }
    }

    /// The names of those that no schema of production shares, and that no operator asks for now: the most used first.
    private func developmentNames(
        _ existing: [ExistingIndex], beside wanted: [WantedIndex], on connection: PostgresConnection
    ) async throws(PostgresError) -> [String] {
        var kept = Set(wanted.filter { $0.places == nil }.map(\.index.name))
        for container in try await connection.run(sql.queries.containers(.production)).rows {
            let rows = try await connection.run(SchemaRows.reading(of: container, after: []), into: SchemaRows())
            guard let schema = rows.schema(of: container)?.schema else { continue }
            for (name, type) in schema.types { kept.formUnion(PhysicalIndex.all(for: type, named: name).map(\.name)) }
        }
        return ExistingIndex.byUse(existing.filter { !kept.contains($0.name) }).map(\.name)
    }
}

/// An existing index for queries.
struct ExistingIndex {
    let name: String
    let isValid: Bool
    let isBeingBuilt: Bool
    let byteCount: Int64
    /// Whether the planner has statistics of it.
    let hasStatistics: Bool
    /// How often it was used, as PostgreSQL counts it: since it was built or the counts were reset.
    let useCount: Int64
    /// The account whose query had it built; nil for production, and for what an operator asked for.
    let asker: AccountID?

    /// The most used first. Of equally used ones, the last by name is last.
    static func byUse(_ indexes: [ExistingIndex]) -> [ExistingIndex] {
        indexes.sorted { ($1.useCount, $0.name) < ($0.useCount, $1.name) }
    }

    /// Whether it is this index, complete and with statistics.
    func isGood(as index: PhysicalIndex) -> Bool {
        name == index.name && isValid && (hasStatistics || index.statisticsSQL == nil)
    }
}
