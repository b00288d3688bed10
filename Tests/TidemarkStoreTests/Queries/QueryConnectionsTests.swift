// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkPostgres
import TidemarkScheduling
import TidemarkService
import TidemarkSockets
import TidemarkTestSupport

/// A query's place among those that are under way.
@Suite struct QueryConnectionsTests {
    private func ask(
        _ fixture: QueryFixture, _ key: String, for turn: WorkTurn
    ) async -> Result<QueryPage, QueryRefusal> {
        await fixture.service.queryRecords(
            Query(recordType: "T", zoneName: nil, predicate: .compare(.field(key), .equal, .int64(1))),
            in: fixture.identity.privateDatabase, of: fixture.identity.container,
            by: .owner(fixture.identity.user), cursor: [], recordsMax: 0, for: turn)
    }

    /// While a transaction of another program is open that may write records, no type gets prepared.
    private func withWriter<Success>(
        _ fixture: QueryFixture, _ body: () async throws -> Success
    ) async throws -> Success {
        let pool = try PostgresPool(url: fixture.url, connections: 1, loop: fixture.loop)
        let success = try await pool.withConnection { connection in
            try await connection.executeScript("BEGIN; LOCK TABLE zone IN ROW SHARE MODE")
            let success = try await body()
            try await connection.executeScript("ROLLBACK")
            return success
        }
        await pool.stop()
        return success
    }

    @Test func `R-714: while a query waits until its type is prepared, another has its place`() async throws {
        try await QueryFixture.run { fixture in
            try await fixture.save(
                [("r", [Field("a", .int64(1)), Field("b", .int64(1))])], zone: "notes", counter: 1)
            // Marks one of the fields.
            _ = try await fixture.ask(.compare(.field("a"), .equal, .int64(1))).get()
            let gate = FairGate(
                FairBounds(room: 1, roomPerOwner: 1, waitingMax: 8, waitingPerOwnerMax: 8), patience: .seconds(30),
                scheduler: fixture.loop)
            let turns = (1...3).map { WorkTurn(of: .account(Int64($0)), at: gate) }
            try await turns[0].enter()
            let waiting = try await withWriter(fixture) {
                let waiting = fixture.loop.run { await ask(fixture, "b", for: turns[0]) }
                try await turns[1].enter()
                #expect(try await ask(fixture, "a", for: turns[1]).get().matches.map(\.record.name) == ["r"])
                turns[1].leave()
                return waiting
            }
            #expect(try await waiting.value.get().matches.map(\.record.name) == ["r"])
            turns[0].leave()
            try await turns[2].enter()
            turns[2].leave()
        }
    }
}
