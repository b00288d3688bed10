// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization
internal import TidemarkTLS

/// What shares of records with all that is below them cost: those who save in the zone, those who read it, and those who
/// wait while much is moved. Each row has its reference in the same run.
enum HierarchiesBenchmark: Benchmark {
    static let name = "hierarchies"

    static func run(_ bench: Bench) throws -> [Row] {
        try saves(bench) + depths(bench) + pages(bench) + moves(bench)
    }

    // MARK: Saves

    private static let covered = BenchRecords(prefix: "c", count: 200, parent: .record(HierarchyStage.root))
    private static let uncovered = BenchRecords(prefix: "u", count: 200, parent: .none)

    /// An owner's save of a record that is in a share, of one beside it, and of one in a zone without shares.
    private static func saves(_ bench: Bench) throws -> [Row] {
        let stage = try HierarchyStage(bench)
        let (plain, shared) = ("\(name)-plain", "\(name)-shared")
        try stage.makeZones([plain, shared])
        try stage.database.make(uncovered, inZone: plain, like: HierarchyStage.root)
        for records in [uncovered, covered] {
            try stage.database.make(records, inZone: shared, like: HierarchyStage.root)
        }
        try stage.share(shared)
        let times = try stage.withServer { target -> [[Double]] in
            let own = stage.owner.credential
            let fleets = try [plain, shared, shared].map { try WireFleet(target, credential: own, zones: [$0]) }
            defer { for fleet in fleets { fleet.stop() } }
            return try medians(bench, zip(fleets, [uncovered, uncovered, covered]).map { (fleet: $0, records: $1) })
        }
        return [
            Row(
                "hierarchy-save-covered", unit: "µs, median", Comparison(values: times[2], references: times[1]),
                goal: .atMost(1.25)),
            Row(
                "hierarchy-save-uncovered", unit: "µs, median", Comparison(values: times[1], references: times[0]),
                goal: .atMost(1.1)),
        ]
    }

    /// A participant's save of a record 1, 10 and 100 steps below the root.
    private static func depths(_ bench: Bench) throws -> [Row] {
        let stage = try HierarchyStage(bench)
        let zone = "\(name)-deep"
        let chain = BenchRecords(prefix: "d", count: 100, parent: .chain(HierarchyStage.root))
        try stage.makeZones([zone])
        try stage.database.make(chain, inZone: zone, like: HierarchyStage.root)
        try stage.share(zone)
        let depths = [1, 10, 100]
        let times = try stage.withServer { target -> [[Double]] in
            let theirs = MeasuredZone(name: zone, owner: stage.owner.recordName)
            let fleet = try WireFleet(target, credential: stage.participant.credential, zones: [theirs])
            defer { fleet.stop() }
            return try inTurns(bench, depths.count) { index in
                let name = BenchRecords.name(chain.prefix, depths[index])
                let supply = RecordSupply()
                return try fleet.run(seconds: 1, inFlight: 1) { .saves([supply.save(name)], in: $0.zone) }
            }
        }
        return depths.indices.dropFirst().map { index in
            Row(
                "hierarchy-save-depth-\(depths[index])", unit: "µs, median",
                Comparison(values: times[index], references: times[0]), goal: .atMost(1.1))
        }
    }

    private static func medians(_ bench: Bench, _ saving: [(fleet: WireFleet, records: BenchRecords)]) throws
        -> [[Double]]
    {
        try inTurns(bench, saving.count) { index in
            let (fleet, records) = saving[index]
            let supply = RecordSupply()
            return try fleet.run(seconds: 1, inFlight: 1) { .saves([supply.any(of: records)], in: $0.zone) }
        }
    }

