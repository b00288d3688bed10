// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of subscriptions. A subscription whose zone is gone counts as deleted; the user's next save removes
/// its row.
struct SubscriptionStatements: Sendable {
    /// The living zone of the subscription `s`: all zone subscriptions are of private databases.
    private static let livingZone = """
        SELECT z.name FROM database d JOIN zone z ON z.database_id = d.id AND z.id = s.zone_id AND z.removal IS NULL
         WHERE d.user_id = s.user_id AND d.scope = 2
        """

    let all = DeclaredStatement<UserID, Subscription?>(
        .read, "all_subscriptions",
        """
        SELECT s.id, s.scope, s.kind, s.record_type, s.notification_info, z.name
          FROM subscription s LEFT JOIN LATERAL (\(livingZone)) AS z ON s.zone_id IS NOT NULL
         WHERE s.user_id = \(\.self) AND (s.zone_id IS NULL OR z.name IS NOT NULL)
         ORDER BY s.scope, s.id
        """
    ) { row throws(PostgresError) in
        guard let scope = DatabaseScope(rawValue: try row["scope"]),
            let kind = Subscription.Kind(rawValue: try row["kind"])
        else { return nil }
        return Subscription(
            id: try row["id"], scope: scope, kind: kind, recordType: try row["record_type"],
            zoneName: try row["name"], notificationInfo: try row["notification_info"])
    }

    let clearEnded = DeclaredStatement<UserID, Void>(
        .write, "clear_ended_subscriptions",
        "DELETE FROM subscription s WHERE user_id = \(\.self) AND zone_id IS NOT NULL AND NOT EXISTS (\(livingZone))")

    /// The zone for a zone subscription.
    let zone = DeclaredStatement<(user: UserID, name: String?), Void>(
        .read, "subscription_zone",
        """
        SELECT z.id FROM database d JOIN zone z ON z.database_id = d.id AND z.name = \(\.name) AND z.removal IS NULL
         WHERE d.user_id = \(\.user) AND d.scope = 2
        """)

    /// No row: there would be too many, or there is no such zone.
    let save = DeclaredStatement<(user: UserID, subscription: Subscription, countMax: Int), Void>(
        .write, "save_subscription",
        """
        INSERT INTO subscription (user_id, scope, id, kind, record_type, notification_info, zone_id)
        SELECT \(\.user), \(\.subscription.scope), \(\.subscription.id), \(\.subscription.kind), \(\.subscription.recordType), \(\.subscription.notificationInfo), z.id
          FROM (SELECT) AS one LEFT JOIN (
               SELECT z.id FROM database d JOIN zone z ON z.database_id = d.id AND z.name = \(\.subscription.zoneName) AND z.removal IS NULL
                WHERE d.user_id = \(\.user) AND d.scope = 2) AS z ON true
         WHERE (SELECT count(*) FROM subscription WHERE user_id = \(\.user) AND NOT (scope = \(\.subscription.scope) AND id = \(\.subscription.id))) < \(\.countMax)
           AND (\(\.subscription.zoneName) IS NULL OR z.id IS NOT NULL)
            ON CONFLICT (user_id, scope, id) DO UPDATE
           SET kind = excluded.kind, record_type = excluded.record_type,
               notification_info = excluded.notification_info, zone_id = excluded.zone_id
        RETURNING id
        """)

    /// Returns a row if it existed.
    let delete = DeclaredStatement<(user: UserID, scope: DatabaseScope, id: String), Bool>(
        .write, "delete_subscription",
        """
        DELETE FROM subscription s WHERE user_id = \(\.user) AND scope = \(\.scope) AND id = \(\.id)
        RETURNING zone_id IS NULL OR EXISTS (\(livingZone))
        """)
}
