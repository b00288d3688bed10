// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkCrypto
import TidemarkDomain
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// How many keys the participants of a share may give its zone.
@Suite struct SharedZoneKeysRoomTests {
    private func accountKey(_ byte: UInt8) -> AccountKey {
        let key = [UInt8](repeating: byte, count: 32)
        return AccountKey(mode: .escrowed, id: [UInt8](repeating: byte, count: 16), key: key)
    }

    @Test func `R-067, I-7: whoever takes part cannot keep the owner from giving the zone another key`() throws {
        let fixture = try ServiceFixture()
        var limits = Limits()
        (limits.zoneKeysMax, limits.sharedZoneKeysMax) = (4, 2)
        let service = CloudService(
            storage: MemoryStore(fixture.database), escrow: MemoryKeyEscrow(), scheduler: fixture.scheduler,
            limits: limits, onMoved: { _ in })
        try fixture.scheduler.simulate {
            _ = try await MemoryStore(fixture.database).claimMasterKey(check: MemoryKeyEscrow().check)
            let bob = try await fixture.user("bob", by: service)
            let (hers, his) = (accountKey(1), accountKey(2))
            _ = try await service.saveAccountKey(hers, of: fixture.identity.user).get()
            _ = try await service.saveAccountKey(his, of: bob.user).get()
            try await fixture.share(counter: 1, by: service)
            try await fixture.accept(bob, by: service)
            func wrapped(_ byte: UInt8, _ account: AccountKey) throws -> WrappedZoneKey {
                let (id, secret) = ([UInt8](repeating: byte, count: 16), [UInt8](repeating: byte, count: 32))
                return WrappedZoneKey(
                    id: id, accountKeyID: try #require(account.id),
                    wrapped: ZoneKeyWrap.wrap(
                        secret, id: id, with: try #require(account.key), container: "iCloud.test", zoneName: "notes"))
            }
            var newest: [UInt8]?
            var refusals: [FailureReason?] = []
            for byte in UInt8(10)..<14 {
                let added = try await service.saveSharedZoneKey(
                    wrapped(byte, his), in: fixture.key(), after: newest, by: bob.sharedAccess, in: "iCloud.test")
                refusals.append(added.reason)
                if case .success(let keys) = added { newest = keys.last?.id }
            }
            #expect(refusals == [nil, nil, .tooManySharedZoneKeys, .tooManySharedZoneKeys])
            _ = await service.leaveZones([fixture.key()], for: bob.bearer)
            let own = try await service.saveZoneKey(wrapped(99, hers), in: fixture.key(), after: newest)
            #expect(own.reason == nil)
        }
    }
}
