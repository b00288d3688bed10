// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkTestKit
import TidemarkTestSupport

@testable import TidemarkKit

@Suite struct DraftDriverTests {
    /// In time that stands still no part takes long, so that nothing is hashed meanwhile: the server says the hash.
    @Test(arguments: [CloudDatabase.draftBytesMin, CloudDatabase.draftBytesMin + 1, 5_000_000])
    func `R-070, R-071, R-400: a file that is sent without being hashed comes with progress and checksum`(
        byteCount: Int64
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = URL(fileURLWithPath: "\(directory.path)/f")
        try Data((0..<Int(byteCount)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }).write(to: url)
        try await eventually { try AssetSource(url).isSettled }

        let database = TestCloud().account("alice").device("phone").container.privateCloudDatabase
        let zone = CKRecordZone(zoneName: "Files")
        try await database.save(zone)
        let record = CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: "r", zoneID: zone.zoneID))
        record["file"] = CKAsset(fileURL: url)
        let fractions = await Self.save(record, database)
        // of what is on its way, not only of the end.
        #expect(fractions.last == 1 && fractions == fractions.sorted())
        #expect(fractions.count { $0 > 0 && $0 < 1 } > 10, "\(fractions)")
        let file = try AssetFile(url)
        let checksum = try await database.cloud.checksum(of: file.content, record.recordID)
        #expect(checksum != nil && checksum == file.checksum)
        let fetched = try await database.record(for: record.recordID)
        let came = try #require((fetched["file"] as? CKAsset)?.fileURL)
        #expect(try Data(contentsOf: came) == Data(contentsOf: url))
    }

    @Test(arguments: [10, 2 * CloudDatabase.draftBytesMin])
    func `R-395, R-401: a file is not read for a save that is cancelled or has no more time`(
        byteCount: Int64
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = URL(fileURLWithPath: "\(directory.path)/f")
        try Data(count: Int(byteCount)).write(to: url)
        let zone = CKRecordZone(zoneName: "Files")
        let database = TestCloud().account("alice").device("phone").container.privateCloudDatabase
        try await database.save(zone)
        let cloud = try database.cloud
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await cloud.read(url, for: zone.zoneID)
        }
        let error = await #expect(throws: CKError.self) { try await cancelled.value }
        #expect(error?.code == .operationCancelled)
        let late = Task {
            var cloud = cloud
            cloud.deadline = cloud.connection.now
            _ = try await cloud.read(url, for: zone.zoneID)
        }
        let lateError = await #expect(throws: CKError.self) { try await late.value }
        #expect(lateError?.code == .networkFailure)
    }

    @Test func `R-401: a large file is not read to its end if its save is cancelled meanwhile`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = URL(fileURLWithPath: "\(directory.path)/f")
        try Data(count: 2 * Int(CloudDatabase.draftBytesMin)).write(to: url)
        let zone = CKRecordZone(zoneName: "Files")
        let database = TestCloud().account("alice").device("phone").container.privateCloudDatabase
        try await database.save(zone)
        let cloud = try database.cloud
        let reading = Task {
            // The first part is at the server.
            _ = try await cloud.read(url, for: zone.zoneID) { _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        let error = await #expect(throws: CKError.self) { try await reading.value }
        #expect(error?.code == .operationCancelled)
    }

    /// - Returns: what was told of its progress.
    private static func save(_ record: CKRecord, _ database: CKDatabase) async -> [Double] {
        let fractions = Mutex<[Double]>([])
        let operation = CKModifyRecordsOperation(recordsToSave: [record])
        operation.perRecordProgressBlock = { _, fraction in fractions.withLock { $0.append(fraction) } }
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            database.add(operation)
        }
        return fractions.withLock { $0 }
    }
}
