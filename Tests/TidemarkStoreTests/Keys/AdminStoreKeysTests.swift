// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkStore

@Suite struct AdminStoreKeysTests {
    @Test func `R-911: older keys count in all bounds of a zone's keys, and come once`() async throws {
        try await SharingFixture.run { (fixture: SharingFixture) async throws in
            let (storage, admin) = (fixture.storage, AdminStore(fixture.storage))
            let zone = fixture.zone
            func key(_ number: UInt8) -> WrappedZoneKey {
                WrappedZoneKey(
                    id: [UInt8](repeating: number, count: 16), accountKeyID: [1],
                    wrapped: [UInt8](repeating: 4, count: WrappedZoneKey.wrappedByteCount))
            }
            func isSaved(_ number: UInt8, after newest: UInt8?, atMost countMax: Int, rowsMax: Int = 1_000) async throws
                -> Bool
            {
                let read = try await storage.saveZoneKey(
                    key(number), in: zone, after: newest.map { key($0).id }, atMost: countMax, rowsMax: rowsMax,
                    now: SharingFixture.now)
                return read.keys?.contains { $0.id == key(number).id } == true
            }
            func older(_ number: UInt8, _ limits: Limits) async throws -> [UInt8] {
                try await admin.saveOldestZoneKey(key(number), in: zone, limits: limits, now: SharingFixture.now)
                    .compactMap(\.id.first)
            }
            var limits = Limits()
            limits.zoneKeysMax = 4
            #expect(try await older(9, limits) == [], "a zone without keys gets its first one in the usual way")
            #expect(try await isSaved(1, after: nil, atMost: 4))
            #expect(try await older(2, limits) == [2, 1])
            #expect(try await older(2, limits) == [2, 1], "a second time")
            #expect(try await older(3, limits) == [3, 2, 1])
            #expect(try await isSaved(5, after: 1, atMost: 4))
            #expect(try await older(6, limits) == [3, 2, 1, 5], "the zone has four keys")
            #expect(try await !isSaved(6, after: 5, atMost: 4))
            #expect(try await isSaved(6, after: 5, atMost: 5))
            // A share and its participants are rows too, and so is each key but the first.
            let rows = try await fixture.numbers(
                "SELECT (SELECT count(*) FROM share) + (SELECT count(*) FROM share_participant) + count(*) - 1 FROM zone_key"
            )
            let rowCount = Int(try #require(rows.first))
            #expect(try await !isSaved(7, after: 6, atMost: 99, rowsMax: rowCount))
            #expect(try await isSaved(7, after: 6, atMost: 99, rowsMax: rowCount + 1))
        }
    }

    @Test func `a master key that is changed already is not taken for somebody else's`() async throws {
        try await StoreFixture.run { fixture in
            let storage = try fixture.storage(connections: 1)
            let admin = AdminStore(storage)
            let (old, new, other) = ([1] as [UInt8], [2] as [UInt8], [3] as [UInt8])
            #expect(try await storage.claimMasterKey(check: old))
            // The second time is that of an operator who was not told of the first.
            for expected in [AdminStore.MasterKeyChange.done(keyCount: 0), .isDone] {
                let change = try await admin.rotateMasterKey(from: old, to: new) { escrow, _ in escrow }
                #expect(change == expected)
            }
            let change = try await admin.rotateMasterKey(from: old, to: other) { escrow, _ in escrow }
            #expect(change == .isOther)
            await storage.stop()
        }
    }
}
