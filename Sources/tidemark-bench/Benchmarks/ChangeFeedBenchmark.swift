// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTLS

/// A zone's changes in pages of 200, from the first to the last, for a client that only counts them. The server has one
/// core, like the reference.
enum ChangeFeedBenchmark: Benchmark {
    static let name = "feed"
    private static let pageRecordCount = 200

    static func run(_ bench: Bench) throws -> [Row] {
        let credential = try bench.database().makeCredential()
        let server = try TransportProgram.tidemark(bench, core: Bench.serverCore)
        defer { server.stop() }
        let fleet = try WireFleet(
            WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile), credential: credential,
            zones: ["feed"])
        defer { fleet.stop() }
        try fill(fleet)
        try Cores.pinThisProcess(to: Bench.clientCore)
        defer { try? Cores.pinThisProcess(to: nil) }
        let pair = try bench.compare {
            let outcome = try fleet.run(seconds: bench.seconds, inFlight: 1) { device in
                .page(of: device.zone, after: device.token, limit: pageRecordCount)
            }
            return Double(outcome.recordCount) / outcome.seconds
        } with: {
            try Yardstick.transactions(
                bench, "page", ["--connections", "1", "--records", "\(pageRecordCount)"], core: Bench.serverCore
            ).value("records_per_second")
        }
        return [Row("feed", unit: "records per second", pair, goal: .atLeast(0.4))]
    }

    private static func fill(_ fleet: WireFleet) throws {
        let records = RecordSupply()
        let recordsPerRequest = 200
        _ = try fleet.run(requestCount: BenchDatabase.pagedRecordCount / recordsPerRequest, inFlight: 4) { device in
            .saves(records.following(recordsPerRequest), in: device.zone)
        }
    }
}
