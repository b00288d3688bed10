// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Synchronization
import Testing
import TidemarkTestKit

/// Two accounts of one cloud, of which one shares a zone with the other.
@Suite(.timeLimit(.minutes(10))) struct TestAccountSharingTests {
    private let cloud = TestCloud()
    private let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private var alice: TestAccount { cloud.account("alice") }
    private var bob: TestAccount { cloud.account("bob") }

    private func id(_ name: String, in zoneID: CKRecordZone.ID) -> CKRecord.ID {
        CKRecord.ID(recordName: name, zoneID: zoneID)
    }

    private func note(_ name: String, in zoneID: CKRecordZone.ID, _ text: String) -> CKRecord {
        let note = CKRecord(recordType: "Note", recordID: id(name, in: zoneID))
        note["text"] = text
        return note
    }

    private func code(_ work: () async throws -> Void) async -> CKError.Code? {
        do {
            try await work()
            return nil
        } catch { return (error as? CKError)?.code }
    }

    private func share() async throws -> CKShare? {
        try await alice.database.record(for: id(CKRecordNameZoneWideShare, in: zoneID)) as? CKShare
    }

    @Test func `R-318, R-320, R-323: a zone is shared by one call, and both edit it`() async throws {
        let shared = try await alice.share(zoneID, with: bob)
        #expect(shared.zoneName == "Notes" && shared.ownerName != CKCurrentUserDefaultName)
        try await alice.database.save(note("a", in: zoneID, "of alice"))
        let found = try await bob.sharedDatabase.record(for: id("a", in: shared))
        #expect(found["text"] as? String == "of alice")
        found["text"] = "of bob"
        try await bob.sharedDatabase.save(found)
        #expect(try await alice.database.record(for: id("a", in: zoneID))["text"] as? String == "of bob")
    }

    @Test func `R-311, R-323: to share again changes the permission, or adds somebody`() async throws {
        let shared = try await alice.share(zoneID, with: bob)
        let carol = cloud.account("carol")
        #expect(try await alice.share(zoneID, with: carol) == shared)
        #expect(try await share()?.participants.count == 3)
        #expect(try await alice.share(zoneID, with: bob, permission: .readOnly) == shared)
        #expect(try await share()?.participants.count == 3)
        let refused = await code { try await bob.sharedDatabase.save(note("b", in: shared, "of bob")) }
        #expect(refused == .permissionFailure)
        try await carol.sharedDatabase.save(note("c", in: shared, "of carol"))
    }

    @Test func `R-302, R-303, R-318, R-323: a record is shared with what is below it by one call, and both edit it`()
        async throws
    {
        try await alice.database.save(CKRecordZone(zoneID: zoneID))
        let item = note("item", in: zoneID, "milk")
        item.setParent(id("list", in: zoneID))
        let records = [note("list", in: zoneID, "food"), item, note("other", in: zoneID, "secret")]
        _ = try await alice.database.modifyRecords(saving: records, deleting: [])
        let shared = try await alice.share(root: id("list", in: zoneID), with: bob)
        #expect(shared.recordName == "list" && shared.zoneID.ownerName != CKCurrentUserDefaultName)
        let found = try await bob.sharedDatabase.record(for: id("item", in: shared.zoneID))
        found["text"] = "oat milk"
        try await bob.sharedDatabase.save(found)
        #expect(try await alice.database.record(for: item.recordID)["text"] as? String == "oat milk")
        let hidden = await code { _ = try await bob.sharedDatabase.record(for: id("other", in: shared.zoneID)) }
        #expect(hidden == .unknownItem)
        // The share that is there gets one more participant, and another permission.
        let carol = cloud.account("carol")
        #expect(try await alice.share(root: id("list", in: zoneID), with: carol, permission: .readOnly) == shared)
        #expect(try await alice.share(root: id("list", in: zoneID), with: bob, permission: .readOnly) == shared)
        for guest in [bob, carol] {
            let list = try await guest.sharedDatabase.record(for: shared)
            list["text"] = "mine"
            #expect(await code { try await guest.sharedDatabase.save(list) } == .permissionFailure)
        }
        let inner = await code { try await alice.share(root: item.recordID, with: bob) }
        #expect(inner == .alreadyShared)
        let missing = await code { try await alice.share(root: id("nothing", in: zoneID), with: bob) }
        #expect(missing == .unknownItem)
    }

    @Test func `R-317: an invitation is no access, and an app joins by its URL`() async throws {
        let url = try await alice.invite(bob, to: zoneID)
        #expect(try await bob.sharedDatabase.allRecordZones().isEmpty)
        let container = bob.device("phone").container
        let metadata = try await container.shareMetadata(for: url)
        #expect(metadata.participantStatus == .pending && metadata.participantPermission == .readWrite)
        try await container.accept(metadata)
        #expect(try await bob.sharedDatabase.allRecordZones().count == 1)
    }

    @Test func `R-779: a test names its accounts, and a new name is there when the share is fetched`() async throws {
        func names() async throws -> [String?] {
            (try await share()?.participants ?? []).map { $0.userIdentity.nameComponents?.givenName }
        }
        try await alice.share(zoneID, with: bob)
        #expect(try await names() == [nil, nil])
        alice.setName(given: "Alice", family: "Liddell")
        bob.setName(given: "Bob", family: nil)
        #expect(try await names() == ["Alice", "Bob"])
        bob.setName(given: nil, family: nil)
        try await cloud.settle()
        let backup = cloud.backUp()
        bob.setName(given: "Robert", family: nil)
        cloud.restore(backup)
        try await cloud.settle()
        #expect(try await names() == ["Alice", "Robert"], "accounts stay as they are")
    }

    @Test func `R-067, R-220: an end-to-end encrypted account stays so when a backup is restored`() async throws {
        let phone = alice.device("phone").container
        try await alice.share(zoneID, with: bob)
        try await cloud.settle()
        let backup = cloud.backUp()
        alice.encryptEndToEnd()
        let key = try await phone.exportRecoveryKey()
        try await cloud.settle()
        cloud.restore(backup)
        try await cloud.settle()
        #expect(try await phone.exportRecoveryKey() == key)
    }

    @Test func `R-157, R-317: whoever loses the answer to their acceptance has joined, once`() async throws {
        let url = try await alice.invite(bob, to: zoneID)
        let phone = bob.device("phone")
        let metadata = try await phone.container.shareMetadata(for: url)
        phone.loseNextAnswer()
        let accepted = try await phone.container.accept(metadata)
        #expect(phone.lostAnswerCount == 1 && accepted.currentUserParticipant?.acceptanceStatus == .accepted)
        #expect(try await share()?.participants.map(\.acceptanceStatus) == [.accepted, .accepted])
    }

    @Test func `R-317: an acceptance outlives cut connections and a server that restarts`() async throws {
        let url = try await alice.invite(bob, to: zoneID)
        let phone = bob.device("phone")
        let metadata = try await phone.container.shareMetadata(for: url)
        async let accepted = phone.container.accept(metadata)
        phone.cutConnections()
        cloud.restartServer()
        let joined = try await accepted
        #expect(joined.currentUserParticipant?.acceptanceStatus == .accepted)
        #expect(try await share()?.participants.count == 2)
    }

    @Test func `R-373: nobody joins offline, and afterwards everybody can`() async throws {
        let url = try await alice.invite(bob, to: zoneID)
        let phone = bob.device("phone")
        let metadata = try await phone.container.shareMetadata(for: url)
        phone.goOffline()
        let refused = await code { try await phone.container.accept(metadata) }
        #expect(refused == .networkUnavailable || refused == .networkFailure)
        #expect(try await share()?.participants.last?.acceptanceStatus == .pending)
        phone.goOnline()
        try await phone.container.accept(metadata)
        #expect(try await share()?.participants.last?.acceptanceStatus == .accepted)
    }

    @Test func `R-307: nobody is invited to a public share, and whoever gets its URL joins`() async throws {
        let url = try await alice.invite(bob, to: zoneID)
        let share = try #require(try await share())
        share.publicPermission = .readOnly
        try await alice.database.save(share)
        #expect(try await alice.invite(bob, to: zoneID) == url)
        let shared = try await alice.share(zoneID, with: bob)
        let refused = await code { try await bob.sharedDatabase.save(note("b", in: shared, "of bob")) }
        #expect(refused == .permissionFailure)
    }

    @Test func `F-23, R-328, R-523: edits without access are told once, and an engine that syncs by itself rests`()
        async throws
    {
        let shared = try await alice.share(zoneID, with: bob)
        let phone = bob.device("phone")
        let app = NotesEditor(phone.container.sharedCloudDatabase)
        try await cloud.settle()
        phone.goOffline()
        app.write((0..<100).map { id("n\($0)", in: shared) })
        try await cloud.settle()
        let share = try #require(try await share())
        for person in share.participants where person.role != .owner { share.removeParticipant(person) }
        try await alice.database.save(share)
        phone.goOnline()
        try await cloud.run { app.failures.count == 100 }
        try await cloud.settle()
        let askCount = app.askCount
        #expect(app.pendingCount == 0)
        try await cloud.clock.advance(by: .seconds(3_600))
        #expect(app.failures.values.allSatisfy { $0 == [.zoneNotFound] })
        #expect(app.askCount == askCount, "nothing is sent any more")
        let page = try await alice.database.recordZoneChanges(inZoneWith: zoneID, since: nil)
        #expect(page.modificationResultsByID.keys.map(\.recordName) == [CKRecordNameZoneWideShare])
    }
}

