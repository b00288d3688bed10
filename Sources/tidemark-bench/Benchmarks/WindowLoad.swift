// SPDX-License-Identifier: Apache-2.0

/// A load of the yardstick on our transport and on the reference in C, with 1 and with 16 messages under way.
struct WindowLoad {
    /// The name of the load, and of its rows.
    let name: String
    let connections: Int
    /// What is counted.
    let counts: String

    func rows(_ bench: Bench) throws -> [Row] {
        let ours = try TransportProgram.echo(bench)
        defer { ours.stop() }
        let reference = try TransportProgram.reference(bench)
        defer { reference.stop() }
        return try [(1, 0.85), (16, 0.7)].map { window, goal in
            func measure(_ server: TransportProgram) throws -> Double {
                try Yardstick.load(
                    bench, name, on: server,
                    [
                        "--connections", "\(connections)", "--bytes", "200", "--window", "\(window)", "--seconds",
                        "\(bench.seconds)",
                    ]
                ).value("\(counts)_per_server_second")
            }
            let pair = try bench.compare({ try measure(ours) }, with: { try measure(reference) })
            return Row("\(name)-\(window)", unit: "\(counts) per CPU second", pair, goal: .atLeast(goal))
        }
    }
}
