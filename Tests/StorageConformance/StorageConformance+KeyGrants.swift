// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

extension StorageConformance {
    static let keyGrants: [Scenario] = [
        Scenario("R-268: the first public key of an account's key counts, and goes with it") { store in
            let alice = try await store.alice().user
            _ = try await store.first.claimMasterKey(check: bytes(9, 16))
            let key = StoredAccountKey(mode: .escrowed, id: bytes(1, 16), escrow: bytes(2, 16))
            try expectEqual(try await store.save(key, of: alice), key, "without one")
            func told(_ id: UInt8, _ publicKey: UInt8) -> StoredAccountKey {
                StoredAccountKey(
                    mode: .escrowed, id: bytes(id, 16), escrow: bytes(8, 16), publicKey: bytes(publicKey, 32))
            }
            try expectEqual(try await store.save(told(5, 4), of: alice), key, "of another key")
            var withIt = key
            withIt.publicKey = bytes(3, 32)
            try expectEqual(try await store.save(told(1, 3), of: alice), withIt, "of this one")
            try expectEqual(try await store.save(told(1, 4), of: alice), withIt, "the first one stays")
            try expectEqual(try await store.save(key, of: alice), withIt, "also where it is not said again")
            try expectEqual(try await store.first.accountKey(of: alice), withIt, "on every server")
            let bob = try await store.bob().user
            try expectEqual(try await store.save(told(5, 4), of: bob), told(5, 4), "with a new key")
        },
        Scenario("R-269: readers of a zone are told with their public keys and what they were given") { store in
            let zone = try await store.shareInvitedZone()
            try expectEqual(try await store.readers(of: zone)?.readers, [], "nobody was invited")
            try expectEqual(
                try await store.first.keyReaders(
                    of: ZoneKey(database: zone.key.database, name: "never"), after: nil, countMax: 5), nil,
                "no such zone")
            try await store.invite(zone)
            let bob = zone.viewer
            func reader(_ publicKey: UInt8?, _ granted: KeyReader.Granted? = nil) -> KeyReader {
                KeyReader(
                    user: bob.user, recordName: bob.userRecordName, mode: .escrowed,
                    publicKey: publicKey.map { bytes($0, 32) }, granted: granted)
            }
            let none = ZoneKeyCount(count: 0, newestID: nil)
            try expectEqual(
                try await store.readers(of: zone),
                KeyReadersPage(keys: none, readers: [reader(nil)], last: nil), "invited, without a key")
            try await store.tell(bytes(3, 32), of: bob.user)
            try await store.saveKeys(1, 2, in: zone.key)
            let keys = ZoneKeyCount(count: 2, newestID: bytes(2, 16))
            try expectEqual(
                try await store.readers(of: zone), KeyReadersPage(keys: keys, readers: [reader(3)], last: nil),
                "with a key")
            try await store.give(bob.user, 3, newest: 2, in: zone)
            let given = KeyReader.Granted(publicKey: bytes(3, 32), newestID: bytes(2, 16), keyCount: 2)
            try expectEqual(try await store.readers(of: zone)?.readers, [reader(3, given)], "with a grant")
            let page = try await store.first.keyReaders(of: zone.key, after: nil, countMax: 1)
            try expectEqual(page?.last, bob.user, "a full page says where to go on")
            try expectEqual(
                try await store.first.keyReaders(of: zone.key, after: bob.user, countMax: 1),
                KeyReadersPage(keys: keys, readers: [], last: nil), "after the last one")
        },
        Scenario("R-969: a grant is kept if it fits, in the place of the one before, and read by its reader alone") {
            store in
            let zone = try await store.shareInvitedZone()
            try await store.invite(zone)
            let (alice, bob) = (zone.owner.user, zone.viewer.user)
            try await store.tell(bytes(3, 32), of: bob)
            try await store.saveKeys(1, 2, in: zone.key)
            // For another key of the account, for an older key of the zone, for somebody who was not invited.
            try await store.give(bob, 4, newest: 2, in: zone)
            try await store.give(bob, 3, newest: 1, in: zone)
            try await store.give(alice, 3, newest: 2, in: zone)
            try expectEqual(try await store.readers(of: zone)?.readers.map(\.granted), [nil], "none of them fits")
            try await store.give(bob, 3, newest: 2, in: zone, sealed: 7)
            try expectEqual(try await store.given(zone, to: bob), nil, "nobody has accepted")
            try await store.join(zone)
            try expectEqual(try await store.given(zone, to: bob), nil, "the owner's account has told no public key")
            try await store.tell(bytes(5, 32), of: alice)
            let keys = GivenKeys(sealed: bytes(7, 96), ownerPublicKey: bytes(5, 32), ownerMode: .escrowed)
            try expectEqual(try await store.given(zone, to: bob), keys, "to whom it was given")
            try expectEqual(try await store.given(zone, to: alice), nil, "to nobody else")
            try await store.saveKeys(3, after: 2, in: zone.key)
            try await store.give(bob, 3, newest: 3, in: zone, sealed: 8)
            try expectEqual(try await store.given(zone, to: bob)?.sealed, bytes(8, 96), "the newer one")
            try expectEqual(
                try await store.first.givenKeys(
                    in: [ZoneKey(database: zone.key.database, name: "never"), zone.key, zone.key], to: bob
                ).map(\.key), [zone.key], "of zones that there are")
            try expectEqual(try await store.first.givenKeys(in: [], to: bob).count, 0, "of no zones")
        },
        Scenario("R-282: a grant with fewer keys does not replace one with the same newest key and more") { store in
            let zone = try await store.shareInvitedZone()
            try await store.invite(zone)
            try await store.join(zone)
            let bob = zone.viewer.user
            try await store.tell(bytes(3, 32), of: bob)
            try await store.tell(bytes(5, 32), of: zone.owner.user)
            try await store.saveKeys(1, 2, in: zone.key)
            try await store.give(bob, 3, newest: 2, in: zone, sealed: 7)
            try await store.give(bob, 3, newest: 2, count: 1, in: zone, sealed: 8)
            try expectEqual(try await store.given(zone, to: bob)?.sealed, bytes(7, 96), "fewer")
            try await store.give(bob, 3, newest: 1, count: 9, in: zone, sealed: 8)
            try expectEqual(try await store.given(zone, to: bob)?.sealed, bytes(7, 96), "an older key")
            try await store.give(bob, 3, newest: 2, in: zone, sealed: 9)
            try expectEqual(try await store.given(zone, to: bob)?.sealed, bytes(9, 96), "as many")
            try await store.give(bob, 3, newest: 2, count: 3, in: zone, sealed: 10)
            try expectEqual(try await store.given(zone, to: bob)?.sealed, bytes(10, 96), "more")
            try await store.saveKeys(3, after: 2, in: zone.key)
            try await store.give(bob, 3, newest: 3, count: 1, in: zone, sealed: 11)
            try expectEqual(try await store.given(zone, to: bob)?.sealed, bytes(11, 96), "a newer key")
        },
        Scenario("I-5, R-271: what was given goes with the access, and does not come back with it") { store in
            let zone = try await store.shareInvitedZone()
            try await store.invite(zone)
            try await store.join(zone)
            let bob = zone.viewer.user
            try await store.tell(bytes(3, 32), of: bob)
            try await store.tell(bytes(5, 32), of: zone.owner.user)
            try await store.saveKeys(1, in: zone.key)
            try await store.give(bob, 3, newest: 1, in: zone)
            try expect(try await store.given(zone, to: bob) != nil, "a participant")
            try await store.leave(zone)
            try expectEqual(try await store.given(zone, to: bob), nil, "nobody any more")
            // The owner's device gives a new key to those who stay. There are none.
            try await store.saveKeys(2, after: 1, in: zone.key)
            try await store.second.saveKeyGrants([], in: zone.key, now: StorageFixture.now)
            try await store.give(bob, 3, newest: 2, in: zone)
            try await store.inviteAgain(zone)
            try await store.join(zone)
            try expectEqual(try await store.given(zone, to: bob), nil, "what was given before is gone")
            try await store.give(bob, 3, newest: 2, in: zone)
            try expect(try await store.given(zone, to: bob) != nil, "given anew")
        },
        Scenario("R-036: what was given of a zone ends with it") { store in
            let zone = try await store.shareInvitedZone()
            try await store.invite(zone)
            try await store.join(zone)
            let bob = zone.viewer.user
            try await store.tell(bytes(3, 32), of: bob)
            try await store.tell(bytes(5, 32), of: zone.owner.user)
            try await store.saveKeys(1, in: zone.key)
            try await store.give(bob, 3, newest: 1, in: zone)
            try await store.changeZones(in: zone.key.database, remove: [zone.key.name])
            try expectEqual(try await store.given(zone, to: bob), nil, "an ended zone")
            try expectEqual(try await store.readers(of: zone), nil, "nobody reads it")
            try await store.changeZones(in: zone.key.database, create: [zone.key.name])
            try await store.saveKeys(1, in: zone.key)
            try expectEqual(try await store.given(zone, to: bob), nil, "a new life")
            try expectEqual(try await store.readers(of: zone)?.readers, [], "without readers")
        },
    ]

