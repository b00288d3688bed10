// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit

/// What the article *Seeing what sync does* promises.
@Suite struct SyncMonitorTests {
    private let cloud = TestCloud()
    private let zone = CKRecordZone(zoneName: "Notes")

    private actor Notes: CKSyncEngineDelegate {
        private(set) var ids: Set<CKRecord.ID> = []
        /// Records that came because of a resync.
        private(set) var resyncCount = 0

        /// A fault of the disk.
        func lose(_ id: CKRecord.ID) { ids.remove(id) }
        func invent(_ id: CKRecord.ID) { ids.insert(id) }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            switch event {
            case .sentRecordZoneChanges(let sent): ids.formUnion(sent.savedRecords.map(\.recordID))
            case .fetchedRecordZoneChanges(let changes):
                ids.formUnion(changes.modifications.map(\.record.recordID))
                if changes.isResync { resyncCount += changes.modifications.count }
            case .didFetchRecordZoneChanges(let end): ids.subtract(end.deletedRecordIDs(among: Array(ids)))
            default: break
            }
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
    }

    @Test func `R-842: a resync mends what a device has lost, or has too much, and sends what it has not sent`() async throws {
        let notes = Notes()
        let engine = engine(on: cloud.account("alice").device("phone"), notes)
        for name in ["1", "2"] { addNote(name, to: engine) }
        try await cloud.settle()
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

    @Test func `R-841: who follows the status is told when the note is sent`() async throws {
        let notes = Notes()
        let engine = engine(on: cloud.account("alice").device("phone"), notes)
        try await cloud.settle()
        addNote("1", to: engine)
        // Ends when the server has the note.
        for await status in engine.statuses where status.isUpToDate && status.lastSent != nil { break }
        #expect(engine.status.pendingSaveCount == 0)
    }
}
