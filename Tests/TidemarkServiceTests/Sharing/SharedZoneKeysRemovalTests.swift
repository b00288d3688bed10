// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkCrypto
import TidemarkDomain
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// The keys of a shared zone after its owner has removed somebody.
@Suite struct SharedZoneKeysRemovalTests {
    private static let container = "iCloud.test"

    private func accountKey(_ byte: UInt8) -> AccountKey {
        let key = [UInt8](repeating: byte, count: 32)
        return AccountKey(mode: .escrowed, id: [UInt8](repeating: byte, count: 16), key: key)
    }

    /// A key of the zone, whose secret is made of its byte, as an account has it.
    private func wrapped(_ byte: UInt8, for account: AccountKey) throws -> WrappedZoneKey {
        let id = [UInt8](repeating: byte, count: 16)
        return WrappedZoneKey(
            id: id, accountKeyID: try #require(account.id),
            wrapped: ZoneKeyWrap.wrap(
                [UInt8](repeating: byte, count: 32), id: id, with: try #require(account.key),
                container: Self.container, zoneName: "notes"))
    }

    /// The first byte of each secret; nil: the account cannot open it.
    private func opened(_ keys: [WrappedZoneKey], _ account: AccountKey) throws -> [UInt8?] {
        let key = try #require(account.key)
        return keys.map { wrapped in
            ZoneKeyWrap.unwrap(
                wrapped.wrapped, id: wrapped.id, with: key, container: Self.container, zoneName: "notes")?.first
        }
    }

    @Test func `F-22, R-067, R-328: a key that is made after a removal comes to who stays, and to nobody else`() throws
    {
        let fixture = try ServiceFixture()
        let service = CloudService(
            storage: MemoryStore(fixture.database), escrow: MemoryKeyEscrow(), scheduler: fixture.scheduler,
            limits: Limits(), onMoved: { _ in })
        try fixture.scheduler.simulate {
            _ = try await MemoryStore(fixture.database).claimMasterKey(check: MemoryKeyEscrow().check)
            let bob = try await fixture.user("bob", by: service)
            let carol = try await fixture.user("carol", by: service)
            let (hers, his, carols) = (accountKey(1), accountKey(2), accountKey(3))
            _ = try await service.saveAccountKey(hers, of: fixture.identity.user).get()
            _ = try await service.saveAccountKey(his, of: bob.user).get()
            _ = try await service.saveAccountKey(carols, of: carol.user).get()
            try await fixture.share(.noAccess, [bob.invited(), carol.invited()], counter: 1, by: service)
            for person in [bob, carol] { try await fixture.accept(person, by: service) }
            func keys(_ person: Identity) async throws -> Result<[WrappedZoneKey], FailureReason> {
                let zones = [fixture.key()]
                return try await service.sharedKeys(zones: zones, by: person.sharedAccess, in: Self.container)
                    .get().zones[0]
            }
            let first = try wrapped(10, for: hers)
            _ = try await service.saveZoneKey(first, in: fixture.key(), after: nil).get()
            let (bobs, before) = (try await keys(bob).get(), try await keys(carol).get())
            #expect(try opened(bobs, his) == [10] && opened(before, carols) == [10])

            let tag = try await fixture.shareTag()
            try await fixture.share(nil, [carol.invited()], tag: tag, counter: 2, by: service)
            #expect(try await keys(bob) == .failure(.zoneNotFound))
            let second = try wrapped(11, for: hers)
            _ = try await service.saveZoneKey(second, in: fixture.key(), after: first.id).get()
            #expect(try await keys(bob) == .failure(.zoneNotFound))
            // Carol reads what was written before and after. What comes is for her account, and for no other.
            let found = try await keys(carol).get()
            #expect(try opened(found, carols) == [10, 11] && opened(found, his) == [nil, nil])
            // Whoever was removed gives the zone no key either, and is told none.
            let late = await service.saveSharedZoneKey(
                try wrapped(12, for: his), in: fixture.key(), after: second.id, by: bob.sharedAccess,
                in: Self.container)
            #expect(late == .failure(.zoneNotFound))
            let own = try await service.keys(of: fixture.identity.user, zones: [fixture.key()]).get().zones[0].get()
            #expect(try opened(own, hers) == [10, 11])
        }
    }
}
