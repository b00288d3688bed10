// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Saves that met a version which the device never had, on a server that answers as a test says.
@Suite struct CloudDatabaseRecordsTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let database: CKDatabase
    private let recordID = CKRecord.ID(recordName: "n", zoneID: CKRecordZone.ID(zoneName: "Notes"))

    init() {
        server = ScriptedServer(scheduler)
        let context = CloudContext(
            containerIdentifier: "iCloud.test.\(UUID().uuidString)", token: "alice", transport: server,
            scheduler: scheduler)
        database = CKContainer(context: context).privateCloudDatabase
    }

    private func fetched() throws -> CKRecord {
        CKRecord(
            recordID: recordID, recordType: "Note",
            fields: try FieldMap([Field("a", .int64(1)), Field("b", .int64(1))]),
            metadata: ServerMetadata(tag: [1], createdAt: 1, modifiedAt: 1))
    }

    /// The record as the server has it after the save.
    private static func whole() -> WireRecord {
        var record = WireRecord()
        (record.name, record.type, record.tag) = ("n", "Note", [3])
        record.fields = (try? FieldMap([Field("a", .int64(2)), Field("b", .int64(2))]))?.bytes ?? []
        return record
    }

    /// The server answers a save so, and a fetch with `found`.
    private func answer(
        _ saved: WireSavedRecord, found: WireRecordResult = WireRecordResult(),
        meanwhile edit: @escaping @Sendable () -> Void = {}
    ) {
        server.answer { envelope in
            switch envelope.request {
            case .modifyRecords:
                edit()
                var result = WireSaveResult()
                result.saved = saved
                result.saved.tag = [3]
                var zone = WireZoneModificationResults()
                zone.saves = [result]
                var answer = WireModifyRecordsAnswer()
                answer.zones = [zone]
                return .modifyRecords(answer)
            case .fetchRecords:
                var answer = WireFetchRecordsAnswer()
                (answer.results, answer.covered) = ([found], 1)
                return .fetchRecords(answer)
            default: return nil
            }
        }
    }

    private func save(_ record: CKRecord) async throws -> CKRecord {
        let task = Task { [database, recordID] in
            let results = try await database.modifyRecords(
                saving: [record], deleting: [], savePolicy: .changedKeys, atomically: false)
            return try #require(results.saveResults[recordID]).get()
        }
        let isDone = Locked(false)
        Task {
            _ = await task.result
            isDone.withLock { $0 = true }
        }
        try await eventually {
            scheduler.advance(by: .zero)
            return isDone.withLock { $0 }
        }
        return try await task.value
    }

    private var fetchCount: Int {
        server.envelopes.count { if case .fetchRecords = $0.request { true } else { false } }
    }

    @Test func `R-054: what the app edits while a save is under way lies over the record that the answer brings`()
        async throws
    {
        let record = try fetched()
        record["a"] = 2
        var saved = WireSavedRecord()
        saved.record = Self.whole()
        answer(saved) {
            record["c"] = 3
            record["a"] = 4
        }
        let copy = try await save(record)
        #expect(copy.changeTag == [3] && copy.changedKeys().isEmpty)
        #expect(copy["a"] as? Int == 2 && copy["b"] as? Int == 2)
        #expect(record.changeTag == [3] && record.changedKeys() == ["a", "c"])
        #expect(["a", "b", "c"].map { record[$0] as? Int } == [4, 2, 3])
        #expect(fetchCount == 0)
    }

    @Test func `R-054, R-716: a record that did not fit into the answer is fetched`() async throws {
        let record = try fetched()
        record["a"] = 2
        var saved = WireSavedRecord()
        saved.mustFetch = true
        var found = WireRecordResult()
        found.record = Self.whole()
        found.record.tag = [4]
        answer(saved, found: found) { record["c"] = 3 }
        let copy = try await save(record)
        #expect(copy.changeTag == [4] && copy["b"] as? Int == 2 && copy.changedKeys().isEmpty)
        #expect(record.changeTag == [4] && record["b"] as? Int == 2 && record.changedKeys() == ["c"])
        #expect(fetchCount == 1)
    }

    @Test(arguments: [true, false])
    func `R-054, R-094: a copy whose record cannot be had keeps its tag, and no edit is lost`(isDamaged: Bool)
        async throws
    {
        let record = try fetched()
        record["a"] = 2
        var saved = WireSavedRecord()
        if isDamaged {
            saved.record = Self.whole()
            saved.record.fields = [0xFF]
        } else {
            saved.mustFetch = true
        }
        var gone = WireRecordResult()
        gone.failure.code = .unknownItem
        answer(saved, found: gone) { record["c"] = 3 }
        let copy = try await save(record)
        #expect(copy.changeTag == [1] && copy.changedKeys().isEmpty && copy["a"] as? Int == 2)
        #expect(record.changeTag == [1] && record.changedKeys() == ["c"] && record["a"] as? Int == 2)
    }

    @Test func `R-054: a save that met its own version reads nothing more`() async throws {
        let record = try fetched()
        record["a"] = 2
        answer(WireSavedRecord())
        let copy = try await save(record)
        #expect(copy.changeTag == [3] && copy["a"] as? Int == 2 && copy["b"] as? Int == 1)
        #expect(fetchCount == 0)
    }
}
