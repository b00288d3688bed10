// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkService
internal import TidemarkStore
internal import TidemarkTLS

/// A server with indexed items, and devices that read them.
final class ItemStage {
    static let zone = "items"
    /// The number of our devices, and of the reference's connections.
    static let connectionCount = 32
    private static let recordsPerRequest = 200
    /// The number of different requests, which are repeated.
    private static let sampleCount = 200

    let itemCount: Int
    private let bench: Bench
    private let account: BenchAccount
    private let server: TransportProgram
    private let fleet: WireFleet

    init(_ bench: Bench, itemCount: Int) throws {
        self.bench = bench
        self.itemCount = itemCount
        account = try bench.database().makeAccount()
        let server = try TransportProgram.tidemark(bench)
        do {
            let zones = Array(repeating: Self.zone, count: Self.connectionCount)
            fleet = try WireFleet(
                WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile),
                credential: account.credential, zones: zones)
            self.server = server
            try fill()
        } catch {
            server.stop()
            throw error
        }
    }

    func stop() {
        fleet.stop()
        server.stop()
    }

    /// Marks fields for queries while there are few records, and builds indexes when all are there.
    private func fill() throws {
        try save(from: 0, to: Self.recordsPerRequest)
        let pages = [ItemQuery.ofGroup(0), .from(number: 0)].map { page($0, limit: 1) }
        try bench.database().withStorage { storage in
            for page in pages { _ = try await storage.queryPage(page, for: WorkTurn(of: .nobody)) }
        }
        try save(from: Self.recordsPerRequest, to: itemCount)
        try bench.database().withStorage { try await AdminStore($0).buildIndexes() }
        try bench.database().execute("VACUUM ANALYZE record", "CHECKPOINT")
    }

    private func save(from start: Int, to end: Int) throws {
        let next = ItemCounter(start)
        let (count, recordsPerRequest) = (itemCount, Self.recordsPerRequest)
        _ = try fleet.run(requestCount: (end - start) / recordsPerRequest, inFlight: 1) { device in
            let first = next.take(recordsPerRequest)
            return .saves(
                (first..<first + recordsPerRequest).map { Item(number: $0).save(among: count) }, in: device.zone)
        }
    }

    private func page(_ query: ItemQuery, limit: Int) -> QueryPageQuery {
        query.page(in: account.database, zone: Self.zone, limit: limit)
    }

    // MARK: Measuring

    /// Requests for records by name: ours per second, and the statement alone.
    func compare(records count: Int) throws -> Comparison {
        let names = (0..<Self.sampleCount).map { _ in
            (0..<count).map { _ in Item(number: .random(in: 0..<itemCount)).name }
        }
        let key = ZoneKey(database: account.database, name: Self.zone)
        let samples = try bench.database().withStorage { storage in
            names.map { storage.statement(recordsNamed: $0, in: key, bytesMax: Bench.limits.answerBytesMax) }
        }
        let zone = MeasuredZone(name: Self.zone)
        return try compare(samples, names.map { .records($0, of: zone) }, recordCount: count)
    }

    /// Pages of queries: ours per second, and the statement alone.
    func compare(records count: Int, limit: Int, _ query: (_ itemCount: Int) -> ItemQuery) throws -> Comparison {
        let queries = (0..<Self.sampleCount).map { _ in query(itemCount) }
        let pages = queries.map { page($0, limit: limit) }
        let samples = try bench.database().withStorage { storage in
            var samples: [PostgresStorage.SentStatement] = []
            for page in pages { samples.append(try await storage.statement(for: page)) }
            return samples
        }
        let requests = queries.map { WireRequest.query($0.wire(in: Self.zone), limit: limit) }
        return try compare(samples, requests, recordCount: count)
    }

    /// Requests are made in advance, so that the measuring program costs little.
    private func compare(
        _ samples: [PostgresStorage.SentStatement], _ requests: [WireRequest], recordCount: Int
    ) throws -> Comparison {
        let next = ItemCounter(0)
        return try bench.compare {
            let outcome = try fleet.run(seconds: bench.seconds, inFlight: 1) { _ in
                requests[next.take(1) % requests.count]
            }
            guard outcome.recordCount == outcome.answerCount * recordCount else {
                throw BenchError("\(outcome.answerCount) answers have \(outcome.recordCount) records.")
            }
            return Double(outcome.answerCount) / outcome.seconds
        } with: {
            let outcome = try Yardstick.statement(bench, samples, connections: Self.connectionCount)
            guard try outcome.value("rows_per_run") >= Double(recordCount) else {
                throw BenchError("The statement finds \(try outcome.value("rows_per_run")) rows, not \(recordCount).")
            }
            return try outcome.value("runs_per_second")
        }
    }
}

/// Numbers that were not used before. Confined to the device that saves.
private final class ItemCounter: @unchecked Sendable {
    private var next: Int

    init(_ first: Int) {
        next = first
    }

    func take(_ count: Int) -> Int {
        defer { next += count }
        return next
    }
}
