// SPDX-License-Identifier: Apache-2.0

import TidemarkKit
import TidemarkScheduling
import TidemarkTestSupport

/// What an engine asks of a server, with one ``PlantedFault`` in between.
final class PlantedCloud: SyncEngineCloud {
    private let base: any SyncEngineCloud
    private let fault: PlantedFault

    private init(_ base: any SyncEngineCloud, _ fault: PlantedFault) {
        self.base = base
        self.fault = fault
    }

    static func host(of database: CKDatabase, _ fault: PlantedFault) -> SyncEngineHost {
        let host = database.syncEngineHost
        return SyncEngineHost(scheduler: host.scheduler) { identity, returningUser in
            PlantedCloud(host.makeCloud(identity, returningUser), fault)
        }
    }

    var storeLife: UInt64? { base.storeLife }

    // MARK: Where faults are made

    func databaseChanges(
        since token: CKServerChangeToken?, expecting place: SyncEngineZonePlace?, asPushed: Bool,
        for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineDatabasePage {
        var page = try await base.databaseChanges(
            since: token, expecting: place, asPushed: asPushed, for: user)
        if fault == .zoneEndsUntold || fault == .endOfAccessUntold { page.deletions = [] }
        return page
    }

    func zoneChanges(
        in zoneID: CKRecordZone.ID, since token: CKServerChangeToken?, asOfFeed: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZonePage {
        var page = try await base.zoneChanges(in: zoneID, since: token, asOfFeed: asOfFeed, for: user)
        if fault == .moreComingForgotten { page.moreComing = false }
        return page
    }

    func inventory(
        of zoneID: CKRecordZone.ID, listingAfter name: String?, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineInventory {
        try await base.inventory(of: zoneID, listingAfter: name, for: user)
    }

    func modifyRecords(
        saving records: [CKRecord], deleting recordIDs: [CKRecord.ID], atomicByZone: Bool, for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineRecordResults {
        var results = SyncEngineRecordResults()
        do throws(CKError) {
            results = try await base.modifyRecords(
                saving: records, deleting: recordIDs, atomicByZone: fault != .atomicityForgotten && atomicByZone,
                for: user)
        } catch {
            let isFinal = fault == .unknownOutcomeTakenForFinal && error.code == .serverResponseLost
            throw isFinal ? CKError(.serverRejectedRequest) : error
        }
        for record in records {
            guard case .failure(let error)? = results.saves[record.recordID], isTakenForSuccess(error) else { continue }
            results.saves[record.recordID] = .success(record)
        }
        return results
    }

    private func isTakenForSuccess(_ error: CKError) -> Bool {
        switch fault {
        case .conflictTakenForSuccess: error.code == .serverRecordChanged
        case .refusalTakenForSuccess: error.code == .permissionFailure
        default: false
        }
    }

    func modifyZones(
        saving zones: [CKRecordZone], deleting zoneIDs: [CKRecordZone.ID], for user: CKRecord.ID
    ) async throws(CKError) -> SyncEngineZoneResults {
        guard fault == .leavingForgotten, !zoneIDs.isEmpty else {
            return try await base.modifyZones(saving: zones, deleting: zoneIDs, for: user)
        }
        let done = zoneIDs.map { ($0, Result<Void, CKError>.success(())) }
        return SyncEngineZoneResults(deletes: Dictionary(uniqueKeysWithValues: done))
    }

    // MARK: Where none are made

    func setObserver(_ observer: any SyncEngineCloudObserver) { base.setObserver(observer) }

    func currentUser() async throws(CKError) -> CKRecord.ID? { try await base.currentUser() }

    func ensureSubscription(id: CKSubscription.ID?, for user: CKRecord.ID) async throws(CKError) -> CKSubscription.ID {
        try await base.ensureSubscription(id: id, for: user)
    }

    func close() { base.close() }
}
