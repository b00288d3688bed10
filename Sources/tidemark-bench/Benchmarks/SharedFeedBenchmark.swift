// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTLS

/// What a participant reads of a shared zone, compared with its owner in the same run. It is a page of 200 records that
/// is the whole zone, and a first fetch of 100,000 records. The server has one core, as for ``ChangeFeedBenchmark``.
enum SharedFeedBenchmark: Benchmark {
    static let name = "shared-feed"
    private static let pageRecordCount = 200

    static func run(_ bench: Bench) throws -> [Row] {
        let owner = try bench.database().makeAccount()
        let participant = try bench.database().makeAccount()
        let server = try TransportProgram.tidemark(bench, core: Bench.serverCore)
        defer { server.stop() }
        let stage = Stage(
            target: try WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile), owner: owner,
            participant: participant)
        let page = try stage.readers(of: "shared-page", recordCount: pageRecordCount, bench)
        defer { page.stop() }
        let fetchCount = bench.isQuick ? 10_000 : 100_000
        let fetch = try stage.readers(of: "shared-fetch", recordCount: fetchCount, bench)
        defer { fetch.stop() }
        try Cores.pinThisProcess(to: Bench.clientCore)
        defer { try? Cores.pinThisProcess(to: nil) }
        let pages = try bench.compare(
            { try pagesPerSecond(bench, page.participant) }, with: { try pagesPerSecond(bench, page.owner) })
        let fetches = try bench.compare(
            { try fetchAll(fetchCount, fetch.participant) }, with: { try fetchAll(fetchCount, fetch.owner) })
        return [
            Row("shared-page", unit: "pages of 200 per second", pages, goal: .atLeast(0.8)),
            Row("shared-fetch", unit: "records per second", fetches, goal: .atLeast(0.8)),
        ]
    }

    private static func pagesPerSecond(_ bench: Bench, _ fleet: WireFleet) throws -> Double {
        let outcome = try fleet.run(seconds: bench.seconds, inFlight: 1) { device in
            .page(of: device.zone, after: [], limit: pageRecordCount)
        }
        guard outcome.recordCount == outcome.answerCount * pageRecordCount else {
            throw BenchError("\(outcome.answerCount) pages have \(outcome.recordCount) records.")
        }
        return Double(outcome.answerCount) / outcome.seconds
    }

    /// From the first page to the last.
    private static func fetchAll(_ recordCount: Int, _ fleet: WireFleet) throws -> Double {
        let outcome = try fleet.run(requestCount: recordCount / pageRecordCount, inFlight: 1) { device in
            .page(of: device.zone, after: device.token, limit: pageRecordCount)
        }
        guard outcome.recordCount == recordCount else {
            throw BenchError("\(outcome.recordCount) of \(recordCount) records came.")
        }
        return Double(recordCount) / outcome.seconds
    }

    /// A device of each of the two.
    private struct Readers {
        let owner: WireFleet
        let participant: WireFleet

        func stop() {
            owner.stop()
            participant.stop()
        }
    }

    private struct Stage {
        let target: WireTarget
        let owner: BenchAccount
        let participant: BenchAccount

        /// Makes and shares a zone with that many records, one of which is the CKShare record.
        func readers(of zone: String, recordCount: Int, _ bench: Bench) throws -> Readers {
            let own = try WireFleet(target, credential: owner.credential, zones: [zone])
            let records = RecordSupply()
            _ = try own.run(requestCount: 1, inFlight: 1) { .saves(records.following(1), in: $0.zone) }
            try bench.database().multiply(inZone: zone, count: recordCount - 2)
            try bench.database().share(zone, of: owner, with: [participant])
            let shared = MeasuredZone(name: zone, owner: owner.recordName)
            return Readers(
                owner: own, participant: try WireFleet(target, credential: participant.credential, zones: [shared]))
        }
    }
}
