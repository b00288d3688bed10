// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkTestSupport

@testable import TidemarkStore

/// A database's client change tokens are bounded.
@Suite struct RecordStatementsTokensTests {
    /// As a server left them that forgot none, of two databases.
    private static let fill = """
        INSERT INTO client_token (database_id, zone_id, device_id, token)
        SELECT 1 + n / 2501, n % 7, lpad(to_hex(n), 32, '0')::uuid, 'token' FROM generate_series(1, 2503) AS n
        """

    @Test func `R-733: very many tokens are forgotten in steps, which wait for no other transaction`() async throws {
        try await StoreFixture.run { fixture in
            try PostgresAdministration.execute([Self.fill], url: fixture.database.url)
            let storage = try fixture.storage()
            // How many tokens of the first database are forgotten when a device gives one.
            func forgotten(by device: UInt64) async throws -> Int {
                let row = ClientTokenRow(
                    database: DatabaseID(1), zone: ZoneID(1), device: DeviceID(high: 1, low: device),
                    user: ClientTokenRow.noUser, token: [1])
                return try await storage.write(sql.records.writeClientTokens(([row], 10, 1))).affectedCount
            }
            func left() async throws -> [Int64] {
                let counts = Statement(
                    .read, "counts", "SELECT count(*) FROM client_token GROUP BY database_id ORDER BY database_id", [],
                    isPrepared: false)
                return try await storage.pool.execute([counts()])[0].map { try $0.int64(0) }
            }
            let others = try PostgresPool(url: fixture.database.url, connections: 1, loop: fixture.loop)
            let other = try await others.acquire()
            try await other.connection.executeScript(
                "BEGIN; SELECT FROM client_token ORDER BY database_id, number LIMIT 1 FOR UPDATE")
            #expect(try await forgotten(by: 1) == 1_000)
            #expect(try await forgotten(by: 1) == 0, "it is not new")
            #expect(try await forgotten(by: 2) == 1_000)
            #expect(try await forgotten(by: 3) == 492)
            #expect(try await left() == [11, 3], "ten, and the one that another transaction has locked")
            try await other.connection.executeScript("COMMIT")
            others.release(other)
            #expect(try await forgotten(by: 4) == 2)
            #expect(try await forgotten(by: 5) == 1)
            #expect(try await left() == [10, 3])
            await others.stop()
            await storage.stop()
        }
    }
}
