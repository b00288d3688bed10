// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkKit
internal import TidemarkTLS

/// The cost of an engine: pending saves until all are acknowledged, and a zone's changes until the delegate has seen
/// all. The reference is a loop of the same requests through `CKDatabase`. It also measures the growth of memory, for
/// fetches of two sizes. So what depends on a page can be told from what depends on the backlog.
enum EngineBenchmark: Benchmark {
    static let name = "engine"
    /// As many as an engine sends at once.
    private static let batchRecordCount = 250
    /// MiB that sending and fetching may take, however many records there are.
    private static let growthMax = 16.0

    static func run(_ bench: Bench) throws -> [Row] {
        let (saveCount, changeCount) = bench.isQuick ? (1_000, 10_000) : (10_000, 100_000)
        let credential = try bench.database().makeCredential()
        let server = try TransportProgram.tidemark(bench)
        defer { server.stop() }
        let database = CountingApp.database(server.port, credential, bench)
        let app = CountingApp()

        let sending = CKRecordZone.ID(zoneName: "engine-sends")
        _ = try blocking { try await database.save(CKRecordZone(zoneID: sending)) }
        var sendGrowth = 0.0
        let sends = try bench.compare {
            let engine = app.engine(database)
            let changes = names(saveCount, in: sending).map(CKSyncEngine.PendingRecordZoneChange.saveRecord)
            let memory = try PeakMemory(process: getpid())
            let rate = try perSecond(saveCount) {
                engine.state.add(pendingRecordZoneChanges: changes)
                try await engine.sendChanges()
                return try app.takeCounts().saved
            }
            sendGrowth = max(sendGrowth, try memory.growth())
            return rate
        } with: {
            let names = names(saveCount, in: sending)
            return try perSecond(saveCount) { try await save(names, in: database) }
        }

        let few = try makeZone("engine-fetches-few", changeCount: changeCount / 10, in: database, bench)
        let (_, fewGrowth) = try fetch(few, changeCount: changeCount / 10, from: database, to: app)
        let fetching = try makeZone("engine-fetches", changeCount: changeCount, in: database, bench)
        var fetchGrowth = 0.0
        let fetches = try bench.compare {
            let (rate, growth) = try fetch(fetching, changeCount: changeCount, from: database, to: app)
            fetchGrowth = max(fetchGrowth, growth)
            return rate
        } with: {
            try perSecond(changeCount) { try await fetch(fetching, from: database) }
        }
        return [
            Row("engine-send", unit: "records per second", sends, goal: .atLeast(0.7)),
            memoryRow("engine-send-memory", "\(saveCount) saves", sendGrowth),
            Row("engine-fetch", unit: "records per second", fetches, goal: .atLeast(0.7)),
            memoryRow("engine-memory-few", "\(changeCount / 10) changes", fewGrowth),
            memoryRow("engine-memory", "\(changeCount) changes", fetchGrowth),
        ]
    }

    private static func memoryRow(_ name: String, _ backlog: String, _ growth: Double) -> Row {
        Row(
            name, unit: "MiB more at the peak, \(backlog)", Comparison(values: [growth], references: [growthMax]),
            goal: .atMost(1))
    }

    private static func makeZone(
        _ name: String, changeCount: Int, in database: CKDatabase, _ bench: Bench
    ) throws -> CKRecordZone.ID {
        let zone = CKRecordZone.ID(zoneName: name)
        _ = try blocking {
            try await database.save(CKRecordZone(zoneID: zone))
            try await database.save(CountingApp.record(CKRecord.ID(recordName: "first", zoneID: zone)))
        }
        try bench.database().multiply(inZone: name, count: changeCount - 1)
        return zone
    }

    /// A new engine fetches a whole zone: records per second, and MiB at the peak.
    private static func fetch(
        _ zone: CKRecordZone.ID, changeCount: Int, from database: CKDatabase, to app: CountingApp
    ) throws -> (rate: Double, growth: Double) {
        let engine = app.engine(database)
        let scope = CKSyncEngine.FetchChangesOptions(scope: .zoneIDs([zone]))
        let memory = try PeakMemory(process: getpid())
        let rate = try perSecond(changeCount) {
            try await engine.fetchChanges(scope)
            return try app.takeCounts().fetched
        }
        return (rate, try memory.growth())
    }

    private static func names(_ count: Int, in zone: CKRecordZone.ID) -> [CKRecord.ID] {
        (0..<count).map { _ in CKRecord.ID(recordName: UUID().uuidString, zoneID: zone) }
    }

    private static func perSecond(_ count: Int, _ work: @escaping @Sendable () async throws -> Int) throws -> Double {
        let start = ContinuousClock.now
        let done = try blocking(for: work)
        guard done == count else { throw BenchError("\(done) of \(count) records went through.") }
        return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
    }

    // MARK: The bare loop of requests

    private static func save(_ names: [CKRecord.ID], in database: CKDatabase) async throws -> Int {
        var saved = 0
        for start in stride(from: 0, to: names.count, by: batchRecordCount) {
            let records = names[start..<min(start + batchRecordCount, names.count)].map(CountingApp.record)
            saved += try await database.modifyRecords(saving: records, deleting: [], atomically: false)
                .saveResults.values.count { if case .success = $0 { true } else { false } }
        }
        return saved
    }

    private static func fetch(_ zone: CKRecordZone.ID, from database: CKDatabase) async throws -> Int {
        var (count, token) = (0, CKServerChangeToken?.none)
        while true {
            let page = try await database.recordZoneChanges(inZoneWith: zone, since: token)
            count += page.modificationResultsByID.count
            token = page.changeToken
            if !page.moreComing { return count }
        }
    }
}
