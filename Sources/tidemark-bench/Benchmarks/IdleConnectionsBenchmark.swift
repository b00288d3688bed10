// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The server's memory for an idle connection. Ours has a session of an account, the reference nothing.
enum IdleConnectionsBenchmark: Benchmark {
    static let name = "idle"

    static func run(_ bench: Bench) throws -> [Row] {
        let connectionCount = bench.isQuick ? 1_000 : 5_000
        // An account may have some thousands of connections, so several accounts share them.
        let credentials = try (0..<4).map { _ in try bench.database().makeCredential() }
        let greetings = "\(bench.directory)/greetings"
        try write(
            (0..<connectionCount).map { WireRequest.hello(credential: credentials[$0 % credentials.count]) },
            to: greetings)
        let common = ["--connections", "\(connectionCount)", "--seconds", "1"]

        // New servers each time, because memory that was used once is not returned to the system.
        let pair = try bench.compare {
            let server = try TransportProgram.tidemark(bench, core: Bench.serverCore)
            defer { server.stop() }
            let options = ["--path", "/", "--subprotocol", WireTarget.subprotocol, "--greetings", greetings]
            return try Yardstick.load(bench, "idle", on: server, common + options).value("kibibytes_per_connection")
        } with: {
            let server = try TransportProgram.reference(bench)
            defer { server.stop() }
            return try Yardstick.load(bench, "idle", on: server, common).value("kibibytes_per_connection")
        }
        return [Row("idle-memory", unit: "KiB per connection", pair, goal: .atMost(1.2))]
    }

    /// In the load generator's format: four bytes of length, then the message.
    private static func write(_ messages: [[UInt8]], to path: String) throws {
        var bytes: [UInt8] = []
        for message in messages {
            withUnsafeBytes(of: UInt32(message.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes += message
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
}
