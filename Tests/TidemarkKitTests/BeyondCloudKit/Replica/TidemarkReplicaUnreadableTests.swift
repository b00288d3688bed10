// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields

@testable import TidemarkKit

/// A replica whose app cannot read its data for a moment (R-646).
@Suite struct TidemarkReplicaUnreadableTests {
    private struct Locked: Error {}

    private static let id = recordID("A/1")
    private static let (alice, bob) = (CKRecord.ID(recordName: "_a"), CKRecord.ID(recordName: "_b"))

    private static func stored(_ tags: [String], version: Int) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id)
        record["tags"] = tags
        return CKRecord(
            recordID: id, recordType: "Note", fields: (try? record.changes(all: true).fields) ?? FieldMap(),
            metadata: ServerMetadata(tag: [UInt8(truncatingIfNeeded: version)], createdAt: 0, modifiedAt: 0))
    }

    /// The app has one note with tags, or none.
    private struct App {
        var state = ReplicaState()
        var tags: [String]?
        var isReadable = true
        private let rules = TidemarkMerge(.serverWins, fields: ["tags": .listElements])

        mutating func tag(_ tag: String) {
            tags = (tags ?? []) + [tag]
            state.edited(id, "Note")
        }

        mutating func delete() {
            tags = nil
            state.deleted(id)
        }

        private func fill(_ record: CKRecord) throws -> Bool {
            guard isReadable else { throw Locked() }
            guard let tags else { return false }
            record["tags"] = tags
            return true
        }

        mutating func handOut() throws {
            guard let entry = state.entries[id] else { return }
            let record = entry.draft(of: id)
            if try fill(record) { state.handedOut([record], [id: entry.editCount]) }
        }

        @discardableResult
        mutating func handle(_ event: CKSyncEngine.Event) -> ReplicaPlan {
            let plan = state.plan(.engine(event, pending: []), rules, fill)
            take(plan.steps)
            return plan
        }

        mutating func take(_ steps: [TidemarkReplica.Step]) {
            for step in steps {
                switch step {
                case .store(let record): tags = record["tags"]
                case .remove, .removeAll: tags = nil
                default: break
                }
            }
        }

        /// As if the process had ended.
        mutating func restart() throws {
            let rows = state.rows.reduce(into: [String: Data]()) { $0[$1.key] = state.contents(of: $1) }
            state = try ReplicaState(rows: rows)
            state.engineBegins()
        }

        /// What there is to see of it.
        var summary: String {
            let entry = state.entries[id]
            let tag = entry?.newestServerRecord?.recordChangeTag ?? "none"
            let pending = state.isDelayed ? nil : state.pendingChange(of: id)
            return "\(tags ?? ["nothing"]) \(tag) \(pending.map { "\($0)" } ?? "settled") "
                + "aside \(state.setAside.keys.sorted())"
        }
    }

    private static let nothing = CKSyncEngine.Event.willSendChanges(
        .init(context: .init(reason: .manual, options: .init())))

    private static func fetched(_ tags: [String], version: Int) -> CKSyncEngine.Event {
        .fetchedRecordZoneChanges(
            .init(modifications: [.init(record: stored(tags, version: version))], deletions: []))
    }

    private static func sent(saved: [CKRecord] = [], failed: [(CKRecord, CKError)] = []) -> CKSyncEngine.Event {
        .sentRecordZoneChanges(
            .init(
                savedRecords: saved, failedRecordSaves: failed.map { .init(record: $0.0, error: $0.1) },
                deletedRecordIDs: [], failedRecordDeletes: [:]))
    }

    private static func account(_ change: CKSyncEngine.Event.AccountChange.ChangeType) -> CKSyncEngine.Event {
        .accountChange(.init(changeType: change))
    }

    private static let deletion = CKSyncEngine.Event.fetchedRecordZoneChanges(
        .init(modifications: [], deletions: [.init(recordID: id, recordType: "Note")]))

    /// Alice's, with an edit that was handed out and one that was not.
    private static func edited() throws -> App {
        var app = App()
        app.handle(account(.signIn(currentUser: alice)))
        app.handle(fetched(["server"], version: 1))
        app.tag("sent")
        try app.handOut()
        app.tag("unsent")
        return app
    }

    private static func conflict() -> CKSyncEngine.Event {
        let client = stored(["server", "sent"], version: 1)
        let server = stored(["server", "elsewhere"], version: 2)
        return sent(failed: [(client, CKError(serverRecordChanged: server, client: client))])
    }

    /// What may come while the data cannot be read, by name.
    private static func histories() -> [(name: String, events: [CKSyncEngine.Event])] {
        [
            ("somebody's edit", [fetched(["server", "elsewhere"], version: 2)]),
            ("what was sent without an answer", [fetched(["server", "sent"], version: 2)]),
            ("a conflict", [conflict()]),
            ("the answer", [sent(saved: [stored(["server", "sent"], version: 2)])]),
            (
                "the answer, and an edit on top of it",
                [
                    sent(saved: [stored(["server", "sent"], version: 2)]),
                    fetched(["server", "sent", "elsewhere"], version: 3),
                ]
            ),
            ("an edit twice", [fetched(["server", "b"], version: 2), fetched(["server", "b", "c"], version: 3)]),
            ("a sign-out", [account(.signOut(previousUser: alice))]),
            (
                "others",
                [
                    account(.switchAccounts(previousUser: alice, currentUser: bob)), fetched(["bob"], version: 9),
                ]
            ),
            (
                "others and back",
                [
                    account(.signOut(previousUser: alice)), account(.signIn(currentUser: bob)),
                    fetched(["bob"], version: 9), account(.switchAccounts(previousUser: bob, currentUser: alice)),
                    fetched(["server", "elsewhere"], version: 2),
                ]
            ),
        ]
    }

    @Test(arguments: histories().map(\.name), [false, true])
    func `R-646: what comes while the app's data cannot be read ends as if it could`(name: String, dies: Bool) throws {
        let events = Self.histories().first { $0.name == name }?.events ?? []
        var (app, other) = (try Self.edited(), try Self.edited())
        for event in events { other.handle(event) }
        app.isReadable = false
        for event in events + [Self.nothing] {
            #expect(app.handle(event).steps.isEmpty)
            #expect(app.tags == ["server", "sent", "unsent"] && app.state.unsentIDs == [Self.id])
        }
        // An engine that begins tells again what came after the state that is stored: the change of account, and what follows.
        let isToldAgain = app.state.isDelayed
        if dies { try app.restart() }
        app.isReadable = true
        if dies, isToldAgain { for event in events { app.handle(event) } }
        app.handle(Self.nothing)
        #expect(app.summary == other.summary)
    }

    /// Then what waits and what comes have their steps in one go, and the app has not done the first when the second is planned.
    @Test(arguments: histories().map(\.name))
    func `R-646: what waits is done before the event that finds the data readable`(name: String) throws {
        var events = Self.histories().first { $0.name == name }?.events ?? []
        if events.count == 1 { events.append(Self.fetched(["server", "elsewhere", "more"], version: 3)) }
        var (app, other) = (try Self.edited(), try Self.edited())
        for event in events { other.handle(event) }
        for (number, event) in events.enumerated() {
            app.isReadable = number == events.count - 1
            app.handle(event)
        }
        #expect(app.summary == other.summary)
    }

    @Test(arguments: [false, true])
    func `R-646: an edit whose values could not be read is dropped only when there is no such record`(isGone: Bool) {
        var app = App()
        app.handle(Self.fetched(["server"], version: 1))
        app.tag("unsent")
        // The batch was told that there is none: it may have been asked between two steps of the app's.
        app.state.valuesAreMissing(Self.id)
        app.isReadable = false
        for _ in 0..<3 { #expect(app.handle(Self.nothing).steps.isEmpty) }
        #expect(app.state.pendingChange(of: Self.id) == .saveRecord(Self.id))
        app.isReadable = true
        if isGone { app.tags = nil }
        app.handle(Self.nothing)
        #expect(app.tags == (isGone ? ["server"] : ["server", "unsent"]))
        #expect(app.state.unsentIDs == (isGone ? [] : [Self.id]))
    }

    /// What somebody had written into a record that was deleted then goes with it, as for whoever hears of both at once.
    @Test func `R-642, R-646: an edit that cannot be read outlives a deletion`() throws {
        var app = try Self.edited()
        app.isReadable = false
        for event in [Self.fetched(["server", "elsewhere"], version: 2), Self.deletion] {
            #expect(app.handle(event).steps.isEmpty)
        }
        app.isReadable = true
        app.handle(Self.nothing)
        #expect(app.tags == ["server", "sent", "unsent"])
        #expect(app.state.pendingChange(of: Self.id) == .saveRecord(Self.id))
        #expect(app.state.entries[Self.id]?.draft(of: Self.id).recordChangeTag == nil)
    }

    @Test func `R-642, R-646: what waits to be merged is what comes instead of an edit that is given up`() throws {
        var app = try Self.edited()
        app.isReadable = false
        app.handle(Self.fetched(["server", "elsewhere"], version: 2))
        var gone = app
        app.take(app.state.discard([Self.id]))
        #expect(app.tags == ["server", "elsewhere"] && app.state.unsentIDs.isEmpty)
        // A deletion that had not heard of it gives way, as ever.
        gone.delete()
        gone.isReadable = true
        gone.handle(Self.nothing)
        #expect(gone.tags == ["server", "elsewhere"] && gone.state.unsentIDs.isEmpty)
    }

    @Test func `R-643, R-646: nothing of who is gone is pending until their edits could be set aside`() throws {
        var app = try Self.edited()
        app.isReadable = false
        let plan = app.handle(Self.account(.switchAccounts(previousUser: Self.alice, currentUser: Self.bob)))
        #expect(plan.steps.isEmpty && plan.touched.isEmpty && !plan.isNewAccount && app.state.isDelayed)
        // The engine's state of then is not stored, so that an engine that begins hears of the change again.
        let update = CKSyncEngine.Event.StateUpdate(stateSerialization: .init(snapshot: .init(deviceIdentity: [])))
        app.handle(.stateUpdate(update))
        #expect(app.state.engineState == nil && app.state.owner == "_a")
        app.isReadable = true
        #expect(app.handle(Self.nothing).isNewAccount)
        #expect(app.tags == nil && app.state.owner == "_b" && app.state.engineState != nil && !app.state.isDelayed)
        app.handle(Self.account(.switchAccounts(previousUser: Self.bob, currentUser: Self.alice)))
        #expect(app.tags == ["server", "sent", "unsent"])
        #expect(app.state.pendingChange(of: Self.id) == .saveRecord(Self.id))
    }
}
