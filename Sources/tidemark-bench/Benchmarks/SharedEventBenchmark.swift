// SPDX-License-Identifier: Apache-2.0

/// From a change on the owner's device to the event on a participant's, at the same server and at another one. The
/// reference is the event on another device of the owner, which is at the same server as the participant's.
enum SharedEventBenchmark: Benchmark {
    static let name = "shared-event"

    static func run(_ bench: Bench) throws -> [Row] {
        let server = try TransportProgram.tidemark(bench)
        defer { server.stop() }
        let other = try TransportProgram.tidemark(bench)
        defer { other.stop() }
        return try rows("shared-event", bench, (server.port, server.port))
            + rows("shared-event-far", bench, (server.port, other.port))
    }

    private static func rows(
        _ name: String, _ bench: Bench, _ servers: (writer: UInt16, reader: UInt16)
    ) throws -> [Row] {
        let own = try DevicePair(bench, zone: "\(name)-own", servers: servers, isShared: false)
        let shared = try DevicePair(bench, zone: "\(name)-shared", servers: servers, isShared: true)
        let sampleCount = bench.isQuick ? 10 : bench.seconds * 15
        // The samples of all turns: those of one are too few for a tail.
        var (sharedTimes, ownTimes): ([Double], [Double]) = ([], [])
        let medians = try bench.compare {
            let times = try shared.arrivalTimes(sampleCount)
            sharedTimes += times
            return times.median
        } with: {
            let times = try own.arrivalTimes(sampleCount)
            ownTimes += times
            return times.median
        }
        withExtendedLifetime((own, shared)) {}
        let tails = Comparison(values: [sharedTimes.quantile(0.99)], references: [ownTimes.quantile(0.99)])
        return [
            Row("\(name)-p50", unit: "ms", medians, goal: .atMost(1.5)),
            Row("\(name)-p99", unit: "ms", tails, goal: .atMost(2)),
        ]
    }
}