    private static func bytes(_ number: UInt8, _ count: Int) -> [UInt8] { Array(repeating: number, count: count) }
}

extension StorageFixture {
    fileprivate func save(_ key: StoredAccountKey, of user: UserID) async throws -> StoredAccountKey {
        try await second.saveAccountKey(
            key, of: user, masterKeyCheck: Array(repeating: 9, count: 16), now: Self.now)
    }

    /// The account gets a key with this public half.
    fileprivate func tell(_ publicKey: [UInt8], of user: UserID) async throws {
        _ = try await first.claimMasterKey(check: Array(repeating: 9, count: 16))
        let key = StoredAccountKey(
            mode: .escrowed, id: Array(repeating: 1, count: 16), escrow: Array(repeating: 2, count: 16),
            publicKey: publicKey)
        try expectEqual(try await save(key, of: user).publicKey, publicKey, "told")
    }

    /// A zone of alice with a share that nobody can join without an invitation.
    fileprivate func shareInvitedZone() async throws -> SharedZone {
        try await shareZone("Pläne", publicPermission: .noAccess)
    }

    fileprivate func invite(_ zone: SharedZone) async throws {
        let user = zone.viewer.user
        let number = try await changeShares(in: zone.key) { sharing, number in
            guard let share = sharing.livingShare else { return nil }
            var changes = SharingChanges(share.number, at: number)
            changes.inserted = [
                Participant(
                    id: StorageConformance.participant(1), user: user, permission: .readWrite, addedAt: Self.now)
            ]
            return changes
        }
        _ = try require(number, "bob is invited")
    }

