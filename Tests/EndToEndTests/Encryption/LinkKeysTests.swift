// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkStore

@testable import TidemarkKit

/// Encrypted values in a zone that an account with end-to-end encryption shares, over a real server.
@Suite struct LinkKeysTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Plans for May")

    private func record(_ name: String, _ secret: String, in zoneID: CKRecordZone.ID) -> CKRecord {
        let record = CKRecord(
            recordType: "Secret", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        record.encryptedValues["secret"] = secret
        return record
    }

    private func secret(_ name: String, in zoneID: CKRecordZone.ID, of database: CKDatabase) async throws -> String? {
        let id = CKRecord.ID(recordName: name, zoneID: zoneID)
        return try await database.record(for: id).encryptedValues["secret"] as? String
    }

    /// Joins the zone by a URL.
    private func join(_ container: CKContainer, _ url: URL) async throws -> CKRecordZone.ID {
        let metadata = try await container.shareMetadata(for: url)
        return try await container.accept(metadata).recordID.zoneID
    }

    /// A server with alice, whose account is end-to-end encrypted, and a device of hers with the zone.
    private func withAlice(_ body: (KeyWorld, KeySite, CKContainer) async throws -> Void) async throws {
        try await KeyWorld.with { world in
            _ = try await world.admin.setEncryptionMode(.endToEnd, of: world.alice, resets: false)
            try await world.withServer { site in
                let alice = site.makeContainer("alice")
                try await alice.privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
                try await body(world, site, alice)
            }
        }
    }

    @Test(arguments: [EncryptionMode.escrowed, .endToEnd])
    func `R-858: by a URL with keys a participant reads and writes what no server can read`(
        mode: EncryptionMode
    ) async throws {
        try await withAlice { world, site, alice in
            let bobs = try await world.join("bob", mode, at: site)
            let second = site.makeContainer("alice 2")
            try await alice.privateCloudDatabase.save(record("r", "Orchid-of-alice", in: zoneID))
            try await second.importRecoveryKey(try await alice.exportRecoveryKey())
            let unsaved = CKShare(recordZoneID: zoneID)
            unsaved.publicPermission = .readWrite
            #expect(try await failure { try await alice.urlWithKeys(of: unsaved) }.code == .invalidArguments)
            let share = try #require(try await alice.privateCloudDatabase.save(unsaved) as? CKShare)
            let plain = try #require(share.url)
            let url = try await alice.urlWithKeys(of: share)
            #expect(url.absoluteString.hasPrefix(plain.absoluteString + "#keys1."))
            // Any device of hers that has the account's key makes the same.
            #expect(try await second.urlWithKeys(of: share) == url)

            let bob = bobs.makeContainer("bob")
            let theirs = try await join(bob, url)
            let shared = bob.sharedCloudDatabase
            #expect(try await secret("r", in: theirs, of: shared) == "Orchid-of-alice")
            try await shared.save(record("b", "Crocus-of-bob", in: theirs))
            #expect(try await secret("b", in: zoneID, of: second.privateCloudDatabase) == "Crocus-of-bob")
            // After a start, with what is in the device's file.
            let started = bobs.makeContainer("bob").sharedCloudDatabase
            #expect(try await secret("r", in: theirs, of: started) == "Orchid-of-alice")

            // All who encrypt with the key have its number.
            let numbers = [
                try await alice.safetyNumber(of: zoneID), try await second.safetyNumber(of: zoneID),
                try await bob.safetyNumber(of: theirs),
            ]
            #expect(Set(numbers).count == 1 && numbers[0].count == 71, "\(numbers)")
            // Another device of bob has no keys until it opens the URL. Everything else it has.
            let other = bobs.makeContainer("bob 2")
            let error = try await failure { try await secret("r", in: theirs, of: other.sharedCloudDatabase) }
            #expect(error.code == .serverRejectedRequest && error.localizedDescription.contains("urlWithKeys"))
            let open = CKRecord(recordType: "Secret", recordID: CKRecord.ID(recordName: "p", zoneID: theirs))
            try await other.sharedCloudDatabase.save(open)
            #expect(try await join(other, url) == theirs)
            #expect(try await secret("b", in: theirs, of: other.sharedCloudDatabase) == "Crocus-of-bob")
            // Who has the keys may pass them on.
            let joined = try #require(
                try await shared.record(
                    for: CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: theirs)) as? CKShare)
            #expect(try await bob.urlWithKeys(of: joined).fragment == url.fragment)

            // The server has seen neither a key nor a value.
            let stored = try await world.everything()
            #expect(stored.contains("Plans for May"), "the tables were read")
            let keys = try #require(try ZoneLinkKeys(in: url))
            for zoneSecret in keys.secrets {
                #expect(stored.contains(Hex.encode(zoneSecret.id)), "ids are there, in the digits that are searched")
                #expect(!stored.contains(Hex.encode(zoneSecret.key)))
                #expect(!stored.contains(Data(zoneSecret.key).base64EncodedString()))
            }
            for text in ["Orchid-of-alice", "Crocus-of-bob"] {
                #expect(!stored.contains(text) && !stored.contains(Hex.encode(Array(text.utf8))))
            }
        }
    }

    @Test func `R-859, R-967: an edit under a key that was changed is sent once the new URL is there`() async throws {
        try await withAlice { world, site, alice in
            let bob = try await world.join("bob", at: site).makeContainer("bob")
            let unsaved = CKShare(recordZoneID: zoneID)
            unsaved.publicPermission = .readWrite
            let share = try #require(try await alice.privateCloudDatabase.save(unsaved) as? CKShare)
            let theirs = try await join(bob, try await alice.urlWithKeys(of: share))
            let device = Device(bob, .shared, automatically: false, isEncrypted: true)
            try await device.engine?.fetchChanges()
            device.write("early", to: "e", in: theirs)
            try await device.engine?.sendChanges()

            try await alice.rotateEncryptionKey(of: zoneID)
            device.write("late", to: "l", in: theirs)
            for _ in 0..<2 {
                let error = try await failure { try await device.engine?.sendChanges() }
                #expect(error.code == .partialFailure || error.code == .accountTemporarilyUnavailable)
                let late = CKRecord.ID(recordName: "l", zoneID: theirs)
                #expect(device.engine?.state.pendingRecordZoneChanges == [.saveRecord(late)])
                #expect(try await world.sealingKeyIDs(of: "l") == [])
            }
            #expect(try await join(bob, try await alice.urlWithKeys(of: share)) == theirs)
            try await device.engine?.sendChanges()
            #expect(device.engine?.state.pendingRecordZoneChanges.isEmpty == true)
            #expect(try await secret("l", in: zoneID, of: alice.privateCloudDatabase) == "late")
            #expect(try await world.sealingKeyIDs(of: "l") == [#require(try await world.zoneKeyIDs().last)])
        }
    }

    @Test func `R-859: who was removed has no key of what is written after a change of the key`() async throws {
        try await withAlice { world, site, alice in
            let hers = alice.privateCloudDatabase
            try await hers.save(record("r", "before", in: zoneID))
            var guests: [CKContainer] = []
            let share = CKShare(recordZoneID: zoneID)
            let carols = try await world.join("carol", at: site)
            for (name, account) in [("bob", try await world.join("bob", at: site)), ("carol", carols)] {
                let guest = account.makeContainer(name)
                let person = try await alice.shareParticipant(forUserRecordID: try await guest.userRecordID())
                person.permission = .readWrite
                share.addParticipant(person)
                guests.append(guest)
            }
            let saved = try #require(try await hers.save(share) as? CKShare)
            let first = try await alice.urlWithKeys(of: saved)
            let zones = [try await join(guests[0], first), try await join(guests[1], first)]
            let (bob, carol) = (guests[0].sharedCloudDatabase, guests[1].sharedCloudDatabase)
            for (database, zone) in [(bob, zones[0]), (carol, zones[1])] {
                #expect(try await secret("r", in: zone, of: database) == "before")
            }
            let idle = carols.makeContainer("carol 2")
            try await idle.sharedCloudDatabase.save(record("i", "early", in: try await join(idle, first)))

            // Bob goes, and the zone gets another key.
            let user = try await guests[0].userRecordID()
            let now = try #require(try await hers.record(for: saved.recordID) as? CKShare)
            for person in now.participants where person.userIdentity.userRecordID?.recordName == user.recordName {
                now.removeParticipant(person)
            }
            let less = try #require(try await hers.save(now) as? CKShare)
            #expect(less.participants.count == 2)
            let before = try await alice.safetyNumber(of: zoneID)
            try await alice.rotateEncryptionKey(of: zoneID)
            try await hers.save(record("n", "after", in: zoneID))
            #expect(try await alice.safetyNumber(of: zoneID) != before)
            #expect(try await failure { try await secret("r", in: zones[0], of: bob) }.code == .zoneNotFound)

            // A device that has not heard of the new key does not go on with the old one.
            let late = record("late", "late", in: zones[1])
            let refused = try await failure { try await idle.sharedCloudDatabase.save(late) }
            #expect(refused.code == .accountTemporarilyUnavailable)
            #expect(refused.localizedDescription.contains("urlWithKeys"))
            #expect(try await world.sealingKeyIDs(of: "late") == [])

            // Carol needs the new URL, and then has both keys.
            #expect(try await failure { try await secret("n", in: zones[1], of: carol) }.code == .serverRejectedRequest)
            #expect(try await secret("r", in: zones[1], of: carol) == "before")
            let second = try await alice.urlWithKeys(of: less)
            #expect(try await join(guests[1], second) == zones[1])
            #expect(try await guests[1].safetyNumber(of: zones[1]) == alice.safetyNumber(of: zoneID))
            #expect(try await secret("n", in: zones[1], of: carol) == "after")
            try await carol.save(record("c", "carol's", in: zones[1]))
            #expect(try await secret("c", in: zoneID, of: hers) == "carol's")

            // What bob keeps does not open what is stored since, wherever he gets it.
            let kept = try #require(try ZoneLinkKeys(in: first)).secrets.map { Hex.encode($0.id) }
            let ids = try await world.zoneKeyIDs()
            #expect(ids.count == 2 && kept == [ids[0]])
            for name in ["n", "c"] { #expect(try await world.sealingKeyIDs(of: name) == [ids[1]]) }
            #expect(try await world.sealingKeyIDs(of: "r") == [ids[0]])
            #expect(try #require(try ZoneLinkKeys(in: second)).secrets.map { Hex.encode($0.id) } == ids)
        }
    }
}
