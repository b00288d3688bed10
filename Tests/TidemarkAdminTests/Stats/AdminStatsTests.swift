// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkAdmin

@Suite struct AdminStatsTests {
    @Test func `R-862: containers, accounts, tables and indexes are shown in numbers`() async throws {
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            _ = try await place.user("bob")
            let containers = try await place.perform("stats", "containers", "-o", "json")
            #expect(
                containers.terminal.output == """
                    {"container":"iCloud.test","environment":"development","users":2,"zones":2,"recordBytes":0,"assets":0,\
                    "assetBytes":0,"endedZones":0,"tombstoneBytes":0,"shares":0,"subscriptions":0}

                    """)
            let accounts = try await place.perform("stats", "accounts", "--limit", "1")
            #expect(
                accounts.terminal.output == """
                    ACCOUNT  BYTES  RECORD BYTES  ASSET BYTES
                    alice    0      0             0

                    """)
            let tables = try await place.perform("stats", "tables", "-o", "name")
            #expect(tables.terminal.output.split(separator: "\n").contains("record"))
            let indexes = try await place.perform("stats", "indexes", "-o", "name")
            #expect(indexes.terminal.output.split(separator: "\n").contains("record_changes"))
        }
    }
}
