// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

@Suite struct SnapshotSeriesTests {
    private static let connections =
        "pg_stat_activity WHERE application_name = 'tidemark-check' AND datname = current_database()"

    private func check(_ fixture: SharingFixture, _ condition: String) throws {
        try fixture.execute("DO $$ BEGIN ASSERT \(condition); END $$")
    }

    @Test func `R-961: all looks of a series are on one connection, and each is of one moment`() async throws {
        try await SharingFixture.run { fixture in
            try await fixture.share(with: fixture.bobs(.accepted))
            let series = try SnapshotSeries(fixture.storage)
            func records(_ snapshot: BackupSnapshot) async throws -> Int {
                try await snapshot.contents().reduce(0) { $0 + $1.records }
            }
            let before = try await series.look { snapshot in
                let first = try await records(snapshot)
                try fixture.execute("CREATE TABLE seen AS SELECT pid, backend_start FROM \(Self.connections)")
                try fixture.execute("UPDATE record SET is_deleted = true")
                #expect(try await records(snapshot) == first)
                return first
            }
            #expect(before > 0)
            for _ in 0..<3 {
                try await series.look { snapshot in
                    #expect(try await records(snapshot) == 0)
                    try check(
                        fixture,
                        "(SELECT pid FROM seen) = (SELECT pid FROM \(Self.connections)) AND "
                            + "(SELECT backend_start FROM seen) = (SELECT backend_start FROM \(Self.connections))")
                }
            }
            await series.close()
            try await eventually(within: .seconds(60)) {
                (try? check(fixture, "(SELECT count(*) FROM \(Self.connections)) = 0")) != nil
            }
        }
    }

    @Test func `R-961: no snapshot is open between two looks, and a look that fails holds up none`() async throws {
        try await SharingFixture.run { fixture in
            let series = try SnapshotSeries(fixture.storage)
            _ = try await series.look { try await $0.facts() }
            try await eventually(within: .seconds(60)) {
                (try? check(
                    fixture, "(SELECT count(*) FROM \(Self.connections) AND state = 'idle' AND xact_start IS NULL) = 1"))
                    != nil
            }
            await #expect(throws: CancellationError.self) {
                try await series.look { (_: BackupSnapshot) async throws in throw CancellationError() }
            }
            let facts = try await series.look { try await $0.facts() }
            #expect(facts.postgres >= .oldest)
            await series.close()
        }
    }

    @Test func `R-961: a connection that was lost between two looks is opened anew`() async throws {
        try await SharingFixture.run { fixture in
            let series = try SnapshotSeries(fixture.storage)
            try await series.look { (_: BackupSnapshot) async throws in
                try fixture.execute("CREATE TABLE seen AS SELECT pid, backend_start FROM \(Self.connections)")
            }
            try fixture.execute("SELECT pg_terminate_backend(pid) FROM \(Self.connections)")
            // Until the pool has heard of it a look may still meet the old connection.
            try await eventually(within: .seconds(60)) {
                let look: Void? = try? await series.look { snapshot in
                    _ = try await snapshot.facts()
                    try check(
                        fixture,
                        "(SELECT (pid, backend_start) FROM \(Self.connections)) <> "
                            + "(SELECT (pid, backend_start) FROM seen)")
                }
                return look != nil
            }
            await series.close()
        }
    }
}
