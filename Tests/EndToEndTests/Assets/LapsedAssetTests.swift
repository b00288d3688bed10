// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// A machine that sleeps between two requests of one call, until the server has collected what the first one brought or named.
@Suite struct LapsedAssetTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Files")

    private func id(_ name: String, in zoneID: CKRecordZone.ID? = nil) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zoneID ?? self.zoneID)
    }

    private func record(_ name: String, _ file: URL?, in zoneID: CKRecordZone.ID? = nil) -> CKRecord {
        let record = CKRecord(recordType: "File", recordID: id(name, in: zoneID))
        record["file"] = file.map { CKAsset(fileURL: $0) }
        return record
    }

    /// Of the items that failed in a call that throws for them.
    private func codes(of call: Result<some Any, any Error>) throws -> [CKRecord.ID: CKError.Code] {
        guard case .failure(let error as CKError) = call else { throw CKError(.internalError) }
        var codes: [CKRecord.ID: CKError.Code] = [:]
        for (item, error) in error.partialErrorsByItemID ?? [:] {
            if let recordID = item.base as? CKRecord.ID { codes[recordID] = (error as? CKError)?.code }
        }
        return codes
    }

    private func content(of record: CKRecord) throws -> Data {
        try Data(contentsOf: #require((record["file"] as? CKAsset)?.fileURL))
    }

    /// A server, and a relay to it in which one kind of request waits.
    private struct Place {
        let relay: Relay
        let direct: CKDatabase
        let asleep: CKContainer
        let files: SampleFiles
        let server: OperatorPlace

        /// What nothing names is gone.
        func collect(_ count: Int) async throws {
            let command = [
                "assets", "collect", "--asset-directory", "\(server.directory.path)/assets", "--asset-grace-hours", "0",
                "--yes",
            ]
            // Grace is counted in whole milliseconds.
            try await eventually("\(count) assets are unused") {
                try await server.admin(command + ["--dry-run"]).output.contains("Would remove \(count) assets")
            }
            #expect(try await server.admin(command).status == 0)
        }

        /// Makes a call, and does something while its request waits.
        func sleep<Value: Sendable>(
            in call: @escaping @Sendable () async throws -> Value, until meanwhile: () async throws -> Void
        ) async throws -> Result<Value, any Error> {
            let calling = Task { try await call() }
            try await eventually("the request waits") { relay.heldCount == 1 }
            try await meanwhile()
            relay.release()
            return await calling.result
        }
    }

    private func withPlace(_ body: (Place) async throws -> Void) async throws {
        try await OperatorPlace.with(["--create-containers"], keepsAssets: true) { server in
            let direct = server.site.makeContainer().privateCloudDatabase
            try await direct.save(CKRecordZone(zoneID: zoneID))
            try await Relay.with(server.site) { relay in
                try await body(
                    Place(
                        relay: relay, direct: direct, asleep: relay.site.makeContainer(),
                        files: SampleFiles(path: server.directory.path), server: server))
            }
        }
    }

    private func holdSaves(_ relay: Relay) {
        relay.hold { $0.isSave }
    }

    @Test(arguments: [100_000, 1_500_000, 5_000_000])
    func `R-083: an asset that was collected before its record was saved is uploaded again`(byteCount: Int) async throws
    {
        try await withPlace { place in
            holdSaves(place.relay)
            let file = try place.files.make(byteCount)
            let database = place.asleep.privateCloudDatabase
            let saved = try await place.sleep(in: { try await database.save(record("f", file)) }) {
                try await place.collect(1)
            }
            let tag = try saved.get().recordChangeTag
            let fetched = try await place.direct.record(for: id("f"))
            #expect(fetched.recordChangeTag == tag)
            #expect(try content(of: fetched) == Data(contentsOf: file))
        }
    }

    @Test func `R-083: an engine that slept between upload and save loses nothing`() async throws {
        try await withPlace { place in
            holdSaves(place.relay)
            let (first, second) = (try place.files.make(300_000), try place.files.make(1_000, seed: 2))
            let device = FileDevice(place.asleep) { id in
                record(id.recordName, ["a": first, "b": second][id.recordName])
            }
            let engine = try #require(device.engine)
            let names = ["a", "b", "plain"]
            engine.state.add(pendingRecordZoneChanges: names.map { .saveRecord(id($0)) })
            let sent = try await place.sleep(in: { try await engine.sendChanges() }) {
                try await place.collect(2)
                // What is there by then counts.
                try Data("changed meanwhile".utf8).write(to: second)
            }
            try sent.get()
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            let fetched = try await place.direct.records(for: names.map { id($0) })
            #expect(try content(of: #require(fetched[id("a")]).get()) == Data(contentsOf: first))
            #expect(try content(of: #require(fetched[id("b")]).get()) == Data("changed meanwhile".utf8))
        }
    }

    /// The server has said that the asset is not there any more; what that led to has not come to its end.
    @Test func `R-083, R-610: an engine that is stopped while it sends again loses nothing`() async throws {
        try await withPlace { place in
            holdSaves(place.relay)
            let file = try place.files.make(1_000)
            let device = FileDevice(place.asleep) { record($0.recordName, file) }
            let engine = try #require(device.engine)
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id("a"))])
            let sending = Task { try await engine.sendChanges() }
            try await eventually("the save waits") { place.relay.heldCount == 1 }
            try await place.collect(1)
            place.relay.loseRequests { $0.isSave }
            place.relay.release()
            try await eventually("it is sent again") { place.relay.lostCount == 1 }
            await engine.cancelOperations()
            _ = await sending.result
            #expect(engine.state.pendingRecordZoneChanges == [.saveRecord(id("a"))])
        }
    }

    @Test func `R-083, R-120: a file that is gone by then is its record's fault, and says so`() async throws {
        try await withPlace { place in
            for zone in [zoneID, .default] {
                holdSaves(place.relay)
                let (gone, kept) = (try place.files.make(1_000), try place.files.make(2_000, seed: 2))
                let parent = record("gone", gone, in: zone)
                let child = record("child", nil, in: zone)
                child.setParent(parent)
                let records = [child, parent, record("kept", kept, in: zone)]
                let database = place.asleep.privateCloudDatabase
                let call = try await place.sleep(in: {
                    try await database.modifyRecords(
                        saving: records, deleting: [], savePolicy: .changedKeys, atomically: true
                    ).saveResults
                }) {
                    try await place.collect(2)
                    try FileManager.default.removeItem(at: gone)
                }
                let codes = try codes(of: call)
                #expect(codes[id("gone", in: zone)] == .assetFileNotFound)
                // In a zone whose items fail together none is saved, and only one is at fault.
                let isAtomic = zone == zoneID
                #expect(codes[id("child", in: zone)] == (isAtomic ? .batchRequestFailed : .assetFileNotFound))
                #expect(codes[id("kept", in: zone)] == (isAtomic ? .batchRequestFailed : nil))
                let fetched = try await place.direct.records(for: records.map(\.recordID))
                let found = fetched.compactMap { try? $0.value.get().recordID.recordName }
                #expect(found == (isAtomic ? [] : ["kept"]))
            }
        }
    }

    @Test func `R-151: what is sent again is sent with all that shares its fate`() async throws {
        try await withPlace { place in
            try await place.direct.save(record("taken", nil))
            let doomed = try await place.direct.save(record("doomed", nil))
            holdSaves(place.relay)
            let file = try place.files.make(1_000)
            // Another one has it already: a conflict.
            let records = [record("f", file), record("taken", nil), record("new", nil)]
            let database = place.asleep.privateCloudDatabase
            let call = try await place.sleep(in: {
                try await database.modifyRecords(
                    saving: records, deleting: [doomed.recordID], savePolicy: .ifServerRecordUnchanged,
                    atomically: true)
            }) {
                try await place.collect(1)
            }
            let codes = try codes(of: call)
            #expect(codes[id("taken")] == .serverRecordChanged)
            #expect(codes[id("f")] == .batchRequestFailed && codes[id("new")] == .batchRequestFailed)
            #expect(codes[doomed.recordID] == .batchRequestFailed)
            let fetched = try await place.direct.records(for: records.map(\.recordID) + [doomed.recordID])
            let found = fetched.compactMap { try? $0.value.get().recordID.recordName }
            #expect(Set(found) == ["taken", "doomed"])
        }
    }

    @Test func `R-074: a record whose asset was replaced and collected before it was downloaded comes as it is now`()
        async throws
    {
        try await withPlace { place in
            let (old, new) = (try place.files.make(1_000), try place.files.make(2_000, seed: 2))
            let saved = try await place.direct.save(record("f", old))
            place.relay.hold { $0.isAssetFetch }
            let database = place.asleep.privateCloudDatabase
            let fetched = try await place.sleep(in: { try await database.record(for: saved.recordID) }) {
                saved["file"] = CKAsset(fileURL: new)
                try await place.direct.save(saved)
                try await place.collect(1)
            }.get()
            #expect(fetched.recordChangeTag == saved.recordChangeTag)
            #expect(try content(of: fetched) == Data(contentsOf: new))
        }
    }
}
