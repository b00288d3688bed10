// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTLS

/// How long a single save takes while query subscriptions look at its database, compared with one that nobody looks at. It is
/// the public database, which alone can have many subscriptions: each user has at most 250. Their users are not connected.
enum SubscriptionsBenchmark: Benchmark {
    static let name = "subscriptions"

    /// Each is a container of its own.
    private struct Case {
        let name: String
        let queries: WatchingQueries
        let goal: Row.Goal

        init(_ name: String, _ kind: WatchingQueries.Kind, _ count: Int, _ goal: Row.Goal = .shown) {
            self.name = "subscriptions-\(name)-\(count)"
            queries = WatchingQueries(kind: kind, count: count)
            self.goal = goal
        }
    }

    private static func cases(_ bench: Bench) -> [Case] {
        [1, 1_000, bench.isQuick ? 10_000 : 100_000].map { Case("other", .otherType, $0, .atMost(1.03)) }
            + [1, 10, 100, 1_000].map { Case("asked", .asked, $0) } + [Case("by-value", .byValue, 1_000)]
            + [1, 10, 100, 1_000].map { Case("fired", .fired, $0) }
    }

    static func run(_ bench: Bench) throws -> [Row] {
        let cases = cases(bench)
        let server = try TransportProgram.tidemark(bench)
        defer { server.stop() }
        var fleets: [WireFleet] = []
        defer { for fleet in fleets { fleet.stop() } }
        for queries in [nil] + cases.map(\.queries) {
            fleets.append(try fleet(bench, server, container: "\(BenchDatabase.container).\(fleets.count)", queries))
        }
        let times = try medians(bench, fleets, ProcessorTime(process: server.id))
        return zip(cases, times.dropFirst()).map { one, values in
            Row(
                one.name, unit: "µs, median", Comparison(values: values, references: times[0]), goal: one.goal)
        }
    }

    /// A device of an account of its own, in a container of its own.
    private static func fleet(
        _ bench: Bench, _ server: TransportProgram, container: String, _ queries: WatchingQueries?
    ) throws -> WireFleet {
        let database = try bench.database()
        let owner = try database.makeAccounts(1, container: container)[0]
        if let queries {
            bench.tell("\(queries.count) subscriptions")
            try database.add(queries, container: container)
        }
        return try WireFleet(
            WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile),
            credential: owner.credential, zones: [.everybodys], container: container)
    }

    /// The medians of each fleet's turns, in microseconds. As in ``OneSaveBenchmark``, turns are one second each. Each second
    /// round goes backwards, so that a drift of the machine affects all. What a server still does for the saves of one turn is
    /// over when the next begins.
    private static func medians(
        _ bench: Bench, _ fleets: [WireFleet], _ processor: ProcessorTime
    ) throws -> [[Double]] {
        var medians: [[Double]] = fleets.map { _ in [] }
        for turn in 0..<bench.repetitions * bench.seconds {
            for index in turn.isMultiple(of: 2) ? Array(fleets.indices) : fleets.indices.reversed() {
                try processor.awaitIdleness()
                let records = RecordSupply()
                let outcome = try fleets[index].run(seconds: 1, inFlight: 1) { device in
                    .saves(records.next(1), in: device.zone)
                }
                medians[index].append(outcome.durations.median * 1e6)
            }
        }
        return medians
    }
}
