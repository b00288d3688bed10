// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkTestSupport

@testable import TidemarkStore

/// What a save writes in `record_reference`.
@Suite struct ZoneWritesTests {
    @Test func `R-133: of a record's references only those are written that leave or are added`() async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage()
            func write(_ targets: [[String]], losesOthers: Bool) async throws {
                let holders = targets.indices.map {
                    HolderRow(database: DatabaseID(1), zone: ZoneID(2), holder: "h\($0)", losesOthers: losesOthers)
                }
                let held = targets.enumerated().flatMap { index, targets in
                    targets.map { HeldRow(place: Int32(index + 1), target: $0) }
                }
                _ = try await storage.write(sql.records.writeReferences((holders, held)))
            }
            // Where each row is. A row that is written anew is elsewhere.
            func places() async throws -> [String: String] {
                let rows = Statement(
                    .read, "places",
                    "SELECT holder || ' ' || target, ctid::text FROM record_reference WHERE zone_id = 2", [],
                    isPrepared: false)
                let pairs = try await storage.pool.execute([rows()])[0].map { (try $0.string(0), try $0.string(1)) }
                return Dictionary(uniqueKeysWithValues: pairs)
            }
            let many = (0..<250).map { "t\($0)" }
            try await write([many, ["t1", "x"]], losesOthers: false)
            let before = try await places()
            #expect(before.count == 252)

            try await write([Array(many.dropLast()) + ["new"], ["t0", "x"]], losesOthers: true)
            let after = try await places()
            let stayed = before.filter { $0.key != "h0 t249" && $0.key != "h1 t1" }
            #expect(after.filter { before[$0.key] != nil } == stayed)
            #expect(Set(after.keys).subtracting(before.keys) == ["h0 new", "h1 t0"])

            try await write([[], ["t0"]], losesOthers: true)
            #expect(try await places().keys.sorted() == ["h1 t0"])
            await storage.stop()
        }
    }
}
