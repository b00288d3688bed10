// SPDX-License-Identifier: Apache-2.0

/// Deliveries of one message to 1,000 TLS connections, for each second of the server's processor.
enum FanOutBenchmark: Benchmark {
    static let name = "fanout"

    static func run(_ bench: Bench) throws -> [Row] {
        let ours = try TransportProgram.echo(bench)
        defer { ours.stop() }
        let reference = try TransportProgram.reference(bench)
        defer { reference.stop() }
        return try [(1, 0.85), (16, 0.7)].map { window, goal in
            func measure(_ server: TransportProgram) throws -> Double {
                try Yardstick.load(
                    bench, "fanout", on: server,
                    [
                        "--connections", "1000", "--bytes", "200", "--window", "\(window)", "--seconds",
                        "\(bench.seconds)",
                    ]
                ).value("deliveries_per_server_second")
            }
            let pair = try bench.compare({ try measure(ours) }, with: { try measure(reference) })
            return Row("fanout-\(window)", unit: "deliveries per CPU second", pair, goal: .atLeast(goal))
        }
    }
}
