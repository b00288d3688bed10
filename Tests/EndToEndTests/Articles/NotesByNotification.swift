// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The app of before `CKSyncEngine`: it fetches by tokens of its own when a notification tells it to.
actor NotesByNotification {
    private(set) var names: Set<String> = []
    private(set) var fetchCount = 0
    private var token: CKServerChangeToken?
    private let container: CKContainer
    private let zoneID = CKRecordZone.ID(zoneName: "Notes")

    init(container: CKContainer) {
        self.container = container
    }

    func start() async throws {
        let database = container.privateCloudDatabase
        _ = try await database.save(CKRecordZone(zoneID: zoneID))
        _ = try await database.save(CKDatabaseSubscription(subscriptionID: "notes"))
        let notes = self
        container.handleRemoteNotifications { userInfo in
            guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else { return }
            await notes.fetchChanges(after: notification)
        }
    }

    func fetchChanges(after notification: CKNotification) async {
        guard notification.subscriptionID == "notes" else { return }
        fetchCount += 1
        var isMoreComing = true
        while isMoreComing {
            let database = container.privateCloudDatabase
            guard let page = try? await database.recordZoneChanges(inZoneWith: zoneID, since: token) else { return }
            names.formUnion(page.modificationResultsByID.keys.map(\.recordName))
            names.subtract(page.deletions.map(\.recordID.recordName))
            (token, isMoreComing) = (page.changeToken, page.moreComing)
        }
    }
}
