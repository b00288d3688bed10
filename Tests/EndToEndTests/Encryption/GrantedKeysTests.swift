// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkCrypto
import TidemarkDomain
import TidemarkStore

@testable import TidemarkKit

/// Encrypted values in zones whose keys are given by devices, over a real server.
@Suite struct GrantedKeysTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Plans for May")

    private func save(
        _ name: String, _ secret: String, in zoneID: CKRecordZone.ID, of database: CKDatabase
    ) async throws {
        let record = CKRecord(recordType: "Secret", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        record.encryptedValues["secret"] = secret
        try await database.save(record)
    }

    private func secret(_ name: String, in zoneID: CKRecordZone.ID, of database: CKDatabase) async throws -> String? {
        let id = CKRecord.ID(recordName: name, zoneID: zoneID)
        return try await database.record(for: id).encryptedValues["secret"] as? String
    }

    /// A server with alice, whose account has this mode, and a device of hers with the zone.
    private func withAlice(
        _ mode: EncryptionMode = .endToEnd, allowsEscrowed: Bool = false,
        _ body: (KeyWorld, KeySite, CKContainer) async throws -> Void
    ) async throws {
        try await KeyWorld.with { world in
            if mode != .escrowed { _ = try await world.admin.setEncryptionMode(mode, of: world.alice, resets: false) }
            try await world.withServer { site in
                let alice = site.makeContainer("alice", allowsEscrowed: allowsEscrowed)
                try await alice.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
                try await body(world, site, alice)
            }
        }
    }

    /// Shares the zone with people who have devices there, none of whom has a key in a URL.
    private func share(_ alice: CKContainer, with guests: [CKContainer]) async throws -> CKShare {
        let share = CKShare(recordZoneID: zoneID)
        for guest in guests {
            let person = try await alice.shareParticipant(forUserRecordID: try await guest.userRecordID())
            person.permission = .readWrite
            share.addParticipant(person)
        }
        return try #require(try await alice.privateCloudDatabase.save(share) as? CKShare)
    }

    private func join(_ container: CKContainer, _ share: CKShare) async throws -> CKRecordZone.ID {
        let url = try #require(share.url)
        #expect(url.fragment == nil)
        return try await container.accept(try await container.shareMetadata(for: url)).recordID.zoneID
    }

    /// What an owner's device does when it sees that somebody has accepted.
    private func see(_ alice: CKContainer, _ share: CKShare) async throws -> CKShare {
        try #require(try await alice.privateCloudDatabase.record(for: share.recordID) as? CKShare)
    }

    @Test func `R-269, R-270: two end-to-end encrypted accounts share a zone without a key in the URL`() async throws {
        try await withAlice { world, site, alice in
            let bobs = try await world.join("bob", .endToEnd, at: site)
            let bob = bobs.makeContainer("bob", requiresEndToEnd: true)
            try await save("r", "Orchid-of-alice", in: zoneID, of: alice.privateCloudDatabase)
            let share = try await share(alice, with: [bob])
            let theirs = try await join(bob, share)
            let shared = bob.sharedCloudDatabase
            // Until a device of alice has seen it, encrypted values fail alone.
            let early = try await failure { try await secret("r", in: theirs, of: shared) }
            #expect(early.code == .serverRejectedRequest)
            _ = try await see(alice, share)
            #expect(try await secret("r", in: theirs, of: shared) == "Orchid-of-alice")
            try await save("b", "Crocus-of-bob", in: theirs, of: shared)
            #expect(try await secret("b", in: zoneID, of: alice.privateCloudDatabase) == "Crocus-of-bob")
            #expect(try await alice.safetyNumber(of: zoneID) == bob.safetyNumber(of: theirs))

            // Another device of bob needs the account's key, and nothing else.
            let other = bobs.makeContainer("bob 2")
            let locked = try await failure { try await secret("r", in: theirs, of: other.sharedCloudDatabase) }
            #expect(locked.code == .accountTemporarilyUnavailable)
            try await other.importRecoveryKey(try await bob.exportRecoveryKey())
            #expect(try await secret("r", in: theirs, of: other.sharedCloudDatabase) == "Orchid-of-alice")
            // So does another device of alice, which can give keys as well.
            let second = site.makeContainer("alice 2")
            try await second.importRecoveryKey(try await alice.exportRecoveryKey())
            #expect(try await second.grantKeys(of: zoneID).isEmpty)

            // Both know each other.
            let (hers, his) = (try await alice.userRecordID(), try await bob.userRecordID())
            let number = try await alice.safetyNumber(with: his)
            #expect(try await bob.safetyNumber(with: hers) == number && number.count == 71)
            #expect(try await failure { try await bob.safetyNumber(with: his) }.code == .unknownItem)

            // The server has seen neither a key nor a value.
            let stored = try await world.everything()
            #expect(stored.contains("Plans for May"), "the tables were read")
            for text in ["Orchid-of-alice", "Crocus-of-bob"] {
                #expect(!stored.contains(text) && !stored.contains(Hex.encode(Array(text.utf8))))
            }
            let url = try await alice.urlWithKeys(of: share)
            for zoneSecret in try #require(try ZoneLinkKeys(in: url)).secrets {
                #expect(stored.contains(Hex.encode(zoneSecret.id)), "ids are there, in the digits that are searched")
                #expect(!stored.contains(Hex.encode(zoneSecret.key)))
            }
        }
    }

    @Test func `R-269: whoever has a public key at the invitation has the keys with the acceptance`() async throws {
        try await withAlice { world, site, alice in
            let bob = try await world.join("bob", .endToEnd, at: site).makeContainer("bob", requiresEndToEnd: true)
            try await save("r", "before", in: zoneID, of: alice.privateCloudDatabase)
            // Bob's device has told the public key for another share.
            let other = CKRecordZone.ID(zoneName: "other")
            try await alice.privateCloudDatabase.save(CKRecordZone(zoneID: other))
            let first = CKShare(recordZoneID: other)
            first.publicPermission = .readOnly
            _ = try await join(bob, try #require(try await alice.privateCloudDatabase.save(first) as? CKShare))
            let theirs = try await join(bob, try await share(alice, with: [bob]))
            #expect(try await secret("r", in: theirs, of: bob.sharedCloudDatabase) == "before")
            // Whoever joins by a public URL is given nothing.
            #expect(try await world.texts("SELECT count(*)::text FROM key_grant") == ["1"])
        }
    }

    @Test func `F-22, R-271: after a removal and a change of the key those who stay read on, and nobody else`()
        async throws
    {
        try await withAlice { world, site, alice in
            let hers = alice.privateCloudDatabase
            try await save("r", "before", in: zoneID, of: hers)
            var guests: [CKContainer] = []
            for name in ["bob", "carol"] {
                guests.append(
                    try await world.join(name, .endToEnd, at: site).makeContainer(name, requiresEndToEnd: true))
            }
            let share = try await share(alice, with: guests)
            let zones = [try await join(guests[0], share), try await join(guests[1], share)]
            let now = try await see(alice, share)
            let (bob, carol) = (guests[0].sharedCloudDatabase, guests[1].sharedCloudDatabase)
            for (database, zone) in [(bob, zones[0]), (carol, zones[1])] {
                #expect(try await secret("r", in: zone, of: database) == "before")
            }
            let user = try await guests[0].userRecordID()
            for person in now.participants where person.userIdentity.userRecordID?.recordName == user.recordName {
                now.removeParticipant(person)
            }
            _ = try await hers.save(now)
            try await alice.rotateEncryptionKey(of: zoneID)
            try await save("n", "after", in: zoneID, of: hers)
            #expect(try await failure { try await secret("n", in: zones[0], of: bob) }.code == .zoneNotFound)
            // Carol reads and writes with the new key, and was sent nothing.
            #expect(try await secret("n", in: zones[1], of: carol) == "after")
            #expect(try await secret("r", in: zones[1], of: carol) == "before")
            try await save("c", "carol's", in: zones[1], of: carol)
            #expect(try await secret("c", in: zoneID, of: hers) == "carol's")
            let ids = try await world.zoneKeyIDs()
            #expect(ids.count == 2)
            for name in ["n", "c"] { #expect(try await world.sealingKeyIDs(of: name) == [ids[1]]) }
            // The server has nothing for bob, under whatever key.
            let granted = try await world.texts(
                "SELECT u.record_name FROM key_grant g JOIN container_user u ON u.id = g.user_id")
            #expect(granted == [try await guests[1].userRecordID().recordName])
        }
    }

    /// Whether an engine was told that the server has the record.
    private func hasSent(_ name: String, _ device: Device) -> Bool {
        device.events.contains { event in
            guard case .sentRecordZoneChanges(let sent) = event else { return false }
            return sent.savedRecords.contains { $0.recordID.recordName == name }
        }
    }

    /// Whether an engine was told that the record was not sent.
    private func hasKept(_ name: String, _ device: Device) -> Bool {
        device.events.contains { event in
            guard case .sentRecordZoneChanges(let sent) = event else { return false }
            return sent.failedRecordSaves.contains { $0.record.recordID.recordName == name }
        }
    }

    @Test func `R-283, R-284: an engine reads and sends by itself what waited for keys`() async throws {
        try await withAlice { world, site, alice in
            let hers = alice.privateCloudDatabase
            let bob = try await world.join("bob", .endToEnd, at: site).makeContainer("bob", requiresEndToEnd: true)
            try await save("r", "Orchid", in: zoneID, of: hers)
            let share = try await share(alice, with: [bob])
            let theirs = try await join(bob, share)
            let device = Device(bob, .shared, isEncrypted: true)
            try await eventually("the zone was read without keys", of: device) {
                device.events.contains { event in
                    if case .didFetchRecordZoneChanges(let end) = event { end.zoneID == theirs } else { false }
                }
            }
            #expect(device.texts["r"] == nil)
            device.write("Crocus", to: "b", in: theirs)
            try await eventually("the edit waits", of: device) { hasKept("b", device) }
            #expect(try await world.sealingKeyIDs(of: "b") == [] && !hasSent("b", device))

            // A device of alice sees the acceptance, and gives the keys. Nobody calls anything on bob's.
            _ = try await see(alice, share)
            try await eventually("what waited was read and sent", of: device) {
                device.texts["r"] == "Orchid" && hasSent("b", device)
            }
            #expect(try await secret("b", in: zoneID, of: hers) == "Crocus")

            // The same after a change of the key.
            try await alice.rotateEncryptionKey(of: zoneID)
            try await save("n", "after", in: zoneID, of: hers)
            device.write("late", to: "l", in: theirs)
            try await eventually("the new key is used", of: device) {
                device.texts["n"] == "after" && hasSent("l", device)
            }
            #expect(try await secret("l", in: zoneID, of: hers) == "late")
            #expect(try await world.sealingKeyIDs(of: "l") == [#require(try await world.zoneKeyIDs().last)])
            device.quit()
        }
    }

    @Test func `R-286: a server that shows an older grant makes nobody encrypt with its key`() async throws {
        try await withAlice { world, site, alice in
            let hers = alice.privateCloudDatabase
            let bobs = try await world.join("bob", .endToEnd, at: site)
            let bob = bobs.makeContainer("bob", requiresEndToEnd: true)
            try await save("r", "before", in: zoneID, of: hers)
            let share = try await share(alice, with: [bob])
            let theirs = try await join(bob, share)
            _ = try await see(alice, share)
            try await save("b", "first", in: theirs, of: bob.sharedCloudDatabase)
            try world.change("CREATE TABLE older AS SELECT * FROM key_grant")
            try await alice.rotateEncryptionKey(of: zoneID)
            try await save("c", "second", in: theirs, of: bob.sharedCloudDatabase)

            // It hides the newer key, and shows what was given before.
            try world.change("DELETE FROM zone_key WHERE number = 2")
            try world.change("UPDATE zone_key SET is_retired = false")
            try world.change(
                "UPDATE key_grant g SET sealed = o.sealed, newest_id = o.newest_id, key_count = o.key_count FROM older o"
            )
            try world.change("DROP TABLE older")
            let started = bobs.makeContainer("bob").sharedCloudDatabase
            let late = try await failure { try await save("d", "third", in: theirs, of: started) }
            #expect(late.code == .accountTemporarilyUnavailable)
            #expect(late.localizedDescription.contains("names an older key"))
            #expect(try await world.sealingKeyIDs(of: "d") == [])
            #expect(try await secret("r", in: theirs, of: started) == "before", "it can be read")

            // As after a restore of an honest server: another key of the owner ends it.
            try await site.makeContainer("alice").rotateEncryptionKey(of: zoneID)
            try await save("d", "third", in: theirs, of: bobs.makeContainer("bob").sharedCloudDatabase)
            #expect(try await secret("d", in: zoneID, of: site.makeContainer("alice").privateCloudDatabase) == "third")
        }
    }

    @Test func `R-272: an end-to-end encrypted owner gives nothing to an account in escrow`() async throws {
        for allows in [false, true] {
            try await withAlice(allowsEscrowed: allows) { world, site, alice in
                let bob = try await world.join("bob", at: site).makeContainer("bob")
                try await save("r", "secret", in: zoneID, of: alice.privateCloudDatabase)
                let share = try await share(alice, with: [bob])
                let theirs = try await join(bob, share)
                // Bob's device needs a key, so it tells the account's public one.
                let error = try await failure { try await secret("r", in: theirs, of: bob.sharedCloudDatabase) }
                #expect(error.code == .serverRejectedRequest)
                let refused = try await alice.grantKeys(of: zoneID)
                if allows {
                    #expect(refused.isEmpty)
                    #expect(try await secret("r", in: theirs, of: bob.sharedCloudDatabase) == "secret")
                    return
                }
                let user = try await bob.userRecordID()
                #expect(refused.mapValues { ($0 as? CKError)?.code } == [user: .permissionFailure])
                let still = try await failure { try await secret("r", in: theirs, of: bob.sharedCloudDatabase) }
                #expect(still.code == .serverRejectedRequest)
                #expect(try await world.texts("SELECT count(*)::text FROM key_grant") == ["0"])
            }
        }
    }

    @Test func `R-274: the server gives keys of an owner in escrow to an end-to-end encrypted participant`()
        async throws
    {
        try await withAlice(.escrowed) { world, site, alice in
            let bob = try await world.join("bob", .endToEnd, at: site).makeContainer("bob")
            try await save("r", "Orchid", in: zoneID, of: alice.privateCloudDatabase)
            let theirs = try await join(bob, try await share(alice, with: [bob]))
            #expect(try await secret("r", in: theirs, of: bob.sharedCloudDatabase) == "Orchid")
            try await save("b", "Crocus", in: theirs, of: bob.sharedCloudDatabase)
            #expect(try await secret("b", in: zoneID, of: alice.privateCloudDatabase) == "Crocus")
            try await alice.rotateEncryptionKey(of: zoneID)
            try await save("n", "after", in: zoneID, of: alice.privateCloudDatabase)
            #expect(try await secret("n", in: theirs, of: bob.sharedCloudDatabase) == "after")
            #expect(try await world.texts("SELECT count(*)::text FROM key_grant") == ["0"], "nothing is stored")
        }
    }

    @Test func `R-273, R-969: a server that exchanges a public key, or moves a grant, is noticed`() async throws {
        try await withAlice { world, site, alice in
            let bobs = try await world.join("bob", .endToEnd, at: site)
            let bob = bobs.makeContainer("bob", requiresEndToEnd: true)
            try await save("r", "secret", in: zoneID, of: alice.privateCloudDatabase)
            let share = try await share(alice, with: [bob])
            let theirs = try await join(bob, share)
            _ = try await see(alice, share)
            #expect(try await secret("r", in: theirs, of: bob.sharedCloudDatabase) == "secret")
            let (hers, his) = (try await alice.userRecordID(), try await bob.userRecordID())

            // It says that bob has another key: its own.
            let own = Hex.encode(X25519KeyPair.random().publicKey)
            let users = "SELECT id FROM container_user WHERE record_name ="
            try world.change(
                "UPDATE account_key SET public_key = '\\x\(own)' WHERE user_id = (\(users) '\(his.recordName)')")
            let refused = try await alice.grantKeys(of: zoneID)
            #expect((refused[his] as? CKError)?.changedKeyUserRecordID == his)
            try await alice.rotateEncryptionKey(of: zoneID)
            let wrong = "SELECT count(*)::text FROM key_grant WHERE public_key = '\\x\(own)'"
            #expect(try await world.texts(wrong) == ["0"])

            // It says that alice has another key.
            try await save("n", "newer", in: zoneID, of: alice.privateCloudDatabase)
            try world.change(
                "UPDATE account_key SET public_key = '\\x\(own)' WHERE user_id = (\(users) '\(hers.recordName)')")
            let started = bobs.makeContainer("bob")
            let error = try await failure { try await secret("n", in: theirs, of: started.sharedCloudDatabase) }
            #expect(error.changedKeyUserRecordID == hers)

            // To a device that knew neither, both seem right. The numbers differ.
            let number = try await alice.safetyNumber(with: his)
            try await bob.acceptChangedKey(of: hers)
            #expect(try await failure { try await bob.safetyNumber(with: hers) }.code == .unknownItem)
            #expect(number.count == 71)
        }
    }

    @Test func `R-969: a grant that is cut, or of another zone, opens nothing`() async throws {
        for damage in [
            "UPDATE key_grant SET sealed = substring(sealed FROM 1 FOR 96)",
            "UPDATE key_grant g SET sealed = o.sealed FROM key_grant o WHERE o.zone_id <> g.zone_id",
        ] {
            try await withAlice { world, site, alice in
                let bob = try await world.join("bob", .endToEnd, at: site).makeContainer("bob", requiresEndToEnd: true)
                let other = CKRecordZone.ID(zoneName: "other")
                try await alice.privateCloudDatabase.save(CKRecordZone(zoneID: other))
                var zones: [CKRecordZone.ID] = []
                for zone in [zoneID, other] {
                    try await save("r", "secret", in: zone, of: alice.privateCloudDatabase)
                    // Two keys, so that a part of the grant has the length of a whole one.
                    try await alice.rotateEncryptionKey(of: zone)
                    let share = CKShare(recordZoneID: zone)
                    share.addParticipant(
                        try await alice.shareParticipant(forUserRecordID: try await bob.userRecordID()))
                    let saved = try #require(try await alice.privateCloudDatabase.save(share) as? CKShare)
                    zones.append(try await join(bob, saved))
                    _ = try await see(alice, saved)
                }
                #expect(try await world.texts("SELECT count(*)::text FROM key_grant") == ["2"])
                try world.change(damage)
                for zone in zones {
                    let error = try await failure { try await secret("r", in: zone, of: bob.sharedCloudDatabase) }
                    #expect(error.code == .serverRejectedRequest)
                    #expect(error.localizedDescription.contains("do not open"))
                }
            }
        }
    }
}
