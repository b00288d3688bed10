// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// What people report of sharing with CloudKit, on TestKit and on a real server.
@Suite struct SharingConformanceTests {
    private static let shareID = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: Both.notes)

    /// A new share of the notes.
    ///
    /// - Parameter guest: whom it invites; nil: everybody with its URL.
    static func share(
        of owner: any ConformingDevice, _ permission: CKShare.ParticipantPermission = .readWrite,
        inviting guest: (any ConformingDevice)? = nil
    ) async throws -> URL {
        try await owner.database.save(CKRecordZone(zoneID: Both.notes))
        let share = CKShare(recordZoneID: Both.notes)
        if let guest {
            let user = try await guest.container.userRecordID()
            let person = try await owner.container.shareParticipant(forUserRecordID: user)
            person.permission = permission
            share.addParticipant(person)
        } else {
            share.publicPermission = permission
        }
        let saved = try await owner.database.save(share) as? CKShare
        return try #require(saved?.url)
    }

    static func join(_ guest: any ConformingDevice, _ url: URL) async throws -> CKRecordZone.ID {
        let metadata = try await guest.container.shareMetadata(for: url)
        return try await guest.container.accept(metadata).recordID.zoneID
    }

    /// How many people take part or are invited, the owner too.
    private static func count(of owner: any ConformingDevice) async throws -> String {
        let share = try await owner.database.record(for: shareID) as? CKShare
        return "\(share?.participants.count ?? 0) people"
    }

    @Test func `R-306, R-326: a zone that is shared again has the same URL, and participants who start anew`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let shared = bob.container.sharedCloudDatabase
            let url = try await Self.share(of: alice)
            let zoneID = try await Self.join(bob, url)
            var seen = [try await Self.count(of: alice)]
            try await alice.database.deleteRecord(withID: Self.shareID)
            seen.append(await Both.code { _ = try await shared.recordZone(for: zoneID) })
            seen.append(await Both.code { _ = try await bob.container.shareMetadata(for: url) })
            seen.append(try await Self.share(of: alice) == url ? "same URL" : "another URL")
            seen.append(try await Self.count(of: alice))
            seen.append(await Both.code { _ = try await shared.recordZone(for: zoneID) })
            seen.append(try await Self.join(bob, url) == zoneID ? "same zone" : "another zone")
            seen.append(await Both.code { _ = try await shared.recordZone(for: zoneID) })
            return seen
        }
        let gone = ["2 people", "zoneNotFound", "unknownItem"]
        #expect(seen == gone + ["same URL", "1 people", "zoneNotFound", "same zone", "done"])
    }

    @Test func `R-224, R-501, R-555: a share that is saved or deleted in the database reaches the device's own engine`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let alice = try await cloud.device(of: "alice")
            let app = Device(alice.container)
            app.makeZone(Both.notes)
            try await cloud.run(until: "the zone is there") { app.heard.contains("sent zones Notes") }
            _ = try await Self.share(of: alice)
            try await cloud.run(until: "the share is told") { app.heard.contains("records cloudkit.zoneshare=") }
            try await alice.database.deleteRecord(withID: Self.shareID)
            let end = "records -cloudkit.zoneshare cloudkit.share"
            try await cloud.run(until: "its end is told") { app.heard.contains(end) }
            return ["told"]
        }
        #expect(seen == ["told"])
    }

    @Test func `R-306, R-518, R-555: an engine saves a share, which has its URL then, changes it and deletes it`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let app = Device(alice.container, automatically: false)
            let guest = Device(bob.container, .shared, automatically: false)
            let share = CKShare(recordZoneID: Both.notes)
            let user = try await bob.container.userRecordID()
            let person = try await alice.container.shareParticipant(forUserRecordID: user)
            person.permission = .readOnly
            share.addParticipant(person)
            app.makeZone(Both.notes)
            app.write("1", to: "a", in: Both.notes)
            app.save(share)
            #expect(app.engine?.state.pendingRecordZoneChanges.contains(.saveRecord(Self.shareID)) == true)
            try await app.engine?.sendChanges()
            let url = try #require((app.record(Self.shareID) as? CKShare)?.url, "what the event tells")
            let zoneID = try await Self.join(bob, url)
            try await guest.engine?.fetchChanges()
            #expect(guest.texts["a"] == "1")
            func edit() async -> String {
                guest.write("2", to: "a", in: zoneID)
                _ = await Both.code { try await guest.engine?.sendChanges() }
                return guest.heard.last { $0.hasPrefix("sent records") } ?? "nothing sent"
            }
            var seen = [await edit()]

            // Bob's acceptance has changed the share, so the app's object is old.
            person.permission = .readWrite
            app.save(share)
            seen.append(await Both.code { try await app.engine?.sendChanges() })
            let newer = try #require(app.record(Self.shareID) as? CKShare)
            let guests = newer.participants.filter { $0.role != .owner }
            #expect(newer.url == url && guests.map(\.acceptanceStatus) == [.accepted])
            for participant in guests { participant.permission = .readWrite }
            app.save(newer)
            try await app.engine?.sendChanges()
            #expect((app.record(Self.shareID) as? CKShare)?.url == url)
            seen.append(await edit())

            app.delete(CKRecordNameZoneWideShare, in: Both.notes)
            try await app.engine?.sendChanges()
            #expect(app.engine?.state.pendingRecordZoneChanges.isEmpty == true)
            seen.append(await Both.code { _ = try await bob.container.shareMetadata(for: url) })
            try await guest.engine?.fetchChanges()
            let kept = try await alice.database.record(for: Both.id("a"))
            seen.append(Both.text(kept))
            return seen + app.heard.filter { $0.hasPrefix("sent") }
                + guest.heard.filter { $0.hasPrefix("zones") || $0.hasPrefix("records") }
        }
        let share = CKRecordNameZoneWideShare
        #expect(
            seen == [
                "sent records a=2 permissionFailure", "partialFailure", "sent records a=2", "unknownItem", "text=2",
                "sent zones Notes", "sent records a=1 \(share)=", "sent records \(share)= serverRecordChanged",
                "sent records \(share)=", "sent records -\(share)",
                "zones Notes", "records a=1 \(share)=", "zones -Notes deleted",
            ])
    }

    @Test func `R-327: an owner who deletes everything that is shared ends one zone for the others`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            _ = try await Self.join(bob, try await Self.share(of: alice))
            for name in ["a", "b"] { try await alice.database.save(Both.note(name, ["text": "1"])) }
            let app = Device(bob.container, .shared, automatically: false)
            try await app.engine?.fetchChanges()
            #expect(app.texts["a"] == "1" && app.texts["b"] == "1")
            let count = app.heard.count
            try await alice.database.deleteRecordZone(withID: Both.notes)
            try await app.engine?.fetchChanges()
            try await app.engine?.fetchChanges()
            return app.heard.dropFirst(count).filter { $0.hasPrefix("zones") || $0.hasPrefix("records") }
        }
        #expect(seen == ["zones -Notes deleted"])
    }

    @Test func `R-313, R-518, R-583: one record that may not be saved is told once, and the others are saved`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let zoneID = try await Self.join(bob, try await Self.share(of: alice))
            let app = Device(bob.container, .shared, automatically: false)
            try await app.engine?.fetchChanges()
            app.write("1", to: "a", in: zoneID)
            app.write("mine", to: CKRecordNameZoneWideShare, in: zoneID)
            app.write("2", to: "b", in: zoneID)
            for _ in 0..<3 { _ = await Both.code { try await app.engine?.sendChanges() } }
            #expect(app.engine?.state.pendingRecordZoneChanges.isEmpty == true)
            return app.heard.filter { $0.hasPrefix("sent") }
        }
        #expect(seen == ["sent records a=1 b=2 cloudkit.zoneshare=mine permissionFailure"])
    }

    @Test func `R-317, R-318: a share is accepted before any fetch, twice, and by two devices at once`() async throws {
        let seen = try await Both.clouds { cloud in
            let alice = try await cloud.device(of: "alice")
            let (phone, laptop) = (try await cloud.device(of: "bob"), try await cloud.device(of: "bob"))
            let url = try await Self.share(of: alice, inviting: phone)
            async let first = Self.join(phone, url)
            async let second = Self.join(laptop, url)
            let zoneIDs = try await [first, second, Self.join(phone, url)]
            #expect(Set(zoneIDs).count == 1)
            var seen = [try await Self.count(of: alice)]
            for device in [phone, laptop] {
                seen.append("\(try await device.container.sharedCloudDatabase.allRecordZones().count) zones")
            }
            let app = Device(laptop.container, .shared, automatically: false)
            try await app.engine?.fetchChanges()
            return seen + app.heard.filter { $0.hasPrefix("zones") || $0.hasPrefix("records") }
        }
        #expect(seen == ["2 people", "1 zones", "1 zones", "zones Notes", "records cloudkit.zoneshare="])
    }

    /// Removes all but the owner, however often somebody else is faster.
    private static func removeAll(by owner: any ConformingDevice) async throws {
        for _ in 0..<10 {
            guard let share = try await owner.database.record(for: shareID) as? CKShare else { return }
            for person in share.participants where person.role != .owner { share.removeParticipant(person) }
            if await Both.code({ try await owner.database.save(share) }) != "serverRecordChanged" { return }
        }
    }

    @Test func `R-328, R-316: whoever accepts while the owner removes them is removed`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let url = try await Self.share(of: alice, inviting: bob)
            let metadata = try await bob.container.shareMetadata(for: url)
            async let accepted = Both.code { try await bob.container.accept(metadata) }
            try await Self.removeAll(by: alice)
            let outcome = await accepted
            #expect(["done", "unknownItem"].contains(outcome), "\(outcome)")
            var seen = [try await Self.count(of: alice)]
            seen.append(await Both.code { try await bob.container.accept(metadata) })
            let shared = bob.container.sharedCloudDatabase
            seen.append(await Both.code { _ = try await shared.recordZone(for: metadata.share.recordID.zoneID) })
            return seen + ["\(try await shared.allRecordZones().count) zones"]
        }
        #expect(seen == ["1 people", "unknownItem", "zoneNotFound", "0 zones"])
    }

    @Test func `R-316, R-317: with the wrong account a link leads nowhere, and stays good for the right one`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let carol = try await cloud.device(of: "carol")
            let url = try await Self.share(of: alice, inviting: bob)
            let metadata = try await bob.container.shareMetadata(for: url)
            var seen = [await Both.code { _ = try await carol.container.shareMetadata(for: url) }]
            // Somebody has signed in with another account since.
            seen.append(await Both.code { try await carol.container.accept(metadata) })
            seen.append(await Both.code { try await carol.container.decline(metadata) })
            seen.append(try await Self.count(of: alice))
            seen.append(await Both.code { try await bob.container.accept(metadata) })
            return seen
        }
        #expect(seen == ["unknownItem", "unknownItem", "done", "2 people", "done"])
    }
}
