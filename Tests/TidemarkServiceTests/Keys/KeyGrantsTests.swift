// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkCrypto
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// Keys of zones that no server can hand on by itself.
@Suite struct KeyGrantsTests {
    private static let container = "iCloud.test"

    private static func bytes(_ number: UInt8, _ count: Int) -> [UInt8] { Array(repeating: number, count: count) }

    private static func secret(_ number: UInt8) -> [UInt8] { bytes(number, 32) }

    private static func pair(_ number: UInt8) -> X25519KeyPair {
        ZoneKeyGrant.keyPair(of: secret(number), container: container)
    }

    /// The key of an account, as its device tells it.
    private static func account(_ number: UInt8, _ mode: EncryptionMode) -> AccountKey {
        AccountKey(
            mode: mode, id: AccountKeyID.make(of: secret(number)), key: mode == .escrowed ? secret(number) : nil,
            publicKey: pair(number).publicKey)
    }

    private static func wrapped(_ number: UInt8, for account: UInt8) -> WrappedZoneKey {
        let id = bytes(number, 16)
        return WrappedZoneKey(
            id: id, accountKeyID: AccountKeyID.make(of: secret(account)),
            wrapped: ZoneKeyWrap.wrap(
                secret(number), id: id, with: secret(account), container: container, zoneName: "notes"))
    }

    private static func grant(_ user: UserID, newest: UInt8 = 11, count: Int = 1, sealed: UInt8 = 6) -> KeyGrant {
        KeyGrant(
            user: user, publicKey: pair(2).publicKey, newestID: bytes(newest, 16), keyCount: count,
            sealed: bytes(sealed, 96))
    }

    private func service(
        _ fixture: ServiceFixture, onMoved: @escaping @Sendable (ZonesMoved) -> Void = { _ in }
    ) -> CloudService {
        CloudService(
            storage: MemoryStore(fixture.database), escrow: MemoryKeyEscrow(), scheduler: fixture.scheduler,
            limits: Limits(), onMoved: onMoved)
    }

    /// The owner and bob with keys of these modes, who take part in a zone that has a key.
    private func invited(
        _ fixture: ServiceFixture, _ owner: EncryptionMode, _ guest: EncryptionMode, by service: CloudService
    ) async throws -> Identity {
        _ = try await MemoryStore(fixture.database).claimMasterKey(check: MemoryKeyEscrow().check)
        let bob = try await fixture.user("bob", by: service)
        let names = [("alice", owner), ("bob", guest)]
        for (name, mode) in names where mode == .endToEnd {
            #expect(fixture.database.keepNoKeys(ofAccount: name), "\(name)")
        }
        _ = try await service.saveAccountKey(Self.account(1, owner), of: fixture.identity.user).get()
        _ = try await service.saveAccountKey(Self.account(2, guest), of: bob.user).get()
        try await fixture.share(.noAccess, [bob.invited()], counter: 1, by: service)
        try await fixture.accept(bob, by: service)
        _ = try await service.saveZoneKey(Self.wrapped(11, for: 1), in: fixture.key(), after: nil).get()
        return bob
    }

    private func given(
        _ fixture: ServiceFixture, to bob: Identity, by service: CloudService, knowsLinks: Bool = true
    ) async throws -> GivenKeys? {
        try await service.sharedKeys(
            zones: [fixture.key()], by: bob.sharedAccess, in: Self.container, knowsLinks: knowsLinks
        ).get().given[fixture.key()]
    }

