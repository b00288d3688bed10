// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing

/// `encryptedValues` in a zone of two accounts, on TestKit and on a real server.
@Suite struct SharedEncryptionTests {
    private static func secret(_ record: CKRecord?) -> String {
        record?.encryptedValues["secret"] as? String ?? "none"
    }

    /// A note with an encrypted value.
    private static func sealed(_ name: String, _ secret: String, in zoneID: CKRecordZone.ID) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        record.encryptedValues["secret"] = secret
        return record
    }

    private static func open(_ name: String, _ text: String, in zoneID: CKRecordZone.ID) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        record["text"] = text
        return record
    }

    @Test(arguments: [true, false])
    func `R-067, R-111, R-320: owner and participant read and write each other's encrypted values`(
        ownerBegins: Bool
    ) async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let shared = bob.container.sharedCloudDatabase
            let zoneID = try await SharingConformanceTests.join(bob, try await SharingConformanceTests.share(of: alice))
            // Who writes first makes the zone's key. Neither account has a key yet.
            if ownerBegins {
                try await alice.database.save(Self.sealed("n", "first", in: Both.notes))
            } else {
                try await shared.save(Self.sealed("n", "first", in: zoneID))
            }
            let (hers, his) = (Both.id("n"), CKRecord.ID(recordName: "n", zoneID: zoneID))
            let mine = try await alice.database.record(for: hers)
            let theirs = try await shared.record(for: his)
            var seen = [Self.secret(mine), Self.secret(theirs)]
            theirs.encryptedValues["secret"] = "bob's"
            try await shared.save(theirs)
            // All three records of a conflict are decrypted.
            mine.encryptedValues["secret"] = "alice's"
            do {
                try await alice.database.save(mine)
            } catch let error as CKError {
                seen.append("\(error.code)")
                seen += [error.serverRecord, error.clientRecord, error.ancestorRecord].map(Self.secret)
            }
            let newer = try await alice.database.record(for: hers)
            newer.encryptedValues["secret"] = "alice's"
            try await alice.database.save(newer)
            let page = try await shared.recordZoneChanges(inZoneWith: zoneID, since: nil)
            seen.append(Self.secret(try page.modificationResultsByID[his]?.get().record))
            return seen
        }
        #expect(seen == ["first", "first", "serverRecordChanged", "bob's", "alice's", "first", "alice's"])
    }

    @Test func `R-067, R-555: engines of owner and participant bring each other's encrypted values`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let zoneID = try await SharingConformanceTests.join(bob, try await SharingConformanceTests.share(of: alice))
            let own = Device(alice.container, automatically: false, isEncrypted: true)
            let guest = Device(bob.container, .shared, automatically: false, isEncrypted: true)
            try await guest.engine?.fetchChanges()
            guest.write("bob's", to: "b", in: zoneID)
            try await guest.engine?.sendChanges()
            try await own.engine?.fetchChanges()
            own.write("alice's", to: "a", in: Both.notes)
            own.write("changed", to: "b", in: Both.notes)
            try await own.engine?.sendChanges()
            try await guest.engine?.fetchChanges()
            // Other devices of both have no keys yet.
            let (hers, his) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let sheReads = try await hers.database.record(for: Both.id("b"))
            let heReads = try await his.container.sharedCloudDatabase.record(
                for: CKRecord.ID(recordName: "b", zoneID: zoneID))
            #expect(Self.secret(sheReads) == "changed" && Self.secret(heReads) == "changed")
            return [own, guest].map { device in
                device.texts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
            }
        }
        #expect(seen == ["a=alice's b=changed", "a=alice's b=changed"])
    }

    @Test func `R-067, R-219: if the owner is end-to-end encrypted, records with encrypted values fail one by one`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            try await cloud.encryptEndToEnd("alice")
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let shared = bob.container.sharedCloudDatabase
            let zoneID = try await SharingConformanceTests.join(bob, try await SharingConformanceTests.share(of: alice))
            try await alice.database.save(Self.sealed("s", "alice's", in: Both.notes))
            try await alice.database.save(Self.open("o", "1", in: Both.notes))
            let ids = ["s", "o"].map { CKRecord.ID(recordName: $0, zoneID: zoneID) }
            var seen = Both.told(try await shared.records(for: ids))
            let page = try await shared.recordZoneChanges(inZoneWith: zoneID, since: nil)
            seen += Both.told(page.modificationResultsByID)
            let saves = try await shared.modifyRecords(
                saving: [Self.sealed("t", "bob's", in: zoneID), Self.open("p", "2", in: zoneID)], deleting: [],
                atomically: false)
            seen += Both.told(saves.saveResults)

            let guest = Device(bob.container, .shared, automatically: false, isEncrypted: true)
            try await guest.engine?.fetchChanges()
            guest.write("bob's", to: "u", in: zoneID)
            for _ in 0..<3 { _ = await Both.code { try await guest.engine?.sendChanges() } }
            #expect(guest.engine?.state.pendingRecordZoneChanges.isEmpty == true)
            seen += guest.heard.filter { $0.hasPrefix("records") || $0.hasPrefix("sent") }
            // The owner has what she had, and what came without encrypted values.
            seen.append(Self.secret(try await alice.database.record(for: Both.id("s"))))
            seen.append(Both.text(try await alice.database.record(for: Both.id("p"))))
            return seen
        }
        let read = ["o done", "s serverRejectedRequest"]
        #expect(
            seen == read + ["cloudkit.zoneshare done"] + read + [
                "p done", "t serverRejectedRequest", "records cloudkit.zoneshare= o=1 p=2",
                "sent records u= serverRejectedRequest", "alice's", "text=2",
            ])
    }

    @Test(arguments: [["alice"], ["alice", "bob"]])
    func `R-858, R-967, R-968: by a URL with keys encrypted values open for both, until the owner changes the key`(
        endToEnd: [String]
    ) async throws {
        let seen = try await Both.clouds { cloud in
            for account in endToEnd { try await cloud.encryptEndToEnd(account) }
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let shared = bob.container.sharedCloudDatabase
            _ = try await SharingConformanceTests.share(of: alice)
            try await alice.database.save(Self.sealed("s", "alice's", in: Both.notes))
            func url() async throws -> URL {
                let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: Both.notes)
                let share = try #require(try await alice.database.record(for: id) as? CKShare)
                return try await alice.container.urlWithKeys(of: share)
            }
            let zoneID = try await SharingConformanceTests.join(bob, try await url())
            try await shared.save(Self.sealed("t", "bob's", in: zoneID))
            let his = CKRecord.ID(recordName: "s", zoneID: zoneID)
            var seen = [Self.secret(try await shared.record(for: his))]
            seen.append(Self.secret(try await alice.database.record(for: Both.id("t"))))
            func haveSameNumber() async throws -> String {
                let mine = try await alice.container.safetyNumber(of: Both.notes)
                let theirs = try await bob.container.safetyNumber(of: zoneID)
                return "\(mine == theirs)"
            }
            seen.append(try await haveSameNumber())
            try await alice.container.rotateEncryptionKey(of: Both.notes)
            seen.append(await Both.code { _ = try await shared.save(Self.sealed("u", "late", in: zoneID)) })
            _ = try await SharingConformanceTests.join(bob, try await url())
            seen.append(await Both.code { _ = try await shared.save(Self.sealed("u", "new", in: zoneID)) })
            seen.append(Self.secret(try await alice.database.record(for: Both.id("u"))))
            seen.append(try await haveSameNumber())
            return seen
        }
        #expect(seen == ["alice's", "bob's", "true", "accountTemporarilyUnavailable", "done", "new", "true"])
    }

    /// The guest of an end-to-end encrypted owner is one too.
    @Test(arguments: [["bob"], ["alice", "bob"]])
    func `R-269, R-270, R-274: whoever was invited reads and writes encrypted values without a key in the URL`(
        endToEnd: [String]
    ) async throws {
        let seen = try await Both.clouds { cloud in
            for account in endToEnd { try await cloud.encryptEndToEnd(account) }
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let shared = bob.container.sharedCloudDatabase
            let url = try await SharingConformanceTests.share(of: alice, inviting: bob)
            try await alice.database.save(Self.sealed("s", "alice's", in: Both.notes))
            let zoneID = try await SharingConformanceTests.join(bob, url)
            let his = CKRecord.ID(recordName: "s", zoneID: zoneID)
            // Bob's account gets its key now. A device of alice then gives what it lacks.
            var seen = [await Both.code { _ = try await shared.record(for: his) }]
            seen.append("\(try await alice.container.grantKeys(of: Both.notes).count)")
            seen.append(Self.secret(try await shared.record(for: his)))
            try await shared.save(Self.sealed("t", "bob's", in: zoneID))
            seen.append(Self.secret(try await alice.database.record(for: Both.id("t"))))
            try await alice.container.rotateEncryptionKey(of: Both.notes)
            try await alice.database.save(Self.sealed("n", "new", in: Both.notes))
            seen.append(
                Self.secret(try await shared.record(for: CKRecord.ID(recordName: "n", zoneID: zoneID))))
            let theirs = try await shared.record(for: his)
            theirs.encryptedValues["secret"] = "changed"
            try await shared.save(theirs)
            seen.append(Self.secret(try await alice.database.record(for: Both.id("s"))))
            return seen
        }
        // A server that has the owner's key gives at once.
        let first = endToEnd == ["bob"] ? "done" : "serverRejectedRequest"
        #expect(seen == [first, "0", "alice's", "bob's", "new", "changed"])
    }
}
