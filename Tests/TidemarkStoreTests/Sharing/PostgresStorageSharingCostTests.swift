// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkLocalPostgres
import TidemarkPostgres
import TidemarkService
import TidemarkSockets
import TidemarkTestSupport

@testable import TidemarkStore

/// What an owner's saves send to PostgreSQL, as its log tells.
@Suite struct PostgresStorageSharingCostTests {
    /// What the requests of ``sent(participantCount:)`` ask PostgreSQL in a zone without a share: each statement, and the
    /// tables that it names. The first four save, and the last one deletes. What a change adds here, all saves pay for.
    private static let unsharedStatements =
        [String](repeating: "write_run_if_still: record request_memory store zone", count: 4) + [
            "begin:", "lock_zone: zone", "read_one: record request_memory store zone",
            "read_children: record record_reference zone", "read_cascade: record record_reference zone",
            "write_run: record request_memory store zone", "commit:",
        ]

    @Test func `F-20: an owner's saves send what they always sent, with 1, 10 or 100 participants and without a share`()
        async throws
    {
        let (unshared, tables) = try await sent(participantCount: nil)
        #expect(tables.contains("share_link_target") && tables.contains("account_address"))
        #expect(Self.named(unshared, tables) == Self.unsharedStatements)
        let words = unshared.filter {
            $0.contains(/\b(share|share_participant|share_link|share_link_target|shared_zone|account_address)\b/)
        }
        #expect(words == [], "without a share nothing of shares is asked for")
        for count in [1, 10, 100] {
            let differences = try await sent(participantCount: count).statements.difference(from: unshared)
            #expect(differences.isEmpty, "\(count) participants: \(differences)")
        }
    }