    fileprivate func saveKeys(_ numbers: UInt8..., after newest: UInt8? = nil, in zone: ZoneKey) async throws {
        var newest = newest.map { [UInt8](repeating: $0, count: 16) }
        for number in numbers {
            let key = WrappedZoneKey(
                id: Array(repeating: number, count: 16), accountKeyID: Array(repeating: 100, count: 16),
                wrapped: Array(repeating: number, count: 60))
            let read = try await second.saveZoneKey(
                key, in: zone, after: newest, atMost: 10, rowsMax: .max, now: Self.now)
            try expectEqual(read.keys?.last?.id, key.id, "a key of the zone")
            newest = key.id
        }
    }

    fileprivate func give(
        _ user: UserID, _ publicKey: UInt8, newest: UInt8, count: Int? = nil, in zone: SharedZone, sealed: UInt8 = 6
    ) async throws {
        let grant = KeyGrant(
            user: user, publicKey: Array(repeating: publicKey, count: 32),
            newestID: Array(repeating: newest, count: 16), keyCount: count ?? Int(newest),
            sealed: Array(repeating: sealed, count: 96))
        try await second.saveKeyGrants([grant], in: zone.key, now: Self.now)
    }

    fileprivate func readers(of zone: SharedZone) async throws -> KeyReadersPage? {
        try await first.keyReaders(of: zone.key, after: nil, countMax: 5)
    }

    fileprivate func given(_ zone: SharedZone, to user: UserID) async throws -> GivenKeys? {
        try await first.givenKeys(in: [zone.key], to: user)[zone.key]
    }
}
