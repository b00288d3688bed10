// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields
internal import TidemarkTLS
internal import TidemarkWire

/// How much the server's memory grows while a device fetches ten million small records of one zone, page by page.
enum FetchedMemoryBenchmark: Benchmark {
    static let name = "fetched-memory"
    private static let zone = "fetched"
    private static let pageRecordCount = 400
    /// MiB, at the peak.
    private static let growthMax = 16.0

    static func run(_ bench: Bench) throws -> [Row] {
        let recordCount = bench.isQuick ? 400_000 : 10_000_000
        let server = try TransportProgram.tidemark(bench)
        defer { server.stop() }
        let fleet = try WireFleet(
            WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile),
            credential: try bench.database().makeCredential(), zones: [zone])
        defer { fleet.stop() }
        let save = try smallRecord()
        _ = try fleet.run(requestCount: 1, inFlight: 1) { .saves([save], in: $0.zone) }
        bench.tell("\(name): makes \(recordCount) records")
        try bench.database().multiply(inZone: zone, count: recordCount - 1)
        bench.tell("\(name): fetches them")
        // After some pages, everything that is needed once is there.
        var fetchedCount = try fetch(fleet, pages: 100)
        let memory = try PeakMemory(process: server.id)
        while fetchedCount < recordCount { fetchedCount += try fetch(fleet, pages: 100) }
        guard fetchedCount == recordCount else { throw BenchError("\(fetchedCount) of \(recordCount) records came.") }
        let pair = Comparison(values: [try memory.growth()], references: [growthMax])
        return [Row("feed-server-memory", unit: "MiB more at the peak", pair, goal: .atMost(1))]
    }

    /// The next pages of the zone's feed; how many records they had.
    private static func fetch(_ fleet: WireFleet, pages: Int) throws -> Int {
        try fleet.run(requestCount: pages, inFlight: 1) { device in
            .page(of: device.zone, after: device.token, limit: pageRecordCount)
        }.recordCount
    }

    private static func smallRecord() throws -> SaveMessage {
        let fields = try FieldMap([Field("title", .string("A small one")), Field("done", .int64(1))])
        return SaveMessage(name: "first", SaveMessage.Content(type: "Note", fields: fields.bytes))
    }
}
