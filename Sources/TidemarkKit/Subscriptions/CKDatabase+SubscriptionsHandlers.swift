// SPDX-License-Identifier: Apache-2.0

internal import Foundation

// The forms with completion handlers. The async forms of the same names say what they do and which errors they have.
// Here what is saved is copied before the call returns, because its task begins later.
extension CKDatabase {
    /// Fetches one subscription.
    @preconcurrency
    public func fetch(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.subscription(for: subscriptionID) }
    }

    /// Fetches subscriptions.
    @preconcurrency
    public func fetch(
        withSubscriptionIDs subscriptionIDs: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (Result<[CKSubscription.ID: Result<CKSubscription, any Error>], any Error>) -> Void
    ) {
        deliver(to: completionHandler) { try await self.subscriptions(for: subscriptionIDs) }
    }

    /// All of the user's subscriptions to this database.
    @preconcurrency
    public func fetchAllSubscriptions(
        completionHandler: @escaping @Sendable ([CKSubscription]?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.allSubscriptions() }
    }

    /// Saves a subscription. It replaces one with the same ID.
    @preconcurrency
    public func save(
        _ subscription: CKSubscription,
        completionHandler: @escaping @Sendable (CKSubscription?, (any Error)?) -> Void
    ) {
        let subscription = subscription.copied
        deliver(to: completionHandler) { try await self.save(subscription) }
    }

    /// Deletes a subscription.
    @preconcurrency
    public func delete(
        withSubscriptionID subscriptionID: CKSubscription.ID,
        completionHandler: @escaping @Sendable (String?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.deleteSubscription(withID: subscriptionID) }
    }

    /// Saves and deletes subscriptions, each with its own result.
    @preconcurrency
    public func modifySubscriptions(
        saving subscriptionsToSave: [CKSubscription], deleting subscriptionIDsToDelete: [CKSubscription.ID],
        completionHandler:
            @escaping @Sendable (
                Result<
                    (
                        saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
                        deleteResults: [CKSubscription.ID: Result<Void, any Error>]
                    ), any Error
                >
            ) -> Void
    ) {
        let subscriptions = subscriptionsToSave.map(\.copied)
        deliver(to: completionHandler) {
            try await self.modifySubscriptions(saving: subscriptions, deleting: subscriptionIDsToDelete)
        }
    }
}
