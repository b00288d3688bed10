// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The app of before `CKSyncEngine`: it fetches by tokens of its own when a notification tells it to.
actor NotesByNotification {
    private(set) var names: Set<String> = []
    private(set) var fetchCount = 0
    private var token: CKServerChangeToken?
    /// Whose the names are.
    private var user: CKRecord.ID?
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
        // The notification that follows each connection may have come before.
        try await fetchChanges()
    }

    func fetchChanges(after notification: CKNotification) async {
        guard notification.subscriptionID == "notes" else { return }
        fetchCount += 1
        // What fails for another reason is fetched with the next notification: there is one after each connection.
        try? await fetchChanges()
    }

    private func fetchChanges() async throws {
        let current = try await container.userRecordID()
        if current != user { (names, token, user) = ([], nil, current) }
        var isMoreComing = true
        while isMoreComing {
            let database = container.privateCloudDatabase
            do {
                let asked = token
                let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: asked)
                guard user == current else { return }
                // Another fetch was faster, so this page may be older than what is here.
                guard token == asked else { continue }
                // A first page begins anew: what is not in it, or in the next ones, is gone.
                if token == nil { names = [] }
                names.formUnion(page.modificationResultsByID.keys.map(\.recordName))
                names.subtract(page.deletions.map(\.recordID.recordName))
                (token, isMoreComing) = (page.changeToken, page.moreComing)
            } catch CKError.changeTokenExpired {
                token = nil
            } catch CKError.zoneNotFound, CKError.userDeletedZone {
                (names, token, isMoreComing) = ([], nil, false)
            }
        }
    }
}
