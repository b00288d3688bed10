// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkDomain
import TidemarkServer
import TidemarkTestSupport

@testable import TidemarkKit

/// Files of records, over a real server.
@Suite struct AssetTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Files")
    private static let mebibyte = 1_048_576

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private func withFiles(_ body: (SampleFiles) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await body(SampleFiles(path: directory.path))
    }

    private func record(_ name: String, _ file: URL) -> CKRecord {
        let record = CKRecord(recordType: "File", recordID: id(name))
        record["file"] = CKAsset(fileURL: file)
        return record
    }

    private func content(_ record: CKRecord, _ key: String = "file") throws -> Data {
        try Data(contentsOf: #require((record[key] as? CKAsset)?.fileURL))
    }

    @Test func `R-070, R-074: files of every size come down as they went up`() async throws {
        let site = try await DevServer.shared()
        let database = try await site.makeContainer().privateDatabase(holding: zoneID)
        let other = site.makeContainer().privateCloudDatabase
        try await withFiles { files in
            let sizes = [0, 1, 16_383, 65_536, 262_143, 262_144, 262_145, 5 * Self.mebibyte]
            var originals: [CKRecord.ID: URL] = [:]
            for size in sizes { originals[id("s\(size)")] = try files.make(size, seed: UInt64(size)) }
            let records = originals.map { record($0.key.recordName, $0.value) }
            let saved = try await database.modifyRecords(saving: records, deleting: [])
            // the app's record still has the app's file.
            for (id, original) in originals {
                #expect((try saved.saveResults[id]?.get()["file"] as? CKAsset)?.fileURL == original)
            }
            let fetched = try await other.records(for: Array(originals.keys))
            for (id, original) in originals {
                let record = try #require(try fetched[id]?.get())
                #expect(try content(record) == Data(contentsOf: original), "\(id.recordName)")
                #expect((record["file"] as? CKAsset)?.fileURL != original)
            }
        }
    }

    @Test func `R-070: parts are no larger than the server takes`() async throws {
        try await KeyWorld.with { world in
            let change: (inout ServerConfiguration) -> Void = {
                $0.assetDirectory = "\(world.directory.path)/assets"
                $0.limits.assetChunkBytesMax = 30_000
            }
            try await world.withServer(masterKeyFile: nil, change: change) { site in
                let database = try await site.makeContainer().privateDatabase(holding: zoneID)
                let other = site.makeContainer().privateCloudDatabase
                let files = SampleFiles(path: world.directory.path)
                for size in [29_999, 30_001, 300_000, 5 * Self.mebibyte] {
                    let file = try files.make(size)
                    try await database.save(record("s\(size)", file))
                    let fetched = try await other.record(for: id("s\(size)"))
                    #expect(try content(fetched) == Data(contentsOf: file), "\(size)")
                }
            }
        }
    }

    @Test func `R-006, R-070, R-074: assets of public records are read by whoever reads the records`() async throws {
        let site = try await DevServer.shared()
        let alice = site.makeContainer("alice").publicCloudDatabase
        let readers = [site.makeContainer("bob").publicCloudDatabase, site.makeNobody().publicCloudDatabase]
        try await withFiles { files in
            let file = try files.make(1_100_000)
            let record = CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: "f"))
            record["file"] = CKAsset(fileURL: file)
            try await alice.save(record)
            for reader in readers {
                #expect(try content(try await reader.record(for: record.recordID)) == Data(contentsOf: file))
            }
            // I-5: by the right of a record that has it, and of no other.
            let kept = try AssetFile(file)
            let other = CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: "without"))
            try await alice.save(other)
            #expect(try await readers[0].cloud.checksum(of: kept.content, record.recordID) == kept.checksum)
            #expect(try await readers[0].cloud.checksum(of: kept.content, other.recordID) == nil)
            let own = CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: "n"))
            own["file"] = CKAsset(fileURL: file)
            #expect(try await failure { try await readers[1].save(own) }.code == .notAuthenticated)
        }
    }

    @Test func `R-061, R-074: lists of assets; what is not desired is not downloaded; an asset can be replaced`()
        async throws
    {
        let database = try await DevServer.shared().makeContainer().privateDatabase(holding: zoneID)
        try await withFiles { files in
            let (one, two) = (try files.make(10), try files.make(300_000))
            let record = record("r", one)
            record["list"] = [CKAsset(fileURL: two), CKAsset(fileURL: one)]
            try await database.save(record)
            let fetched = try await database.record(for: id("r"))
            let list = try #require(fetched["list"] as? [CKAsset])
            #expect(try list.map { try Data(contentsOf: #require($0.fileURL)).count } == [300_000, 10])
            let bare = try #require(try await database.records(for: [id("r")], desiredKeys: [])[id("r")]?.get())
            #expect(bare["file"] == nil && bare["list"] == nil)
            // What was fetched is saved again without its file, which may be gone by then.
            for asset in list { try FileManager.default.removeItem(at: #require(asset.fileURL)) }
            fetched["copy"] = list[0]
            fetched["file"] = CKAsset(fileURL: two)
            try await database.save(fetched)
            let again = try await database.record(for: id("r"))
            #expect(try content(again).count == 300_000)
            #expect(try content(again, "copy").count == 300_000)
        }
    }

    @Test func `R-070: a large file is sent once, whether it is young, settled or known already`() async throws {
        let site = try await DevServer.shared()
        let database = try await site.makeContainer().privateDatabase(holding: zoneID)
        try await withFiles { files in
            let young = try files.make(5 * Self.mebibyte, seed: 71)
            let settled = try files.make(6 * Self.mebibyte, seed: 72)
            try await database.save(record("young", young))
            try await eventually("the file has rested") { try AssetSource(settled).isSettled }
            var transport: CuttingTransport?
            let sender = site.makeContainer { base in
                let counting = CuttingTransport(base, when: { _, _ in false })
                transport = counting
                return counting
            }.privateCloudDatabase
            try await sender.save(record("settled", settled))
            let sent = try #require(transport).sent
            #expect((6 * Self.mebibyte..<7 * Self.mebibyte).contains(sent), "\(sent) bytes")
            try await sender.save(record("again", settled))
            for (name, file) in [("young", young), ("settled", settled), ("again", settled)] {
                let fetched = try await database.record(for: id(name))
                #expect(try content(fetched) == Data(contentsOf: file), "\(name)")
                // However it was uploaded, the server can say its checksum.
                let kept = try AssetFile(file)
                #expect(try await database.cloud.checksum(of: kept.content, id(name)) == kept.checksum, "\(name)")
            }
        }
    }

    @Test func `R-070: a settled file that changes while it is sent, and keeps its size, is found`() async throws {
        let site = try await DevServer.shared()
        _ = try await site.makeContainer().privateDatabase(holding: zoneID)
        try await withFiles { files in
            let file = try files.make(5 * Self.mebibyte, seed: 73)
            try await eventually("the file has rested") { try AssetSource(file).isSettled }
            let container = site.makeContainer { base in
                CuttingTransport(
                    base, when: { sent, _ in sent > 2 * Self.mebibyte },
                    incident: {
                        guard let handle = try? FileHandle(forWritingTo: file) else { return false }
                        try? handle.write(contentsOf: Data([1, 2, 3]))
                        try? handle.close()
                        return false
                    })
            }
            let error = try await failure {
                try await container.privateCloudDatabase.save(record("changes", file))
            }
            #expect(error.code == .assetFileModified)
        }
    }

    @Test(arguments: [false, true])
    func `R-070: an upload that is cut goes on where it was`(isSettled: Bool) async throws {
        let site = try await DevServer.shared()
        _ = try await site.makeContainer().privateDatabase(holding: zoneID)
        try await withFiles { files in
            let file = try files.make(5 * Self.mebibyte, seed: isSettled ? 74 : 75)
            if isSettled { try await eventually("the file has rested") { try AssetSource(file).isSettled } }
            var transport: CuttingTransport?
            let container = site.makeContainer { base in
                let cutting = CuttingTransport(base, when: { sent, _ in sent > 2 * Self.mebibyte })
                transport = cutting
                return cutting
            }
            try await container.privateCloudDatabase.save(record("cut", file))
            let cutting = try #require(transport)
            #expect(cutting.connectionCount == 2)
            // What was under way goes twice; from the beginning it would have been 7 MiB and more.
            let underWay = TransferLane.places * TransferPace.chunkBytesMax
            #expect(cutting.sent < 5 * Self.mebibyte + underWay + 65_536, "\(cutting.sent) bytes")
            let database = try await site.makeContainer().privateCloudDatabase
            let record = try await database.record(for: id("cut"))
            #expect(try content(record) == Data(contentsOf: file))
            let kept = try AssetFile(file)
            #expect(try await database.cloud.checksum(of: kept.content, id("cut")) == kept.checksum)
        }
    }

    @Test func `R-074: a download that is cut goes on where it was`() async throws {
        let site = try await DevServer.shared()
        let database = try await site.makeContainer().privateDatabase(holding: zoneID)
        try await withFiles { files in
            let file = try files.make(5 * Self.mebibyte)
            try await database.save(record("cut", file))
            var transport: CuttingTransport?
            let container = site.makeContainer { base in
                let cutting = CuttingTransport(base, when: { _, received in received > 2 * Self.mebibyte })
                transport = cutting
                return cutting
            }
            let record = try await container.privateCloudDatabase.record(for: id("cut"))
            #expect(try content(record) == Data(contentsOf: file))
            let cutting = try #require(transport)
            #expect(cutting.connectionCount == 2)
            #expect(cutting.received < 7 * Self.mebibyte, "\(cutting.received) bytes")
        }
    }

    @Test func `R-070: a file that shrinks while it is uploaded fails its record alone`() async throws {
        let site = try await DevServer.shared()
        _ = try await site.makeContainer().privateDatabase(holding: zoneID)
        try await withFiles { files in
            let file = try files.make(5 * Self.mebibyte)
            let small = try files.make(100)
            let container = site.makeContainer { base in
                CuttingTransport(
                    base, when: { sent, _ in sent > Self.mebibyte },
                    incident: {
                        truncate(file.path, 1_000)
                        return false
                    })
            }
            let results = try await container.privateCloudDatabase.modifyRecords(
                saving: [record("shrinks", file), record("stays", small)], deleting: [], atomically: false)
            let error = try await failure { try results.saveResults[id("shrinks")]?.get() }
            #expect(error.code == .assetFileModified)
            let text = error.localizedDescription
            #expect(text.contains("changed while it was uploaded. Save the record again."), "\(text)")
            #expect((try results.saveResults[id("stays")]?.get()) != nil)
        }
    }

    @Test func `R-070: a file that is not there, or cannot be one, is refused before any request`() async throws {
        let database = try await DevServer.shared().makeContainer().privateDatabase(holding: zoneID)
        try await withFiles { files in
            let missing = URL(fileURLWithPath: "\(files.path)/missing")
            let cases = [
                (missing, CKError.Code.assetFileNotFound), (URL(fileURLWithPath: files.path), .assetNotAvailable),
            ]
            for (url, code) in cases {
                let error = try await failure { try await database.save(self.record("r", url)) }
                #expect(error.code == code)
                #expect(error.localizedDescription.contains(url.path))
            }
            let batch = try await failure {
                try await database.modifyRecords(
                    saving: [self.record("r", missing), CKRecord(recordType: "T", recordID: self.id("t"))], deleting: []
                )
            }
            #expect(batch.code == .partialFailure)
            #expect((batch.partialErrorsByItemID?[id("t")] as? CKError)?.code == .batchRequestFailed)
        }
    }

    @Test func `R-073: the server's record in a conflict has assets without files`() async throws {
        let site = try await DevServer.shared()
        let database = try await site.makeContainer().privateDatabase(holding: zoneID)
        try await withFiles { files in
            try await database.save(record("r", try files.make(10)))
            let mine = record("r", try files.make(20))
            let error = try await failure { try await database.save(mine) }
            #expect(error.code == .serverRecordChanged)
            let asset = try #require(error.serverRecord?["file"] as? CKAsset)
            #expect(asset.fileURL == nil)
            // merged into and saved, it keeps the server's asset.
            let merged = try #require(error.serverRecord)
            merged["note"] = "merged"
            try await database.save(merged)
            #expect(try await content(database.record(for: id("r"))).count == 10)
        }
    }

    @Test func `R-400: progress grows to 1, before the record's result`() async throws {
        let database = try await DevServer.shared().makeContainer().privateDatabase(holding: zoneID)
        try await withFiles { files in
            let file = try files.make(3 * Self.mebibyte)
            let said = Mutex<[Double]>([])
            let operation = CKModifyRecordsOperation(recordsToSave: [record("r", file)])
            operation.perRecordProgressBlock = { _, fraction in said.withLock { $0.append(fraction) } }
            operation.perRecordSaveBlock = { _, _ in said.withLock { $0.append(2) } }
            await withCheckedContinuation { continuation in
                operation.completionBlock = { continuation.resume() }
                database.add(operation)
            }
            let fractions = said.withLock { $0 }
            #expect(fractions.suffix(2) == [1, 2])
            #expect(fractions == fractions.sorted())
            #expect(fractions.dropLast(2).contains { $0 > 0 && $0 < 1 }, "\(fractions)")
        }
    }

    @Test func `R-390, R-400: progress of a fetch grows to 1, before the record's result, one call at a time`()
        async throws
    {
        let database = try await DevServer.shared().makeContainer().privateDatabase(holding: zoneID)
        try await withFiles { files in
            try await database.save(record("r", try files.make(3 * Self.mebibyte)))
            // Not locked: blocks of one operation are called one after another.
            nonisolated(unsafe) var fractions: [Double] = []
            let operation = CKFetchRecordsOperation(recordIDs: [id("r")])
            operation.perRecordProgressBlock = { _, fraction in fractions.append(fraction) }
            operation.perRecordResultBlock = { _, _ in fractions.append(2) }
            await withCheckedContinuation { continuation in
                operation.completionBlock = { continuation.resume() }
                database.add(operation)
            }
            #expect(fractions.suffix(2) == [1, 2])
            #expect(fractions == fractions.sorted())
            #expect(fractions.dropLast(2).contains { $0 > 0 && $0 < 1 }, "\(fractions)")
        }
    }

    @Test func `R-074: queries and zones bring files as well, and only those that are desired`() async throws {
        let site = try await DevServer.shared()
        let database = try await site.makeContainer().privateDatabase(holding: zoneID)
        try await withFiles { files in
            try await database.save(record("r", try files.make(300_000)))
            var transport: CuttingTransport?
            let other = site.makeContainer { base in
                let counting = CuttingTransport(base, when: { _, _ in false })
                transport = counting
                return counting
            }.privateCloudDatabase
            let query = CKQuery(recordType: "File", predicate: NSPredicate(value: true))
            let bare = try await other.records(matching: query, inZoneWith: zoneID, desiredKeys: ["note"])
            #expect(try #require(bare.matchResults.first).1.get()["file"] == nil)
            let changes = try await other.recordZoneChanges(inZoneWith: zoneID, since: nil, desiredKeys: ["note"])
            #expect(changes.modificationResultsByID.count == 1)
            #expect(try #require(transport).received < 100_000)
            let found = try await other.records(matching: query, inZoneWith: zoneID)
            #expect(try content(#require(found.matchResults.first).1.get()).count == 300_000)
            let changed = try await other.recordZoneChanges(inZoneWith: zoneID, since: nil)
            #expect(try content(#require(changed.modificationResultsByID[id("r")]).get().record).count == 300_000)
        }
    }

    @Test func `I-2: an engine whose disk is full passes by nothing`() async throws {
        let site = try await DevServer.shared()
        let database = try await site.makeContainer().privateDatabase(holding: zoneID)
        try await withFiles { files in
            let file = try files.make(100_000)
            try await database.save(record("r", file))
            // Where its directory would be is a file.
            let staging = "\(files.path)/staging"
            try Data().write(to: URL(fileURLWithPath: staging))
            var configuration = site.configuration()
            configuration.assetDirectory = URL(fileURLWithPath: staging)
            let container = CKContainer(
                context: CloudContext(containerIdentifier: site.container, configuration: configuration))
            let device = FileDevice(container) { _ in nil }
            let error = try await failure { try await device.engine?.fetchChanges() }
            #expect(error.code == .assetNotAvailable)
            try FileManager.default.removeItem(atPath: staging)
            try await device.engine?.fetchChanges()
            #expect(device.contents["r"] == (try Data(contentsOf: file)))
        }
    }

    @Test func `R-543: engines send and fetch files`() async throws {
        let site = try await DevServer.shared()
        let zoneID = zoneID
        try await withFiles { files in
            let file = try files.make(700_000)
            let sender = FileDevice(site.makeContainer()) { id in
                let record = CKRecord(recordType: "File", recordID: id)
                record["file"] = CKAsset(fileURL: file)
                return record
            }
            let receiver = FileDevice(site.makeContainer()) { _ in nil }
            sender.engine?.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: zoneID))])
            sender.engine?.state.add(pendingRecordZoneChanges: [.saveRecord(id("r"))])
            try await sender.engine?.sendChanges()
            try await receiver.engine?.fetchChanges()
            #expect(receiver.contents["r"] == (try Data(contentsOf: file)))
        }
    }
}
