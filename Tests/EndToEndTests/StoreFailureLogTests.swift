// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkPostgres
import TidemarkTestSupport

/// What an operator reads in the log when PostgreSQL fails.
@Suite struct StoreFailureLogTests {
    /// Saves until it is cancelled. A save may fail: that is what is told.
    private static func write(_ device: Int, to database: CKDatabase) async {
        for number in 0..<100_000 where !Task.isCancelled {
            let id = CKRecord.ID(recordName: "\(device) \(number)", zoneID: .init(zoneName: "Notes"))
            _ = try? await database.save(CKRecord(recordType: "Note", recordID: id))
        }
    }

    private func killBackends(_ database: TestDatabase) throws {
        try PostgresAdministration.execute(
            [
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    + "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            ], url: database.url)
    }

    @Test(.timeLimit(.minutes(10)))
    func `R-760: killed backends of PostgreSQL are in the log, with a request's UUID, and few lines tell of many`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let database = place.database()
            _ = try await database.save(CKRecordZone(zoneName: "Notes"))
            let start = ContinuousClock.now
            let writers = (0..<4).map { device in
                let database = place.database()
                return Task { await Self.write(device, to: database) }
            }
            defer { for writer in writers { writer.cancel() } }
            // Some kills hit connections that are idle.
            try await eventually("a request fails", within: .seconds(120)) {
                try killBackends(place.database)
                return place.server.lines("the store failed").contains { $0.contains(" request=") }
                    && !place.server.lines("a connection to PostgreSQL was lost").isEmpty
            }
            for writer in writers {
                writer.cancel()
                await writer.value
            }
            let failures = place.server.lines("the store failed")
            for line in failures {
                #expect(line.contains(" warning ") && line.contains(" cause="), "\(line)")
                #expect(line.contains(/advice="(check|look)\b/) || line.contains("repeats="), "R-964: \(line)")
            }
            let first = failures.filter { !$0.contains("repeats=") }
            let kinds = first.map { line in
                let cause = line.firstMatch(of: /cause=("[^"]*"|\S+)/).map { String($0.1) } ?? ""
                return line.contains(" request=") ? cause + " of a request" : cause
            }
            let minutes = Int((ContinuousClock.now - start).components.seconds / 60)
            #expect(kinds.count <= Set(kinds).count * (1 + minutes), "one line for each kind: \(failures)")
            // The server goes on.
            try await eventually("a save") {
                let id = CKRecord.ID(recordName: UUID().uuidString, zoneID: .init(zoneName: "Notes"))
                return (try? await database.save(CKRecord(recordType: "Note", recordID: id))) != nil
            }
        }
    }

    @Test func `R-760: an INTERNAL_ERROR to a client is never without a line`() async throws {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let database = place.database()
            _ = try await database.save(CKRecordZone(zoneName: "Notes"))
            #expect(place.server.lines("a request was answered INTERNAL_ERROR").isEmpty)
            try PostgresAdministration.execute(
                ["ALTER TABLE subscription RENAME TO elsewhere"], url: place.database.url)
            for _ in 0..<3 {
                do {
                    _ = try await place.database().allSubscriptions()
                    Issue.record("there is no such table")
                } catch {
                    #expect((error as? CKError)?.code == .internalError, "\(error)")
                }
            }
            let answers = place.server.lines("a request was answered INTERNAL_ERROR")
            #expect(answers.count == 1 && answers[0].contains(" error "), "\(place.server.output)")
            #expect(answers.first?.contains(" request=") == true)
            // The cause, with PostgreSQL's code and the statement's name, and nothing that users have stored.
            let causes = place.server.lines("the store failed")
            #expect(
                causes.contains { $0.contains("42P01") && $0.contains("name=") && $0.contains(" request=") },
                "\(causes)")
            try PostgresAdministration.execute(
                ["ALTER TABLE elsewhere RENAME TO subscription"], url: place.database.url)
            #expect(try await place.database().allSubscriptions().isEmpty)
            // What was not written one by one is counted at the end.
            place.server.signal(SIGINT)
            try await place.server.exit()
            let counts = place.server.lines("a request was answered INTERNAL_ERROR").filter {
                $0.contains("repeats=2")
            }
            #expect(counts.count == 1, "\(place.server.output)")
        }
    }
}