    /// The name of each statement and the tables among its words. Of what is no declared statement, all of it.
    private static func named(_ statements: [String], _ tables: [String]) -> [String] {
        statements.filter { !$0.hasPrefix("DETAIL") }.map { statement -> String in
            // Numbers are left out, also that at the end of a name.
            guard let match = statement.wholeMatch(of: /LOG:  execute (\w+)_#: (.*)/) else { return statement }
            let words = Set(match.2.matches(of: /\w+/).map { String($0.0) })
            return (["\(match.1):"] + tables.filter(words.contains).sorted()).joined(separator: " ")
        }
    }

    /// The statements of some saves, with the forms of their parameters, and the database's tables.
    ///
    /// - Parameter participantCount: nil: the zone is not shared.
    private func sent(participantCount: Int?) async throws -> (statements: [String], tables: [String]) {
        let log = try TestPostgres.shared.logPath
        var (statements, tables): ([String], [String]) = ([], [])
        try await SharingFixture.run { fixture in
            if let participantCount { try await share(with: participantCount, fixture) }
            try fixture.execute(
                """
                DO $$ BEGIN
                    EXECUTE format('ALTER DATABASE %I SET log_statement = ''all''', current_database());
                END $$
                """)
            let loop = try EventLoop(name: "service")
            defer { loop.stop() }
            // The connections of this one are logged.
            let storage = try PostgresStorage(url: fixture.url, loop: loop, connections: 1, queryTimes: .patient)
            let service = CloudService(storage: storage, scheduler: loop, limits: Limits()) { _ in }
            // What is asked once comes before, such as the schema. A zone that was empty is known as a whole at once, another
            // one record by record, so each record is saved before.
            for counter: UInt64 in 1...3 { try await modify(fixture, service, counter: counter, ["a", "b", "c", "d"]) }
            let start = try Data(contentsOf: URL(filePath: log)).count
            try await modify(fixture, service, counter: 4, ["a"])
            try await modify(fixture, service, counter: 5, ["b"])
            try await modify(fixture, service, counter: 6, ["a"])
            // A record that changes twice in a millisecond is in a run of its own, and another statement writes several.
            try await modify(fixture, service, counter: 7, ["c", "d"])
            try await modify(fixture, service, counter: 8, [], deletes: ["b"])
            let text = String(decoding: try Data(contentsOf: URL(filePath: log)).dropFirst(start), as: UTF8.self)
            // All tests that run now write to this log.
            let processes = try await fixture.numbers(
                "SELECT pid::bigint FROM pg_stat_activity WHERE datname = current_database()")
            statements = Self.statements(in: text, of: Set(processes))
            let names = Statement(
                .read, "tables",
                "SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema()", [],
                isPrepared: false)
            tables = try await fixture.storage.pool.execute([names()])[0].map { try $0.string(ifPresent: 0) ?? "" }
            await service.stop()
            await storage.stop()
        }
        return (statements, tables)
    }

    private func share(with count: Int, _ fixture: SharingFixture) async throws {
        try await fixture.change { number, _ in
            let share = ShareNumber(number)
            var changes = SharingChanges(share, at: number)
            changes.insertedShare = Share(number: share)
            changes.insertedSecret = [1, 2, 3]
            changes.inserted = (1...count).map { index in
                Participant(
                    id: ParticipantID(high: 0, low: UInt64(index)), user: UserID(Int64(1_000 + index)),
                    permission: .readWrite, status: .accepted, acceptedNumber: number, addedAt: SharingFixture.now)
            }
            return changes
        }
    }

    private func modify(
        _ fixture: SharingFixture, _ service: CloudService, counter: UInt64, _ saves: [String], deletes: [String] = []
    ) async throws {
        let device = SharingFixture.device
        let id = RequestID(
            device: device, life: device, counter: counter, nonce: 7, lowestUnanswered: counter, isRepeated: false,
            epoch: 1)
        let fields = try FieldMap([Field("text", .string("text \(counter)"))])
        let request = RecordsRequest(
            id: id, key: fixture.zone,
            saves: saves.map { RecordSave(name: $0, type: "Note", tag: nil, fields: fields, parent: .unchanged) },
            deletes: deletes, policy: .allKeys, isAtomic: true, user: fixture.alice.user,
            access: .owner(fixture.alice.user))
        let outcome = try await service.modifyRecords([request], for: .account(1))[0].get()
        let failed = outcome.saves.contains { if case .failed = $0 { true } else { false } }
        #expect(!failed && outcome.deletes == deletes.map { _ in DeleteOutcome.deleted })
    }

    /// What these processes of PostgreSQL were sent. Values are left out, and of bytes there is how many they are.
    private static func statements(in log: String, of processes: Set<Int64>) -> [String] {
        var entries: [String] = []
        var isWanted = false
        for line in log.split(separator: "\n") {
            if let entry = line.wholeMatch(of: /\d{4}-\d\d-\d\d .*? \[(\d+)\] ((\w+):  .*)/) {
                let isStatement = entry.2.hasPrefix("LOG:  execute") || entry.2.hasPrefix("LOG:  statement")
                isWanted = processes.contains(Int64(entry.1) ?? 0) && (isStatement || entry.3 == "DETAIL")
                if isWanted { entries.append(String(entry.2)) }
            } else if isWanted, line.hasPrefix("\t") {
                entries[entries.count - 1] += line
            }
        }
        return entries.map { entry in
            entry.replacing(/\\x([0-9a-f]*)/) { "bytes \(String(repeating: "o", count: $0.1.count / 2))" }
                // A time of a whole second has no fraction.
                .replacing(/'-(?=\d)/, with: "'").replacing(/\d+(\.\d+)?/, with: "#")
        }
    }

    @Test func `of a log that others write to, only the statements of one's own processes count`() {
        let log = """
            2026-01-01 00:00:00.001 UTC [7] LOG:  execute s1: SELECT $1,
            \t       $2
            2026-01-01 00:00:00.002 UTC [7] DETAIL:  Parameters: $1 = '\\x0aff', $2 = '2026-01-01 00:00:01.5+00'
            2026-01-01 00:00:00.002 UTC [8] ERROR:  duplicate key
            2026-01-01 00:00:00.003 UTC [8] DETAIL:  Key (id)=(1) already exists.
            2026-01-01 00:00:00.003 UTC [8] STATEMENT:  INSERT INTO a
            \tVALUES (1)
            2026-01-01 00:00:00.004 UTC [7] LOG:  statement: COMMIT
            """
        #expect(
            Self.statements(in: log, of: [7]) == [
                "LOG:  execute s#: SELECT $#,\t       $#",
                "DETAIL:  Parameters: $# = 'bytes oo', $# = '#-#-# #:#:#+#'", "LOG:  statement: COMMIT",
            ])
        #expect(Self.statements(in: log, of: [9]) == [])
    }
}
