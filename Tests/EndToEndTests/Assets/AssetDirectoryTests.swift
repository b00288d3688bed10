// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkFields
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// What becomes of the directory in which a server keeps assets.
@Suite struct AssetDirectoryTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Files")

    private func record(_ name: String, _ file: URL) -> CKRecord {
        let record = CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        record["file"] = CKAsset(fileURL: file)
        return record
    }

    @Test func `R-011, R-072: a disk that is full is told, the server goes on, and what no record has is collected`()
        async throws
    {
        try await ServerPair.with { pair in
            let files = SampleFiles(path: pair.directory.path)
            let database = pair.sites[0].makeContainer().privateCloudDatabase
            try await database.save(CKRecordZone(zoneID: zoneID))
            let (small, large) = (try files.make(100_000), try files.make(1_500_000))
            // As good as a full disk: no file of the server's may grow beyond a megabyte.
            try pair.first.limitFileSize(1_000_000)
            let error = try await failure { try await database.save(self.record("large", large)) }
            #expect(error.code == .quotaExceeded)
            let advice = "Delete what is not needed, or have the server's disk enlarged."
            #expect(error.localizedDescription.contains(advice), "\(error.localizedDescription)")
            try await database.save(record("small", small))
            try pair.first.limitFileSize(nil)
            try await database.save(record("large", large))

            // The other server has the same directory.
            let other = pair.sites[1].makeContainer().privateCloudDatabase
            let fetched = try await other.record(for: CKRecord.ID(recordName: "large", zoneID: zoneID))
            let url = try #require((fetched["file"] as? CKAsset)?.fileURL)
            #expect(try Data(contentsOf: url) == Data(contentsOf: large))

            try await database.deleteRecord(withID: fetched.recordID)
            let collect = [
                "assets", "collect", "--asset-directory", pair.assetDirectory, "--asset-grace-hours", "0", "--yes",
            ]
            // Grace is counted in whole milliseconds.
            try await eventually("the asset is unused") {
                try await pair.admin(collect + ["--dry-run"]).output.contains("Would remove 1 assets, 1500000 bytes")
            }
            #expect(try await pair.admin(collect).output.contains("Removed 1 assets, 1500000 bytes"))
            #expect(try await pair.admin(collect).output.contains("Removed 0 assets"))
            let small2 = try await other.record(for: CKRecord.ID(recordName: "small", zoneID: zoneID))
            #expect((small2["file"] as? CKAsset)?.fileURL != nil)

            // After a loss of the directory each record with an asset fails alone.
            try FileManager.default.removeItem(atPath: pair.assetDirectory)
            let results = try await other.records(for: [small2.recordID])
            let lost = try await failure { try results[small2.recordID]?.get() }
            #expect(lost.code == .assetNotAvailable)
            // An engine cannot be told so: it hears of the record, without the file.
            let device = FileDevice(pair.sites[0].makeContainer()) { _ in nil }
            try await device.engine?.fetchChanges()
            #expect(device.recordsWithoutFile == ["small"])
        }
    }

    @Test func `R-071, R-074: what a disk has damaged does not come, and what was restored without its checksum does`()
        async throws
    {
        try await ServerPair.with { pair in
            let files = SampleFiles(path: pair.directory.path)
            let original = try files.make(1_500_000)
            let database = pair.sites[0].makeContainer().privateCloudDatabase
            try await database.save(CKRecordZone(zoneID: zoneID))
            try await database.save(record("r", original))
            let id = CKRecord.ID(recordName: "r", zoneID: zoneID)
            let asset = try AssetFile(original)
            #expect(try await database.cloud.checksum(of: asset.content, id) == asset.checksum)

            let name = "\(Hex.encode(asset.content.sha256)).1500000"
            let names = FileManager.default.enumerator(atPath: pair.assetDirectory)
            let path = try #require(names?.compactMap { $0 as? String }.first { $0.hasSuffix(name) })
            let kept = URL(fileURLWithPath: "\(pair.assetDirectory)/\(path)")
            let handle = try FileHandle(forUpdating: kept)
            try handle.seek(toOffset: 1_000_000)
            try handle.write(contentsOf: Data([1, 2, 3]))
            try handle.close()
            let error = try await failure { try await database.record(for: id) }
            #expect(error.code == .assetNotAvailable)
            #expect(error.localizedDescription.contains("damaged"), "\(error.localizedDescription)")

            // As from a backup: another file with the same bytes.
            try FileManager.default.removeItem(at: kept)
            try FileManager.default.copyItem(at: original, to: kept)
            #expect(try await database.cloud.checksum(of: asset.content, id) == nil)
            let fetched = try await database.record(for: id)
            let url = try #require((fetched["file"] as? CKAsset)?.fileURL)
            #expect(try Data(contentsOf: url) == Data(contentsOf: original))
        }
    }

    @Test func `I-7, R-011, R-738: what is begun to be uploaded and never ended cannot fill the disk`() async throws {
        let limits = ["--asset-megabytes", "1", "--upload-megabytes", "3"]
        try await ServerPair.with(limits) { pair in
            var other = pair.sites[1]
            other.container = "iCloud.test.other"
            #expect(try await pair.admin("containers", "create", other.container).status == 0)
            // Two containers of one account, each by way of another server.
            let databases = [pair.sites[0], other].map { $0.makeContainer().privateCloudDatabase }
            for database in databases { try await database.save(CKRecordZone(zoneID: zoneID)) }
            func begin(_ number: UInt8, in place: Int = 0) async throws {
                let cloud = try databases[place].cloud
                let name = AssetUploadName(byteCount: 1_048_576, draft: [UInt8](repeating: number, count: 32))
                var form = cloud.chunkForm(of: name, zoneID).chunk
                form.content = ArraySlice(repeating: number, count: 50_000)
                _ = try await cloud.request { [form] _ in .uploadAssetChunk(form) }
            }
            for number in 1...3 as ClosedRange<UInt8> { try await begin(number, in: Int(number) % 2) }
            for place in 0...1 {
                let error = try await failure { try await begin(4, in: place) }
                #expect(error.code == .zoneBusy)
                #expect(error.localizedDescription.contains("try again"), "\(error.localizedDescription)")
            }
            // Nobody else is in the way, and what is saved counts for nothing.
            let files = SampleFiles(path: pair.directory.path)
            let bobs = pair.sites[1].makeContainer("bob").privateCloudDatabase
            try await bobs.save(CKRecordZone(zoneID: zoneID))
            try await bobs.save(record("f", try files.make(900_000)))
            // The three rest: after some seconds the server lets go of them, and there is room.
            try await eventually("the oldest makes room") {
                do {
                    try await begin(5)
                    return true
                } catch let error as CKError where error.code == .zoneBusy {
                    return false
                }
            }
        }
    }

    @Test func `I-7: however large an asset is, server and clients hold a little of it`() async throws {
        try await ServerPair.with { pair in
            let files = SampleFiles(path: pair.directory.path)
            // Clients in processes of their own, whose memory nobody else takes.
            var clients: [(folder: String, program: Program)] = []
            for name in ["a", "b"] {
                let folder = "\(pair.directory.path)/\(name)"
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let program = try Program(
                    "foldersync", [folder, "--zone", "Files", "--device", name],
                    environment: pair.sites[0].environment(), directory: pair.directory.path)
                clients.append((folder, program))
            }
            func carry(_ byteCount: Int) async throws {
                let file = try files.make(byteCount)
                let target = "\(clients[1].folder)/\(byteCount)"
                try FileManager.default.moveItem(atPath: file.path, toPath: "\(clients[0].folder)/\(byteCount)")
                try await eventually("\(byteCount) bytes have come", within: .seconds(60)) {
                    let attributes = try? FileManager.default.attributesOfItem(atPath: target)
                    return (attributes?[.size] as? NSNumber)?.intValue == byteCount
                }
            }
            try await carry(2_000_000)
            let programs = [pair.first] + clients.map(\.program)
            let before = try programs.map { try $0.resetPeakMemory() }
            try await carry(48 * 1_048_576)
            for (program, before) in zip(programs, before) {
                let growth = try program.peakMemoryBytes() - before
                #expect(growth < 16 * 1_048_576, "\(program.name): \(growth) bytes")
            }
            for client in clients { #expect(try await client.program.stop() == 0, "\(client.program.output)") }
        }
    }

    @Test func `R-070: an upload that was cut goes on with another server`() async throws {
        try await ServerPair.with { pair in
            let files = SampleFiles(path: pair.directory.path)
            let file = try files.make(3_500_000)
            try await pair.sites[0].makeContainer().privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
            // The connection comes to the first server, and after the cut to the second.
            let transport = CuttingTransport(
                pair.sites.map { SocketTransport(configuration: $0.configuration()) },
                when: { sent, _ in sent > 2_500_000 })
            let container = CKContainer(
                context: CloudContext(
                    containerIdentifier: pair.sites[0].container, token: pair.sites[0].tokens["alice"] ?? "",
                    transport: transport, scheduler: NetworkThread.scheduler))
            try await container.privateCloudDatabase.save(record("cut", file))
            #expect(transport.connectionCount == 2)
            // What was under way goes twice; from the beginning it would have been 6 MB and more.
            let underWay = TransferLane.places * TransferPace.chunkBytesMax
            #expect(transport.sent < 3_500_000 + underWay + 65_536, "\(transport.sent) bytes")
            let id = CKRecord.ID(recordName: "cut", zoneID: zoneID)
            let fetched = try await pair.sites[1].makeContainer().privateCloudDatabase.record(for: id)
            let url = try #require((fetched["file"] as? CKAsset)?.fileURL)
            #expect(try Data(contentsOf: url) == Data(contentsOf: file))
        }
    }
}
