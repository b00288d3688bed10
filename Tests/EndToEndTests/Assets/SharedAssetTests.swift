// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport
import TidemarkWire

/// Files of records in a zone of another account, over a real server.
@Suite struct SharedAssetTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Files")

    /// Saves a record with a file, and shares its zone with everybody.
    private func makeShare(_ file: URL, by owner: CKDatabase) async throws -> CKShare {
        try await owner.save(CKRecordZone(zoneID: zoneID))
        let record = CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: "f", zoneID: zoneID))
        record["file"] = CKAsset(fileURL: file)
        try await owner.save(record)
        let share = CKShare(recordZoneID: zoneID)
        share.publicPermission = .readOnly
        return try #require(try await owner.save(share) as? CKShare)
    }

    @Test(arguments: [false, true])
    func `I-5, R-074, R-328: a file is not downloaded after access was lost, also if some of it was before`(
        hasBegun: Bool
    ) async throws {
        try await OperatorPlace.with(["--create-containers"], keepsAssets: true) { place in
            let token = try place.makeAccounts(["bob"])[0]
            let alice = place.site.makeContainer().privateCloudDatabase
            let file = try SampleFiles(path: place.directory.path).make(2_000_000)
            let share = try await makeShare(file, by: alice)
            try await Relay.with(place.site) { relay in
                let bob = relay.site.makeContainer(token: token)
                let metadata = try await bob.shareMetadata(for: #require(share.url))
                let shared = try await bob.accept(metadata).recordID.zoneID
                let id = CKRecord.ID(recordName: "f", zoneID: shared)
                let fetched = try await bob.sharedCloudDatabase.record(for: id)
                let copy = try #require((fetched["file"] as? CKAsset)?.fileURL)
                #expect(try Data(contentsOf: copy) == Data(contentsOf: file))
                // Another device has nothing of it, or the first part.
                relay.hold { $0.isAssetFetch && (!hasBegun || $0.fetchAssetChunk.offset > 0) }
                let late = relay.site.makeContainer(token: token).sharedCloudDatabase
                let download = Task { try await failure { try await late.record(for: id) } }
                try await eventually("the download waits") { relay.heldCount > 0 }
                let newest = try #require(try await alice.record(for: share.recordID) as? CKShare)
                newest.publicPermission = .none
                try await alice.save(newest)
                relay.release()
                #expect(try await download.value.code == .zoneNotFound)
            }
        }
    }
}
