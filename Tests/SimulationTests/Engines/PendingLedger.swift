// SPDX-License-Identifier: Apache-2.0

@testable import TidemarkKit

/// What an app has entrusted to its engine and has not been told the outcome of: none of it may leave the engine's queue.
struct PendingLedger {
    /// When each change was added, by the count of additions; the change itself.
    private var records: [CKRecord.ID: (change: CKSyncEngine.PendingRecordZoneChange, at: Int)] = [:]
    private var zones: [CKRecordZone.ID: CKSyncEngine.PendingDatabaseChange] = [:]
    private var additionCount = 0
    /// How many additions there were when the engine last asked for a batch: what came later is not in it.
    private var askedAt = 0

    // MARK: What the app does

    mutating func add(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        additionCount += 1
        for change in changes { records[change.recordID] = (change, additionCount) }
    }

    mutating func add(_ changes: [CKSyncEngine.PendingDatabaseChange]) {
        for change in changes { zones[change.zoneID] = change }
    }

    mutating func remove(_ changes: [CKSyncEngine.PendingRecordZoneChange]) {
        for change in changes where records[change.recordID]?.change == change { records[change.recordID] = nil }
    }

    // MARK: What the engine does

    mutating func batchAsked() {
        askedAt = additionCount
    }

    /// All that was pending was for somebody who is gone.
    mutating func accountChanged() {
        (records, zones) = ([:], [:])
    }

    /// The event said what became of them. What was added while they were under way is still to be sent.
    mutating func told(_ ids: some Sequence<CKRecord.ID>) {
        for id in ids where records[id].map({ $0.at <= askedAt }) == true { records[id] = nil }
    }

    mutating func told(_ ids: some Sequence<CKRecordZone.ID>) {
        for id in ids { zones[id] = nil }
    }

    /// What is neither pending nor under way. To be asked when the app has handled all events: between a change's end and
    /// its event it is nowhere.
    func missing(in engine: CKSyncEngine) -> [String] {
        let kept = engine.driver.read { snapshot in
            (
                Set(snapshot.pendingRecords.elements + snapshot.inFlightRecords),
                Set((snapshot.pendingZones.elements + snapshot.inFlightZones).map(\.zoneID))
            )
        }
        let lostRecords = records.values.map(\.change).filter { !kept.0.contains($0) }.map(\.description)
        let lostZones = zones.keys.filter { !kept.1.contains($0) }.map(\.zoneName)
        return (lostRecords + lostZones).sorted()
    }
}
