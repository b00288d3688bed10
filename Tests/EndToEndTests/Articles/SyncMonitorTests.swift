// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit

/// What the article *Seeing what sync does* promises.
@Suite struct SyncMonitorTests {
    private let cloud = TestCloud()
    private let zone = CKRecordZone(zoneName: "Notes")

    private actor Notes: TidemarkSyncEngineDelegate {
        private(set) var tags: [CKRecord.ID: String] = [:]
        var ids: Set<CKRecord.ID> { Set(tags.keys) }
        /// Records that came because of a resync.
        private(set) var resyncCount = 0

        /// A fault of the disk.
        func lose(_ id: CKRecord.ID) { tags[id] = nil }
        func invent(_ id: CKRecord.ID, _ tag: String = "?") { tags[id] = tag }

        private func store(_ records: [CKRecord]) {
            for record in records { tags[record.recordID] = record.recordChangeTag }
        }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            switch event {
            case .sentRecordZoneChanges(let sent): store(sent.savedRecords)
            case .fetchedRecordZoneChanges(let changes):
                store(changes.modifications.map(\.record))
                for deletion in changes.deletions { tags[deletion.recordID] = nil }
                if changes.isResync { resyncCount += changes.modifications.count }
            case .didFetchRecordZoneChanges(let end):
                for id in end.deletedRecordIDs(among: Array(ids)) { tags[id] = nil }
            default: break
            }
        }

        func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {}

        func heldChangeTags(in zoneID: CKRecordZone.ID, syncEngine: CKSyncEngine) async -> [CKRecord.ID: String]? {
            tags.filter { $0.key.zoneID == zoneID }
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            await .init(pendingChanges: syncEngine.state.pendingRecordZoneChanges) { id in
                CKRecord(recordType: "Note", recordID: id)
            }
        }
    }

    private func engine(on device: TestDevice, _ delegate: Notes) -> CKSyncEngine {
        CKSyncEngine(
            .init(database: device.container.privateCloudDatabase, stateSerialization: nil, delegate: delegate))
    }

    private func addNote(_ name: String, to engine: CKSyncEngine) {
        engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        engine.state.add(
            pendingRecordZoneChanges: [.saveRecord(CKRecord.ID(recordName: name, zoneID: zone.zoneID))])
    }

    @Test func `R-840: a user reads why nothing moves, and that all is well again`() async throws {
        let device = cloud.account("alice").device("phone")
        let notes = Notes()
        let engine = engine(on: device, notes)
        try await cloud.settle()
        #expect(engine.status.line == "Up to date" && engine.status.lastFetched != nil)
        device.goOffline()
        addNote("1", to: engine)
        try await cloud.settle()
        #expect(engine.status.line == "No connection: changes are sent later")
        #expect(engine.status.pendingSaveCount == 1)
        device.goOnline()
        try await cloud.settle()
        #expect(engine.status.line == "Up to date" && engine.status.lastSent != nil)
        device.signOut()
        try await cloud.settle()
        #expect(engine.status.line == "Sign in to sync")
        withExtendedLifetime(notes) {}
    }

    @Test func `R-842: a resync mends what a device has lost, or has too much, and sends what it has not sent`()
        async throws
    {
        let notes = Notes()
        let engine = engine(on: cloud.account("alice").device("phone"), notes)
        for name in ["1", "2"] { addNote(name, to: engine) }
        try await cloud.settle()
        // A zone that was never fetched has nothing to be fetched again.
        try await engine.fetchChanges()
        func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone.zoneID) }
        await notes.lose(id("1"))
        await notes.invent(id("3"))
        addNote("4", to: engine)
        try await engine.resync(zone.zoneID)
        try await cloud.settle()
        #expect(await notes.ids == [id("1"), id("2"), id("4")])
        #expect(await notes.resyncCount >= 2)
        #expect(engine.status.pendingSaveCount == 0)
        await notes.lose(id("2"))
        try await engine.resync()
        #expect(await notes.ids.count == 3)
    }

    @Test func `R-845: what differs is named, and a resync mends it`() async throws {
        let notes = Notes()
        let engine = engine(on: cloud.account("alice").device("phone"), notes)
        for name in ["1", "2", "3"] { addNote(name, to: engine) }
        try await cloud.settle()
        func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zone.zoneID) }
        let same = try await engine.verify(zone.zoneID)
        #expect(same.isEqual && same.serverRecordCount == 3 && same.pending.isEmpty)

        let old = await notes.tags[id("2")]
        // Another device changes 3, and this one hears of it.
        let tablet = cloud.account("alice").device("tablet").container.privateCloudDatabase
        let third = try await tablet.record(for: id("3"))
        third["text"] = "changed"
        try await tablet.save(third)
        try await cloud.settle()
        #expect(try await engine.verify(zone.zoneID).isEqual)

        await notes.lose(id("1"))
        await notes.invent(id("3"), try #require(old))
        await notes.invent(id("9"))
        let found = try await mend(zone.zoneID, with: engine)
        #expect(found.missingHere == [id("1")] && found.missingThere == [id("9")] && found.different == [id("3")])
        #expect(await notes.ids == [id("1"), id("2"), id("3")])
        #expect(try await engine.verify(zone.zoneID).isEqual)
    }

    @Test func `R-845: what is still to be sent differs apart, and who says nothing is told so`() async throws {
        let device = cloud.account("alice").device("phone")
        let notes = Notes()
        var configuration = CKSyncEngine.Configuration(
            database: device.container.privateCloudDatabase, stateSerialization: nil, delegate: notes)
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        addNote("1", to: engine)
        try await engine.sendChanges()
        // The first fetch of a zone brings what the device itself has sent.
        try await engine.fetchChanges()
        let id = CKRecord.ID(recordName: "1", zoneID: zone.zoneID)
        // Deleted by the app, and not sent yet.
        await notes.lose(id)
        engine.state.add(pendingRecordZoneChanges: [.deleteRecord(id)])
        let found = try await engine.verify(zone.zoneID)
        #expect(found.isEqual && found.pending == [id] && found.serverRecordCount == 1)

        let silent = Silent()
        configuration.delegate = silent
        let other = CKSyncEngine(configuration)
        let refused = await #expect(throws: CKError.self) { _ = try await other.verify(zone.zoneID) }
        #expect(refused?.code == .invalidArguments)
        await #expect(throws: CKError.self) { _ = try await engine.verify(CKRecordZone.default().zoneID) }
        device.goOffline()
        await #expect(throws: CKError.self) { _ = try await engine.verify(zone.zoneID) }
        withExtendedLifetime((notes, silent)) {}
    }

    /// A delegate as CloudKit has it.
    private final class Silent: CKSyncEngineDelegate {
        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
    }

    @Test func `R-841: who follows the status is told when the note is sent`() async throws {
        let notes = Notes()
        let engine = engine(on: cloud.account("alice").device("phone"), notes)
        try await cloud.settle()
        addNote("1", to: engine)
        // Ends when the server has the note.
        for await status in engine.statuses where status.isUpToDate && status.lastSent != nil { break }
        #expect(engine.status.pendingSaveCount == 0)
        withExtendedLifetime(notes) {}
    }
}
