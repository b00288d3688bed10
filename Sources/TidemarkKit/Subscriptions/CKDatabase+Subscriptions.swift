// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

extension CKDatabase {
    /// Fetches one subscription; `unknownItem` if it does not exist.
    public func subscription(for subscriptionID: CKSubscription.ID) async throws -> CKSubscription {
        guard let result = try await cloud.subscriptions(for: [subscriptionID])[subscriptionID] else {
            throw CloudDatabase.wrongAnswer(to: .fetchSubscriptions)
        }
        return try result.get()
    }

    /// Fetches subscriptions; one result for every ID.
    public func subscriptions(
        for ids: [CKSubscription.ID]
    ) async throws -> [CKSubscription.ID: Result<CKSubscription, any Error>] {
        try await cloud.subscriptions(for: ids).mapValues { $0.mapError { $0 } }
    }

    /// All of the user's subscriptions to this database.
    @discardableResult
    public func allSubscriptions() async throws -> [CKSubscription] {
        try await cloud.allSubscriptions()
    }

    /// Saves a subscription. It replaces one with the same ID.
    @discardableResult
    public func save(_ subscription: CKSubscription) async throws -> CKSubscription {
        let results = try await cloud.modifySubscriptions(saving: [subscription], deleting: [])
        guard let result = results.saves[subscription.subscriptionID] else {
            throw CloudDatabase.wrongAnswer(to: .modifySubscriptions)
        }
        return try result.get()
    }

    /// Deletes a subscription; `unknownItem` if it does not exist.
    @discardableResult
    public func deleteSubscription(withID subscriptionID: CKSubscription.ID) async throws -> CKSubscription.ID {
        try await cloud.modifySubscriptions(saving: [], deleting: [subscriptionID]).deletes[subscriptionID]?.get()
        return subscriptionID
    }

    /// Saves and deletes subscriptions, each with its own result.
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription], deleting subscriptionIDsToDelete: [CKSubscription.ID]
    ) async throws -> (
        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
    ) {
        let results = try await cloud.modifySubscriptions(
            saving: subscriptionsToSave, deleting: subscriptionIDsToDelete)
        return (results.saves.mapValues { $0.mapError { $0 } }, results.deletes.mapValues { $0.mapError { $0 } })
    }
}
