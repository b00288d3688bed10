// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkKit

/// What a replica decides, without an engine.
@Suite struct TidemarkReplicaTests {
    private let id = recordID("A/1")
    private let rules = TidemarkMerge(.serverWins)

    private func stored(_ text: String, version: Int, _ id: CKRecord.ID? = nil) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id ?? self.id)
        record["text"] = text
        return CKRecord(
            recordID: record.recordID, recordType: "Note",
            fields: (try? record.changes(all: true).fields) ?? FieldMap(),
            metadata: ServerMetadata(tag: [UInt8(truncatingIfNeeded: version)], createdAt: 0, modifiedAt: 0))
    }

    private func fetched(_ records: CKRecord..., deletions: [CKRecord.ID] = []) -> CKSyncEngine.Event {
        .fetchedRecordZoneChanges(
            .init(
                modifications: records.map { .init(record: $0) },
                deletions: deletions.map { .init(recordID: $0, recordType: "Note") }))
    }

    private func sent(saved: [CKRecord] = [], failed: [(CKRecord, CKError)] = [], deleted: [CKRecord.ID] = [])
        -> CKSyncEngine.Event
    {
        .sentRecordZoneChanges(
            .init(
                savedRecords: saved, failedRecordSaves: failed.map { .init(record: $0.0, error: $0.1) },
                deletedRecordIDs: deleted, failedRecordDeletes: [:]))
    }

    /// The app has one note, or none.
    private final class App {
        var state = ReplicaState()
        var text: String?
        var steps: [String] = []
        private let id: CKRecord.ID
        var rules: TidemarkMerge

        init(_ id: CKRecord.ID, _ rules: TidemarkMerge) { (self.id, self.rules) = (id, rules) }

        func write(_ text: String) {
            self.text = text
            state.edited(id, "Note")
        }

        func delete() {
            text = nil
            state.deleted(id)
        }

        func fill(_ record: CKRecord) -> Bool {
            guard let text, record.recordID == id else { return false }
            record["text"] = text
            return true
        }

        /// The record that the engine is handed.
        func send() -> CKRecord? {
            guard let entry = state.entries[id] else { return nil }
            let record = entry.draft(of: id)
            guard fill(record) else { return nil }
            state.handedOut([record], [id: entry.editCount])
            return record
        }

        @discardableResult
        func handle(_ event: CKSyncEngine.Event) -> ReplicaPlan {
            let plan = state.plan(.engine(event, pending: []), rules, fill)
            for step in plan.steps {
                switch step {
                case .store(let record) where record.recordID == id: text = record["text"]
                case .remove(id), .removeAll: text = nil
                default: break
                }
            }
            return plan
        }

        var pending: CKSyncEngine.PendingRecordZoneChange? { state.pendingChange(of: id) }
    }

    private func newApp() -> App { App(id, rules) }

    @Test func `R-641: an edit that is made while a save is under way is not settled by its answer`() {
        let app = newApp()
        app.write("a")
        _ = app.send()
        app.write("ab")
        app.handle(sent(saved: [stored("a", version: 1)]))
        #expect(app.text == "ab" && app.pending == .saveRecord(id))
        #expect(app.send()?.recordChangeTag == stored("", version: 1).recordChangeTag)
        app.handle(sent(saved: [stored("ab", version: 2)]))
        #expect(app.text == "ab" && app.pending == nil && app.state.unsentIDs == [])
    }

    /// The policy lets the server win: what this device wrote itself must not be met as somebody else's.
    @Test(arguments: [false, true])
    func `R-642: what this device has sent and heard no answer to wins over nothing of its own`(isTwice: Bool) {
        let app = newApp()
        app.handle(fetched(stored("a", version: 1)))
        app.write("ab")
        _ = app.send()
        app.write("abc")
        if isTwice {
            _ = app.send()
            app.write("abcd")
        }
        app.handle(fetched(stored("ab", version: 2)))
        #expect(app.text == (isTwice ? "abcd" : "abc") && app.pending == .saveRecord(id))
    }

    @Test func `R-642: what is sent once does not make somebody's later edit this device's own`() {
        let app = newApp()
        app.handle(fetched(stored("a", version: 1)))
        app.write("ab")
        _ = app.send()
        app.handle(fetched(stored("c", version: 2)))
        #expect(app.text == "c" && app.pending == nil)
        app.handle(fetched(stored("ab", version: 3)))
        #expect(app.text == "ab" && app.pending == nil)
    }

    @Test func `R-641: an answer that was lost is found in a fetch`() {
        let app = newApp()
        app.write("a")
        _ = app.send()
        app.handle(fetched(stored("a", version: 1)))
        #expect(app.text == "a" && app.pending == nil && app.state.unsentIDs == [])
    }

    @Test func `R-642: an edit of what the app does not have is none, and the server's record is taken`() {
        let app = newApp()
        app.write("a")
        app.text = nil
        app.handle(fetched(stored("b", version: 1)))
        #expect(app.text == "b" && app.pending == nil)

        app.write("c")
        app.text = nil
        app.state.valuesAreMissing(id)
        app.handle(.willSendChanges(.init(context: .init(reason: .manual, options: .init()))))
        #expect(app.text == "b" && app.pending == nil)
    }

    @Test func `R-642: an edit outlives a deletion`() {
        let app = newApp()
        app.handle(fetched(stored("a", version: 1)))
        app.write("ab")
        app.handle(fetched(deletions: [id]))
        #expect(app.text == "ab" && app.pending == .saveRecord(id) && app.send()?.recordChangeTag == nil)

        app.handle(sent(failed: [(stored("ab", version: 1), CKError(.unknownItem))]))
        #expect(app.text == "ab" && app.pending == .saveRecord(id))

        app.handle(fetched(stored("ab", version: 3)))
        #expect(app.pending == nil)
        app.handle(fetched(deletions: [id]))
        #expect(app.text == nil && app.state.entries.isEmpty)
    }

    @Test func `R-642: a record that was deleted here comes back if it has news, and not for what this device did`() {
        let app = newApp()
        app.handle(fetched(stored("a", version: 1)))
        app.write("ab")
        _ = app.send()
        app.delete()
        app.handle(fetched(stored("ab", version: 2)))
        #expect(app.text == nil && app.pending == .deleteRecord(id))
        app.handle(fetched(stored("b", version: 3)))
        #expect(app.text == "b" && app.pending == nil)

        app.delete()
        app.handle(sent(deleted: [id]))
        #expect(app.text == nil && app.state.entries.isEmpty)
    }

    @Test func `R-642: what was never handed out is deleted without a word`() {
        let app = newApp()
        app.write("a")
        app.delete()
        #expect(app.pending == nil && app.state.entries.isEmpty)
        app.write("b")
        _ = app.send()
        app.delete()
        #expect(app.pending == .deleteRecord(id))
    }

    @Test func `R-642: a refusal is told, and the edit stays`() {
        let app = newApp()
        app.write("a")
        let record = app.send() ?? stored("", version: 0)
        for code in [CKError.Code.quotaExceeded, .invalidArguments, .serverRejectedRequest] {
            let plan = app.handle(sent(failed: [(record, CKError(code))]))
            guard case .refused(id, let error)? = plan.steps.first else {
                Issue.record("\(code) is not told")
                continue
            }
            #expect(error.code == code && plan.touched.isEmpty && app.state.unsentIDs == [id])
        }
        #expect(app.handle(sent(failed: [(record, CKError(.networkFailure))])).steps.isEmpty)
    }

    @Test func `R-642: a conflict is merged, and sent again only if something is left`() {
        for (rules, text, change) in [
            (TidemarkMerge(.serverWins), "b", nil), (TidemarkMerge(.clientWins), "ab", .saveRecord(id)),
        ] as [(TidemarkMerge, String, CKSyncEngine.PendingRecordZoneChange?)] {
            let app = App(id, rules)
            app.handle(fetched(stored("a", version: 1)))
            app.write("ab")
            let client = app.send() ?? stored("", version: 0)
            let error = CKError(serverRecordChanged: stored("b", version: 2), client: client)
            app.handle(sent(failed: [(client, error)]))
            #expect(app.text == text && app.pending == change)
        }
    }

    /// As above: the merged record was sent, and may have been saved.
    @Test func `R-642: what came of a merge, and was sent without an answer, is this device's own`() {
        let rules = TidemarkMerge(
            .custom { "\($0.server as? String ?? "")+\($0.client as? String ?? "")" })
        let app = App(id, rules)
        app.handle(fetched(stored("a", version: 1)))
        app.write("ab")
        let client = app.send() ?? stored("", version: 0)
        let error = CKError(serverRecordChanged: stored("b", version: 2), client: client)
        app.handle(sent(failed: [(client, error)]))
        #expect(app.text == "b+ab")
        _ = app.send()
        app.write("b+ab!")
        app.handle(fetched(stored("b+ab", version: 3)))
        #expect(app.text == "b+ab!" && app.pending == .saveRecord(id))
    }

    @Test func `R-642: an edit that is made while the deletion is under way outlives it`() {
        let app = newApp()
        app.handle(fetched(stored("a", version: 1)))
        app.delete()
        app.write("b")
        app.handle(sent(deleted: [id]))
        #expect(app.text == "b" && app.pending == .saveRecord(id) && app.send()?.recordChangeTag == nil)
    }

    /// Nothing else has told that they are gone.
    @Test(arguments: [CKError.Code.unknownItem, .zoneNotFound])
    func `R-642, R-641: what the server has no more is saved as a new record, in a new zone if need be`(
        code: CKError.Code
    ) {
        let app = newApp()
        app.handle(.fetchedDatabaseChanges(.init(modifications: [.init(zoneID: id.zoneID)], deletions: [])))
        app.handle(fetched(stored("a", version: 1)))
        app.write("ab")
        let client = app.send() ?? stored("", version: 0)
        #expect(client.recordChangeTag != nil && app.state.zones == [id.zoneID])
        #expect(app.handle(sent(failed: [(client, CKError(code))])).touched == [id])
        #expect(app.pending == .saveRecord(id) && app.send()?.recordChangeTag == nil)
        #expect(app.state.zones == (code == .zoneNotFound ? [] : [id.zoneID]))
    }

    @Test func `R-642, R-519: what failed with another record of its batch is pending again, and is no refusal`() {
        let app = newApp()
        app.write("a")
        let plan = app.handle(
            sent(failed: [(app.send() ?? stored("", version: 0), CKError(.batchRequestFailed))]))
        #expect(plan.steps.isEmpty && plan.touched == [id] && app.pending == .saveRecord(id))
    }

    @Test func `R-073: a conflict whose record came without its files waits for the fetch that brings them`() throws {
        let app = newApp()
        app.handle(fetched(stored("a", version: 1)))
        app.write("ab")
        let client = app.send() ?? stored("", version: 0)
        let asset = FieldAsset(sha256: [UInt8](repeating: 7, count: 32), byteCount: 1)
        for value in [FieldValue.asset(asset), .assets([asset])] {
            let server = CKRecord(
                recordID: id, recordType: "Note", fields: try FieldMap([Field("file", value)]),
                metadata: ServerMetadata(tag: [2], createdAt: 0, modifiedAt: 0))
            let plan = app.handle(sent(failed: [(client, CKError(serverRecordChanged: server, client: client))]))
            #expect(plan.steps.isEmpty && plan.touched.isEmpty && app.state.unsentIDs == [id])
            #expect(app.send()?.recordChangeTag == client.recordChangeTag)
        }
    }

    // MARK: Accounts and zones

    private func account(_ change: CKSyncEngine.Event.AccountChange.ChangeType) -> CKSyncEngine.Event {
        .accountChange(.init(changeType: change))
    }

    @Test(arguments: [false, true])
    func `R-643: edits of who signs out come back with them, and go to nobody else`(isDeletion: Bool) {
        let (alice, bob) = (CKRecord.ID(recordName: "_a"), CKRecord.ID(recordName: "_b"))
        let app = newApp()
        app.handle(account(.signIn(currentUser: alice)))
        app.handle(fetched(stored("a", version: 1)))
        if isDeletion { app.delete() } else { app.write("ab") }
        app.handle(account(.signOut(previousUser: alice)))
        #expect(app.text == nil && app.pending == nil)
        app.handle(account(.signIn(currentUser: bob)))
        #expect(app.text == nil && app.pending == nil && app.state.entries.isEmpty)
        app.write("bob's")
        app.handle(account(.switchAccounts(previousUser: bob, currentUser: alice)))
        #expect(app.text == (isDeletion ? nil : "ab"))
        #expect(app.pending == (isDeletion ? .deleteRecord(id) : .saveRecord(id)))
        if !isDeletion { #expect(app.send()?.recordChangeTag == stored("", version: 1).recordChangeTag) }
        app.handle(account(.switchAccounts(previousUser: alice, currentUser: bob)))
        #expect(app.text == "bob's")
    }

    @Test func `R-643: what is written while nobody is signed in is of whoever signs in next`() {
        let alice = CKRecord.ID(recordName: "_a")
        let app = newApp()
        app.write("a")
        app.handle(account(.signIn(currentUser: alice)))
        #expect(app.text == "a" && app.pending == .saveRecord(id))
        app.handle(account(.signOut(previousUser: alice)))
        app.write("b")
        app.handle(account(.signIn(currentUser: alice)))
        #expect(app.text == "a" && app.pending == .saveRecord(id), "Here the earlier one wins, as the policy says.")
    }

    @Test func `R-643: what is written while nobody is signed in outlives a deletion that was set aside`() {
        let alice = CKRecord.ID(recordName: "_a")
        let app = newApp()
        app.handle(account(.signIn(currentUser: alice)))
        app.handle(fetched(stored("a", version: 1)))
        app.delete()
        app.handle(account(.signOut(previousUser: alice)))
        app.write("b")
        app.handle(account(.signIn(currentUser: alice)))
        #expect(app.text == "b" && app.pending == .saveRecord(id))
    }

    /// They may be another user's of the same names, or be gone: an edit brings its zone along.
    @Test func `R-643, R-641: with the account goes what is known of zones`() {
        let app = newApp()
        app.handle(account(.signIn(currentUser: CKRecord.ID(recordName: "_a"))))
        app.handle(.fetchedDatabaseChanges(.init(modifications: [.init(zoneID: id.zoneID)], deletions: [])))
        #expect(app.state.zones == [id.zoneID])
        app.handle(account(.signOut(previousUser: CKRecord.ID(recordName: "_a"))))
        #expect(app.state.zones.isEmpty && app.state.takeChangedRows().contains(.account))
    }

    /// The app's note was empty then: it has removed none of the elements.
    @Test func `R-643: what is written while nobody is signed in removes nothing from what was set aside`() {
        let alice = CKRecord.ID(recordName: "_a")
        var state = ReplicaState()
        var tags = ["server's"]
        func handle(_ event: CKSyncEngine.Event) {
            let rules = TidemarkMerge(.serverWins, fields: ["tags": .listElements])
            let plan = state.plan(.engine(event, pending: []), rules) { record in
                record["tags"] = tags
                return true
            }
            for step in plan.steps {
                switch step {
                case .store(let record): tags = record["tags"] as [String]? ?? []
                case .removeAll: tags = []
                default: break
                }
            }
        }
        func write(_ tag: String) {
            tags.append(tag)
            state.edited(id, "Note")
        }

        let record = stored("a", version: 1)
        record["tags"] = tags
        handle(account(.signIn(currentUser: alice)))
        handle(fetched(record))
        write("unsent")
        handle(account(.signOut(previousUser: alice)))
        #expect(tags == [])
        write("nobody's")
        handle(account(.signIn(currentUser: alice)))
        #expect(tags == ["server's", "unsent", "nobody's"] && state.pendingChange(of: id) == .saveRecord(id))
    }

    /// Of an app that begins to use a replica while its engine has long had a state.
    @Test func `R-643: who was never told of keeps what is theirs`() {
        let app = newApp()
        app.write("a")
        app.handle(account(.signOut(previousUser: CKRecord.ID(recordName: "_a"))))
        #expect(app.text == nil)
        app.handle(account(.signIn(currentUser: CKRecord.ID(recordName: "_b"))))
        #expect(app.text == nil && app.pending == nil)
        app.handle(
            account(
                .switchAccounts(
                    previousUser: CKRecord.ID(recordName: "_b"), currentUser: CKRecord.ID(recordName: "_a"))))
        #expect(app.text == "a" && app.pending == .saveRecord(id))
    }

    /// The process may end before the state that follows is stored, and the account change back.
    @Test func `R-643: with the account goes the engine's state`() {
        let app = newApp()
        app.handle(.stateUpdate(.init(stateSerialization: .init(snapshot: .init(deviceIdentity: [])))))
        #expect(app.state.engineState != nil)
        app.handle(account(.signOut(previousUser: CKRecord.ID(recordName: "_a"))))
        #expect(app.state.engineState == nil && app.state.takeChangedRows().contains(.engine))
    }

    private func zoneEnded(_ reason: CKDatabase.DatabaseChange.Deletion.Reason) -> CKSyncEngine.Event {
        .fetchedDatabaseChanges(
            .init(modifications: [], deletions: [.init(zoneID: id.zoneID, reason: reason)]))
    }

    @Test func `R-644: a zone that ends takes along what has no edit; what was erased needs consent`() {
        for reason in [CKDatabase.DatabaseChange.Deletion.Reason.deleted, .purged, .encryptedDataReset] {
            for isEdited in [false, true] {
                let app = newApp()
                app.handle(fetched(stored("a", version: 1)))
                if isEdited { app.write("ab") }
                app.handle(zoneEnded(reason))
                let isKept = isEdited || reason == .encryptedDataReset
                #expect(app.text == (isEdited ? "ab" : isKept ? "a" : nil), "\(reason)")
                #expect(app.pending == (isKept && reason != .purged ? .saveRecord(id) : nil), "\(reason)")
                app.state.release([id])
                #expect(app.pending == (isKept ? .saveRecord(id) : nil), "\(reason)")
                if isKept { #expect(app.send()?.recordChangeTag == nil) }
            }
        }
    }

    @Test func `R-644, R-206: who edits a record after its zone was erased has that sent`() {
        let app = newApp()
        app.write("a")
        app.handle(zoneEnded(.purged))
        #expect(app.pending == nil)
        app.write("ab")
        #expect(app.pending == .saveRecord(id))
    }

    @Test func `R-643, R-644: a zone that was deleted is remembered until it is gone, and with its user`() {
        let app = newApp()
        let (alice, bob) = (CKRecord.ID(recordName: "_a"), CKRecord.ID(recordName: "_b"))
        app.handle(account(.signIn(currentUser: alice)))
        app.handle(fetched(stored("a", version: 1)))
        #expect(app.state.zoneDeleted(id.zoneID) == [id])
        app.handle(account(.switchAccounts(previousUser: alice, currentUser: bob)))
        #expect(app.state.deletedZones.isEmpty)
        app.handle(account(.switchAccounts(previousUser: bob, currentUser: alice)))
        #expect(app.state.deletedZones == [id.zoneID])
        let refused = CKSyncEngine.Event.SentDatabaseChanges(
            savedZones: [], failedZoneSaves: [], deletedZoneIDs: [],
            failedZoneDeletes: [id.zoneID: CKError(.permissionFailure)])
        guard case .zoneRefused? = app.handle(.sentDatabaseChanges(refused)).steps.first else {
            Issue.record("the app is not told")
            return
        }
        #expect(app.state.deletedZones == [id.zoneID])
        let plan = app.handle(zoneEnded(.deleted))
        #expect(app.state.deletedZones.isEmpty && plan.settledZones == [id.zoneID])
    }

    /// What the user gave up may be saved, or deleted, all the same: it was under way.
    @Test func `R-644: what is given up while it is under way becomes what the server has`() {
        let app = newApp()
        func giveUp() {
            for case .store(let record) in app.state.discard([id]) { app.text = record["text"] }
        }
        app.handle(fetched(stored("a", version: 1)))
        app.write("ab")
        _ = app.send()
        giveUp()
        #expect(app.text == "a")
        app.handle(sent(saved: [stored("ab", version: 2)]))
        #expect(app.text == "ab" && app.state.unsentIDs.isEmpty)
        app.delete()
        giveUp()
        #expect(app.text == "ab")
        app.handle(sent(deleted: [id]))
        #expect(app.text == nil && app.state.entries.isEmpty)
    }

    // MARK: Rows

    @Test func `R-640: rows that are stored as they change are all that there is`() throws {
        var random = SeededRandom()
        let names = ["1", "2", "a/b"].map { CKRecord.ID(recordName: $0, zoneID: id.zoneID) } + [recordID("B/1")]
        let users = ["_a", "_b"].map { CKRecord.ID(recordName: $0) }
        var state = ReplicaState()
        var table: [String: Data] = [:]
        for step in 0..<200 {
            let id = names.randomElement(using: &random) ?? self.id
            let version = Int.random(in: 0..<4, using: &random)
            switch Int.random(in: 0..<8, using: &random) {
            case 6: _ = state.zoneDeleted(id.zoneID)
            case 0, 1: state.edited(id, "Note")
            case 2: state.deleted(id)
            case 3: state.handedOut([stored("\(version)", version: version, id)], [id: 1])
            case 4:
                let user = users.randomElement(using: &random) ?? id
                _ = state.plan(.engine(account(.signIn(currentUser: user)), pending: []), rules) { _ in true }
            case 5:
                let event = fetched(stored("\(version)", version: version, id))
                _ = state.plan(.engine(event, pending: []), rules) { _ in true }
            default: _ = state.plan(.engine(zoneEnded(.deleted), pending: []), rules) { _ in true }
            }
            for row in state.takeChangedRows() { table[row.key] = state.contents(of: row) }
            let restored = try ReplicaState(rows: table)
            #expect(restored.owner == state.owner && restored.zones == state.zones, "seed \(random.seed), step \(step)")
            #expect(restored.unsentIDs == state.unsentIDs, "seed \(random.seed), step \(step)")
            #expect(Set(restored.rows) == Set(state.rows), "seed \(random.seed), step \(step)")
            #expect(restored.deletedZones == state.deletedZones, "seed \(random.seed), step \(step)")
            #expect(restored.deletedZonesSetAside == state.deletedZonesSetAside, "seed \(random.seed), step \(step)")
        }
        let replica = TidemarkReplica(state)
        let copy = try JSONDecoder().decode(TidemarkReplica.self, from: JSONEncoder().encode(replica))
        #expect(copy.unsentIDs == replica.unsentIDs && replica.rows.keys == copy.rows.keys)
    }
}
