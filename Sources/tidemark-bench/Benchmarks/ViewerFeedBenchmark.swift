// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkTLS

/// How long a fetch of the shared database's feed takes, for a viewer of 1, 30 and 1,000 zones: if nothing is new, and
/// if one zone has changed. The reference is the feed of the owner, who has the same zones, in the same run.
enum ViewerFeedBenchmark: Benchmark {
    static let name = "viewer-feed"
    /// The number of zones, and the goal. Each zone of another costs look-ups of its share, and of the viewer's rows.
    private static let sizes: [(count: Int, goal: Double)] = [(1, 1.5), (30, 2), (1_000, 4)]

    static func run(_ bench: Bench) throws -> [Row] {
        let server = try TransportProgram.tidemark(bench)
        defer { server.stop() }
        let target = try WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile)
        return try sizes.flatMap { count, goal -> [Row] in
            let stage = try Stage(bench, target, zoneCount: count)
            defer { stage.stop() }
            return [
                Row("viewer-feed-\(count)", unit: "µs, median", try stage.nothingNew(bench), goal: .atMost(goal)),
                Row("viewer-feed-\(count)-new", unit: "µs, median", try stage.oneNew(bench), goal: .atMost(goal)),
            ]
        }
    }

    /// An owner with zones, and a viewer of all of them. Both have read their feeds to the end.
    private struct Stage {
        private let writer: WireFleet
        private let owner: WireFleet
        private let viewer: WireFleet

        init(_ bench: Bench, _ target: WireTarget, zoneCount: Int) throws {
            let accounts = try bench.database().makeAccounts(2)
            let zone = "viewed-0"
            owner = try WireFleet(target, credential: accounts[0].credential, zones: [zone])
            writer = try WireFleet(target, credential: accounts[0].credential, zones: [zone])
            try bench.database().execute(
                """
                INSERT INTO zone (database_id, name, created_at)
                SELECT \(accounts[0].database.rawValue), 'viewed-' || n, date_trunc('milliseconds', now())
                  FROM generate_series(1, \(zoneCount - 1)) AS n
                """)
            try bench.database().share("viewed-%", of: accounts[0], with: [accounts[1]])
            viewer = try WireFleet(
                target, credential: accounts[1].credential,
                zones: [MeasuredZone(name: zone, owner: accounts[0].recordName)])
            for fleet in [owner, viewer] { try readToEnd(fleet, zoneCount: zoneCount) }
        }

        func stop() {
            for fleet in [writer, owner, viewer] { fleet.stop() }
        }

        private func readToEnd(_ fleet: WireFleet, zoneCount: Int) throws {
            var foundCount = 0
            // A page has at least one zone, until nothing is new.
            for _ in 0...zoneCount {
                let newCount = try fetch(fleet).recordCount
                foundCount += newCount
                guard newCount == 0 else { continue }
                guard foundCount >= zoneCount else { throw BenchError("\(foundCount) of \(zoneCount) zones came.") }
                return
            }
            throw BenchError("The feed of \(zoneCount) zones does not end.")
        }

        private func fetch(_ fleet: WireFleet) throws -> WireFleet.Outcome {
            try fleet.run(requestCount: 1, inFlight: 1) { .databaseFeed($0.zone.scope, after: $0.databaseToken) }
        }

        func nothingNew(_ bench: Bench) throws -> Comparison {
            func median(_ fleet: WireFleet) throws -> Double {
                let outcome = try fleet.run(seconds: 1, inFlight: 1) {
                    .databaseFeed($0.zone.scope, after: $0.databaseToken)
                }
                guard outcome.recordCount == 0 else { throw BenchError("\(outcome.recordCount) zones are new.") }
                return outcome.durations.median * 1e6
            }
            return try bench.compare({ try median(viewer) }, with: { try median(owner) })
        }

        /// After each save, both fetch.
        func oneNew(_ bench: Bench) throws -> Comparison {
            let records = RecordSupply()
            var comparison = Comparison()
            for _ in 0..<bench.repetitions {
                var (viewers, owners): ([Double], [Double]) = ([], [])
                for sample in 0..<(bench.isQuick ? 20 : bench.seconds * 50) {
                    _ = try writer.run(requestCount: 1, inFlight: 1) { .saves(records.next(1), in: $0.zone) }
                    let isViewerFirst = sample.isMultiple(of: 2)
                    if isViewerFirst { viewers += try fetchOne(viewer) }
                    owners += try fetchOne(owner)
                    if !isViewerFirst { viewers += try fetchOne(viewer) }
                }
                comparison.values.append(viewers.median * 1e6)
                comparison.references.append(owners.median * 1e6)
            }
            return comparison
        }

        private func fetchOne(_ fleet: WireFleet) throws -> [Double] {
            let outcome = try fetch(fleet)
            guard outcome.recordCount == 1 else { throw BenchError("\(outcome.recordCount) zones are new, not one.") }
            return outcome.durations
        }
    }
}
