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
    @Test func `R-783: an account with very many people in shares gets no more, and everything else goes on`() throws {
        let fixture = try ServiceFixture(zones: ["notes", "more"])
        var limits = Limits()
        limits.sharingRowsMax = 2
        let service = CloudService(
            storage: MemoryStore(fixture.database), scheduler: fixture.scheduler, limits: limits, onMoved: { _ in })
        try fixture.scheduler.simulate {
            let (bob, carol) = (
                try await fixture.user("bob", by: service), try await fixture.user("carol", by: service)
            )
            try await fixture.share(counter: 1, by: service)
            try await fixture.accept(bob, by: service)
            let link = try await fixture.secret()
            let joining = try await service.acceptShares(ofLinks: [link], for: carol.bearer).get()
            #expect(joining.first?.reason == .tooMuchShared)
            let share = ShareSave(tag: nil, publicPermission: .readWrite, participants: nil)
            let sharing = try await service.modify(fixture.sharing(share, zone: "more", counter: 2)).get()
            guard case .failed(let failure)? = sharing.saves.first else {
                Issue.record("\(sharing)")
                return
            }
            #expect(failure.reason == .tooMuchShared)
            // What adds nothing goes on.
            try await fixture.accept(bob, by: service)
            try await fixture.share(.readOnly, tag: try await fixture.shareTag(), counter: 3, by: service)
            let key = WrappedZoneKey(
                id: [UInt8](repeating: 1, count: 16), accountKeyID: [UInt8](repeating: 2, count: 16),
                wrapped: [UInt8](repeating: 3, count: 60))
            let next = WrappedZoneKey(
                id: [UInt8](repeating: 4, count: 16), accountKeyID: key.accountKeyID, wrapped: key.wrapped)
            #expect(await service.saveZoneKey(key, in: fixture.key("more"), after: nil).reason == nil)
            #expect(await service.saveZoneKey(next, in: fixture.key("more"), after: key.id).reason == .tooMuchShared)
        }
    }
}
