// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTLS

/// How long one save takes in a zone of a million records, compared with a zone of a thousand in the same run. Any of
/// the zone's records is changed, so its pages are all over the disk.
///
/// Once with a server that reads from the database before each write: that shows the cost of the zone's size. And once
/// with a server that remembers what it wrote, as servers do: all of the small zone, and a part of the large one.
enum ZoneSizeBenchmark: Benchmark {
    static let name = "zone-size"
    private static let small = 1_000

    static func run(_ bench: Bench) throws -> [Row] {
        let counts = [small, bench.isQuick ? 100_000 : 1_000_000]
        let zones = try counts.map { Zone(recordCount: $0, credential: try bench.database().makeCredential()) }
        return [
            try row("save-in-large-zone", bench, zones, isFirst: true, goal: 1.2, ["--known-zones-megabytes", "0"]),
            try row("save-beside-known-zone", bench, zones, isFirst: false, goal: 1.2, []),
        ]
    }

    /// This many records in a zone of its own account.
    private struct Zone {
        let recordCount: Int
        let credential: String

        var name: String { "size-\(recordCount)" }
    }

    private static func row(
        _ name: String, _ bench: Bench, _ zones: [Zone], isFirst: Bool, goal: Double, _ options: [String]
    ) throws -> Row {
        let server = try TransportProgram.tidemark(bench, options: options)
        defer { server.stop() }
        let fleets = try zones.map { zone in
            try WireFleet(
                WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile),
                credential: zone.credential, zones: [zone.name])
        }
        defer { for fleet in fleets { fleet.stop() } }
        if isFirst {
            for (zone, fleet) in zip(zones, fleets) {
                let records = RecordSupply()
                _ = try fleet.run(requestCount: 1, inFlight: 1) { .saves(records.following(1), in: $0.zone) }
                try bench.database().multiply(inZone: zone.name, count: zone.recordCount - 1)
            }
        }
        let pair = try bench.compare {
            try median(bench, fleets[1], of: zones[1])
        } with: {
            try median(bench, fleets[0], of: zones[0])
        }
        return Row(name, unit: "µs, median", pair, goal: .atMost(goal))
    }

    private static func median(_ bench: Bench, _ fleet: WireFleet, of zone: Zone) throws -> Double {
        let records = RecordSupply()
        let outcome = try fleet.run(seconds: bench.seconds, inFlight: 1) { device in
            .saves([records.any(of: zone.recordCount)], in: device.zone)
        }
        return outcome.durations.median * 1e6
    }
}
