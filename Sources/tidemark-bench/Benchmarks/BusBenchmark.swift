// SPDX-License-Identifier: Apache-2.0

/// From a change on a device at one server to the event on a device of the same account at another, by either bus: the database's
/// own and NATS. There are 2, 10 and 50 servers, of which all but two only listen. The reference is the event on a third
/// device, which is at the server of the first one.
enum BusBenchmark: Benchmark {
    static let name = "bus"
    private static let serverCounts = [2, 10, 50]
    /// A server posts at intervals while there is something to post. So changes keep no step with it.
    private static let furtherPause = Duration.milliseconds(300)

    static func run(_ bench: Bench) throws -> [Row] {
        var rows: [Row] = []
        for count in serverCounts {
            let listeners = try ListeningServers.onDatabase(bench, count: count - 2)
            defer { listeners.stop() }
            rows += try Self.rows("bus-database-\(count)", bench, options: [])
        }
        guard let path = BusProgram.path else {
            return rows + [Row("bus-nats", unit: "no nats-server is installed", Comparison(), goal: .shown)]
        }
        let bus = try BusProgram(bench, path: path)
        defer { bus.stop() }
        for count in serverCounts {
            let listeners = try ListeningServers.onNATS(port: bus.port, count: count - 2)
            defer { listeners.stop() }
            let url = "nats://127.0.0.1:\(bus.port)"
            rows += try Self.rows("bus-nats-\(count)", bench, options: ["--notice-bus-url", url])
        }
        return rows
    }

    private static func rows(_ name: String, _ bench: Bench, options: [String]) throws -> [Row] {
        bench.tell(name)
        // The one that posts counts the servers when it begins. So it is the last one.
        let far = try TransportProgram.tidemark(bench, options: options)
        defer { far.stop() }
        let near = try TransportProgram.tidemark(bench, options: options)
        defer { near.stop() }
        let apart = try DevicePair(bench, zone: "\(name)-apart", servers: (near.port, far.port), isShared: false)
        let together = try DevicePair(bench, zone: "\(name)-near", servers: (near.port, near.port), isShared: false)
        let sampleCount = bench.isQuick ? 10 : bench.seconds * 15
        // The samples of all turns: those of one are too few for a tail.
        var (values, references): ([Double], [Double]) = ([], [])
        let medians = try bench.compare {
            let times = try apart.arrivalTimes(sampleCount, furtherPause: furtherPause)
            values += times
            return times.median
        } with: {
            let times = try together.arrivalTimes(sampleCount, furtherPause: furtherPause)
            references += times
            return times.median
        }
        withExtendedLifetime((apart, together)) {}
        let tails = Comparison(values: [values.quantile(0.99)], references: [references.quantile(0.99)])
        return [
            Row("\(name)-p50", unit: "ms", medians, goal: .shown), Row("\(name)-p99", unit: "ms", tails, goal: .shown),
        ]
    }
}
