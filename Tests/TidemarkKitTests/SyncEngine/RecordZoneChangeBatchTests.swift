// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct RecordZoneChangeBatchTests {
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
}