/// An app that saves notes, and hears which could not be saved.
private final class NotesEditor: CKSyncEngineDelegate, Sendable {
    private struct State {
        var engine: CKSyncEngine?
        var askCount = 0
        var failures: [CKRecord.ID: [CKError.Code]] = [:]
    }

    private let state = Mutex(State())

    init(_ database: CKDatabase) {
        let configuration = CKSyncEngine.Configuration(database: database, stateSerialization: nil, delegate: self)
        let engine = CKSyncEngine(configuration)
        state.withLock { $0.engine = engine }
    }

    private var engine: CKSyncEngine? { state.withLock { $0.engine } }
    /// How often the engine wanted to send something.
    var askCount: Int { state.withLock { $0.askCount } }
    var failures: [CKRecord.ID: [CKError.Code]] { state.withLock { $0.failures } }
    var pendingCount: Int { engine?.state.pendingRecordZoneChanges.count ?? 0 }

    func write(_ ids: [CKRecord.ID]) {
        engine?.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        state.withLock { $0.askCount += 1 }
        let pending = syncEngine.state.pendingRecordZoneChanges.filter { context.options.scope.contains($0) }
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: pending) {
            CKRecord(recordType: "Note", recordID: $0)
        }
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard case .sentRecordZoneChanges(let sent) = event else { return }
        state.withLock { state in
            for failure in sent.failedRecordSaves {
                state.failures[failure.record.recordID, default: []].append(failure.error.code)
            }
        }
    }
}
