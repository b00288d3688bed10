// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit

/// What the article *Seeing what sync does* promises.
@Suite struct SyncMonitorTests {
    private let cloud = TestCloud()
    private let zone = CKRecordZone(zoneName: "Notes")

    private final class Notes: CKSyncEngineDelegate {
        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

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
