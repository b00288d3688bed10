// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit

/// The public database of a container as apps see it, signed in or not.
@Suite struct PublicDatabaseTests {
    private func note(_ name: String, _ text: String) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
        record["text"] = text
        return record
    }

    @Test func `R-003: a container gives the same database each time`() async throws {
        let container = try await DevServer.shared().makeContainer()
        #expect(container.database(with: .public) === container.publicCloudDatabase)
        #expect(container.database(with: .private) === container.privateCloudDatabase)
        #expect(container.database(with: .shared) === container.sharedCloudDatabase)
        #expect(container.publicCloudDatabase === container.publicCloudDatabase)
        #expect(container.publicCloudDatabase !== container.privateCloudDatabase)
    }

    @Test func `R-001, R-006, R-007: everybody reads, users create, and only creators change and delete`() async throws
    {
        let site = try await DevServer.shared()
        let alice = site.makeContainer("alice").publicCloudDatabase
        let bob = site.makeContainer("bob").publicCloudDatabase
        let nobody = CKContainer(
            context: CloudContext(
                containerIdentifier: site.container, configuration: site.configuration(token: ""))
        ).publicCloudDatabase
        // R-014: nobody has used the container yet.
        #expect(try await failure { try await nobody.record(for: self.note("n", "").recordID) }.code == .badContainer)

        let saved = try await alice.save(note("n", "of alice"))
        #expect(saved.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
        for reader in [bob, nobody] {
            let read = try await reader.record(for: saved.recordID)
            #expect(read["text"] as? String == "of alice")
            #expect(read.recordChangeTag == saved.recordChangeTag)
            #expect(read.creatorUserRecordID?.recordName.hasPrefix("_") == true)
            #expect(read.creatorUserRecordID?.recordName != CKCurrentUserDefaultName)
            #expect(try await reader.allRecordZones().map(\.zoneID) == [CKRecordZone.ID.default])
            #expect(
                try await failure { try await reader.record(for: self.note("none", "").recordID) }.code == .unknownItem)
        }
        let copy = try await bob.record(for: saved.recordID)
        copy["text"] = "of bob"
        let refusal = try await failure { try await bob.save(copy) }
        #expect(refusal.code == .permissionFailure)
        #expect(refusal.localizedDescription.contains("WRITE operation not permitted"), "\(refusal)")
        #expect(try await failure { try await bob.deleteRecord(withID: saved.recordID) }.code == .permissionFailure)
        let results = try await bob.modifyRecords(
            saving: [note("b", "of bob"), copy], deleting: [], savePolicy: .changedKeys, atomically: false)
        #expect(code(results.saveResults[saved.recordID]) == .permissionFailure)
        #expect(try results.saveResults[note("b", "").recordID]?.get()["text"] as? String == "of bob")

        saved["text"] = "changed"
        try await alice.save(saved)
        #expect(try await nobody.record(for: saved.recordID)["text"] as? String == "changed")
        #expect(try await failure { try await nobody.save(self.note("x", "")) }.code == .notAuthenticated)
        #expect(try await failure { try await nobody.deleteRecord(withID: saved.recordID) }.code == .notAuthenticated)
        #expect(try await alice.deleteRecord(withID: saved.recordID) == saved.recordID)
        #expect(code(try await nobody.records(for: [saved.recordID])[saved.recordID]) == .unknownItem)
        #expect(try await failure { try await alice.databaseChanges(since: nil) }.code == .badDatabase)
        #expect(try await failure { try await alice.save(CKRecordZone(zoneName: "Notes")) }.code == .badDatabase)
        // R-015, R-023.
        let shared = site.makeContainer("alice").sharedCloudDatabase
        #expect(try await failure { try await shared.save(CKRecordZone(zoneName: "Notes")) }.code == .badDatabase)
    }

    @Test func `R-741: nobody hangs a child on a public record that is not theirs to change`() async throws {
        let site = try await DevServer.shared()
        let alice = site.makeContainer("alice").publicCloudDatabase
        let bob = site.makeContainer("bob").publicCloudDatabase
        let post = try await alice.save(note("post", "of alice"))
        let child = note("child", "of bob")
        for (parent, expected) in [("post", CKError.Code.permissionFailure), ("none", .referenceViolation)] {
            child.parent = CKRecord.Reference(recordID: CKRecord.ID(recordName: parent), action: .none)
            #expect(try await failure { try await bob.save(child) }.code == expected)
        }
        child.parent = nil
        try await bob.save(child)
        child.parent = CKRecord.Reference(record: post, action: .none)
        #expect(try await failure { try await bob.save(child) }.code == .permissionFailure)
        let reply = note("reply", "of alice")
        reply.parent = CKRecord.Reference(record: post, action: .none)
        try await alice.save(reply)
        // Nobody else keeps it from being deleted.
        let deleted = try await alice.modifyRecords(saving: [], deleting: [reply.recordID, post.recordID])
        #expect(deleted.deleteResults.values.allSatisfy { code($0.map { true }) == nil })
    }

    @Test func `R-006, R-047, R-183: everybody queries the public database, also for who made what`() async throws {
        let site = try await DevServer.shared()
        let alice = site.makeContainer("alice")
        let bob = site.makeContainer("bob").publicCloudDatabase
        let nobody = CKContainer(
            context: CloudContext(
                containerIdentifier: site.container, configuration: site.configuration(token: ""))
        ).publicCloudDatabase
        for (database, name) in [(alice.publicCloudDatabase, "a"), (bob, "b"), (alice.publicCloudDatabase, "c")] {
            try await database.save(note(name, "of " + name))
        }
        func names(_ database: CKDatabase, _ predicate: NSPredicate) async throws -> [String] {
            let query = CKQuery(recordType: "Note", predicate: predicate)
            query.sortDescriptors = [NSSortDescriptor(key: "recordID", ascending: true)]
            return try await database.records(matching: query).matchResults.map(\.0.recordName)
        }
        let aliceID = try await alice.userRecordID()
        let current = CKRecord.ID(recordName: CKCurrentUserDefaultName)
        for database in [alice.publicCloudDatabase, bob, nobody] {
            #expect(try await names(database, NSPredicate(value: true)) == ["a", "b", "c"])
            #expect(try await names(database, NSPredicate(format: "text == 'of b'")) == ["b"])
            #expect(try await names(database, NSPredicate(format: "creatorUserRecordID == %@", aliceID)) == ["a", "c"])
            let stranger = CKRecord.ID(recordName: "_stranger")
            #expect(try await names(database, NSPredicate(format: "creatorUserRecordID == %@", stranger)) == [])
        }
        let own = NSPredicate(format: "creatorUserRecordID == %@", current)
        #expect(try await names(bob, own) == ["b"])
        #expect(try await names(nobody, own) == [])
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "text == 'of a'"))
        let seen = try await bob.records(matching: query).matchResults.map { try $0.1.get().creatorUserRecordID }
        #expect(seen == [aliceID])
    }

    @Test
    func `R-012, R-746: development and production share nothing, and operators alone make containers for production`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let development = place.database(.public)
            try await development.save(note("n", "in development"))
            var configuration = place.site.configuration()
            configuration.environment = .production
            let inProduction = configuration
            func make() -> CKContainer {
                CKContainer(
                    context: CloudContext(containerIdentifier: place.site.container, configuration: inProduction))
            }
            let early = try await failure { try await make().privateCloudDatabase.allRecordZones() }
            #expect(early.code == .badContainer)
            let command = "tidemark admin containers create \(place.site.container) --environment production"
            #expect(early.localizedDescription.contains(command), "\(early)")
            let created = try await place.admin(
                "containers", "create", place.site.container, "--environment", "production")
            #expect(created.status == 0)

            let container = make()
            let production = container.publicCloudDatabase
            #expect(
                try await failure { try await production.record(for: self.note("n", "").recordID) }.code == .unknownItem
            )
            // Not even what development has learned: that is promoted by an operator.
            let refusal = try await failure { try await production.save(self.note("n", "in production")) }
            #expect(refusal.code == .invalidArguments && refusal.localizedDescription.contains("production"))
            #expect(try await development.record(for: note("n", "").recordID)["text"] as? String == "in development")
            try await container.privateCloudDatabase.save(CKRecordZone(zoneName: "Mine"))
            let zones = try await place.database().allRecordZones()
            #expect(zones.map(\.zoneID.zoneName) == [CKRecordZone.ID.defaultZoneName])
        }
    }

    @Test func `R-024, R-025, R-026, R-035: what a server says of zones`() async throws {
        let database = try await DevServer.shared().makeContainer().privateCloudDatabase
        let plain = CKRecordZone(zoneName: "Plain")
        #expect(plain.capabilities == [])
        let all: CKRecordZone.Capabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
        #expect(try await database.save(plain).capabilities == all)
        let whole = CKRecordZone(zoneName: "Whole")
        whole.encryptionScope = .perZone
        let saved = try await database.save(whole)
        #expect(saved.encryptionScope == .perZone && saved.capabilities == all.subtracting(.sharing))
        // R-027: a zone for which nothing was chosen stays as it is.
        #expect(try await database.save(CKRecordZone(zoneName: "Whole")).encryptionScope == .perZone)
        let fetched = try await database.recordZone(for: whole.zoneID)
        #expect(fetched.encryptionScope == .perZone)
        fetched.encryptionScope = .perRecord
        #expect(try await failure { try await database.save(fetched) }.code == .serverRejectedRequest)
        plain.encryptionScope = .perZone
        #expect(try await failure { try await database.save(plain) }.code == .serverRejectedRequest)
    }
}
