// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields

@testable import TidemarkKit

/// What a replica decides about zones of other users, without an engine.
@Suite struct TidemarkReplicaSharingTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Plans", ownerName: "_bob")

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private func stored(_ name: String, tag: UInt8 = 1, title: String = "theirs") -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id(name))
        record["text"] = "theirs"
        record["title"] = title
        return CKRecord(
            recordID: id(name), recordType: "Note", fields: (try? record.changes(all: true).fields) ?? FieldMap(),
            metadata: ServerMetadata(tag: [tag], createdAt: 0, modifiedAt: 0))
    }

    /// What the app is to store, in this order.
    private func texts(_ plan: ReplicaPlan) -> [String] {
        plan.steps.map { step in
            guard case .store(let record) = step else { return "\(step)" }
            let values = ["text", "title"].map { record[$0] as String? ?? "" }
            return ([record.recordID.recordName] + values).joined(separator: " ")
        }
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

    @Test func `R-207, R-225: a zone that has ended and is there again comes anew, and unsent edits are told`() {
        var state = edited()
        let event = CKSyncEngine.Event.fetchedDatabaseChanges(
            .init(modifications: [.init(zoneID: zoneID)], deletions: [.init(zoneID: zoneID, reason: .deleted)]))
        let plan = plan(event, &state)
        guard plan.steps.count == 2, case .remove(id("read")) = plan.steps[0],
            case .zoneDeleted(zoneID, .deleted, let unsent) = plan.steps[1]
        else {
            Issue.record("\(plan.steps)")
            return
        }
        #expect(unsent == ["a", "b", "c"].map(id) && state.unsentIDs == unsent)
        #expect(unsent.allSatisfy { state.pendingChange(of: $0) == nil })
        let fetched = CKSyncEngine.Event.FetchedRecordZoneChanges(
            modifications: [.init(record: stored("read"))], deletions: [])
        #expect(texts(self.plan(.fetchedRecordZoneChanges(fetched), &state)) == ["read theirs theirs"])
    }

    @Test func `R-330, R-644: the ends of several zones are told in the order of what was refused`() {
        let zoneIDs = (1...9).map { CKRecordZone.ID(zoneName: "Zone \($0)", ownerName: "_bob") }
        let ids = zoneIDs.flatMap { zoneID in ["a", "b"].map { CKRecord.ID(recordName: $0, zoneID: zoneID) } }
        let failure = CKError(.zoneNotFound)
        let saves = ids.reversed().map { CKRecord(recordType: "Note", recordID: $0) }
        let refusedSaves = CKSyncEngine.Event.SentRecordZoneChanges(
            savedRecords: [], failedRecordSaves: saves.map { .init(record: $0, error: failure) }, deletedRecordIDs: [],
            failedRecordDeletes: [:])
        let refusedDeletes = CKSyncEngine.Event.SentRecordZoneChanges(
            savedRecords: [], failedRecordSaves: [], deletedRecordIDs: [],
            failedRecordDeletes: Dictionary(uniqueKeysWithValues: ids.map { ($0, failure) }))
        for (refused, order) in [(refusedSaves, Array(zoneIDs.reversed())), (refusedDeletes, zoneIDs)] {
            var state = ReplicaState()
            for id in ids { state.edited(id, "Note") }
            let ended = plan(.sentRecordZoneChanges(refused), &state).steps.compactMap { step -> CKRecordZone.ID? in
                if case .zoneDeleted(let zoneID, _, _) = step { zoneID } else { nil }
            }
            #expect(ended == order)
        }
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
        // Nobody else has edited the record. So the edit is merged as if the zone had not been away, and sent.
        let merged = texts(plan(.fetchedRecordZoneChanges(again), &state))
        #expect(merged == ["read theirs theirs", "a mine theirs"])
        #expect(state.pendingChange(of: id("a")) == .saveRecord(id("a")))
        #expect(state.entries[id("a")]?.serverRecord?["text"] == "theirs")
    }

    @Test func `R-642, R-644: an edit is merged with what others have changed while the zone was not shared`() {
        var state = edited()
        // Told twice, by a refusal and by the list.
        for event in [refusal(.zoneNotFound), ended(.deleted)] { _ = plan(event, &state) }
        #expect(state.entries[id("a")]?.isOnServer == false)
        let again = CKSyncEngine.Event.FetchedRecordZoneChanges(
            modifications: [.init(record: stored("a", tag: 2, title: "new"))], deletions: [])
        let merged = texts(plan(.fetchedRecordZoneChanges(again), &state))
        #expect(merged == ["a mine new"])
        #expect(state.pendingChange(of: id("a")) == .saveRecord(id("a")))
    }

    @Test func `R-644: an edit in a zone that is shared no more is dropped with its record`() {
        var state = edited()
        _ = plan(refusal(.zoneNotFound), &state)
        let steps = state.discard([id("a")])
        guard steps.count == 1, case .remove(id("a")) = steps[0] else {
            Issue.record("\(steps)")
            return
        }
        state.deleted(id("b"))
        #expect(state.pendingChange(of: id("b")) == nil && state.unsentIDs == [id("c")])
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

    private func unlisted() -> TidemarkStoreEvent {
        .didFetchZonesFromNothing(TidemarkZoneList(reason: .anotherLife, absent: [zoneID], accounted: []))
    }

    @Test func `R-645: a zone of another user that a restored server lacks has ended, and is not made there`() {
        var state = edited()
        let touched = state.plan(unlisted()).touched
        #expect(touched.isEmpty, "an event of the store has no steps")
        // The next event comes before the engine's new state.
        let nothing = CKSyncEngine.Event.fetchedDatabaseChanges(.init(modifications: [], deletions: []))
        let steps = plan(nothing, &state).steps
        guard steps.count == 2, case .remove(id("read")) = steps[0],
            case .zoneDeleted(zoneID, .deleted, let unsent) = steps[1]
        else {
            Issue.record("\(steps)")
            return
        }
        #expect(unsent == ["a", "b", "c"].map(id) && state.unsentIDs == unsent)
        #expect(unsent.allSatisfy { state.pendingChange(of: $0) == nil })
        #expect(state.entries[id("read")] == nil)
        // It is told once.
        _ = state.plan(unlisted())
        for event in [nothing, ended(.deleted)] {
            let steps = plan(event, &state).steps
            #expect(steps.isEmpty, "\(steps)")
        }
    }

    @Test func `R-643, R-645: a zone that had ended for one user is not told to the next one`() {
        var state = edited()
        _ = state.plan(unlisted())
        let users = (alice: CKRecord.ID(recordName: "_alice"), carol: CKRecord.ID(recordName: "_carol"))
        let change = CKSyncEngine.Event.AccountChange.ChangeType.switchAccounts(
            previousUser: users.alice, currentUser: users.carol)
        _ = plan(.accountChange(.init(changeType: change)), &state)
        // The zone is shared with the next user.
        state.edited(id("d"), "Note")
        let steps = plan(.fetchedDatabaseChanges(.init(modifications: [], deletions: [])), &state).steps
        #expect(steps.isEmpty, "\(steps)")
        #expect(state.pendingChange(of: id("d")) == .saveRecord(id("d")))
    }
}
