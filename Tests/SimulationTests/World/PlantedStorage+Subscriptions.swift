// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkService
import TidemarkTestKit

// No fault is planted in subscriptions.
extension PlantedStorage {
    func subscriptions(of user: UserID, withFired: Bool) async throws(StorageError) -> [Subscription] {
        try await base.subscriptions(of: user, withFired: withFired)
    }

    func fireOnce(_ subscriptions: [WatchingSubscription]) async throws(StorageError) -> Set<SubscriberKey> {
        try await base.fireOnce(subscriptions)
    }

    func saveSubscriptions(
        _ subscriptions: [Subscription], of user: UserID, atMost countMax: Int
    ) async throws(StorageError) -> [FailureReason?] {
        try await base.saveSubscriptions(subscriptions, of: user, atMost: countMax)
    }

    func deleteSubscriptions(
        _ ids: Set<String>, scope: DatabaseScope, of user: UserID
    ) async throws(StorageError) -> Set<String> {
        try await base.deleteSubscriptions(ids, scope: scope, of: user)
    }

    func querySubscriptions(
        watching databases: [DatabaseID], after: SubscriberKey?, atMost countMax: Int
    ) async throws(StorageError) -> [DatabaseID: WatchingPage] {
        try await base.querySubscriptions(watching: databases, after: after, atMost: countMax)
    }

    func querySubscriptions(
        watching database: DatabaseID, ofType recordType: String, after: SubscriberKey?, atMost countMax: Int
    ) async throws(StorageError) -> WatchingPage {
        try await base.querySubscriptions(watching: database, ofType: recordType, after: after, atMost: countMax)
    }

    func watchedTypes(in database: DatabaseID, atMost countMax: Int) async throws(StorageError) -> Set<String> {
        try await base.watchedTypes(in: database, atMost: countMax)
    }
}
