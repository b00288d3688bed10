// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTLS

/// How long an owner's single save takes in shared zones, and what it sends to PostgreSQL, compared with a zone that is
/// not shared in the same run. One zone is shared with nobody yet, others with 1, 10 and 100 accounts. And how long a
/// participant's save takes.
enum SharedSaveBenchmark: Benchmark {
    static let name = "shared-save"
    private static let participantCounts = [0, 1, 10, 100]
    /// Saves whose statements are counted.
    private static let countedSaveCount = 500

    static func run(_ bench: Bench) throws -> [Row] {
        let stage = try Stage(bench)
        let times = try stage.withFleets(bench) { try medians(bench, $0) }
        // A server that starts now has all its statements in PostgreSQL's log, which takes time.
        let statements = try StatementCount(bench.database())
        defer { statements.stop() }
        let counts = try stage.withFleets(bench) { fleets in try fleets.map { try count(statements, $0) } }

        var rows: [Row] = []
        for (index, name) in stage.ownZones.enumerated().dropFirst() {
            let (taken, reference) = (counts[index], counts[0])
            rows += [
                Row(
                    name, unit: "µs, median", Comparison(values: times[index], references: times[0]),
                    goal: .atMost(1.05)),
                perSave("\(name)-sql", "statements", taken.statementCount, reference.statementCount),
                perSave("\(name)-bytes", "bytes", taken.byteCount, reference.byteCount),
            ]
        }
        let theirs = Comparison(values: times[stage.ownZones.count], references: times[0])
        return rows + [Row("participant-save", unit: "µs, median", theirs, goal: .atMost(2))]
    }

    private static func perSave(_ name: String, _ unit: String, _ value: Int, _ reference: Int) -> Row {
        let count = Double(countedSaveCount)
        return Row(
            name, unit: "\(unit) per save",
            Comparison(values: [Double(value) / count], references: [Double(reference) / count]), goal: .atMost(1.01))
    }

    /// The medians of each fleet's turns. As in ``OneSaveBenchmark``, turns are one second each. Each second round goes
    /// backwards, so that a drift of the machine affects all.
    private static func medians(_ bench: Bench, _ fleets: [WireFleet]) throws -> [[Double]] {
        var medians: [[Double]] = fleets.map { _ in [] }
        for turn in 0..<bench.repetitions * bench.seconds {
            for index in turn.isMultiple(of: 2) ? Array(fleets.indices) : fleets.indices.reversed() {
                let records = RecordSupply()
                let outcome = try fleets[index].run(seconds: 1, inFlight: 1) { device in
                    .saves(records.next(1), in: device.zone)
                }
                medians[index].append(outcome.durations.median * 1e6)
            }
        }
        return medians
    }

    private static func count(_ statements: StatementCount, _ fleet: WireFleet) throws -> StatementCount.Taken {
        // After this the server knows the records, in each zone the same ones.
        try saveEach(fleet)
        _ = try statements.take()
        try saveEach(fleet)
        return try statements.take()
    }

    private static func saveEach(_ fleet: WireFleet) throws {
        let records = RecordSupply()
        _ = try fleet.run(requestCount: countedSaveCount, inFlight: 1) { device in
            .saves(records.following(1), in: device.zone)
        }
    }

    /// The zones, and who saves in them.
    private struct Stage {
        /// The first one is not shared.
        let ownZones = [name] + participantCounts.map { "\(name)-\($0)" }
        private let owner: BenchAccount
        private let participant: BenchAccount
        /// For a participant's saves, so that they leave the owner's zones as the server knows them.
        private let theirs: MeasuredZone

        init(_ bench: Bench) throws {
            let database = try bench.database()
            owner = try database.makeAccount()
            let others = try database.makeAccounts(participantCounts.max() ?? 1)
            participant = others[0]
            theirs = MeasuredZone(name: "\(name)-theirs", owner: owner.recordName)
            let server = try TransportProgram.tidemark(bench)
            defer { server.stop() }
            let fleet = try WireFleet(
                Self.target(server, bench), credential: owner.credential, zones: ownZones + [theirs.name])
            defer { fleet.stop() }
            // A server knows a zone that was always empty better than others. So each has been written in before.
            let records = RecordSupply()
            _ = try fleet.run(requestCount: ownZones.count + 1, inFlight: 1) { device in
                .saves(records.following(1), in: device.zone)
            }
            for (zone, count) in zip(ownZones.dropFirst(), participantCounts) {
                try database.share(zone, of: owner, with: Array(others.prefix(count)))
            }
            try database.share(theirs.name, of: owner, with: others)
        }

        /// Starts a server, and a device for each zone: the owner's, and a participant's in the last.
        func withFleets<Value>(_ bench: Bench, _ body: ([WireFleet]) throws -> Value) throws -> Value {
            let server = try TransportProgram.tidemark(bench)
            defer { server.stop() }
            let target = try Self.target(server, bench)
            var fleets: [WireFleet] = []
            defer { for fleet in fleets { fleet.stop() } }
            for zone in ownZones {
                fleets.append(try WireFleet(target, credential: owner.credential, zones: [zone]))
            }
            fleets.append(try WireFleet(target, credential: participant.credential, zones: [theirs]))
            return try body(fleets)
        }

        private static func target(_ server: TransportProgram, _ bench: Bench) throws -> WireTarget {
            try WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile)
        }
    }
}
