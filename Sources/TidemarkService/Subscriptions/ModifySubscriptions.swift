// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// The outcome of saving and deleting subscriptions: one entry for each item, in order.
package struct SubscriptionsOutcome: Sendable {
    package let saves: [Result<Subscription, FailureReason>]
    package let deletes: [Result<Void, FailureReason>]
}

extension CloudService {
    /// Saves and deletes subscriptions of one user and scope. A save replaces a subscription with the same ID.
    /// Each item has its own result. It is `subscriptionInvalid` if this database cannot have it, and
    /// `zoneNotFound` if its zone does not exist. It is `subscriptionUnknown` if the one to delete does not
    /// exist, and `tooManySubscriptions` for a new one beyond `Limits.subscriptionsMax`. It is `tooManyItems` for all
    /// over the limit of R-155.
    ///
    /// - Parameter asker: who waits. What failed is not tried again when it has left.
    package func modifySubscriptions(
        saves: [Subscription], deletes: [String], scope: DatabaseScope, of user: UserID,
        askedBy asker: Asker = Asker()
    ) async -> Result<SubscriptionsOutcome, FailureReason> {
        guard saves.count + deletes.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        var saved: [Result<Subscription, FailureReason>] = []
        for subscription in saves { saved.append(await save(subscription, scope: scope, of: user, asker)) }
        var deleted: [Result<Void, FailureReason>] = []
        for id in deletes { deleted.append(await delete(id, scope: scope, of: user, asker)) }
        return .success(SubscriptionsOutcome(saves: saved, deletes: deleted))
    }

    private func save(
        _ subscription: Subscription, scope: DatabaseScope, of user: UserID, _ asker: Asker
    ) async -> Result<Subscription, FailureReason> {
        guard subscription.scope == scope else { return .failure(.subscriptionInvalid) }
        if let reason = subscription.refusal(within: limits) { return .failure(reason) }
        return await retry.run(askedBy: asker) { () async throws(StorageError) in
            switch try await storage.saveSubscription(subscription, of: user, atMost: limits.subscriptionsMax) {
            case .saved: .success(subscription)
            case .tooMany: .failure(.tooManySubscriptions)
            case .zoneMissing: .failure(.zoneNotFound)
            }
        }
    }

    private func delete(
        _ id: String, scope: DatabaseScope, of user: UserID, _ asker: Asker
    ) async -> Result<Void, FailureReason> {
        guard Subscription.isID(id, limits: limits) else { return .failure(.subscriptionUnknown) }
        // A repeated attempt may find that an earlier one deleted the subscription but got no answer: that is a
        // success.
        var isRepeated = false
        return await retry.run(askedBy: asker) { () async throws(StorageError) in
            let wasRepeated = isRepeated
            isRepeated = true
            let existed = try await storage.deleteSubscription(id, scope: scope, of: user)
            return existed || wasRepeated ? .success(()) : .failure(.subscriptionUnknown)
        }
    }
}
