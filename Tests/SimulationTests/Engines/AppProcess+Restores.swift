// SPDX-License-Identifier: Apache-2.0

import TidemarkKit

/// What the app does when the store is another one: nothing that it has is undone, and nothing is deleted that nobody
/// deleted. What comes is merged as always.
extension AppProcess {
    func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {
        await takeTime()
        guard isAlive else { return }
        world.note("app \(app.number): \(event)")
        app.disk.fetched.take(event)
        switch event {
        case .willFetchFromNothing: break
        case .didFetchFromNothing(let fetch):
            let known = app.disk.ids.filter { app.disk.notes[$0]?.base != nil }
            let absent = fetch.recordIDsNotFetched(among: known)
            // A zone that was made anew has another feed.
            let isAnew = fetch.zoneID == SimulatedApp.scratch && fetch.reason == .deletionsForgotten
            if isAnew { drop(absent) } else { saveAgain(absent, fetch.reason) }
        case .didFetchZonesFromNothing(let list):
            let known = Set(app.disk.ids.map(\.zoneID)).union(
                SimulatedWorld.zoneNames.map { CKRecordZone.ID(zoneName: $0) })
            for zoneID in list.zoneIDsNotFetched(among: known.sorted { $0.zoneName < $1.zoneName }) {
                makeAgain(zoneID, list.reason)
            }
        }
        judgeQueue(syncEngine)
        await takeTime()
    }

    private func makeAgain(_ zoneID: CKRecordZone.ID, _ reason: TidemarkFullFetch.Reason) {
        if zoneID == SimulatedApp.scratch, app.disk.isScratchUnwanted { return forgetZone(zoneID) }
        add([.saveZone(CKRecordZone(zoneID: zoneID))])
        saveAgain(app.disk.ids.filter { $0.zoneID == zoneID }, reason)
    }

    private func saveAgain(_ ids: [CKRecord.ID], _ reason: TidemarkFullFetch.Reason) {
        if reason != .anotherLife { world.history.accuse("I-1: app \(app.number): deletions are forgotten") }
        if world.planted == .absenceTakenForDeletion { return drop(ids) }
        for id in ids {
            app.disk.notes[id]?.base = nil
            app.disk.notes[id]?.isDirty = true
        }
        // Who made them may have deleted them since.
        world.history.copied(drafts: ids.map(\.recordName))
        add(ids.map { .saveRecord($0) })
    }

    private func drop(_ ids: [CKRecord.ID]) {
        for id in ids { app.disk.notes[id] = nil }
    }
}
