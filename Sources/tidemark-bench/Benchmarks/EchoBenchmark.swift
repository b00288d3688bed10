// SPDX-License-Identifier: Apache-2.0

/// Echoed messages for each second of the server's processor: 200 TLS connections, 200 bytes.
enum EchoBenchmark: Benchmark {
    static let name = "echo"

    static func run(_ bench: Bench) throws -> [Row] {
        let ours = try TransportProgram.echo(bench)
        defer { ours.stop() }
        let reference = try TransportProgram.reference(bench)
        defer { reference.stop() }
        return try [(1, 0.85), (16, 0.7)].map { window, goal in
            func measure(_ server: TransportProgram) throws -> Double {
                try Yardstick.load(
                    bench, "echo", on: server,
                    [
                        "--connections", "200", "--bytes", "200", "--window", "\(window)", "--seconds",
                        "\(bench.seconds)",
                    ]
                ).value("messages_per_server_second")
            }
            let pair = try bench.compare({ try measure(ours) }, with: { try measure(reference) })
            return Row("echo-\(window)", unit: "messages per CPU second", pair, goal: .atLeast(goal))
        }
    }
}
