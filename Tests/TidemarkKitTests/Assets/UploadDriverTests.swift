// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Files whose hash is known, on their way to a server in memory.
@Suite struct UploadDriverTests {
    private let database = TestCloud().account("alice").device("phone").container.privateCloudDatabase
    private let zone = CKRecordZone(zoneName: "Files")

    private var recordID: CKRecord.ID { CKRecord.ID(recordName: "r", zoneID: zone.zoneID) }

    /// A file with this many bytes that has been hashed.
    private func file(_ byteCount: Int, in directory: TestDirectory) throws -> (url: URL, file: AssetFile) {
        let url = URL(fileURLWithPath: "\(directory.path)/f")
        try Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }).write(to: url)
        return (url, try AssetFile(url))
    }

    /// - Returns: what was told of the progress.
    private func upload(_ file: AssetFile, to cloud: CloudDatabase) async throws -> [Int64] {
        let reports = Mutex<[Int64]>([])
        try await cloud.upload(file, for: recordID) { byteCount in reports.withLock { $0.append(byteCount) } }
        return reports.withLock { $0 }
    }

    private func freePlaces(_ cloud: CloudDatabase) -> Int {
        var places: [TransferLane.Place] = []
        while let place = cloud.connection.lane.tryEnter() { places.append(place) }
        for place in places { cloud.connection.lane.leave(place, isAnswered: false) }
        return places.count
    }

    @Test(arguments: [1, 65_537, 1_500_000])
    func `R-070, R-400: a file comes to the server whole, with progress, and all places are given back`(
        byteCount: Int
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await database.save(zone)
        let cloud = try database.cloud
        let (_, file) = try file(byteCount, in: directory)
        let before = try await cloud.prepareUpload(of: file.content, for: zone.zoneID)
        #expect(!before.isComplete && before.offset == 0)
        let reports = try await upload(file, to: cloud)
        #expect(reports.last == Int64(byteCount) && reports == reports.sorted())
        let after = try await cloud.prepareUpload(of: file.content, for: zone.zoneID)
        #expect(after.isComplete)
        #expect(freePlaces(cloud) == TransferLane.places)
    }

    @Test func `a large content that the server has is not sent again`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await database.save(zone)
        let cloud = try database.cloud
        let (url, file) = try file(1_500_000, in: directory)
        let first = try await upload(file, to: cloud)
        #expect(first.count > 1, "it has several parts")
        // Nothing of it could be read any more.
        try FileManager.default.removeItem(at: url)
        let second = try await upload(file, to: cloud)
        #expect(second == [1_500_000])
    }

    @Test(arguments: [10, 1_500_000])
    func `R-070: a file that has changed since it was hashed is not uploaded`(byteCount: Int) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await database.save(zone)
        let cloud = try database.cloud
        let (url, file) = try file(byteCount, in: directory)
        try Data(count: byteCount + 1).write(to: url)
        let error = await #expect(throws: CKError.self) { try await upload(file, to: cloud) }
        #expect(error?.code == .assetFileModified)
        let progress = try await cloud.prepareUpload(of: file.content, for: zone.zoneID)
        #expect(!progress.isComplete)
        #expect(freePlaces(cloud) == TransferLane.places)
    }

    @Test func `R-401: an upload that is cancelled sends nothing, and holds no place`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await database.save(zone)
        let cloud = try database.cloud
        let (_, file) = try file(10, in: directory)
        let cancelled = Task { [recordID] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await cloud.upload(file, for: recordID, report: nil)
        }
        let error = await #expect(throws: CKError.self) { try await cancelled.value }
        #expect(error?.code == .operationCancelled)
        let progress = try await cloud.prepareUpload(of: file.content, for: zone.zoneID)
        #expect(!progress.isComplete && progress.offset == 0)
        #expect(freePlaces(cloud) == TransferLane.places)
    }
}
