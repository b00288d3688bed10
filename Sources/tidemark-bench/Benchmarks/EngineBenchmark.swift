// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkKit
internal import TidemarkTLS

/// What an engine costs: pending saves until all are acknowledged, and a zone's changes until the delegate has seen all,
/// beside a loop of the same requests through `CKDatabase`; and how much memory grows while it fetches.
enum EngineBenchmark: Benchmark {
    static let name = "engine"
    /// As many as an engine sends at once.
    private static let batchRecordCount = 250
    /// MiB that fetching may take, however many records there are.
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
        let sends = try bench.compare {
            let engine = app.engine(database)
            let changes = names(saveCount, in: sending).map(CKSyncEngine.PendingRecordZoneChange.saveRecord)
            return try perSecond(saveCount) {
                engine.state.add(pendingRecordZoneChanges: changes)
                try await engine.sendChanges()
                return try app.takeCounts().saved
            }
        } with: {
            let names = names(saveCount, in: sending)
            return try perSecond(saveCount) { try await save(names, in: database) }
        }

        let fetching = CKRecordZone.ID(zoneName: "engine-fetches")
        _ = try blocking {
            try await database.save(CKRecordZone(zoneID: fetching))
            try await database.save(
                CountingApp.record(CKRecord.ID(recordName: "first", zoneID: fetching)))
        }
        try bench.database().multiply(inZone: fetching.zoneName, count: changeCount - 1)
        let scope = CKSyncEngine.FetchChangesOptions(scope: .zoneIDs([fetching]))
        let memory = try PeakMemory(process: getpid())
        var growth = 0.0
        let fetches = try bench.compare {
            let engine = app.engine(database)
            let rate = try perSecond(changeCount) {
                try await engine.fetchChanges(scope)
                return try app.takeCounts().fetched
            }
            growth = max(growth, try memory.growth())
            return rate
        } with: {
            try perSecond(changeCount) { try await fetch(fetching, from: database) }
        }
        return [
            Row("engine-send", unit: "records per second", sends, goal: .atLeast(0.7)),
            Row("engine-fetch", unit: "records per second", fetches, goal: .atLeast(0.7)),
            Row(
                "engine-memory", unit: "MiB more at the peak", Comparison(values: [growth], references: [growthMax]),
                goal: .atMost(1)),
        ]
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
