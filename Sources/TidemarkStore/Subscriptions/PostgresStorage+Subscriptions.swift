// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func subscriptions(of user: UserID) async throws(StorageError) -> [Subscription] {
        let rows = try await read(SubscriptionStatements.all(.int8(user.rawValue)))
        return try decode { () throws(PostgresError) in
            var subscriptions: [Subscription] = []
            for row in rows {
                guard let scope = DatabaseScope(rawValue: try row.int16(1)),
                    let kind = Subscription.Kind(rawValue: try row.int16(2))
                else { continue }
                subscriptions.append(
                    Subscription(
                        id: try row.string(0), scope: scope, kind: kind,
                        recordType: try row.isNull(3) ? nil : try row.string(3), notificationInfo: try row.bytes(4)))
            }
            return subscriptions
        }
    }

    package func saveSubscription(
        _ subscription: Subscription, of user: UserID, atMost countMax: Int
    ) async throws(StorageError) -> Bool {
        let rows = try await write([
            SubscriptionStatements.save(
                .int8(user.rawValue), .int2(subscription.scope.rawValue), .text(subscription.id),
                .int2(subscription.kind.rawValue), subscription.recordType.map { .text($0) } ?? .null,
                .bytea(subscription.notificationInfo), .int8(Int64(clamping: countMax)))
        ])
        return rows[0].count > 0
    }

    package func deleteSubscription(
        _ id: String, scope: DatabaseScope, of user: UserID
    ) async throws(StorageError) -> Bool {
        let rows = try await write([
            SubscriptionStatements.delete(.int8(user.rawValue), .int2(scope.rawValue), .text(id))
        ])
        return rows[0].count > 0
    }
}
