// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields

@testable import TidemarkKit

/// What a replica decides about zones of other users, without an engine.
@Suite struct TidemarkReplicaSharingTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Plans", ownerName: "_bob")

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private func stored(_ name: String) -> CKRecord {
        CKRecord(
            recordID: id(name), recordType: "Note", fields: FieldMap(),
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
    }

    private func plan(_ event: CKSyncEngine.Event, _ state: inout ReplicaState) -> ReplicaPlan {
        state.plan(.engine(event, pending: []), TidemarkMerge(.serverWins)) { record in
            record["text"] = "mine"
            return true
        }
    }

    /// `read` as the server has it, `a`, `b` and `c` with edits that are still to be sent.
    private func edited() -> ReplicaState {
        var state = ReplicaState()
        let fetched = CKSyncEngine.Event.FetchedRecordZoneChanges(
            modifications: [.init(record: stored("read")), .init(record: stored("a"))], deletions: [])
        _ = plan(.fetchedRecordZoneChanges(fetched), &state)
        for name in ["a", "b", "c"] { state.edited(id(name), "Note") }
        return state
    }

    private func refusal(_ code: CKError.Code) -> CKSyncEngine.Event {
        .sentRecordZoneChanges(
            .init(
                savedRecords: [],
                failedRecordSaves: ["a", "b", "c"].map { .init(record: stored($0), error: CKError(code)) },
                deletedRecordIDs: [], failedRecordDeletes: [:]))
    }

    private func ended(_ reason: CKDatabase.DatabaseChange.Deletion.Reason) -> CKSyncEngine.Event {
        .fetchedDatabaseChanges(.init(modifications: [], deletions: [.init(zoneID: zoneID, reason: reason)]))
    }

    @Test func `R-330, R-644: edits in a zone that is shared no more are told once, and not sent for ever`() {
        var state = edited()
        let plan = plan(refusal(.zoneNotFound), &state)
        guard plan.steps.count == 2, case .remove(id("read")) = plan.steps[0],
            case .zoneDeleted(zoneID, .deleted, let unsent) = plan.steps[1]
        else {
            Issue.record("\(plan.steps)")
            return
        }
        #expect(unsent == ["a", "b", "c"].map(id) && Set(plan.touched).isSuperset(of: unsent))
        #expect(unsent.allSatisfy { state.pendingChange(of: $0) == nil } && state.unsentIDs == unsent)
        // The list of zones says it as well, and so do other saves that were under way.
        for event in [ended(.deleted), refusal(.zoneNotFound)] {
            let plan = self.plan(event, &state)
            #expect(plan.steps.isEmpty, "\(plan.steps)")
        }
        state.edited(id("a"), "Note")
        #expect(state.pendingChange(of: id("a")) == .saveRecord(id("a")), "an edit is tried")
        state.release([id("b")])
        #expect(state.pendingChange(of: id("b")) == .saveRecord(id("b")), "and what the app wants to be")
    }

    @Test func `R-330, R-644: a deletion in a zone that is shared no more is not pending for ever`() {
        for deletesFail in [false, true] {
            var state = edited()
            state.deleted(id("a"))
            var event = refusal(.zoneNotFound)
            if deletesFail {
                let error = CKError(.zoneNotFound)
                event = .sentRecordZoneChanges(
                    .init(
                        savedRecords: [], failedRecordSaves: [], deletedRecordIDs: [],
                        failedRecordDeletes: [id("a"): error]))
            }
            _ = plan(event, &state)
            #expect(state.unsentIDs == ["b", "c"].map(id) && state.pendingChange(of: id("a")) == nil)
        }
    }

    @Test func `R-330, R-644: a zone that is shared again before the list told its end comes back whole`() {
        var state = edited()
        _ = plan(refusal(.zoneNotFound), &state)
        let again = CKSyncEngine.Event.FetchedRecordZoneChanges(
            modifications: [.init(record: stored("read")), .init(record: stored("a"))], deletions: [])
        let steps = plan(.fetchedRecordZoneChanges(again), &state).steps
        let stored = steps.compactMap { step -> CKRecord.ID? in
            if case .store(let record) = step { record.recordID } else { nil }
        }
        #expect(stored == [id("read"), id("a")] && steps.count == 2)
        // The edit is merged with what the server has, and sent.
        #expect(state.pendingChange(of: id("a")) == .saveRecord(id("a")))
    }

    @Test(arguments: [CKDatabase.DatabaseChange.Deletion.Reason.deleted, .purged, .encryptedDataReset])
    func `R-330, R-644: a zone of another user takes along what has no edit, and is not created again`(
        reason: CKDatabase.DatabaseChange.Deletion.Reason
    ) {
        var state = edited()
        var removed: [CKRecord.ID] = []
        var unsent: [CKRecord.ID] = []
        for step in plan(ended(reason), &state).steps {
            switch step {
            case .remove(let id): removed.append(id)
            case .zoneDeleted(zoneID, reason, let ids): unsent += ids
            default: Issue.record("\(step)")
            }
        }
        #expect(removed == [id("read")] && unsent == ["a", "b", "c"].map(id))
        #expect(unsent.allSatisfy { state.pendingChange(of: $0) == nil } && state.zones.isEmpty)
    }

    @Test func `R-645: a zone of another user that a restored server lacks is not made there`() {
        var state = edited()
        let list = TidemarkZoneList(reason: .anotherLife, absent: [zoneID], accounted: [])
        let touched = state.plan(.didFetchZonesFromNothing(list)).touched
        #expect(touched.isEmpty)
        #expect(state.pendingChange(of: id("read")) == nil && state.entries[id("read")]?.isOnServer == true)
    }
}
