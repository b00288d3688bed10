// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkTestKit
import TidemarkTestSupport

/// What the article *Files of records* says of whose a file is.
@Suite struct KeptFilesTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "Photos")
    private static let recordID = CKRecord.ID(recordName: "photo", zoneID: zoneID)

    /// Runs with a directory of the app's, a device that saves and one that fetches.
    private func with(_ body: (URL, _ ours: CKDatabase, _ theirs: CKDatabase) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let cloud = TestCloud()
        defer { withExtendedLifetime(cloud) {} }
        let alice = cloud.account("alice")
        let (ours, theirs) = (alice.device("phone"), alice.device("laptop"))
        try await ours.container.privateCloudDatabase.save(CKRecordZone(zoneID: Self.zoneID))
        try await body(
            URL(fileURLWithPath: directory.path), ours.container.privateCloudDatabase,
            theirs.container.privateCloudDatabase)
    }

    private func photo(_ text: String, at file: URL) throws -> CKRecord {
        try Data(text.utf8).write(to: file)
        let record = CKRecord(recordType: "Photo", recordID: Self.recordID)
        record["file"] = CKAsset(fileURL: file)
        return record
    }

    private func text(_ url: URL?) -> String? {
        url.flatMap { try? Data(contentsOf: $0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    private func file(_ record: CKRecord) -> URL? { (record["file"] as? CKAsset)?.fileURL }

    @Test func `R-070: an app's file is read while it is saved, and stays the app's`() async throws {
        try await with { directory, ours, theirs in
            let file = directory.appendingPathComponent("mine")
            let record = try photo("first", at: file)
            try await ours.save(record)
            #expect(text(file) == "first" && self.file(record) == file)
            // After the save it may go; a save of other keys does not need it, one of all keys does.
            try FileManager.default.removeItem(at: file)
            record["caption"] = "sea"
            try await ours.save(record)
            let results = try await ours.modifyRecords(
                saving: [record], deleting: [], savePolicy: .allKeys, atomically: false)
            let error = #expect(throws: CKError.self) { try results.saveResults[Self.recordID]?.get() }
            #expect(error?.code == .assetFileNotFound)
            #expect(text(self.file(try await theirs.record(for: Self.recordID))) == "first")
        }
    }

    @Test func `R-071: a fetched file is one's own, can be moved, and is not needed for a save`() async throws {
        try await with { directory, ours, theirs in
            try await ours.save(photo("first", at: directory.appendingPathComponent("mine")))
            let record = try await theirs.record(for: Self.recordID)
            let (first, second) = (try #require(file(record)), file(try await theirs.record(for: Self.recordID)))
            #expect(first != second && text(second) == "first")
            let kept = directory.appendingPathComponent("kept")
            try keep(try #require(record["file"] as? CKAsset), as: kept)
            #expect(text(kept) == "first" && text(first) == nil && text(second) == "first")
            record["caption"] = "sea"
            _ = try await theirs.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
            #expect(text(file(try await ours.record(for: Self.recordID))) == "first")
        }
    }

    @Test func `R-071: what is written into a fetched file is not saved`() async throws {
        try await with { directory, ours, theirs in
            try await ours.save(photo("first", at: directory.appendingPathComponent("mine")))
            let record = try await theirs.record(for: Self.recordID)
            try Data("scribbled".utf8).write(to: try #require(file(record)))
            record["file"] = record["file"] as? CKAsset
            try await theirs.save(record)
            #expect(text(file(try await ours.record(for: Self.recordID))) == "first")
        }
    }

    @Test func `R-071: a newer version replaces the one that was kept, which a careless copy leaves`() async throws {
        try await with { directory, ours, theirs in
            let kept = directory.appendingPathComponent("kept")
            for version in ["first", "second"] {
                let record = try photo(version, at: directory.appendingPathComponent(version))
                _ = try await ours.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
                let asset = try #require(try await theirs.record(for: Self.recordID)["file"] as? CKAsset)
                if version == "second" {
                    #expect(throws: (any Error).self) {
                        try FileManager.default.copyItem(at: try #require(asset.fileURL), to: kept)
                    }
                    #expect(text(kept) == "first")
                }
                try keep(asset, as: kept)
                #expect(text(kept) == version)
            }
        }
    }

    @Test func `R-070, R-071, R-074: the app of the article sends a file, fetches it, and removes it`() async throws {
        try await with { directory, ours, theirs in
            let file = directory.appendingPathComponent("beach.jpg")
            try Data("sand".utf8).write(to: file)
            try await Photos(database: ours).add(file, named: "beach", caption: "The beach")
            let photos = Photos(database: theirs)
            let copy = directory.appendingPathComponent("copy.jpg")
            for _ in 0..<2 {
                try await photos.fetch("beach", to: copy)
                #expect(text(copy) == "sand")
            }
            let record = try #require(try await photos.recordWithoutFile("beach"))
            #expect(record.allKeys() == ["caption"])
            record["caption"] = "The old beach"
            try await theirs.save(record)
            #expect(text(self.file(try await ours.record(for: record.recordID))) == "sand")
            try await photos.removeFile(of: "beach")
            #expect(try await ours.record(for: record.recordID).allKeys() == ["caption"])
            let missing = directory.appendingPathComponent("none.jpg")
            let error = try await failure { try await photos.add(missing, named: "none", caption: "") }
            #expect(error.code == .assetFileNotFound)
            #expect(error.localizedDescription.hasPrefix("There is no file at "), "\(error)")
        }
    }
}
