// SPDX-License-Identifier: Apache-2.0

/// Saves of 64 devices, each in a zone of its own, with several requests under way.
enum ManyZonesBenchmark: Benchmark {
    static let name = "many-zones"

    static func run(_ bench: Bench) throws -> [Row] {
        let stage = try SavingStage(bench, deviceCount: 64, zoneCount: 64)
        defer { stage.stop() }
        let pair = try bench.compare {
            try stage.run(bench, inFlight: 4, recordsPerRequest: 1).recordsPerSecond
        } with: {
            try Yardstick.transactions(bench, "save", ["--connections", "8"]).value("records_per_second")
        }
        return [Row("saves-many-zones", unit: "saves per second", pair, goal: .atLeast(1))]
    }
}
