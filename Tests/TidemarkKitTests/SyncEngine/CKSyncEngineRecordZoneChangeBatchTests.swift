// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing

@testable import TidemarkKit

@Suite struct CKSyncEngineRecordZoneChangeBatchTests {
    private func record(_ id: CKRecord.ID, byteCount: Int = 0) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id)
        record["data"] = Data(repeating: 1, count: byteCount)
        return record
    }

    @Test func `R-579: walks the list in order, nil passes over, deletes are taken as they are`() async throws {
        let batch = await CKSyncEngine.RecordZoneChangeBatch(
            pendingChanges: ["A/1", "-A/2", "A/3", "A/4"].map(change)
        ) { id in
            id == recordID("A/3") ? nil : CKRecord(recordType: "Note", recordID: id)
        }
        #expect(try #require(batch).changes.map(\.text) == ["A/1", "A/4", "-A/2"])
    }

    @Test func `R-579, R-580: nothing collected is nil`() async {
        let empty = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: []) { _ in nil }
        #expect(empty == nil)
        let passedOver = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: [change("A/1")]) { _ in nil }
        #expect(passedOver == nil)
    }

    @Test func `R-156, R-579: at most 250 changes`() async throws {
        let changes = (0..<300).map { $0 % 2 == 0 ? change("A/\($0)") : change("-A/\($0)") }
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { record($0) }
        #expect(try #require(batch).itemCount == 250)
        #expect(try #require(batch).refusal == nil)
    }

    @Test func `R-156, R-579: at most 1.5 MB, but at least one record`() async throws {
        let changes = (0..<4).map { change("A/\($0)") }
        let fitting = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) {
            record($0, byteCount: 600_000)
        }
        #expect(try #require(fitting).itemCount == 2)
        let single = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) {
            record($0, byteCount: 950_000)
        }
        #expect(try #require(single).itemCount == 1)
    }

    @Test func `R-156, R-579: what a record has beside an asset that is still to be sent counts`() async throws {
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: (0..<4).map { change("A/\($0)") }) { id in
            let record = record(id, byteCount: 600_000)
            record["photo"] = CKAsset(fileURL: URL(fileURLWithPath: "/nowhere/photo"))
            record["more"] = [CKAsset(fileURL: URL(fileURLWithPath: "/nowhere/1"))]
            return record
        }
        #expect(try #require(batch).itemCount == 2)
    }

    @Test func `R-156, R-579: what encryption adds counts`() async throws {
        let changes = (0..<250).map { change("A/\($0)") }
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            let record = record(id)
            for number in 0..<100 { record.encryptedValues["k\(number)"] = "0123456789" }
            return record
        }
        // As they are sent: each value with key, nonce and tag.
        #expect((90...160).contains(try #require(batch).itemCount), "\(batch?.itemCount ?? 0)")
    }

    @Test func `R-581, R-582: the defaults of a batch`() {
        let batch = CKSyncEngine.RecordZoneChangeBatch()
        #expect(batch.recordsToSave.isEmpty && batch.recordIDsToDelete.isEmpty && !batch.atomicByZone)
    }

    /// As an app's records: each but the last is a child of the next.
    private func line(of count: Int) -> [CKRecord.ID: CKRecord] {
        var records: [CKRecord.ID: CKRecord] = [:]
        for number in 0..<count {
            let record = record(recordID("A/\(number)"))
            if number + 1 < count {
                record.parent = CKRecord.Reference(recordID: recordID("A/\(number + 1)"), action: .none)
            }
            records[record.recordID] = record
        }
        return records
    }

    @Test func `R-592: a parent that is pending comes before its children, wherever it stands`() async throws {
        let parent = CKRecord.Reference(recordID: recordID("A/parent"), action: .none)
        let changes = (0..<300).map { change("A/\($0)") } + [change("A/parent")]
        let asked = Mutex<[CKRecord.ID: Int]>([:])
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            asked.withLock { $0[id, default: 0] += 1 }
            let record = record(id)
            if id.recordName != "parent" { record.parent = parent }
            return record
        }
        let names = try #require(batch).recordsToSave.map(\.recordID.recordName)
        #expect(names == ["parent"] + (0..<249).map { "\($0)" })
        #expect(asked.withLock { $0.values.allSatisfy { $0 == 1 } })
    }

    @Test func `R-592: of a line of parents the eldest go first, in as many batches as it takes`() async throws {
        let records = line(of: 600)
        var pending = (0..<600).map { change("A/\($0)") }
        var stored: Set<CKRecord.ID> = []
        for expected in [250, 250, 100] {
            let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) { records[$0] }
            let saves = try #require(batch).recordsToSave
            #expect(saves.count == expected)
            for record in saves {
                #expect(record.parent.map { stored.contains($0.recordID) } ?? true)
                stored.insert(record.recordID)
            }
            pending.removeAll { stored.contains($0.recordID) }
        }
    }

    @Test func `R-592, R-081: records that are each other's parents are asked for once`() async throws {
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: ["A/1", "A/2", "A/3"].map(change)) { id in
            let record = record(id)
            let other = id.recordName == "1" ? "A/2" : "A/1"
            record.parent = CKRecord.Reference(recordID: recordID(other), action: .none)
            return record
        }
        #expect(try #require(batch).changes.map(\.text) == ["A/2", "A/1", "A/3"])
    }

    /// Roots with an even number have a new share, whose number is one higher.
    private func rootsAndShares(_ count: Int) -> [CKRecord.ID: CKRecord] {
        var records: [CKRecord.ID: CKRecord] = [:]
        for number in stride(from: 0, to: count, by: 2) {
            let root = record(recordID("A/\(number)"))
            records[root.recordID] = root
            let share = CKShare(rootRecord: root, shareID: recordID("A/\(number + 1)"))
            records[share.recordID] = share
        }
        return records
    }

    @Test(arguments: [["A/0", "A/1"], ["A/1", "A/0"]])
    func `R-986: a new share and its root are in one batch, or both in the next`(order: [String]) async throws {
        let records = rootsAndShares(2)
        for (before, expected) in [(248, 250), (249, 249)] {
            let changes = (10..<10 + before).map { change("A/\($0)") } + order.map(change)
            let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { records[$0] ?? record($0) }
            let names = try #require(batch).recordsToSave.map(\.recordID.recordName)
            #expect(names.count == expected)
            #expect(names.suffix(2) == ["0", "1"] || !names.contains("0") && !names.contains("1"))
        }
        // 1.5 MB are no reason to part them either.
        let large = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: (["A/9"] + order).map(change)) { id in
            let record = records[id] ?? record(id)
            if id == recordID("A/9") || id == recordID("A/0") { record["data"] = Data(count: 800_000) }
            return record
        }
        #expect(try #require(large).recordsToSave.map(\.recordID.recordName) == ["9"])
        let alone = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: order.map(change)) { records[$0] }
        #expect(try #require(alone).recordsToSave.map(\.recordID.recordName) == ["0", "1"])
    }

    @Test func `R-986, R-592: a child that comes first brings its root, and that its new share`() async throws {
        let records = rootsAndShares(2)
        let changes = ["A/child"] + (10..<300).map { "A/\($0)" } + ["A/1", "A/0"]
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes.map(change)) { id in
            let record = records[id] ?? record(id)
            if id == recordID("A/child") { record.setParent(recordID("A/0")) }
            return record
        }
        let names = try #require(batch).recordsToSave.map(\.recordID.recordName)
        #expect(names.prefix(3) == ["0", "1", "child"] && names.count == 250)
    }

    @Test func `R-986: a share that is not pending, or that the app does not have, keeps nothing back`() async throws {
        let records = rootsAndShares(2)
        let root = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: [change("A/0")]) { records[$0] }
        #expect(try #require(root).recordsToSave.map(\.recordID.recordName) == ["0"])
        let both = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: ["A/0", "A/1"].map(change)) { id in
            id == recordID("A/1") ? nil : records[id]
        }
        #expect(try #require(both).recordsToSave.map(\.recordID.recordName) == ["0"])
    }
}
