// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkKit

/// How many statements PostgreSQL runs for one change, until the devices of 100 participants have it. The reference is
/// a hundred times what a change takes with one participant, so the ratio shows what many have in common.
enum SharedStatementsBenchmark: Benchmark {
    static let name = "shared-statements"
    private static let participantCount = 100
    private static let changeCount = 10
    /// What a change still causes when its event has arrived everywhere comes within this time.
    private static let pause = Duration.milliseconds(300)
    private static let patience = Duration.seconds(30)

    static func run(_ bench: Bench) throws -> [Row] {
        let statements = try StatementCount(bench.database())
        defer { statements.stop() }
        let server = try TransportProgram.tidemark(bench)
        defer { server.stop() }
        let one = try Group(bench, server.port, participantCount: 1)
        let single = try count(statements, one)
        let many = try Group(bench, server.port, participantCount: participantCount)
        let pair = Comparison(
            values: try count(statements, many), references: single.map { $0 * Double(participantCount) })
        withExtendedLifetime((one, many)) {}
        return [Row("shared-statements", unit: "statements per change", pair, goal: .atMost(1))]
    }

    /// The statements of each change. What else the server does now and then, as its sweep, is in few of them.
    private static func count(_ statements: StatementCount, _ group: Group) throws -> [Double] {
        // The first ones may find engines that have just begun.
        for _ in 0..<3 { try group.change(patience, pause) }
        _ = try statements.take()
        return try (0..<changeCount).map { _ in
            try group.change(patience, pause)
            return try Double(statements.take().statementCount)
        }
    }

    /// An owner's device, and a device of each participant in the share of a zone.
    private struct Group {
        private let writer: Device
        private let readers: [Device]
        private let zone: CKRecordZone.ID

        init(_ bench: Bench, _ port: UInt16, participantCount: Int) throws {
            let zone = CKRecordZone.ID(zoneName: "shared-statements-\(participantCount)")
            let owner = try bench.database().makeAccount()
            let participants = try bench.database().makeAccounts(participantCount)
            let own = CountingApp.database(port, owner.credential, bench)
            _ = try blocking { try await own.save(CKRecordZone(zoneID: zone)) }
            try bench.database().share(zone.zoneName, of: owner, with: participants)
            self.zone = zone
            writer = Device(own)
            readers = participants.map {
                Device(CountingApp.container(port, $0.credential, bench).sharedCloudDatabase)
            }
        }

        /// Changes a record. Returns some time after all participants have had its event.
        func change(_ patience: Duration, _ pause: Duration) throws {
            let id = CKRecord.ID(recordName: UUID().uuidString, zoneID: zone)
            try blocking {
                let timeout = Task {
                    try await Task.sleep(for: patience)
                    for reader in readers { reader.giveUp() }
                }
                defer { timeout.cancel() }
                let start = StartingLine(for: readers.count) { writer.save(id) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for reader in readers {
                        group.addTask { _ = try await reader.arrival(of: id.recordName) { start.arrive() } }
                    }
                    try await group.waitForAll()
                }
                try await Task.sleep(for: pause)
            }
        }
    }
}

/// Begins something when all who wait for it are there.
private final class StartingLine: Sendable {
    private let missing: Mutex<Int>
    private let begin: @Sendable () -> Void

    init(for count: Int, _ begin: @escaping @Sendable () -> Void) {
        missing = Mutex(count)
        self.begin = begin
    }

    func arrive() {
        let isLast = missing.withLock { missing in
            missing -= 1
            return missing == 0
        }
        if isLast { begin() }
    }
}