    @Test(arguments: [EncryptionMode.escrowed, .endToEnd])
    func `R-269, R-969: what an end-to-end encrypted owner gives is handed on as it is`(mode: EncryptionMode) throws {
        let fixture = try ServiceFixture()
        let service = service(fixture)
        try fixture.scheduler.simulate {
            let bob = try await invited(fixture, .endToEnd, mode, by: service)
            let key = fixture.key()
            #expect(try await given(fixture, to: bob, by: service) == nil)
            let asked = try await service.grantKeys([], in: key, readersAfter: nil).get()
            #expect(asked.readers.map(\.user) == [bob.user] && asked.last == nil)
            #expect(asked.readers.map(\.mode) == [mode] && asked.readers[0].publicKey == Self.pair(2).publicKey)
            let answered = try await service.grantKeys([Self.grant(bob.user)], in: key, readersAfter: nil).get()
            #expect(answered.readers.isEmpty, "nobody lacks a key")
            let found = try await given(fixture, to: bob, by: service)
            #expect(
                found
                    == GivenKeys(
                        sealed: Self.bytes(6, 96), ownerPublicKey: Self.pair(1).publicKey, ownerMode: .endToEnd))
            let zones = try await service.sharedKeys(
                zones: [key], by: bob.sharedAccess, in: Self.container, knowsLinks: true
            ).get().zones
            #expect(zones == [.success([WrappedZoneKey(id: Self.bytes(11, 16), accountKeyID: [], wrapped: [])])])
            #expect(try await given(fixture, to: bob, by: service, knowsLinks: false) == nil, "an older device")

            // after another key bob lacks one, until it is given. What he has stays.
            _ = try await service.saveZoneKey(Self.wrapped(12, for: 1), in: key, after: Self.bytes(11, 16)).get()
            let late = try await service.grantKeys([Self.grant(bob.user, sealed: 9)], in: key, readersAfter: nil).get()
            #expect(late.readers.map(\.user) == [bob.user], "a grant without the newest key is not kept")
            #expect(try await given(fixture, to: bob, by: service)?.sealed == Self.bytes(6, 96))
            let second = Self.grant(bob.user, newest: 12, count: 2, sealed: 7)
            #expect(try await service.grantKeys([second], in: key, readersAfter: nil).get().readers.isEmpty)
            #expect(try await given(fixture, to: bob, by: service)?.sealed == Self.bytes(7, 96))

            // I-5: who has left gets nothing, and no owner can give anything to them.
            _ = await service.leaveZones([key], for: bob.bearer)
            #expect(try await given(fixture, to: bob, by: service) == nil)
            #expect(try await service.grantKeys([second], in: key, readersAfter: nil).get().readers.isEmpty)
            let stored = try await MemoryStore(fixture.database).keyReaders(of: key, after: nil, countMax: 5)
            #expect(stored?.readers == [])
        }
    }

    @Test func `R-284: when keys are given, devices that follow the zone are told`() throws {
        let fixture = try ServiceFixture()
        let told = Log<ZoneNotice>()
        let service = service(fixture) { moved in for notice in moved.notices { told.append(notice) } }
        try fixture.scheduler.simulate {
            let bob = try await invited(fixture, .endToEnd, .endToEnd, by: service)
            let (key, life) = (fixture.key(), DeviceID(high: 0, low: 1))
            let before = told.all.count
            _ = try await service.grantKeys([], in: key, by: life, readersAfter: nil).get()
            #expect(told.all.count == before, "a question")
            _ = try await service.grantKeys([Self.grant(bob.user)], in: key, by: life, readersAfter: nil).get()
            let notice = ZoneNotice(database: key.database, life: life, zoneName: key.name)
            #expect(Array(told.all.dropFirst(before)) == [notice], "all but the device that gives them")
        }
    }

    @Test func `I-5, R-271: a change of the key forgets what was given to whoever has left, also to the last one`()
        throws
    {
        let fixture = try ServiceFixture()
        let service = service(fixture)
        try fixture.scheduler.simulate {
            let bob = try await invited(fixture, .endToEnd, .endToEnd, by: service)
            let key = fixture.key()
            _ = try await service.grantKeys([Self.grant(bob.user)], in: key, readersAfter: nil).get()
            #expect(try await given(fixture, to: bob, by: service) != nil)
            _ = await service.leaveZones([key], for: bob.bearer)
            _ = try await service.saveZoneKey(
                Self.wrapped(12, for: 1), in: key, after: Self.bytes(11, 16), retiringOlder: true
            ).get()
            let again = ParticipantSave(
                id: ParticipantID(high: 2, low: 1), person: .user(bob.user), permission: .readWrite)
            try await fixture.share(.noAccess, [again], tag: try await fixture.shareTag(), counter: 2, by: service)
            try await fixture.accept(bob, by: service)
            #expect(try await given(fixture, to: bob, by: service) == nil)
            let lacking = try await service.grantKeys([], in: key, readersAfter: nil).get()
            #expect(lacking.readers.map(\.user) == [bob.user] && lacking.readers.allSatisfy { $0.granted == nil })
        }
    }

    @Test func `R-274: a server with the owner's key gives an end-to-end encrypted account what it needs`() throws {
        let fixture = try ServiceFixture()
        let service = service(fixture)
        try fixture.scheduler.simulate {
            let bob = try await invited(fixture, .escrowed, .endToEnd, by: service)
            _ = try await service.saveZoneKey(
                Self.wrapped(12, for: 1), in: fixture.key(), after: Self.bytes(11, 16)
            ).get()
            let found = try #require(try await given(fixture, to: bob, by: service))
            #expect(found.ownerPublicKey == Self.pair(1).publicKey && found.ownerMode == .escrowed)
            let place = ZoneKeyGrant(
                container: Self.container, zoneName: "notes", owner: fixture.identity.userRecordName,
                reader: bob.userRecordName)
            let opened = try place.open(found.sealed, with: Self.pair(2), from: Self.pair(1).publicKey)
            #expect(
                opened == Self.bytes(11, 16) + Self.secret(11) + Self.bytes(12, 16) + Self.secret(12), "oldest first")
            // Nothing of it is stored.
            let stored = try await MemoryStore(fixture.database).givenKeys(in: [fixture.key()], to: bob.user)
            #expect(stored.isEmpty)
            _ = await service.leaveZones([fixture.key()], for: bob.bearer)
            #expect(try await given(fixture, to: bob, by: service) == nil)
        }
    }

    @Test func `R-274: without a public key nothing is given, and where the server wraps the keys there is no need`()
        throws
    {
        for mode in EncryptionMode.allCases {
            let fixture = try ServiceFixture()
            let service = service(fixture)
            try fixture.scheduler.simulate {
                _ = try await MemoryStore(fixture.database).claimMasterKey(check: MemoryKeyEscrow().check)
                let bob = try await fixture.user("bob", by: service)
                if mode == .endToEnd { #expect(fixture.database.keepNoKeys(ofAccount: "bob")) }
                var his = Self.account(2, mode)
                his.publicKey = nil
                _ = try await service.saveAccountKey(Self.account(1, .escrowed), of: fixture.identity.user).get()
                _ = try await service.saveAccountKey(his, of: bob.user).get()
                try await fixture.share(.noAccess, [bob.invited()], counter: 1, by: service)
                try await fixture.accept(bob, by: service)
                _ = try await service.saveZoneKey(Self.wrapped(11, for: 1), in: fixture.key(), after: nil).get()
                #expect(try await given(fixture, to: bob, by: service) == nil)
                // once it is told, the server has what it needs.
                let told = try await service.saveAccountKey(Self.account(2, mode), of: bob.user).get()
                #expect(told.publicKey == Self.pair(2).publicKey)
                #expect((try await given(fixture, to: bob, by: service) == nil) == (mode == .escrowed))
            }
        }
    }

    @Test func `R-969: too many grants, two for one user, and bytes that are none are refused`() throws {
        let fixture = try ServiceFixture()
        let service = service(fixture)
        try fixture.scheduler.simulate {
            let key = fixture.key()
            func refusal(_ grants: [KeyGrant], _ zone: ZoneKey) async -> FailureReason? {
                await service.grantKeys(grants, in: zone, readersAfter: nil).reason
            }
            let many = (1...51).map { Self.grant(UserID($0)) }
            #expect(await refusal(many, key) == .tooManyItems)
            #expect(await refusal(Array(many.dropLast()), key) == nil, "for people who take no part")
            #expect(await refusal([many[0], many[0]], key) == .requestInvalid)
            let short = KeyGrant(
                user: UserID(1), publicKey: [1], newestID: Self.bytes(1, 16), keyCount: 1, sealed: Self.bytes(1, 96))
            #expect(await refusal([short], key) == .requestInvalid)
            #expect(await refusal([], ZoneKey(database: key.database, name: "")) == .zoneNameInvalid)
            #expect(await refusal([], ZoneKey(database: key.database, name: "never")) == .zoneNotFound)
        }
    }
}
