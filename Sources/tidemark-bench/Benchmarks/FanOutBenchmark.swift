// SPDX-License-Identifier: Apache-2.0

/// Deliveries of one message to 1,000 TLS connections, for each second of the server's processor.
enum FanOutBenchmark: Benchmark {
    static let name = "fanout"

    static func run(_ bench: Bench) throws -> [Row] {
        try WindowLoad(name: name, connections: 1_000, counts: "deliveries").rows(bench)
    }
}
