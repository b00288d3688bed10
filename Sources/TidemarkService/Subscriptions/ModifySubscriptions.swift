// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// What became of subscriptions that were saved and deleted: one entry an item, in order.
package struct SubscriptionsOutcome: Sendable {
    package let saves: [Result<Subscription, FailureReason>]
    package let deletes: [Result<Void, FailureReason>]
}

extension CloudService {
    /// Saves (R-242: replacing what has the same ID) and deletes subscriptions of one user and scope. Each has its own
    /// result: `subscriptionInvalid` for one that this database cannot have, `zoneNotFound` for one of a zone that is
    /// not there, `subscriptionUnknown` for a deletion
    /// of one that is not there, `tooManySubscriptions` for a new one beyond `Limits.subscriptionsMax`,
    /// `tooManyItems` for all over the limit of R-155.
    package func modifySubscriptions(
        saves: [Subscription], deletes: [String], scope: DatabaseScope, of user: UserID
    ) async -> Result<SubscriptionsOutcome, FailureReason> {
        guard saves.count + deletes.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        var saved: [Result<Subscription, FailureReason>] = []
        for subscription in saves { saved.append(await save(subscription, scope: scope, of: user)) }
        var deleted: [Result<Void, FailureReason>] = []
        for id in deletes { deleted.append(await delete(id, scope: scope, of: user)) }
        return .success(SubscriptionsOutcome(saves: saved, deletes: deleted))
    }

    private func save(
        _ subscription: Subscription, scope: DatabaseScope, of user: UserID
    ) async -> Result<Subscription, FailureReason> {
        guard subscription.scope == scope else { return .failure(.subscriptionInvalid) }
        if let reason = subscription.refusal(within: limits) { return .failure(reason) }
        return await retry.run { () async throws(StorageError) in
            switch try await storage.saveSubscription(subscription, of: user, atMost: limits.subscriptionsMax) {
            case .saved: .success(subscription)
            case .tooMany: .failure(.tooManySubscriptions)
            case .zoneMissing: .failure(.zoneNotFound)
            }
        }
    }

    private func delete(_ id: String, scope: DatabaseScope, of user: UserID) async -> Result<Void, FailureReason> {
        guard Subscription.isID(id, limits: limits) else { return .failure(.subscriptionUnknown) }
        // A repeated attempt may find what an earlier one deleted without an answer: that is a success.
        var isRepeated = false
        return await retry.run { () async throws(StorageError) in
            let wasRepeated = isRepeated
            isRepeated = true
            let existed = try await storage.deleteSubscription(id, scope: scope, of: user)
            return existed || wasRepeated ? .success(()) : .failure(.subscriptionUnknown)
        }
    }
}
