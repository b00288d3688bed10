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
        let saved = await save(saves, scope: scope, of: user, asker)
        let deleted = await delete(deletes, scope: scope, of: user, asker)
        return .success(SubscriptionsOutcome(saves: saved, deletes: deleted))
    }

    /// All in one transaction, so that a turn is short however many there are.
    private func save(
        _ subscriptions: [Subscription], scope: DatabaseScope, of user: UserID, _ asker: Asker
    ) async -> [Result<Subscription, FailureReason>] {
        var refusals: [FailureReason?] = subscriptions.map { subscription in
            subscription.scope == scope ? subscription.refusal(within: limits) : .subscriptionInvalid
        }
        let possible = subscriptions.indices.filter { refusals[$0] == nil }
        if !possible.isEmpty {
            let saved = await retry.run(askedBy: asker) { () async throws(StorageError) in
                .success(
                    try await storage.saveSubscriptions(
                        possible.map { subscriptions[$0] }, of: user, atMost: limits.subscriptionsMax))
            }
            for (place, index) in possible.enumerated() {
                switch saved {
                case .success(let reasons): refusals[index] = reasons[place]
                case .failure(let reason): refusals[index] = reason
                }
            }
        }
        return zip(subscriptions, refusals).map { subscription, reason in
            reason.map { .failure($0) } ?? .success(subscription)
        }
    }

    /// All in one transaction after that of the saves. In one with them, a repeated attempt might find room for more saves
    /// than the first one did, because that has deleted something.
    private func delete(
        _ ids: [String], scope: DatabaseScope, of user: UserID, _ asker: Asker
    ) async -> [Result<Void, FailureReason>] {
        let possible = Set(ids.filter { Subscription.isID($0, limits: limits) })
        guard !possible.isEmpty else { return ids.map { _ in .failure(.subscriptionUnknown) } }
        // A repeated attempt may find that an earlier one deleted the subscriptions but got no answer: that is a
        // success.
        var isRepeated = false
        let deleted: Result<Set<String>, FailureReason> = await retry.run(askedBy: asker) {
            () async throws(StorageError) in
            let wasRepeated = isRepeated
            isRepeated = true
            let existing = try await storage.deleteSubscriptions(possible, scope: scope, of: user)
            return .success(wasRepeated ? possible : existing)
        }
        switch deleted {
        case .success(var left):
            // One that is named twice is deleted once.
            return ids.map { left.remove($0) == nil ? .failure(.subscriptionUnknown) : .success(()) }
        case .failure(let reason):
            return ids.map { .failure(possible.contains($0) ? reason : .subscriptionUnknown) }
        }
    }
}
