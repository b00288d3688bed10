// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of subscriptions.
enum SubscriptionStatements {
    static let all = Statement(
        "all_subscriptions",
        "SELECT id, scope, kind, record_type, notification_info FROM subscription WHERE user_id = $1 ORDER BY scope, id",
        [.int8])

    /// 1 user, 2 scope, 3 id, 4 kind, 5 record type, 6 notification info, 7 how many others there may be at most, plus 1.
    /// No row: there would be too many.
    static let save = Statement(
        "save_subscription",
        """
        INSERT INTO subscription (user_id, scope, id, kind, record_type, notification_info)
        SELECT $1, $2, $3, $4, $5, $6
         WHERE (SELECT count(*) FROM subscription WHERE user_id = $1 AND NOT (scope = $2 AND id = $3)) < $7
            ON CONFLICT (user_id, scope, id) DO UPDATE
           SET kind = excluded.kind, record_type = excluded.record_type, notification_info = excluded.notification_info
        RETURNING id
        """, [.int8, .int2, .text, .int2, .text, .bytea, .int8])

    static let delete = Statement(
        "delete_subscription",
        "DELETE FROM subscription WHERE user_id = $1 AND scope = $2 AND id = $3 RETURNING id", [.int8, .int2, .text])
}
