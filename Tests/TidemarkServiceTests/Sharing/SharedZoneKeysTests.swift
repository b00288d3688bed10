// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkCrypto
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// The keys of a zone, for those with whom it is shared.
@Suite struct SharedZoneKeysTests {
    private func accountKey(_ byte: UInt8) -> AccountKey {
        let key = [UInt8](repeating: byte, count: 32)
        return AccountKey(mode: .escrowed, id: [UInt8](repeating: byte, count: 16), key: key)
    }

    @Test func `R-067: a server that has the keys of both accounts hands those of a shared zone on`() throws {
        let fixture = try ServiceFixture()
        let service = CloudService(
            storage: MemoryStore(fixture.database), escrow: MemoryKeyEscrow(), scheduler: fixture.scheduler,
            limits: Limits(), onMoved: { _ in })
        try fixture.scheduler.simulate {
            _ = try await MemoryStore(fixture.database).claimMasterKey(check: MemoryKeyEscrow().check)
            let bob = try await fixture.user("bob", by: service)
            let (hers, his) = (accountKey(1), accountKey(2))
            _ = try await service.saveAccountKey(hers, of: fixture.identity.user).get()
            try await fixture.share(counter: 1, by: service)
            try await fixture.accept(bob, by: service)
            let (id, secret) = ([UInt8](repeating: 3, count: 16), [UInt8](repeating: 4, count: 32))
            func wrapped(_ account: AccountKey) throws -> WrappedZoneKey {
                WrappedZoneKey(
                    id: id, accountKeyID: try #require(account.id),
                    wrapped: ZoneKeyWrap.wrap(
                        secret, id: id, with: try #require(account.key), container: "iCloud.test", zoneName: "notes"))
            }
            func opened(_ keys: [WrappedZoneKey], _ account: AccountKey) throws -> [[UInt8]?] {
                try keys.map {
                    ZoneKeyWrap.unwrap(
                        $0.wrapped, id: $0.id, with: try #require(account.key), container: "iCloud.test",
                        zoneName: "notes")
                }
            }
            let access = bob.sharedAccess
            func keys() async throws -> Result<[WrappedZoneKey], FailureReason> {
                try await service.sharedKeys(zones: [fixture.key()], by: access, in: "iCloud.test").get().zones[0]
            }
            #expect(try await keys() == .success([]))
            // Bob's account has no key yet, so nobody can wrap one for it.
            _ = try await service.saveZoneKey(try wrapped(hers), in: fixture.key(), after: nil).get()
            #expect(try await keys() == .failure(.keysUnavailable))
            _ = try await service.saveAccountKey(his, of: bob.user).get()
            let found = try await keys().get()
            #expect(try opened(found, his) == [secret] && found[0].accountKeyID == his.id)
            #expect(try opened(found, hers) == [nil])

            // Bob adds one, which the owner can open.
            var added = try wrapped(his)
            added = WrappedZoneKey(
                id: [UInt8](repeating: 5, count: 16), accountKeyID: added.accountKeyID,
                wrapped: ZoneKeyWrap.wrap(
                    secret, id: [UInt8](repeating: 5, count: 16), with: try #require(his.key), container: "iCloud.test",
                    zoneName: "notes"))
            let saved = try await service.saveSharedZoneKey(
                added, in: fixture.key(), after: id, by: access, in: "iCloud.test"
            ).get()
            #expect(try opened(saved, his) == [secret, secret])
            let own = try await service.keys(of: fixture.identity.user, zones: [fixture.key()]).get().zones[0].get()
            #expect(try opened(own, hers) == [secret, secret])

            _ = await service.leaveZones([fixture.key()], for: bob.bearer)
            #expect(try await keys() == .failure(.zoneNotFound))
            #expect(
                await service.saveSharedZoneKey(added, in: fixture.key(), after: id, by: access, in: "iCloud.test")
                    == .failure(.zoneNotFound))
        }
    }
}
