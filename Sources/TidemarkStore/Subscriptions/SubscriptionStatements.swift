// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of subscriptions. A subscription whose zone is gone counts as deleted; the user's next save removes
/// its row.
enum SubscriptionStatements {
    /// The living zone of the subscription `s`: all zone subscriptions are of private databases.
    private static let livingZone = """
        SELECT z.name FROM database d JOIN zone z ON z.database_id = d.id AND z.id = s.zone_id AND z.removal IS NULL
         WHERE d.user_id = s.user_id AND d.scope = 2
        """

    /// 1 user.
    static let all = Statement(
        .read, "all_subscriptions",
        """
        SELECT s.id, s.scope, s.kind, s.record_type, s.notification_info, z.name
          FROM subscription s LEFT JOIN LATERAL (\(livingZone)) AS z ON s.zone_id IS NOT NULL
         WHERE s.user_id = $1 AND (s.zone_id IS NULL OR z.name IS NOT NULL)
         ORDER BY s.scope, s.id
        """, [.int8])

    /// 1 user.
    static let clearEnded = Statement(
        .write, "clear_ended_subscriptions",
        "DELETE FROM subscription s WHERE user_id = $1 AND zone_id IS NOT NULL AND NOT EXISTS (\(livingZone))", [.int8])

    /// The zone for a zone subscription. 1 user, 2 name.
    static let zone = Statement(
        .read, "subscription_zone",
        """
        SELECT z.id FROM database d JOIN zone z ON z.database_id = d.id AND z.name = $2 AND z.removal IS NULL
         WHERE d.user_id = $1 AND d.scope = 2
        """, [.int8, .text])

    /// 1 user, 2 scope, 3 id, 4 kind, 5 record type, 6 notification info, 7 the most other subscriptions, plus 1, 8 the
    /// zone's name (null for none). No row: there would be too many, or there is no such zone.
    static let save = Statement(
        .write, "save_subscription",
        """
        INSERT INTO subscription (user_id, scope, id, kind, record_type, notification_info, zone_id)
        SELECT $1, $2, $3, $4, $5, $6, z.id
          FROM (SELECT) AS one LEFT JOIN (
               SELECT z.id FROM database d JOIN zone z ON z.database_id = d.id AND z.name = $8 AND z.removal IS NULL
                WHERE d.user_id = $1 AND d.scope = 2) AS z ON true
         WHERE (SELECT count(*) FROM subscription WHERE user_id = $1 AND NOT (scope = $2 AND id = $3)) < $7
           AND ($8::text IS NULL OR z.id IS NOT NULL)
            ON CONFLICT (user_id, scope, id) DO UPDATE
           SET kind = excluded.kind, record_type = excluded.record_type,
               notification_info = excluded.notification_info, zone_id = excluded.zone_id
        RETURNING id
        """, [.int8, .int2, .text, .int2, .text, .bytea, .int8, .text])

    /// Returns a row if it existed. 1 user, 2 scope, 3 id.
    static let delete = Statement(
        .write, "delete_subscription",
        """
        DELETE FROM subscription s WHERE user_id = $1 AND scope = $2 AND id = $3
        RETURNING zone_id IS NULL OR EXISTS (\(livingZone))
        """, [.int8, .int2, .text])
}
