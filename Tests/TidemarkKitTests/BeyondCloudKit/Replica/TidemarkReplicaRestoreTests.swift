// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields

@testable import TidemarkKit

/// A replica whose server was restored from a backup, or has forgotten deletions (R-552, R-645).
@Suite struct TidemarkReplicaRestoreTests {
    private static let old = StoreIncarnation(1)
    private static let new = old.next(mark: 7)
    private let id = recordID("A/1")
    private let rules = TidemarkMerge(.serverWins, fields: ["tags": .listElements])

    private func stored(_ text: String, _ tags: [String], _ store: StoreIncarnation, _ number: ChangeNumber)
        -> CKRecord
    {
        let record = CKRecord(recordType: "Note", recordID: id)
        record["text"] = text
        record["tags"] = tags
        let tag = ChangeTag.version(store: store, zone: ZoneID(3), number: number).bytes
        return CKRecord(
            recordID: id, recordType: "Note", fields: (try? record.changes(all: true).fields) ?? FieldMap(),
            metadata: ServerMetadata(tag: tag, createdAt: 0, modifiedAt: 0))
    }

    /// A replica that has the record as it was saved last before the restore, and what the app has.
    private func replica(_ text: String, _ tags: [String] = []) -> (state: ReplicaState, write: (CKRecord) -> Bool) {
        var state = ReplicaState()
        let write: (CKRecord) -> Bool = { record in
            record["text"] = text
            record["tags"] = tags
            return true
        }
        _ = state.plan(.engine(fetched(stored(text, tags, Self.old, 8), nil), pending: []), rules, write)
        return (state, write)
    }

    private func fetched(_ record: CKRecord, _ reason: TidemarkFullFetch.Reason?) -> CKSyncEngine.Event {
        .fetchedRecordZoneChanges(
            .init(modifications: [.init(record: record)], deletions: [], fullFetchReason: reason))
    }

    private func text(_ plan: ReplicaPlan) -> String? {
        guard case .store(let record)? = plan.steps.first else { return nil }
        return "\(record["text"] as String? ?? "") \(record["tags"] as [String]? ?? [])"
    }

    @Test func `R-842: a resync brings back what the app has lost, and leaves what it has edited`() {
        let (start, write) = replica("mine", ["a"])
        let same = stored("theirs", [], Self.old, 8)
        var resync = CKSyncEngine.Event.FetchedRecordZoneChanges(
            modifications: [.init(record: same)], deletions: [], fullFetchReason: .deletionsForgotten)
        for (isResync, isEdited) in [(false, false), (true, false), (true, true)] {
            var state = start
            if isEdited { state.edited(id, "Note") }
            resync.isResync = isResync
            let plan = state.plan(.engine(.fetchedRecordZoneChanges(resync), pending: []), rules, write)
            // The same version: without a resync the app has it.
            #expect(text(plan) == (isResync && !isEdited ? #"mine ["a"]"# : nil))
            #expect(plan.steps.count == (isResync && !isEdited ? 1 : 0))
            #expect(state.pendingChange(of: id) == (isEdited ? .saveRecord(id) : nil))
        }
    }

    /// Of a store that began a new life, or was restored and not told so: then the backup's tags are as they were.
    private static let restored = [new, old]

    @Test(arguments: restored)
    func `R-645: an older version from a restored server undoes nothing, and is saved over`(_ store: StoreIncarnation) {
        let (start, write) = replica("since", ["a"])
        var state = start
        let backup = stored("backup", [], store, 5)
        let plan = state.plan(.engine(fetched(backup, .anotherLife), pending: []), rules, write)
        #expect(text(plan) == #"since ["a"]"# && state.pendingChange(of: id) == .saveRecord(id))
        #expect(state.entries[id]?.draft(of: id).recordChangeTag == backup.recordChangeTag)
    }

    @Test(arguments: restored)
    func `R-645: a deletion that is still to be sent outlives a restore`(_ store: StoreIncarnation) {
        let (start, write) = replica("since")
        var state = start
        state.deleted(id)
        _ = state.plan(
            .engine(fetched(stored("backup", [], store, 5), .anotherLife), pending: []), rules, write)
        #expect(state.pendingChange(of: id) == .deleteRecord(id))
    }

