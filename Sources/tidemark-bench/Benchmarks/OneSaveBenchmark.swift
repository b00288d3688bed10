// SPDX-License-Identifier: Apache-2.0

/// How long one save takes when nothing else goes on: from the request's first byte to its answer, durable in between.
enum OneSaveBenchmark: Benchmark {
    static let name = "one-save"

    static func run(_ bench: Bench) throws -> [Row] {
        let stage = try SavingStage(bench, deviceCount: 1, zoneCount: 1)
        defer { stage.stop() }
        // How long an idle core takes to wake drifts more than all that is measured here: turns of a second each.
        let pair = try bench.compare(turns: bench.repetitions * bench.seconds) {
            try stage.run(bench, inFlight: 1, recordsPerRequest: 1, seconds: 1).durations.median * 1e6
        } with: {
            try Yardstick.transactions(bench, "save", ["--connections", "1"], seconds: 1).value("median_seconds") * 1e6
        }
        return [Row("one-save", unit: "µs, median", pair, goal: .atMost(1.5))]
    }
}