    /// The medians of each in µs. Turns are one second each, and each second round goes backwards, so that a drift of the
    /// machine affects all.
    private static func inTurns(
        _ bench: Bench, _ count: Int, _ measure: (Int) throws -> WireFleet.Outcome
    ) throws -> [[Double]] {
        var medians = [[Double]](repeating: [], count: count)
        for turn in 0..<bench.repetitions * bench.seconds {
            for index in turn.isMultiple(of: 2) ? Array(0..<count) : (0..<count).reversed() {
                medians[index].append(try measure(index).durations.median * 1e6)
            }
        }
        return medians
    }

    // MARK: Pages

    private static let visibleCount = 200

    /// A participant's page of all that they see, in zones of which it is a smaller and smaller part.
    private static func pages(_ bench: Bench) throws -> [Row] {
        let stage = try HierarchyStage(bench)
        let counts = bench.isQuick ? [1_000, 100_000] : [1_000, 10_000, 100_000, 1_000_000]
        let zones = counts.map { "\(name)-of-\($0)" }
        // With the root and the CKShare record.
        let visible = BenchRecords(prefix: "c", count: visibleCount - 2, parent: .record(HierarchyStage.root))
        try stage.makeZones(zones)
        for (zone, count) in zip(zones, counts) {
            let others = BenchRecords(prefix: "u", count: count - visibleCount, parent: .none)
            for records in [others, visible] {
                try stage.database.make(records, inZone: zone, like: HierarchyStage.root)
            }
            try stage.share(zone)
        }
        let times = try stage.withServer { target -> [[Double]] in
            let fleets = try zones.map { zone in
                try WireFleet(
                    target, credential: stage.participant.credential,
                    zones: [MeasuredZone(name: zone, owner: stage.owner.recordName)])
            }
            defer { for fleet in fleets { fleet.stop() } }
            return try inTurns(bench, zones.count) { index in
                let outcome = try fleets[index].run(seconds: 1, inFlight: 1) {
                    .page(of: $0.zone, after: [], limit: visibleCount)
                }
                guard outcome.recordCount == outcome.answerCount * visibleCount else {
                    throw BenchError("\(outcome.answerCount) pages have \(outcome.recordCount) records.")
                }
                return outcome
            }
        }
        return counts.indices.dropFirst().map { index in
            Row(
                "hierarchy-page-\(counts[index])", unit: "µs, median",
                Comparison(values: times[index], references: times[0]), goal: .atMost(1.2))
        }
    }

    // MARK: Moves

    /// Devices that save other records of the zone meanwhile. They are new at first.
    private static let otherCount = 4
    private static let beside = BenchRecords(prefix: "o", count: 10_000, parent: .none)
    /// What nobody should wait longer for. PostgreSQL's locks are waited for twice as long.
    private static let patienceMilliseconds = 1_000.0

    /// Records come under a share and leave it, 1, 1,000 and 20,000 with a request, again and again, while other devices of the
    /// owner save in the same zone.
    private static func moves(_ bench: Bench) throws -> [Row] {
        let stage = try HierarchyStage(bench)
        let counts = [1, 1_000, 20_000]
        let zones = counts.map { "\(name)-move-\($0)" }
        try stage.makeZones(zones)
        for (zone, count) in zip(zones, counts) {
            try stage.database.make(
                BenchRecords(prefix: "h", count: 1, parent: .none), inZone: zone, like: HierarchyStage.root)
            if count > 1 {
                let below = BenchRecords(prefix: "m", count: count - 1, parent: .record(head))
                try stage.database.make(below, inZone: zone, like: HierarchyStage.root)
            }
            try stage.share(zone)
        }
        return try stage.withServer { target in
            try zip(zones, counts).flatMap { zone, count -> [Row] in
                let own = stage.owner.credential
                let mover = try WireFleet(target, credential: own, zones: [zone])
                defer { mover.stop() }
                let others = try WireFleet(
                    target, credential: own, zones: [String](repeating: zone, count: otherCount))
                defer { others.stop() }
                let (moves, waits) = try moving(bench, mover, beside: others)
                let patience = waits.map { _ in patienceMilliseconds }
                return [
                    Row(
                        "hierarchy-move-\(count)", unit: "ms, median", Comparison(values: moves, references: patience),
                        goal: .atMost(1)),
                    Row(
                        "hierarchy-move-\(count)-others", unit: "ms, p99",
                        Comparison(values: waits, references: patience), goal: .atMost(1)),
                ]
            }
        }
    }