    @Test func `R-645: what was saved since the restore is met as an edit, of lists too`() {
        let (start, write) = replica("since", ["a", "b"])
        var state = start
        let other = stored("other", ["a", "c"], Self.new, ChangeNumber(8).inNextLife + 1)
        let plan = state.plan(.engine(fetched(other, .anotherLife), pending: []), rules, write)
        #expect(text(plan) == #"other ["a", "c", "b"]"# && state.pendingChange(of: id) == .saveRecord(id))
    }

    @Test func `R-645: what was saved since the restore is met as an edit, too, if it comes with a conflict`() throws {
        let (start, write) = replica("since", ["a", "b"])
        var state = start
        state.edited(id, "Note")
        let entry = try #require(state.entries[id])
        let client = entry.draft(of: id)
        _ = write(client)
        state.handedOut([client], [id: entry.editCount])
        let other = stored("other", ["a", "c"], Self.new, ChangeNumber(8).inNextLife + 1)
        let failure = CKError(serverRecordChanged: other, client: client)
        let sent = CKSyncEngine.Event.SentRecordZoneChanges(
            savedRecords: [], failedRecordSaves: [.init(record: client, error: failure)], deletedRecordIDs: [],
            failedRecordDeletes: [:])
        let plan = state.plan(.engine(.sentRecordZoneChanges(sent), pending: []), rules, write)
        #expect(text(plan) == #"other ["a", "c", "b"]"# && state.pendingChange(of: id) == .saveRecord(id))
    }

    @Test func `R-642: an older version of the same life is no news`() {
        let (start, write) = replica("since")
        var state = start
        let plan = state.plan(.engine(fetched(stored("before", [], Self.old, 5), nil), pending: []), rules, write)
        #expect(plan.steps.isEmpty && state.pendingChange(of: id) == nil)
        #expect(state.entries[id]?.serverRecord?["text"] == "since")
    }

    @Test func `R-645: a later fetch brings news again`() {
        let (start, write) = replica("since", ["a", "b"])
        var state = start
        let other = stored("other", ["a"], Self.new, ChangeNumber(8).inNextLife + 1)
        let plan = state.plan(.engine(fetched(other, nil), pending: []), rules, write)
        #expect(text(plan) == #"other ["a"]"# && state.pendingChange(of: id) == nil)
    }

    @Test func `R-552, R-645: what is absent was deleted, or is saved anew`() {
        for isEdited in [false, true] {
            for reason in [TidemarkFullFetch.Reason.deletionsForgotten, .anotherLife] {
                let (start, write) = replica("since")
                var state = start
                if isEdited { state.edited(id, "Note") }
                let names = FetchedNames()
                let end = CKSyncEngine.Event.DidFetchRecordZoneChanges(
                    zoneID: id.zoneID, error: nil,
                    fullFetch: TidemarkFullFetch(zoneID: id.zoneID, reason: reason, names: names))
                let plan = state.plan(.engine(.didFetchRecordZoneChanges(end), pending: []), rules, write)
                let isKept = isEdited || reason == .anotherLife
                #expect(plan.steps.count == (isKept ? 0 : 1) && plan.touched == [id], "\(reason)")
                #expect(state.pendingChange(of: id) == (isKept ? .saveRecord(id) : nil), "\(reason)")
                #expect(state.entries[id]?.serverRecord == nil)
            }
        }
    }

    @Test func `R-645: zones that a restored server lacks are saved again with all that is in them`() {
        var state = replica("since").state
        let event = TidemarkStoreEvent.didFetchZonesFromNothing(
            TidemarkZoneList(reason: .anotherLife, absent: [], accounted: []))
        #expect(state.plan(event).touched == [id])
        #expect(state.pendingChange(of: id) == .saveRecord(id) && state.zones.isEmpty)
        #expect(state.entries[id]?.draft(of: id).recordChangeTag == nil)
    }
}
