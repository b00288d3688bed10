// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields

@testable import TidemarkKit

/// Merges of a record with that of a zone that has ended and was made again, before the device heard of that.
@Suite struct TidemarkMergeZoneTests {
    private let id = recordID("A/1")
    private let rules = TidemarkMerge(.clientWins, fields: ["tags": .listElements, "title": .serverWins])

    private func stored(_ text: String?, _ tags: [String], zone: Int64, _ number: ChangeNumber) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id)
        record["text"] = text
        record["title"] = text
        record["tags"] = tags
        let tag = ChangeTag.version(store: StoreIncarnation(1), zone: ZoneID(zone), number: number).bytes
        return CKRecord(
            recordID: id, recordType: "Note", fields: (try? record.changes(all: true).fields) ?? FieldMap(),
            metadata: ServerMetadata(tag: tag, createdAt: 0, modifiedAt: 0))
    }

    private func values(_ record: CKRecord?) -> [String] {
        [record?["text"] ?? "nil", record?["title"] ?? "nil"] + (record?["tags"] as [String]? ?? [])
    }

    /// The client has added `c` to what was saved as number 8 of zone 3.
    private func merged(with server: CKRecord) -> CKRecord? {
        let client = stored("mine", ["a", "b"], zone: 3, 8)
        client["tags"] = ["a", "b", "c"]
        return CKError(serverRecordChanged: server, client: client).merged(by: rules)
    }

    @Test func `R-228: what a record of a zone that was made again lacks was removed by nobody`() {
        for number: ChangeNumber in [2, 9] {
            let record = merged(with: stored(nil, ["d"], zone: 4, number))
            #expect(values(record) == ["mine", "nil", "d", "a", "b", "c"])
            #expect(record?.changedKeys().sorted() == ["tags", "text"])
        }
        // In the same zone somebody has removed it.
        #expect(values(merged(with: stored(nil, ["d"], zone: 3, 9))) == ["nil", "nil", "d", "c"])
    }

    @Test func `R-228: the policies decide what differs in a zone that was made again`() {
        #expect(values(merged(with: stored("theirs", ["a"], zone: 4, 2))) == ["mine", "theirs", "a", "b", "c"])
        #expect(values(merged(with: stored("theirs", ["a"], zone: 3, 9))) == ["theirs", "theirs", "a", "c"])
    }

    /// Another device has heard of the reset first, and has saved a record of this name in the new zone.
    @Test func `R-228, R-644: an edit that meets the zone of after a reset keeps what the record had before`() throws {
        var (state, has) = (ReplicaState(), ["a", "b"])
        func handle(_ event: CKSyncEngine.Event) -> [String] {
            let plan = state.plan(.engine(event, pending: []), rules) { record in
                record["tags"] = has
                return true
            }
            for case .store(let record) in plan.steps { has = record["tags"] ?? [] }
            return has
        }
        func fetched(_ record: CKRecord) -> CKSyncEngine.Event {
            .fetchedRecordZoneChanges(.init(modifications: [.init(record: record)], deletions: []))
        }
        #expect(handle(fetched(stored("text", has, zone: 3, 8))) == ["a", "b"])
        has.append("c")
        state.edited(id, "Note")
        let entry = try #require(state.entries[id])
        let client = entry.draft(of: id)
        client["tags"] = has
        state.handedOut([client], [id: entry.editCount])
        let other = stored("text", ["d"], zone: 4, 2)
        let failure = CKError(serverRecordChanged: other, client: client)
        let sent = CKSyncEngine.Event.SentRecordZoneChanges(
            savedRecords: [], failedRecordSaves: [.init(record: client, error: failure)], deletedRecordIDs: [],
            failedRecordDeletes: [:])
        #expect(handle(.sentRecordZoneChanges(sent)) == ["d", "a", "b", "c"])
        #expect(state.pendingChange(of: id) == .saveRecord(id))
        // Only now the list of zones tells of the reset.
        let ended = CKSyncEngine.Event.FetchedDatabaseChanges(
            modifications: [.init(zoneID: id.zoneID)],
            deletions: [.init(zoneID: id.zoneID, reason: .encryptedDataReset)])
        #expect(handle(.fetchedDatabaseChanges(ended)) == ["d", "a", "b", "c"])
        #expect(handle(fetched(other)) == ["d", "a", "b", "c"])
        #expect(state.pendingChange(of: id) == .saveRecord(id))
    }
}