    /// The record that moves, with those below it.
    private static let head = BenchRecords.name("h", 1)

    /// - Returns: for each repetition, the median of the moves and the p99 of the others' saves, in milliseconds.
    private static func moving(
        _ bench: Bench, _ mover: WireFleet, beside others: WireFleet
    ) throws -> (moves: [Double], waits: [Double]) {
        var (moves, waits): ([Double], [Double]) = ([], [])
        for _ in 0..<bench.repetitions {
            let (supply, seconds) = (RecordSupply(), bench.seconds)
            let saving = Background {
                try others.run(seconds: seconds, inFlight: 1) { .saves([supply.any(of: beside)], in: $0.zone) }
            }
            var durations: [Double] = []
            // Both ways at least once.
            while durations.count < 2 || !saving.isDone {
                let parent = durations.count.isMultiple(of: 2) ? HierarchyStage.root : nil
                durations += try mover.run(requestCount: 1, inFlight: 1) { device in
                    .saves([RecordSupply.move(head, under: parent)], in: device.zone)
                }.durations
            }
            // So that the next repetition begins where this one did.
            if !durations.count.isMultiple(of: 2) {
                _ = try mover.run(requestCount: 1, inFlight: 1) { device in
                    .saves([RecordSupply.move(head, under: nil)], in: device.zone)
                }
            }
            moves.append(durations.median * 1e3)
            waits.append(try saving.outcome().durations.quantile(0.99) * 1e3)
        }
        return (moves, waits)
    }
}

/// What another thread measures meanwhile.
private final class Background: Sendable {
    private let result = Mutex<Result<WireFleet.Outcome, any Error>?>(nil)
    private let end = DispatchSemaphore(value: 0)

    init(_ measure: @escaping @Sendable () throws -> WireFleet.Outcome) {
        DispatchQueue.global().async { [self] in
            let outcome = Result { try measure() }
            result.withLock { $0 = outcome }
            end.signal()
        }
    }

    var isDone: Bool { result.withLock { $0 != nil } }

    /// Waits for it.
    func outcome() throws -> WireFleet.Outcome {
        end.wait()
        guard let outcome = result.withLock({ $0 }) else { throw BenchError("No outcome.") }
        return try outcome.get()
    }
}

/// An owner with zones, in each of which a record is shared with one participant.
private struct HierarchyStage {
    /// The record that is shared, with all that is below it: the first that was saved in each zone.
    static let root = "r00000000"

    let owner: BenchAccount
    let participant: BenchAccount
    let database: BenchDatabase
    private let bench: Bench

    init(_ bench: Bench) throws {
        self.bench = bench
        database = try bench.database()
        owner = try database.makeAccount()
        participant = try database.makeAccount()
    }

    /// Each gets its root.
    func makeZones(_ zones: [String]) throws {
        try withServer { target in
            let fleet = try WireFleet(target, credential: owner.credential, zones: zones)
            defer { fleet.stop() }
            _ = try fleet.run(requestCount: zones.count, inFlight: 1) { device in
                .saves(RecordSupply().following(1), in: device.zone)
            }
        }
    }

    func share(_ zone: String) throws {
        try database.shareHierarchy(Self.root, inZone: zone, of: owner, with: [participant])
    }

    /// Starts a server, which has not seen what was made without one.
    func withServer<Value>(_ body: (WireTarget) throws -> Value) throws -> Value {
        let server = try TransportProgram.tidemark(bench)
        defer { server.stop() }
        return try body(WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile))
    }
}
