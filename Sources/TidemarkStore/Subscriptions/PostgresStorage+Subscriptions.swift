// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func subscriptions(of user: UserID) async throws(StorageError) -> [Subscription] {
        try await read(sql.subscriptions.all(user)).compactMap(\.self)
    }

    package func saveSubscription(
        _ subscription: Subscription, of user: UserID, atMost countMax: Int
    ) async throws(StorageError) -> SubscriptionSave {
        let (_, zone, saved) = try await write(
            sql.subscriptions.clearEnded(user), sql.subscriptions.zone((user, subscription.zoneName)),
            sql.subscriptions.save((user, subscription, countMax)))
        if subscription.zoneName != nil, zone.isEmpty { return .zoneMissing }
        return saved.isEmpty ? .tooMany : .saved
    }

    package func deleteSubscription(
        _ id: String, scope: DatabaseScope, of user: UserID
    ) async throws(StorageError) -> Bool {
        try await write(sql.subscriptions.delete((user, scope, id))).rows.first ?? false
    }
}
