// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkStore

/// What is stored of records in shares of hierarchies is forgotten, in steps, once no token needs it.
@Suite struct HierarchyCompactionTests {
    /// Share 5 lives, 6 has ended, and of 7 nothing is known any more. Tokens before 50 have expired. Of 100 records in share 5
    /// each second one has left it.
    private func fill(_ fixture: SharingFixture) throws {
        let zone = "zone WHERE database_id = \(fixture.zone.database.rawValue) AND name = 'Notes'"
        func rows(of share: Int, _ count: Int, hasLeft: String) -> String {
            """
            INSERT INTO share_record
            SELECT z.database_id, z.id, \(share), n, 1, \(hasLeft), 'r' || n, 'Note'
              FROM (SELECT database_id, id FROM \(zone)) AS z, generate_series(1, \(count)) AS n
            """
        }
        try PostgresAdministration.execute(
            [
                """
                UPDATE zone SET has_hierarchies = true, change_number = 20000, oldest_token_number = 50
                 WHERE id = (SELECT id FROM \(zone))
                """,
                """
                INSERT INTO share (database_id, zone_id, number, ended_number, public_permission, record_name, root_name)
                SELECT z.database_id, z.id, n, CASE n WHEN 6 THEN 9 END, 1, 'S' || n, 'a' || n
                  FROM (SELECT database_id, id FROM \(zone)) AS z, unnest(ARRAY[5, 6]) AS n
                """,
                rows(of: 5, 100, hasLeft: "n % 2 = 0"), rows(of: 6, 12_000, hasLeft: "false"),
                rows(of: 7, 30, hasLeft: "n % 2 = 0"),
            ], url: fixture.url)
    }

    private func counts(_ fixture: SharingFixture) async throws -> [Int64] {
        try await fixture.numbers(
            "SELECT count(e.name) FROM unnest(ARRAY[5, 6, 7]) AS k (n) LEFT JOIN share_record e ON share_number = n "
                + "GROUP BY n ORDER BY n")
    }

    @Test func `R-221: what has left a share goes with the tokens that could tell it, and what an ended share had`()
        async throws
    {
        try await SharingFixture.run { fixture in
            try fill(fixture)
            #expect(try await counts(fixture) == [100, 12_000, 30])
            _ = try await AdminStore(fixture.storage).compact(before: SharingFixture.now)
            #expect(try await counts(fixture) == [75, 0, 0])
            let kept = "SELECT count(*) FROM share_record WHERE has_left AND number > 50"
            #expect(try await fixture.numbers(kept) == [25])
            _ = try await AdminStore(fixture.storage).compact(before: SharingFixture.now)
            #expect(try await counts(fixture) == [75, 0, 0])
        }
    }

    @Test func `whoever makes a share deletes what ended ones had, as much as a request may write`() async throws {
        try await SharingFixture.run { fixture in
            try fill(fixture)
            try await fixture.update { changes, _ in
                changes.forgottenShares = [ShareNumber(6)]
                changes.endedHierarchies = [ShareNumber(6), ShareNumber(7)]
            }
            #expect(try await counts(fixture) == [100, 0, 0])
            try fillMany(fixture)
            try await fixture.update { changes, _ in changes.endedHierarchies = [ShareNumber(7), ShareNumber(8)] }
            let left = "SELECT count(*) FROM share_record WHERE share_number IN (7, 8)"
            #expect(try await fixture.numbers(left) == [5_000], "a bounded number at once")
            try await fixture.update { changes, _ in changes.endedHierarchies = [ShareNumber(7), ShareNumber(8)] }
            #expect(try await fixture.numbers(left) == [0])
            #expect(try await counts(fixture) == [100, 0, 0])
        }
    }

    private func fillMany(_ fixture: SharingFixture) throws {
        try PostgresAdministration.execute(
            [
                """
                INSERT INTO share_record
                SELECT z.database_id, z.id, s, n, 1, false, 'm' || n, 'Note'
                  FROM zone z, unnest(ARRAY[7, 8]) AS s, generate_series(1, 12500) AS n
                 WHERE z.database_id = \(fixture.zone.database.rawValue) AND z.name = 'Notes'
                """
            ], url: fixture.url)
    }
}
