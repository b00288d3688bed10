// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTLS

/// How long one save takes in a zone of a million records, beside one of a thousand in the same run. Any of the zone's
/// records is changed, so that its pages are all over the disk.
enum ZoneSizeBenchmark: Benchmark {
    static let name = "zone-size"
    private static let small = 1_000

    static func run(_ bench: Bench) throws -> [Row] {
        let large = bench.isQuick ? 100_000 : 1_000_000
        let server = try TransportProgram.tidemark(bench)
        defer { server.stop() }
        let fleets = try [small, large].map { try fleet(bench, server, recordCount: $0) }
        defer { for fleet in fleets { fleet.stop() } }
        let pair = try bench.compare {
            try median(bench, fleets[1], recordCount: large)
        } with: {
            try median(bench, fleets[0], recordCount: small)
        }
        return [Row("save-in-large-zone", unit: "µs, median", pair, goal: .atMost(1.2))]
    }

    /// A device, and a zone of so many records.
    private static func fleet(_ bench: Bench, _ server: TransportProgram, recordCount: Int) throws -> WireFleet {
        let zone = "size-\(recordCount)"
        let fleet = try WireFleet(
            WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile),
            credential: try bench.database().makeCredential(), zones: [zone])
        let records = RecordSupply()
        _ = try fleet.run(requestCount: 1, inFlight: 1) { .saves(records.following(1), in: $0.zone) }
        try bench.database().multiply(inZone: zone, count: recordCount - 1)
        return fleet
    }

    private static func median(_ bench: Bench, _ fleet: WireFleet, recordCount: Int) throws -> Double {
        let records = RecordSupply()
        let outcome = try fleet.run(seconds: bench.seconds, inFlight: 1) { device in
            .saves([records.any(of: recordCount)], in: device.zone)
        }
        return outcome.durations.median * 1e6
    }
}
