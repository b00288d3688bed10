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
        case .willFetchFromNothing(let zoneID, let reason): lose(zoneID, reason)
        case .didFetchFromNothing(let fetch):
            let known = app.disk.ids.filter { app.disk.notes[$0]?.base != nil }
            let absent = fetch.recordIDsNotFetched(among: known)
            if fetch.isResync, fetch.reason == .deletionsForgotten, fetch.zoneID != SimulatedApp.scratch {
                // Others have deleted drafts of theirs.
                for id in absent { recordEnded(id) }
                break
            }
            // A zone that was made anew has another feed.
            let isAnew = fetch.zoneID == SimulatedApp.scratch && fetch.reason == .deletionsForgotten
            if isAnew { drop(absent) } else { saveAgain(absent, fetch.reason) }
        case .didFetchZonesFromNothing(let list) where list.reason == .deletionsForgotten:
            // After a resync. What has ended is told as that.
            let absent = list.zoneIDsNotFetched(among: SimulatedWorld.zoneNames.map { CKRecordZone.ID(zoneName: $0) })
            if absent.contains(where: { zoneID in app.disk.ids.contains { $0.zoneID == zoneID && hasBase($0) } }) {
                world.history.accuse("I-1: app \(app.number): a zone is not listed")
            }
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

    /// before the engine tells the app to drop anything, it has told a state that knows of the resync.
    func losesAtResync(in zoneID: CKRecordZone.ID?) {
        zonesToLose.formUnion(zoneID.map { [$0] } ?? SimulatedWorld.zoneNames.map { CKRecordZone.ID(zoneName: $0) })
    }

    private func lose(_ zoneID: CKRecordZone.ID, _ reason: TidemarkFullFetch.Reason) {
        guard zonesToLose.remove(zoneID) != nil, reason == .deletionsForgotten else { return }
        for id in app.disk.ids where id.zoneID == zoneID && hasBase(id) && app.disk.notes[id]?.isDirty == false {
            app.disk.notes[id] = nil
        }
    }

    private func hasBase(_ id: CKRecord.ID) -> Bool { app.disk.notes[id]?.base != nil }

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
