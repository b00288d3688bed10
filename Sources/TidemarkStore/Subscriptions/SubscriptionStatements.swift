// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of subscriptions.
enum SubscriptionStatements {
    static let all = Statement(
        "all_subscriptions",
        "SELECT id, scope, kind, record_type, notification_info FROM subscription WHERE user_id = $1 ORDER BY scope, id",
        [.int8])

    /// 1 user, 2 scope, 3 id, 4 kind, 5 record type, 6 notification info.
    static let save = Statement(
        "save_subscription",
        """
        INSERT INTO subscription (user_id, scope, id, kind, record_type, notification_info)
        VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (user_id, scope, id) DO UPDATE
           SET kind = excluded.kind, record_type = excluded.record_type, notification_info = excluded.notification_info
        """, [.int8, .int2, .text, .int2, .text, .bytea])

    static let delete = Statement(
        "delete_subscription",
        "DELETE FROM subscription WHERE user_id = $1 AND scope = $2 AND id = $3 RETURNING id", [.int8, .int2, .text])
}
