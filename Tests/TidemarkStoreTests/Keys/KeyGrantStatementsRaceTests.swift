// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres

@testable import TidemarkStore

/// Keys of a zone that are given at the same moment, in PostgreSQL.
@Suite struct KeyGrantStatementsRaceTests {
    private static func bytes(_ number: UInt8, _ count: Int) -> [UInt8] { Array(repeating: number, count: count) }

    /// The same for a script.
    private static func hex(_ number: UInt8, _ count: Int) -> String {
        "'\\x" + String(repeating: "0\(number)", count: count) + "'::bytea"
    }

    @Test func `R-282: a grant that comes late does not replace one with a newer key`() async throws {
        try await SharingFixture.run { fixture in
            let (storage, zone, now) = (fixture.storage, fixture.zone, SharingFixture.now)
            try await fixture.share(with: fixture.bobs(.accepted))
            _ = try await storage.claimMasterKey(check: Self.bytes(9, 16))
            for (user, publicKey) in [(fixture.alice.user, UInt8(5)), (fixture.bob.user, UInt8(3))] {
                let key = StoredAccountKey(
                    mode: .escrowed, id: Self.bytes(1, 16), escrow: Self.bytes(2, 16),
                    publicKey: Self.bytes(publicKey, 32))
                _ = try await storage.saveAccountKey(key, of: user, masterKeyCheck: Self.bytes(9, 16), now: now)
            }
            let first = WrappedZoneKey(
                id: Self.bytes(1, 16), accountKeyID: Self.bytes(1, 16), wrapped: Self.bytes(1, 60))
            _ = try await storage.saveZoneKey(first, in: zone, after: nil, atMost: 10, rowsMax: .max, now: now)

            let lease = try await fixture.other.acquire()
            try await lease.connection.executeScript("BEGIN; SELECT FROM zone WHERE name = 'Notes' FOR UPDATE")
            let grant = KeyGrant(
                user: fixture.bob.user, publicKey: Self.bytes(3, 32), newestID: Self.bytes(1, 16), keyCount: 1,
                sealed: Self.bytes(6, 96))
            async let late: Void = storage.saveKeyGrants([grant], in: zone, now: now)
            try await fixture.waitForWaiting(1, application: "tidemark")
            try await lease.connection.executeScript(
                """
                INSERT INTO zone_key (database_id, zone_id, number, created_at, id, account_key_id, wrapped)
                SELECT database_id, zone_id, 2, created_at, \(Self.hex(2, 16)), account_key_id, wrapped FROM zone_key;
                INSERT INTO key_grant
                       (database_id, zone_id, user_id, granted_at, public_key, newest_id, key_count, sealed)
                SELECT database_id, zone_id, \(fixture.bob.user.rawValue), created_at, \(Self.hex(3, 32)), id, 2,
                       \(Self.hex(7, 96))
                  FROM zone_key WHERE number = 2;
                COMMIT
                """)
            try await late
            fixture.other.release(lease)
            #expect(try await storage.givenKeys(in: [zone], to: fixture.bob.user)[zone]?.sealed == Self.bytes(7, 96))
            // One that is right by then goes on.
            let right = KeyGrant(
                user: fixture.bob.user, publicKey: Self.bytes(3, 32), newestID: Self.bytes(2, 16), keyCount: 2,
                sealed: Self.bytes(8, 96))
            try await storage.saveKeyGrants([right], in: zone, now: now)
            #expect(try await storage.givenKeys(in: [zone], to: fixture.bob.user)[zone]?.sealed == Self.bytes(8, 96))
        }
    }
}
