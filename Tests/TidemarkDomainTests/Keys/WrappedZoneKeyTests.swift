// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@Suite struct WrappedZoneKeyTests {
    static func keyID(_ number: UInt8) -> [UInt8] { Array(repeating: number, count: 16) }

    /// A map whose one value is encrypted with that key of the zone.
    static func sealed(_ number: UInt8, key: String = "secret") throws -> FieldMap {
        let value = SealedValue(
            keyID: keyID(number), nonce: Array(repeating: 7, count: 12), ciphertext: Array(repeating: 9, count: 20))
        return try FieldMap([Field(key, .bytes(value.bytes), isEncrypted: true)])
    }

    @Test func `R-067: a save that is encrypted with a key that the zone does not have fails alone`() throws {
        var zone = TestZone()
        zone.zoneKeyIDs = [Self.keyID(1), Self.keyID(2)]
        let result = zone.save(
            save("a", try Self.sealed(1)), save("b", try Self.sealed(3)), save("c", try Self.sealed(2)), save("d"))
        #expect(result.reasons == [nil, .zoneKeyUnknown, nil, nil])
        #expect(zone.living("b") == nil)
        #expect(
            zone.save(save("e", try Self.sealed(3)), save("f"), atomic: true).reasons == [
                .zoneKeyUnknown, .batchFailed,
            ])
    }

    @Test func `R-067: a removal needs no key, a value that is not encrypted is refused`() throws {
        var zone = TestZone()
        let removal = try FieldMap([Field("secret", .removed, isEncrypted: true)])
        let open = try FieldMap([Field("secret", .string("open"), isEncrypted: true)])
        #expect(zone.save(save("a", removal), save("b", open)).reasons == [nil, .valueNotEncrypted])
    }

    @Test func `R-094: a conflict is told before an unknown key`() throws {
        var zone = TestZone()
        zone.save(save("a"))
        #expect(zone.save(save("a", try Self.sealed(3))).reasons == [.recordExists])
    }

    @Test func `a transaction asks for a zone's keys only where something is encrypted`() throws {
        var zone = TestZone()
        let plain = zone.request(saves: [save("a")], policy: .allKeys)
        let encrypted = zone.request(saves: [save("a"), save("b", try Self.sealed(1))], policy: .allKeys)
        func needsKeys(_ requests: RecordsRequest...) -> Bool {
            ZoneRead(of: requests, in: zone.key, limits: Limits()).needsZoneKeys
        }
        #expect(!needsKeys(plain) && needsKeys(encrypted))
        #expect(needsKeys(plain, encrypted) && !needsKeys(plain, plain))
    }

    @Test func `keys of other lengths are refused`() {
        let id = Self.keyID(1)
        let key = [UInt8](repeating: 2, count: 32)
        #expect(AccountKey(mode: .escrowed, id: id, key: key).refusal == nil)
        #expect(AccountKey(mode: .endToEnd, id: id, key: nil).refusal == nil)
        let bad = [
            AccountKey(mode: .escrowed, id: id, key: nil), AccountKey(mode: .escrowed, id: id, key: [1]),
            AccountKey(mode: .escrowed, id: nil, key: key), AccountKey(mode: .escrowed, id: [1], key: key),
            // What a server must never have, it does not take.
            AccountKey(mode: .endToEnd, id: id, key: key),
        ]
        for key in bad { #expect(key.refusal == .requestInvalid) }
        let wrapped = [UInt8](repeating: 3, count: 60)
        #expect(WrappedZoneKey(id: id, accountKeyID: id, wrapped: wrapped).refusal == nil)
        #expect(WrappedZoneKey(id: [1], accountKeyID: id, wrapped: wrapped).refusal == .requestInvalid)
        #expect(WrappedZoneKey(id: id, accountKeyID: [], wrapped: wrapped).refusal == .requestInvalid)
        #expect(WrappedZoneKey(id: id, accountKeyID: id, wrapped: wrapped + [1]).refusal == .requestInvalid)
    }

    @Test func `R-106, R-107: why a zone has no keys is why it is gone`() {
        #expect(ZoneKeysRead(keys: []).outcome == .success([]))
        #expect(ZoneKeysRead(keys: nil).outcome == .failure(.zoneNotFound))
        #expect(ZoneKeysRead(keys: nil, lastRemoval: .purged).outcome == .failure(.zonePurged))
        #expect(ZoneKeysRead(keys: nil, lastRemoval: .encryptedDataReset).outcome == .failure(.zoneKeysReset))
    }
}
