// SPDX-License-Identifier: Apache-2.0

/// Saves of 64 devices in one zone. No request may fail because of another: a failure ends the run.
enum OneZoneBenchmark: Benchmark {
    static let name = "one-zone"

    static func run(_ bench: Bench) throws -> [Row] {
        let stage = try SavingStage(bench, deviceCount: 64, zoneCount: 1)
        defer { stage.stop() }
        let pair = try bench.compare {
            try stage.run(bench, inFlight: 4, recordsPerRequest: 1).recordsPerSecond
        } with: {
            try Yardstick.transactions(bench, "save", ["--connections", "1", "--records", "32"])
                .value("records_per_second")
        }
        return [Row("saves-one-zone", unit: "saves per second", pair, goal: .atLeast(0.5))]
    }
}
