// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkPostgres
import TidemarkTestSupport

/// What happens to apps when an operator deletes their container, with the real command and the real server.
@Suite struct ContainerCommandTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private static let noteID = CKRecord.ID(recordName: "shopping", zoneID: zoneID)

    private func withContainer(
        keepsAssets: Bool = false, _ body: (OperatorPlace) async throws -> Void
    ) async throws {
        try await OperatorPlace.with(keepsAssets: keepsAssets) { place in
            #expect(try await place.admin("containers", "create", place.site.container).status == 0)
            try await body(place)
        }
    }

    private func delete(_ place: OperatorPlace) async throws -> (status: Int32, output: String) {
        try await place.admin("containers", "delete", place.site.container, "--yes")
    }

    private func isRefused(_ database: CKDatabase) async -> Bool {
        do {
            _ = try await database.allRecordZones()
            return false
        } catch {
            return (error as? CKError)?.code == .badContainer
        }
    }

    /// Whether PostgreSQL says so now.
    private func holds(_ condition: String, _ place: OperatorPlace) -> Bool {
        let check = "DO $$ BEGIN IF NOT (\(condition)) THEN RAISE EXCEPTION 'no'; END IF; END $$"
        return (try? PostgresAdministration.execute([check], url: place.database.url)) != nil
    }

    /// A note with a file, in a zone that bob may read.
    private func fill(_ place: OperatorPlace) async throws -> (alice: CKContainer, bob: CKContainer) {
        let token = try place.makeAccounts(["bob"])[0]
        let (alice, bob) = (place.container(), place.container(token: token))
        _ = try await bob.userRecordID()
        #expect(try await place.admin("addresses", "create", "bob", "bob@example.org").status == 0)
        try await alice.privateCloudDatabase.save(CKRecordZone(zoneID: Self.zoneID))
        let file = try place.write("much text", to: "file.txt")
        let note = CKRecord(recordType: "Note", recordID: Self.noteID)
        note["file"] = CKAsset(fileURL: URL(fileURLWithPath: file))
        try await alice.privateCloudDatabase.save(note)
        let share = CKShare(recordZoneID: Self.zoneID)
        share.publicPermission = .readOnly
        let saved = try #require(try await alice.privateCloudDatabase.save(share) as? CKShare)
        let metadata = try await bob.shareMetadata(for: try #require(saved.url))
        _ = try await bob.accept(metadata)
        #expect(try await bob.sharedCloudDatabase.allRecordZones().count == 1)
        return (alice, bob)
    }

    @Test func `R-915, R-916: apps that are connected are told, and a container that is created again is empty`()
        async throws
    {
        try await withContainer(keepsAssets: true) { place in
            let (alice, bob) = try await fill(place)
            let user = try await alice.userRecordID()
            let planned = try await place.admin("containers", "delete", place.site.container, "--dry-run")
            let numbers = "2 users, 3 zones with"
            #expect(planned.status == 0 && planned.output.contains(numbers), "\(planned.output)")
            #expect(planned.output.contains("1 share,"), "\(planned.output)")
            let deleted = try await delete(place)
            #expect(deleted.status == 0, "\(deleted.output)")
            #expect(deleted.output.hasSuffix("Deleted \(place.site.container), development.\n"), "\(deleted.output)")
            for database in [alice.privateCloudDatabase, bob.sharedCloudDatabase] {
                try await eventually("the app is refused") { await isRefused(database) }
            }
            #expect(holds("NOT EXISTS (SELECT FROM asset_use)", place), "no record names the file")
            #expect(holds("EXISTS (SELECT FROM asset)", place), "the next collection removes it, after its time")
            let audit = try await place.admin("audit", "list", "--kind", "actions", "--since", "1h", "-o", "json")
            let action = "\"action\":\"containers delete\",\"target\":\"\(place.site.container)\",\"result\":\"done\""
            #expect(audit.output.contains(action), "\(audit.output)")
            #expect(try await place.admin("containers", "create", place.site.container).status == 0)
            let again = place.container()
            #expect(try await again.userRecordID() == user, "the same user")
            let read = try await failure { try await again.privateCloudDatabase.record(for: Self.noteID) }
            #expect(read.code == .zoneNotFound)
            #expect(try await again.sharedCloudDatabase.allRecordZones().isEmpty)
            try await again.privateCloudDatabase.save(CKRecordZone(zoneID: Self.zoneID))
            try await again.privateCloudDatabase.save(CKRecord(recordType: "Note", recordID: Self.noteID))
        }
    }

    @Test func `R-916: while a container is closed, an app is told what to do, and a server creates no other`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"]) { place in
            try await place.database().save(CKRecordZone(zoneID: Self.zoneID))
            // A deletion that was cut off.
            try PostgresAdministration.execute(
                ["UPDATE container SET closed_at = date_trunc('milliseconds', now())"], url: place.database.url)
            let error = try await failure { try await place.database().allRecordZones() }
            #expect(error.code == .badContainer)
            #expect(error.localizedDescription.contains("an operator deletes it"), "\(error)")
            let created = try await place.admin("containers", "create", place.site.container)
            #expect(created.status == 5 && created.output.contains("is being deleted"), "\(created.output)")
            #expect(try await delete(place).status == 0)
            // A server for development creates what a device names.
            let zones = try await place.database().allRecordZones()
            #expect(zones.map(\.zoneID.zoneName) == ["_defaultZone"])
        }
    }

    @Test func `R-915: what an engine has not sent when its container is deleted stays pending, and can be sent later`()
        async throws
    {
        try await withContainer { place in
            let a = Device(place.container(), automatically: false)
            a.makeZone(Self.zoneID)
            a.write("sent", to: "n1", in: Self.zoneID)
            try await a.engine?.sendChanges()
            try await a.engine?.fetchChanges()
            a.write("not sent", to: "n2", in: Self.zoneID)
            #expect(try await delete(place).status == 0)
            try await eventually("the device is refused") { await isRefused(a.database) }
            try? await a.engine?.sendChanges()
            #expect(a.engine?.state.pendingRecordZoneChanges.contains(.saveRecord(id("n2"))) == true, "\(a.story)")
            #expect(try await place.admin("containers", "create", place.site.container).status == 0)
            // A refusal that only a person can undo is asked again once a minute.
            try await eventually("the device is let in", within: .seconds(180)) { await !isRefused(a.database) }
            // The engine has a connection of its own, which asks again by itself.
            try await eventually("the engine is let in", within: .seconds(180)) {
                do {
                    try await a.engine?.fetchChanges()
                    return true
                } catch {
                    return false
                }
            }
            let isPending = a.engine?.state.pendingRecordZoneChanges.contains(.saveRecord(id("n2")))
            #expect(isPending == true, "\(a.story)")
            let accountChanges = a.events.count { if case .accountChange = $0 { true } else { false } }
            #expect(accountChanges <= 1, "it is the same user: \(a.story)")
            // The app makes its zone again, as after any deletion.
            a.makeZone(Self.zoneID)
            try await a.engine?.sendChanges()
            let found = try await place.database().record(for: id("n2"))
            #expect(found["text"] as? String == "not sent")
        }
    }

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: Self.zoneID) }
}
