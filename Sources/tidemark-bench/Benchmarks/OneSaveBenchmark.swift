// SPDX-License-Identifier: Apache-2.0

/// How long a single save takes on an idle server: from the request's first byte to its answer, and durable in between.
enum OneSaveBenchmark: Benchmark {
    static let name = "one-save"

    static func run(_ bench: Bench) throws -> [Row] {
        let stage = try SavingStage(bench, deviceCount: 1, zoneCount: 1)
        defer { stage.stop() }
        // The time that an idle core takes to wake drifts more than everything measured here. So turns are one second
        // each.
        let pair = try bench.compare(turns: bench.repetitions * bench.seconds) {
            try stage.run(bench, inFlight: 1, recordsPerRequest: 1, seconds: 1).durations.median * 1e6
        } with: {
            try Yardstick.transactions(bench, "save", ["--connections", "1"], seconds: 1).value("median_seconds") * 1e6
        }
        return [Row("one-save", unit: "µs, median", pair, goal: .atMost(1.5))]
    }
}
