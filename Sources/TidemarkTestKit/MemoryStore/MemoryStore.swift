// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
internal import TidemarkScheduling
package import TidemarkService

/// ``Storage`` in memory: one server's connections to a ``MemoryDatabase``.
///
/// Each call consists of steps. Between them other work may run, and a ``FaultPlan`` may break the connection, lose the
/// answer to a commit, or let the server die.
package final class MemoryStore: Storage {
    let database: MemoryDatabase
    let faults: FaultPlan
    private let hasCrashed = Mutex(false)

    package init(_ database: MemoryDatabase, faults: FaultPlan = FaultPlan()) {
        self.database = database
        self.faults = faults
    }

    var scheduler: any Scheduler { database.scheduler }

    /// The server dies: uncommitted changes are rolled back, and its calls fail from now on.
    package func crash() {
        hasCrashed.withLock { $0 = true }
    }

    var isCrashed: Bool { hasCrashed.withLock { $0 } }

    // MARK: Steps

    /// Lets other work run first, and applies the fault that is planned here. A lost connection is `unavailable`,
    /// whatever that means for the caller.
    func reach(_ point: FaultPoint) async throws(StorageError) {
        if isCrashed { throw StorageError(.unavailable, detail: "the server is dead") }
        switch faults.at(point) {
        case .none, .commitLate: await scheduler.pass(.zero)
        case .delay(let delay): await scheduler.pass(delay)
        case .disconnect: throw StorageError(.unavailable, detail: "disconnected at \(point)")
        case .reject: throw StorageError(.rejected, detail: "rejected at \(point)")
        case .crash:
            crash()
            faults.onCrash()
        }
        if isCrashed { throw StorageError(.unavailable, detail: "the server is dead") }
    }

    /// One statement.
    func call<Value: Sendable>(
        _ statement: (inout MemoryTables) -> Value
    ) async throws(StorageError) -> Value {
        try await reach(.callSent)
        let value = database.withTables(statement)
        try await reach(.callAnswered)
        return value
    }

    // MARK: Storage: one statement each

    package func standing() async throws(StorageError) -> StoreStanding {
        // It is read together with something else, whose steps and faults are enough.
        database.withTables { StoreStanding(incarnation: $0.incarnation, memoryEpoch: $0.memoryEpoch) }
    }

    package func advanceMemoryEpoch(after age: Duration, keeping kept: Int64) async throws(StorageError) -> Bool {
        let now = scheduler.now
        return try await call { $0.advanceMemoryEpoch(after: age, keeping: kept, now: now) }
    }

    package func records(
        named names: [String], in key: ZoneKey, bytesMax: Int, sharing: SharingRead
    ) async throws(StorageError) -> ZoneSnapshot {
        var read = ZoneRead(key: key, recordNames: names, parentNames: [], lives: [])
        (read.storedBytesMax, read.sharing) = (bytesMax, sharing)
        return try await call { tables in
            if let sharing = tables.refusedSharing(of: key, sharing) {
                var snapshot = ZoneSnapshot(key: key)
                snapshot.sharing = sharing
                return snapshot
            }
            var snapshot = tables.snapshots([read], zones: [tables.livingZone(key)])[0]
            switch sharing {
            case .access, .shown, .linked: snapshot.lastRemoval = nil
            case .nothing, .whole, .people: break
            }
            return snapshot
        }
    }

    package func forgetTombstones(of database: DatabaseID) async throws(StorageError) {
        try await call { $0.forgetTombstones(of: database) }
    }

    package func forgetEndedZones(of database: DatabaseID, keeping countMax: Int) async throws(StorageError) {
        try await call { $0.forgetEndedZones(of: database, keeping: countMax) }
    }

    package func zones(
        in database: DatabaseID, after: ZoneID?, zonesMax: Int
    ) async throws(StorageError) -> [ZoneState] {
        let after = after ?? ZoneID(0)
        return try await call { tables in
            tables.livingZones(in: database).filter { $0.id > after }.prefix(zonesMax).map { tables.listed($0) }
        }
    }

    package func zones(named names: [String], in database: DatabaseID) async throws(StorageError) -> [ZoneState] {
        let names = Set(names)
        return try await call { tables in
            tables.livingZones(in: database).filter { names.contains($0.key.name) }.map { tables.listed($0) }
        }
    }

    package func removals(
        ofZones names: [String], in database: DatabaseID
    ) async throws(StorageError) -> [String: ZoneRemovalReason] {
        try await call { tables in
            let removals = names.map { ($0, tables.lastRemoval(ZoneKey(database: database, name: $0))) }
            return Dictionary(removals, uniquingKeysWith: { first, _ in first }).compactMapValues(\.self)
        }
    }

    package func zonePage(_ query: ZonePageQuery) async throws(StorageError) -> StoreRead<ZonePageRead> {
        try await call { StoreRead($0.zonePage(query), in: $0.incarnation) }
    }

    package func inventory(
        of key: ZoneKey, _ listing: ZoneListing?
    ) async throws(StorageError) -> StoreRead<ZoneInventory?> {
        try await call { StoreRead($0.inventory(of: key, listing), in: $0.incarnation) }
    }

    package func queryPage(
        _ query: QueryPageQuery, for turn: WorkTurn
    ) async throws(StorageError) -> StoreRead<QueryPageRead> {
        try await call { StoreRead($0.queryPage(query), in: $0.incarnation) }
    }

    package func databaseFeed(
        of viewer: DatabaseID, after: ChangeNumber?, entriesMax: Int, then query: ZonePageQuery?
    ) async throws(StorageError) -> (feed: StoreRead<DatabaseFeedRead>, page: StoreRead<ZonePageRead>?) {
        let feed = try await call { $0.databaseFeed(of: viewer, after: after, entriesMax: entriesMax) }
        guard let query else { return (feed, nil) }
        // Later, as with PostgreSQL, where others may write between two statements.
        return (feed, try await zonePage(query))
    }

    package func changeMarks(of databases: [DatabaseID]) async throws(StorageError) -> [DatabaseID: ChangeMark] {
        try await call { tables in
            Dictionary(databases.map { ($0, tables.changeMark(of: $0)) }) { first, _ in first }
        }
    }

    package func post(_ notices: [ServerNotice]) async throws(StorageError) {
        try await reach(.callSent)
        for listener in database.listeners() {
            let fault = faults.at(.notice)
            guard fault == .none || fault.delay != nil else { continue }
            _ = scheduler.schedule(after: fault.delay ?? .zero) { listener(notices) }
        }
    }
}

extension Fault {
    var delay: Duration? {
        if case .delay(let delay) = self { delay } else { nil }
    }
}

extension Scheduler {
    /// Lets other work run first. It ignores cancellation, because the database would too.
    func pass(_ delay: Duration) async {
        await withCheckedContinuation { continuation in
            _ = schedule(after: delay) { continuation.resume() }
        }
    }
}
