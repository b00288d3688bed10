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
                        recordType: try row.string(ifPresent: 3), zoneName: try row.string(ifPresent: 5),
                        notificationInfo: try row.bytes(4)))
            }
            return subscriptions
        }
    }

    package func saveSubscription(
        _ subscription: Subscription, of user: UserID, atMost countMax: Int
    ) async throws(StorageError) -> SubscriptionSave {
        let user = PostgresValue.int8(user.rawValue)
        let zoneName = subscription.zoneName.map { PostgresValue.text($0) } ?? .null
        let rows = try await write([
            SubscriptionStatements.clearEnded(user),
            SubscriptionStatements.zone(user, zoneName),
            SubscriptionStatements.save(
                user, .int2(subscription.scope.rawValue), .text(subscription.id), .int2(subscription.kind.rawValue),
                subscription.recordType.map { .text($0) } ?? .null, .bytea(subscription.notificationInfo),
                .int8(Int64(clamping: countMax)), zoneName),
        ])
        if subscription.zoneName != nil, rows[1].count == 0 { return .zoneMissing }
        return rows[2].count > 0 ? .saved : .tooMany
    }

    package func deleteSubscription(
        _ id: String, scope: DatabaseScope, of user: UserID
    ) async throws(StorageError) -> Bool {
        let rows = try await write([
            SubscriptionStatements.delete(.int8(user.rawValue), .int2(scope.rawValue), .text(id))
        ])
        return try decode { () throws(PostgresError) in
            for row in rows[0] { return try row.bool(0) }
            return false
        }
    }
}
