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
    /// The most indexes for queries in the whole store. Beyond it queries scan (deploy/README.md tells operators). Each
    /// index makes a save of any type slightly slower, and a save of its own type slower still.
    static let indexesMax = 300
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
        var wanted: [PhysicalIndex: IndexPlaces?] = [:]
        var isInBackground = false
    }

    private let url: String
    private let loop: EventLoop
    private let state = Mutex(State())

    init(url: String, loop: EventLoop) {
        self.url = url
        self.loop = loop
    }

    /// Builds these in the background too. An index only makes queries faster, so one that fails is built on the next
    /// occasion.
    ///
    /// - Parameter places: of the container that asks for them; nil for production.
    func buildSoon(_ wanted: [PhysicalIndex], within places: IndexPlaces?) {
        let starts = state.withLock { state in
            // Whichever container has room for it; production comes first.
            for index in wanted where state.wanted[index].map({ $0 != nil }) ?? true {
                state.wanted.updateValue(places, forKey: index)
            }
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
            defer { state.wanted = [:] }
            return state.wanted.sorted { $0.key.name < $1.key.name }.map {
                WantedIndex(index: $0.key, places: $0.value)
            }
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
    func stop() async {
        let pools = state.withLock { state in
            state.isStopped = true
            defer { state.building = [:] }
            return Array(state.building.values)
        }
        for pool in pools { await pool.stop() }
        let deadline = loop.now + Self.stopTimeMax
        while loop.now < deadline, state.withLock({ $0.buildCount > 0 }) {
            try? await loop.sleep(for: .milliseconds(5))
        }
    }

    private func open() throws(PostgresError) -> (Int, PostgresPool) {
        var limits = PostgresPool.Limits()
        limits.stopTimeout = .milliseconds(200)
        let pool = try PostgresPool(
            url: url, connections: 1, loop: loop, sessionSettings: Self.sessionSettings,
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
        for index in existing where !index.isValid || (dropsOthers && !names.contains(index.name)) {
            for sql in PhysicalIndex.dropSQL(index.name) {
                try await connection.executeScript(sql, timeout: Self.buildTimeMax)
            }
        }
        var valid = Set(existing.filter(\.isValid).map(\.name))
        for wish in wanted where !valid.contains(wish.index.name) && valid.count < Self.indexesMax {
            guard wish.places?.hasRoom(beside: valid) ?? true else { continue }
            try await connection.executeScript(wish.index.createSQL, timeout: Self.buildTimeMax)
            valid.insert(wish.index.name)
        }
        // A builder may have ended between building an index and collecting its statistics.
        let uncounted = wanted.map(\.index).filter { index in
            valid.contains(index.name) && !existing.contains { $0.isGood(as: index) }
        }
        for sql in uncounted.compactMap(\.statisticsSQL) {
            try await connection.executeScript(sql, timeout: Self.buildTimeMax)
        }
        if !uncounted.isEmpty {
            try await connection.executeScript(Self.statisticsSQL, timeout: Self.buildTimeMax)
        }
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

    /// Whether it is this index, complete and with statistics.
    func isGood(as index: PhysicalIndex) -> Bool {
        name == index.name && isValid && (hasStatistics || index.statisticsSQL == nil)
    }
}
