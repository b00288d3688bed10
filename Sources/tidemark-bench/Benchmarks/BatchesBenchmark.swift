// SPDX-License-Identifier: Apache-2.0

/// Batches of 100 records, of 8 devices in zones of their own.
enum BatchesBenchmark: Benchmark {
    static let name = "batches"

    static func run(_ bench: Bench) throws -> [Row] {
        let stage = try SavingStage(bench, deviceCount: 8, zoneCount: 8)
        defer { stage.stop() }
        let pair = try bench.compare {
            try stage.run(bench, inFlight: 1, recordsPerRequest: 100).recordsPerSecond
        } with: {
            try Yardstick.transactions(bench, "save", ["--connections", "8", "--records", "100"])
                .value("records_per_second")
        }
        return [Row("batches", unit: "records per second", pair, goal: .atLeast(0.7))]
    }
}
