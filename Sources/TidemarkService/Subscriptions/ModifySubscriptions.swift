// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
internal import TidemarkScheduling

/// The outcome of saving and deleting subscriptions: one entry for each item, in order.
package struct SubscriptionsOutcome: Sendable {
    package let saves: [Result<Subscription, FailureReason>]
    package let deletes: [Result<Void, FailureReason>]

    /// Whether query subscriptions may have changed. A refused item changes none, and must not make all
    /// servers read them again. A failure of the store may have changed some.
    package var mayChangeQueries: Bool {
        saves.contains { (try? $0.get())?.kind == .query || $0.mayHaveHappened }
            || deletes.contains { (try? $0.get()) != nil || $0.mayHaveHappened }
    }
}

extension Result where Failure == FailureReason {
    /// Whether the store has given no answer.
    fileprivate var mayHaveHappened: Bool {
        if case .failure(.storeUnavailable) = self { true } else { false }
    }
}

extension CloudService {
    /// Saves and deletes subscriptions of one user and scope. A save replaces a subscription with the same ID.
    /// Each item has its own result. It is `subscriptionInvalid` if this database cannot have it, and
    /// `zoneNotFound` if its zone does not exist. It is `subscriptionUnknown` if the one to delete does not
    /// exist, and `tooManySubscriptions` for a new one beyond `Limits.subscriptionsMax`. It is `tooManyItems` for all
    /// over the limit of R-155.
    ///
    /// A query subscription is refused as its query would be. A field that the schema does not know is refused only if
    /// the schema learns no more: apps subscribe before they save.
    ///
    /// - Parameters:
    ///   - container: whose schema judges queries. Nil: none does.
    ///   - asker: the client that waits. A failed attempt is not repeated when it has left.
    package func modifySubscriptions(
        saves: [Subscription], deletes: [String], scope: DatabaseScope, of user: UserID,
        in container: ContainerID? = nil, askedBy asker: Asker = Asker()
    ) async -> Result<SubscriptionsOutcome, FailureReason> {
        guard saves.count + deletes.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        let saved = await save(saves, scope: scope, of: user, in: container, asker)
        let deleted = await delete(deletes, scope: scope, of: user, asker)
        return .success(SubscriptionsOutcome(saves: saved, deletes: deleted))
    }

    /// All in one transaction, so that a turn is short however many there are.
    private func save(
        _ subscriptions: [Subscription], scope: DatabaseScope, of user: UserID, in container: ContainerID?,
        _ asker: Asker
    ) async -> [Result<Subscription, FailureReason>] {
        var refusals: [FailureReason?] = []
        var steps = WorkSteps(costPerStep: Self.queriesInTurn)
        for subscription in subscriptions {
            refusals.append(
                subscription.scope == scope ? subscription.refusal(within: limits) : .subscriptionInvalid)
            await steps.did(1)
        }
        await judgeQueries(of: subscriptions, by: user, in: container, &refusals, asker)
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
            // this server tells their devices to look.
            let new = possible.filter { refusals[$0] == nil }.map { subscriptions[$0] }
            sharedWrites.queryWatches.withLock { $0.saved(new, by: user) }
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

    /// Refuses what the schema does not allow.
    private func judgeQueries(
        of subscriptions: [Subscription], by user: UserID, in container: ContainerID?,
        _ refusals: inout [FailureReason?], _ asker: Asker
    ) async {
        let queries = subscriptions.indices.filter { refusals[$0] == nil && subscriptions[$0].query != nil }
        guard let container, !queries.isEmpty else { return }
        let read = await retry.run(askedBy: asker) { () async throws(StorageError) in
            .success(try await schemas.current(container))
        }
        var steps = WorkSteps(costPerStep: Self.queriesInTurn)
        for index in queries {
            switch read {
            case .success(let known):
                let fields = known.fields(for: subscriptions[index], of: user)
                refusals[index] = subscriptions[index].refusal(within: limits, fields: fields)
            case .failure(let reason): refusals[index] = reason
            }
            // For one that names no field of the type, the nearest name was looked for.
            await steps.did(refusals[index] == nil ? 1 : Self.queriesInTurn)
        }
    }

    /// Queries that are checked in one turn of the event loop.
    private static var queriesInTurn: Int { 16 }

    /// Query subscriptions of a database have changed, at this server or another: they are read again. A server that does not hear of
    /// it looks within ``QueryWatches/ageMax`` (I-4).
    package func forgetQueries(of database: DatabaseID) { queries?.changed(in: database) }

    /// Other servers may have said so, and nobody has heard it.
    package func forgetAllQueries() { queries?.changed(in: nil) }

    /// Looks for query subscriptions of other servers that may have missed what this one wrote, and of which no notice came.
    package func sweepQueries() { queries?.sweep() }
}

extension KnownSchema {
    /// The fields that a query subscription may use. I-5: for a type that the user may not read, there are none.
    fileprivate func fields(for subscription: Subscription, of user: UserID) -> QueryFields {
        guard let query = subscription.asQuery else { return .unknown }
        let access = RecordAccess(
            scope: subscription.scope, user: user, grants: subscription.scope == .public ? grants : [:])
        guard access.narrowing(query) != nil,
            let fields = subscribedFields(of: query.recordType, in: subscription.scope)
        else { return .unknown }
        return fields
    }

    /// The fields of a record type that query subscriptions may use and search for words. Unlike a query, a subscription sees records with
    /// fields that the schema does not have so far. Nil: the type is not known.
    func subscribedFields(of recordType: String, in scope: DatabaseScope) -> QueryFields? {
        guard let type = schema.schema.queryType(recordType, in: scope) else { return nil }
        var fields = QueryFields(type, isFrozen: schema.isFrozen)
        if !schema.isFrozen { fields.allowsOthers = true }
        return fields
    }
}
