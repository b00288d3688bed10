// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkKit

/// Progress gets to its end, also where less is sent than a record has.
@Suite struct TransferJobsTests {
    private let database = TestCloud().account("alice").device("phone").container.privateCloudDatabase
    private let zone = CKRecordZone(zoneName: "Files")

    private func record(_ name: String) -> CKRecord {
        CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
    }

    /// - Returns: what was told of its progress.
    private func save(_ record: CKRecord) async throws -> [Double] {
        let fractions = Mutex<[Double]>([])
        let outcome = Mutex<Result<Void, any Error>?>(nil)
        let operation = CKModifyRecordsOperation(recordsToSave: [record])
        operation.savePolicy = .allKeys
        operation.perRecordProgressBlock = { _, fraction in fractions.withLock { $0.append(fraction) } }
        operation.perRecordSaveBlock = { _, result in outcome.withLock { $0 = result.map { _ in } } }
        operation.modifyRecordsResultBlock = { result in
            outcome.withLock { if case .failure = result { $0 = result } }
        }
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            database.add(operation)
        }
        try outcome.withLock { $0 }?.get()
        return fractions.withLock { $0 }
    }

    /// Small, in several parts, and sent before it is known what is in it.
    @Test(arguments: [10, 600_000, 5_000_000])
    func `R-400: a file in several places of a record is over in all of them, and so is one that the server has`(
        byteCount: Int
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        func file(_ name: String, _ byte: UInt8) throws -> URL {
            let url = URL(fileURLWithPath: "\(directory.path)/\(name)")
            try Data(repeating: byte, count: byteCount).write(to: url)
            return url
        }
        try await database.save(zone)
        let (picture, copy, other) = (try file("picture", 1), try file("copy", 1), try file("other", 2))

        let album = record("album")
        let cover = CKAsset(fileURL: picture)
        album["cover"] = cover
        album["pages"] = [cover, CKAsset(fileURL: picture), CKAsset(fileURL: copy), CKAsset(fileURL: other)]
        try await check(album)
        // Fetched, its assets are known by what is in them.
        let fetched = try await database.record(for: album.recordID)
        try await check(fetched)
        // Known to be on the server when the file has been read.
        let second = record("second")
        second["cover"] = cover
        try await check(second)
    }

    @Test func `I-6, R-400: the progress of assets whose sizes no number holds gets to its end`() {
        let fractions = Mutex<[Double]>([])
        let recordID = record("huge").recordID
        let meter = TransferMeter([(recordID, .max), (recordID, .max)]) { _, fraction in
            fractions.withLock { $0.append(fraction) }
        }
        for place in 0..<2 { meter.report(of: [place])?(.max) }
        #expect(fractions.withLock { $0 } == [0.999, 0.999])
    }

    private func check(_ record: CKRecord) async throws {
        let fractions = try await save(record)
        #expect(fractions == fractions.sorted())
        #expect(fractions.suffix(2) == [0.999, 1], "\(fractions)")
    }
}
