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

    private let id = [UInt8](repeating: 3, count: 16)

    private func service(_ fixture: ServiceFixture, faults: FaultPlan = FaultPlan()) -> CloudService {
        CloudService(
            storage: MemoryStore(fixture.database, faults: faults), escrow: MemoryKeyEscrow(),
            scheduler: fixture.scheduler, limits: Limits(), onMoved: { _ in })
    }

    /// A zone's key as an account has it.
    private func wrapped(_ id: [UInt8], for account: AccountKey) throws -> WrappedZoneKey {
        let secret = [UInt8](repeating: 4, count: 32)
        return WrappedZoneKey(
            id: id, accountKeyID: try #require(account.id),
            wrapped: ZoneKeyWrap.wrap(
                secret, id: id, with: try #require(account.key), container: "iCloud.test", zoneName: "notes"))
    }

    /// Bob, who takes part in a zone that has a key.
    private func participant(_ fixture: ServiceFixture, by service: CloudService) async throws -> Identity {
        _ = try await MemoryStore(fixture.database).claimMasterKey(check: MemoryKeyEscrow().check)
        let bob = try await fixture.user("bob", by: service)
        _ = try await service.saveAccountKey(accountKey(1), of: fixture.identity.user).get()
        _ = try await service.saveAccountKey(accountKey(2), of: bob.user).get()
        try await fixture.share(counter: 1, by: service)
        try await fixture.accept(bob, by: service)
        let key = try wrapped(id, for: accountKey(1))
        _ = try await service.saveZoneKey(key, in: fixture.key(), after: nil).get()
        return bob
    }

    @Test func `I-2, R-067: that the store does not answer is never told as keys that are unavailable`() throws {
        var answers: [Result<[FailureReason?], FailureReason>] = []
        for sparedCount in 0..<8 {
            let fixture = try ServiceFixture()
            let service = self.service(fixture)
            let spared = [Fault](repeating: .none, count: sparedCount)
            @Sendable func failing() -> CloudService {
                let script = FaultScript(first: [.callSent: spared], always: [.callSent: .disconnect])
                return self.service(fixture, faults: script.plan)
            }
            answers += try fixture.scheduler.simulate { () async throws -> [Result<[FailureReason?], FailureReason>] in
                let bob = try await participant(fixture, by: service)
                let key = try wrapped([UInt8](repeating: 5, count: 16), for: accountKey(2))
                let found = await failing().sharedKeys(
                    zones: [fixture.key()], by: bob.sharedAccess, in: "iCloud.test")
                let saved = await failing().saveSharedZoneKey(
                    key, in: fixture.key(), after: id, by: bob.sharedAccess, in: "iCloud.test")
                return [found.map { $0.zones.map(\.reason) }, saved.map { _ in [nil] }]
            }
        }
        #expect(answers.allSatisfy { $0 == .success([nil]) || $0 == .failure(.storeUnavailable) }, "\(answers)")
        #expect(answers.first == .failure(.storeUnavailable) && answers.last == .success([nil]))
    }

    @Test func `R-294: hundreds of keys are wrapped anew in steps`() throws {
        let names = (0..<10).map { "z\($0)" }
        let fixture = try ServiceFixture(zones: ["notes"] + names)
        let service = self.service(fixture)
        let counted = CountingExecutor(fixture.scheduler)
        try fixture.scheduler.simulate {
            let bob = try await participant(fixture, by: service)
            for (number, name) in names.enumerated() {
                try await fixture.share(zone: name, counter: UInt64(number) + 2, by: service)
                try await fixture.accept(bob, zone: name, by: service)
                var newest: [UInt8]?
                for place in UInt8(0)..<60 {
                    let id = [UInt8](repeating: place, count: 16)
                    let key = try wrapped(id, for: accountKey(1))
                    _ = try await service.saveZoneKey(key, in: fixture.key(name), after: newest).get()
                    newest = id
                }
            }
            @Sendable func ask(_ names: [String]) async throws -> (keys: Int, jobs: Int) {
                let before = counted.count
                let found = try await withTaskExecutorPreference(counted) {
                    try await service.sharedKeys(
                        zones: names.map { fixture.key($0) }, by: bob.sharedAccess, in: "iCloud.test"
                    ).get()
                }
                let keys = try found.zones.flatMap { try $0.get() }
                return (keys.count, counted.count - before)
            }
            let (one, all) = (try await ask(["notes"]), try await ask(names))
            #expect(one.keys == 1 && all.keys == 600)
            // The store is asked as often. What is more are the turns of others, one after a hundred keys.
            #expect(all.jobs >= one.jobs + 6, "\(one.jobs) \(all.jobs)")
        }
    }

    @Test func `R-782: keys of many shared zones take as many calls of the store as those of one`() throws {
        let names = (0..<30).map { "z\($0)" }
        let fixture = try ServiceFixture(zones: ["notes", "closed"] + names)
        let script = FaultScript()
        let service = self.service(fixture, faults: script.plan)
        try fixture.scheduler.simulate {
            let bob = try await participant(fixture, by: service)
            for (number, name) in names.enumerated() {
                try await fixture.share(zone: name, counter: UInt64(number) + 2, by: service)
                try await fixture.accept(bob, zone: name, by: service)
                let key = try wrapped(id, for: accountKey(1))
                _ = try await service.saveZoneKey(key, in: fixture.key(name), after: nil).get()
            }
            func ask(_ names: [String]) async throws -> (reasons: [FailureReason?], callCount: Int) {
                let before = script.count(.callSent)
                let found = try await service.sharedKeys(
                    zones: names.map { fixture.key($0) }, by: bob.sharedAccess, in: "iCloud.test"
                ).get()
                #expect(found.account == accountKey(2))
                return (found.zones.map(\.reason), script.count(.callSent) - before)
            }
            let one = try await ask(["notes"])
            #expect(one.reasons == [nil])
            let many = try await ask(["closed"] + names + ["", "notes", "never"])
            let expected: [FailureReason?] =
                [.zoneNotFound] + names.map { _ in nil } + [.zoneNotFound, nil, .zoneNotFound]
            #expect(many.reasons == expected)
            #expect(many.callCount == one.callCount)
        }
    }

    @Test func `I-5, R-328: who loses access while they save a key of the zone is given none of its keys`() throws {
        var roundCount = 0
        for sparedCount in 0..<12 {
            let fixture = try ServiceFixture()
            let service = self.service(fixture)
            let script = FaultScript(
                first: [.callSent: [Fault](repeating: .none, count: sparedCount) + [.delay(.seconds(2))]])
            let slow = self.service(fixture, faults: script.plan)
            let isOver = try fixture.scheduler.simulate { () async throws -> Bool in
                let bob = try await participant(fixture, by: service)
                let key = try wrapped([UInt8](repeating: 5, count: 16), for: accountKey(2))
                let access = bob.sharedAccess
                let saving = fixture.scheduler.run {
                    await slow.saveSharedZoneKey(
                        key, in: fixture.key(), after: id, by: access, in: "iCloud.test")
                }
                try await fixture.scheduler.sleep(for: .seconds(1))
                guard script.count(.callSent) == sparedCount + 1 else { return true }
                _ = await service.leaveZones([fixture.key()], for: bob.bearer)
                #expect(await saving.value == .failure(.zoneNotFound), "after \(sparedCount) calls")
                return false
            }
            if isOver { break }
            roundCount += 1
        }
        #expect((4..<12).contains(roundCount))
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
            let ids = try await service.sharedKeys(
                zones: [fixture.key()], by: access, in: "iCloud.test", knowsLinks: true
            ).get().zones
            #expect(ids == [.success([WrappedZoneKey(id: id, accountKeyID: [], wrapped: [])])], "R-858: and no key")
            _ = try await service.saveAccountKey(his, of: bob.user).get()
            let wrappedAll = try await service.sharedKeys(
                zones: [fixture.key()], by: access, in: "iCloud.test", knowsLinks: true
            ).get().zones[0].get()
            #expect(try opened(wrappedAll, his) == [secret], "what can be handed on is handed on")
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
            let gone = try await service.sharedKeys(
                zones: [fixture.key()], by: access, in: "iCloud.test", knowsLinks: true
            ).get().zones
            #expect(gone == [.failure(.zoneNotFound)], "not even ids")
            #expect(
                await service.saveSharedZoneKey(added, in: fixture.key(), after: id, by: access, in: "iCloud.test")
                    == .failure(.zoneNotFound))
        }
    }

    @Test func `R-067: a participant adds the first key, and an owner whose account had none can open it`() throws {
        let fixture = try ServiceFixture()
        let service = self.service(fixture)
        try fixture.scheduler.simulate {
            _ = try await MemoryStore(fixture.database).claimMasterKey(check: MemoryKeyEscrow().check)
            let bob = try await fixture.user("bob", by: service)
            _ = try await service.saveAccountKey(accountKey(2), of: bob.user).get()
            try await fixture.share(.readOnly, counter: 1, by: service)
            try await fixture.accept(bob, by: service)
            let key = try wrapped(id, for: accountKey(2))
            func save() async -> Result<[WrappedZoneKey], FailureReason> {
                await service.saveSharedZoneKey(
                    key, in: fixture.key(), after: nil, by: bob.sharedAccess, in: "iCloud.test")
            }
            func owners() async throws -> (account: AccountKey, zone: [WrappedZoneKey]) {
                let found = try await service.keys(of: fixture.identity.user, zones: [fixture.key()]).get()
                return (found.account, try found.zones[0].get())
            }
            #expect(await save() == .failure(.notPermitted))
            #expect(try await owners().account.id == nil, "who may only read makes nothing")
            try await fixture.share(.readWrite, tag: try await fixture.shareTag(), counter: 2, by: service)
            #expect(try await save().get().map(\.id) == [id])
            let found = try await owners()
            let hers = try #require(found.account.key)
            #expect(found.account.mode == .escrowed && found.account.id == AccountKeyID.make(of: hers))
            let secrets = found.zone.map {
                ZoneKeyWrap.unwrap($0.wrapped, id: $0.id, with: hers, container: "iCloud.test", zoneName: "notes")
            }
            #expect(secrets == [[UInt8](repeating: 4, count: 32)])
            #expect(try await owners().account == found.account, "it stays")
        }
    }

    @Test(arguments: [true, false])
    func `R-067: for a key that nobody can hand on, the account of the owner gets none`(isEndToEnd: Bool) throws {
        let fixture = try ServiceFixture()
        let service = self.service(fixture)
        try fixture.scheduler.simulate {
            _ = try await MemoryStore(fixture.database).claimMasterKey(check: MemoryKeyEscrow().check)
            let bob = try await fixture.user("bob", by: service)
            var his = accountKey(2)
            if isEndToEnd {
                #expect(fixture.database.keepNoKeys(ofAccount: "bob"))
                his = AccountKey(mode: .endToEnd, id: his.id, key: nil)
            }
            _ = try await service.saveAccountKey(his, of: bob.user).get()
            try await fixture.share(counter: 1, by: service)
            try await fixture.accept(bob, by: service)
            // Bob's account is end-to-end encrypted, or the key is not wrapped with that of his account.
            let key = try wrapped(id, for: accountKey(isEndToEnd ? 2 : 5))
            let saved = await service.saveSharedZoneKey(
                key, in: fixture.key(), after: nil, by: bob.sharedAccess, in: "iCloud.test")
            #expect(saved == .failure(.keysUnavailable))
            let owners = try await service.keys(of: fixture.identity.user, zones: [fixture.key()]).get()
            #expect(owners.account.id == nil && owners.zones == [.success([])])
        }
    }

    @Test func `R-067: a key is made for an owner whose own device makes one meanwhile, and she can open it`() throws {
        var roundCount = 0
        for sparedCount in 0..<12 {
            let fixture = try ServiceFixture()
            let service = self.service(fixture)
            let script = FaultScript(
                first: [.callSent: [Fault](repeating: .none, count: sparedCount) + [.delay(.seconds(2))]])
            let slow = self.service(fixture, faults: script.plan)
            let isOver = try fixture.scheduler.simulate { () async throws -> Bool in
                _ = try await MemoryStore(fixture.database).claimMasterKey(check: MemoryKeyEscrow().check)
                let bob = try await fixture.user("bob", by: service)
                _ = try await service.saveAccountKey(accountKey(2), of: bob.user).get()
                try await fixture.share(counter: 1, by: service)
                try await fixture.accept(bob, by: service)
                let (key, access) = (try wrapped(id, for: accountKey(2)), bob.sharedAccess)
                let saving = fixture.scheduler.run {
                    await slow.saveSharedZoneKey(key, in: fixture.key(), after: nil, by: access, in: "iCloud.test")
                }
                try await fixture.scheduler.sleep(for: .seconds(1))
                guard script.count(.callSent) == sparedCount + 1 else { return true }
                let account = try await service.saveAccountKey(accountKey(1), of: fixture.identity.user).get()
                #expect(try await saving.value.get().map(\.id) == [id], "after \(sparedCount) calls")
                let found = try await service.keys(of: fixture.identity.user, zones: [fixture.key()]).get()
                #expect(found.account == account)
                let hers = try #require(account.key)
                let secrets = try found.zones[0].get().map {
                    ZoneKeyWrap.unwrap($0.wrapped, id: $0.id, with: hers, container: "iCloud.test", zoneName: "notes")
                }
                #expect(secrets == [[UInt8](repeating: 4, count: 32)], "after \(sparedCount) calls")
                return false
            }
            if isOver { break }
            roundCount += 1
        }
        #expect((5..<12).contains(roundCount))
    }
}
