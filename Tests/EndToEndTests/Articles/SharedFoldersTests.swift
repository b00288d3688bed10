// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

@testable import TidemarkTestKit

/// What the article *Sharing* promises of a part of a zone.
@Suite struct SharedFoldersTests {
    private let cloud = TestCloud()
    private let zoneID = CKRecordZone.ID(zoneName: "Files")

    private func folders(_ account: String) -> SharedFolders {
        SharedFolders(container: cloud.account(account).device("phone").container)
    }

    private func file(_ name: String, in zoneID: CKRecordZone.ID) -> CKRecord {
        CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
    }

    /// The folders work and home, each with a file.
    private func makeFolders(_ owner: SharedFolders) async throws -> (work: CKRecord.ID, home: CKRecord.ID) {
        let database = owner.container.privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        let (work, home) = (file("work", in: zoneID), file("home", in: zoneID))
        for folder in [work, home] {
            try await database.save(folder)
            let child = file("in \(folder.recordID.recordName)", in: zoneID)
            try await owner.add(child, to: folder.recordID)
        }
        return (work.recordID, home.recordID)
    }

    /// The names of the files that an account sees in the zone; empty if it does not see that.
    private func names(_ folders: SharedFolders, _ zoneID: CKRecordZone.ID?) async throws -> [String] {
        let database = folders.container.sharedCloudDatabase
        guard let zoneID, try await database.allRecordZones().contains(where: { $0.zoneID == zoneID }) else {
            return []
        }
        let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
        return try page.modificationResultsByID.values.map { try $0.get().record }
            .filter { !($0 is CKShare) }.map(\.recordID.recordName).sorted()
    }

    @Test func `R-301, R-302, R-321, R-323: two folders of a zone are shared, each with whom it concerns`() async throws
    {
        let (alice, bob, carol) = (folders("alice"), folders("bob"), folders("carol"))
        let (work, home) = try await makeFolders(alice)
        let workURL = try #require(try await alice.share(work, .readWrite))
        let homeURL = try #require(try await alice.share(home, .readOnly))
        let joined = try #require(try await bob.join(workURL))
        #expect(joined.recordName == "work" && joined.zoneID.ownerName != CKCurrentUserDefaultName)
        #expect(try await names(bob, joined.zoneID) == ["in work", "work"])
        try await bob.add(file("of bob", in: joined.zoneID), to: joined)
        let seen = try #require(try await carol.join(homeURL))
        #expect(try await names(carol, seen.zoneID) == ["home", "in home"])
        let refused = await #expect(throws: CKError.self) {
            try await carol.add(file("of carol", in: seen.zoneID), to: seen)
        }
        #expect(refused?.code == .permissionFailure)

        #expect(try await bob.join(homeURL)?.zoneID == joined.zoneID)
        #expect(try await names(bob, joined.zoneID) == ["home", "in home", "in work", "of bob", "work"])
        try await bob.leave(joined)
        #expect(try await names(bob, joined.zoneID) == ["home", "in home"])
        try await alice.stopSharing(home)
        for guest in [bob, carol] { #expect(try await names(guest, joined.zoneID) == []) }
        let kept = CKRecord.ID(recordName: "of bob", zoneID: zoneID)
        #expect(try await alice.container.privateCloudDatabase.record(for: kept).parent?.recordID == work)
        // A share that is there is changed.
        #expect(try await alice.share(home, .readWrite) == homeURL)
        #expect(try await alice.share(work, .readOnly) == workURL)
    }

    @Test func `R-303: a folder in a shared folder cannot be shared by itself`() async throws {
        let alice = folders("alice")
        let (work, _) = try await makeFolders(alice)
        _ = try await alice.share(work, .readWrite)
        let inner = CKRecord.ID(recordName: "in work", zoneID: zoneID)
        let refused = await #expect(throws: CKError.self) { _ = try await alice.share(inner, .readOnly) }
        // The root and its share are refused together.
        let codes = refused?.partialErrorsByItemID?.values.compactMap { ($0 as? CKError)?.code } ?? []
        #expect(refused?.code == .partialFailure && codes.contains(.alreadyShared))
    }
}
