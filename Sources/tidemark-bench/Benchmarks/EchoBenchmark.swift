// SPDX-License-Identifier: Apache-2.0

/// Echoed messages for each second of the server's processor: 200 TLS connections, 200 bytes.
enum EchoBenchmark: Benchmark {
    static let name = "echo"

    static func run(_ bench: Bench) throws -> [Row] {
        try WindowLoad(name: name, connections: 200, counts: "messages").rows(bench)
    }
}
