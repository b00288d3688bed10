// SPDX-License-Identifier: Apache-2.0

import CloudKit
import TidemarkTestKit

/// A delegate that handles events on the main actor, where nothing of the cloud runs.
@MainActor final class Screen: CKSyncEngineDelegate {
    private(set) var zoneNames: [String] = []
    private var engine: CKSyncEngine?

    init(on device: TestDevice) {
        engine = CKSyncEngine(
            CKSyncEngine.Configuration(
                database: device.container.privateCloudDatabase, stateSerialization: nil, delegate: self))
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        guard case .fetchedDatabaseChanges(let changes) = event else { return }
        zoneNames += changes.modifications.map(\.zoneID.zoneName)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}
