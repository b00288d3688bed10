// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of subscriptions. A subscription whose zone is gone counts as deleted; the user's next save removes
/// its row.
struct SubscriptionStatements: Sendable {
    /// The private database of the user `s.user_id`, for a `LATERAL` join; see ``RecordStatements`` for its form.
    private static let privateDatabase = """
        SELECT id FROM database WHERE user_id BETWEEN s.user_id AND s.user_id AND scope = 2 ORDER BY user_id LIMIT 1
        """

    /// The living zone of the subscription `s`: all subscriptions that end with a zone are of private databases.
    private static let livingZone = """
        SELECT z.name
          FROM (\(privateDatabase)) AS d
         CROSS JOIN LATERAL (
               SELECT name FROM zone
                WHERE database_id = d.id AND id BETWEEN s.zone_id AND s.zone_id AND removal IS NULL
                ORDER BY id LIMIT 1) AS z
        """

    /// Whether `s` has fired, and ended by it.
    ///
    /// NB: an older server that replaces it by one of another kind leaves the column.
    private static let hasFired = "(s.fired_at IS NOT NULL AND s.kind = 1)"
    private static let firedLongAgo = "s.fired_at < now() - interval '\(Subscription.firedDaysMax) days'"

    let all = DeclaredStatement<UserID, Subscription?>(
        .read, "all_subscriptions",
        """
        SELECT s.id, s.scope, s.kind, s.record_type, s.notification_info, s.database_id, s.query, z.name,
               \(hasFired) AS has_fired
          FROM subscription s LEFT JOIN LATERAL (\(livingZone)) AS z ON true
         WHERE s.user_id = \(\.self) AND (s.zone_id IS NULL OR z.name IS NOT NULL)
           AND NOT (\(hasFired) AND \(firedLongAgo))
         ORDER BY s.scope, s.id
        """
    ) { row throws(PostgresError) in
        try SubscriptionRow.decode(row, hasFired: try row["has_fired"])
    }

    /// Of each database: the next that look at it, by user, scope and ID. Of one whose zone is gone there is only its key.
    let watching = DeclaredStatement<
        (databases: [DatabaseID], user: UserID, scope: DatabaseScope, id: String, countMax: Int64), WatchingRow
    >(
        .read, "watching_subscriptions",
        """
        SELECT s.user_id, s.id, s.scope, s.kind, s.record_type, s.notification_info, s.database_id, s.query, z.name,
               u.container_id, s.zone_id IS NULL OR z.name IS NOT NULL AS is_living
          FROM unnest(\(\.databases)) AS k (database_id)
         CROSS JOIN LATERAL (
               SELECT * FROM subscription
                WHERE database_id BETWEEN k.database_id AND k.database_id
                  AND fired_at IS NULL AND (user_id, scope, id) > (\(\.user), \(\.scope), \(\.id))
                ORDER BY database_id, user_id, scope, id LIMIT \(\.countMax)) AS s
         CROSS JOIN LATERAL (
               SELECT container_id FROM container_user WHERE id BETWEEN s.user_id AND s.user_id ORDER BY id LIMIT 1) AS u
          LEFT JOIN LATERAL (\(livingZone)) AS z ON true
         ORDER BY s.database_id, s.user_id, s.scope, s.id
        """
    ) { row throws(PostgresError) in try SubscriptionRow.decodeWatching(row) }

    /// The same of one database and record type.
    ///
    /// NB: the comparison of rows is where the index is entered. A range of the first columns alone would read it from their
    /// beginning for each page.
    let watchingType = DeclaredStatement<
        (database: DatabaseID, type: String, user: UserID, scope: DatabaseScope, id: String, countMax: Int64),
        WatchingRow
    >(
        .read, "watching_subscriptions_of_type",
        """
        SELECT s.user_id, s.id, s.scope, s.kind, s.record_type, s.notification_info, s.database_id, s.query, z.name,
               u.container_id, s.zone_id IS NULL OR z.name IS NOT NULL AS is_living
          FROM (SELECT * FROM subscription
                 WHERE (database_id, record_type, user_id, scope, id)
                           > (\(\.database), \(\.type), \(\.user), \(\.scope), \(\.id))
                   AND database_id BETWEEN \(\.database) AND \(\.database)
                   AND record_type BETWEEN \(\.type) AND \(\.type) AND fired_at IS NULL
                 ORDER BY database_id, record_type, user_id, scope, id LIMIT \(\.countMax)) AS s
         CROSS JOIN LATERAL (
               SELECT container_id FROM container_user WHERE id BETWEEN s.user_id AND s.user_id ORDER BY id LIMIT 1) AS u
          LEFT JOIN LATERAL (\(livingZone)) AS z ON true
         ORDER BY s.user_id, s.scope, s.id
        """
    ) { row throws(PostgresError) in try SubscriptionRow.decodeWatching(row) }

    /// The types of a database, one after another in the index.
    let watchedTypes = DeclaredStatement<(database: DatabaseID, countMax: Int64), String>(
        .read, "watched_types",
        """
        WITH RECURSIVE t AS (
            (SELECT record_type FROM subscription
              WHERE database_id BETWEEN \(\.database) AND \(\.database) AND fired_at IS NULL AND record_type IS NOT NULL
              ORDER BY database_id, record_type LIMIT 1)
            UNION ALL
            SELECT n.record_type
              FROM t
             CROSS JOIN LATERAL (
                   SELECT s.record_type FROM subscription s
                    WHERE (s.database_id, s.record_type) > (\(\.database), t.record_type)
                      AND s.database_id BETWEEN \(\.database) AND \(\.database)
                      AND s.fired_at IS NULL AND s.record_type IS NOT NULL
                    ORDER BY s.database_id, s.record_type LIMIT 1) AS n)
        SELECT record_type FROM t LIMIT \(\.countMax)
        """
    ) { row throws(PostgresError) in try row["record_type"] }

    /// Of those that have fired the last ones stay.
    let clearEnded = DeclaredStatement<UserID, Void>(
        .write, "clear_ended_subscriptions",
        """
        DELETE FROM subscription s
         WHERE user_id = \(\.self)
           AND (zone_id IS NOT NULL AND NOT EXISTS (\(livingZone))
                OR \(hasFired)
                   AND (\(firedLongAgo)
                        OR (scope, id) IN (
                            SELECT scope, id FROM subscription WHERE user_id = \(\.self) AND fired_at IS NOT NULL
                             ORDER BY fired_at DESC, scope, id OFFSET \(String(Subscription.firedCountMax)))))
        """)

    /// Whoever has fired them sends their pushes: of those that are as they were when a change was found to fire them, each
    /// one that has not fired yet.
    let fire = DeclaredStatement<[FiringRow], SubscriberKey?>(
        .write, "fire_subscriptions",
        """
        UPDATE subscription s SET fired_at = now()
          FROM unnest(\(\.self, \.user), \(\.self, \.scopeCode), \(\.self, \.id), \(\.self, \.queryBytes))
               AS k (user_id, scope, id, query)
         WHERE s.user_id = k.user_id AND s.scope = k.scope AND s.id = k.id AND s.query = k.query AND s.kind = 1
           AND s.fired_at IS NULL AND (s.zone_id IS NULL OR EXISTS (\(livingZone)))
        RETURNING s.user_id, s.scope, s.id
        """
    ) { row throws(PostgresError) in
        guard let scope = DatabaseScope(rawValue: try row["scope"]) else { return nil }
        return SubscriberKey(user: try row["user_id"], key: Subscription.Key(scope: scope, id: try row["id"]))
    }

    /// As ``lockUser``. All lock in this order, so nobody waits for the other.
    let lockUsers = DeclaredStatement<[UserID], Void>(
        .read, "lock_subscribers",
        "SELECT id FROM container_user WHERE id = ANY (\(\.self)) ORDER BY id FOR NO KEY UPDATE")

    /// Whoever writes a user's subscriptions holds this lock.
    let lockUser = DeclaredStatement<UserID, Void>(
        .read, "lock_subscriber",
        "SELECT id FROM container_user WHERE id = \(\.self) FOR NO KEY UPDATE")

    /// A row: an operator deletes the user's container. Whoever holds the user's lock and finds none is waited for by the
    /// deletion.
    let isClosed = DeclaredStatement<UserID, Void>(
        .read, "is_subscriber_closed",
        """
        SELECT 1
          FROM (SELECT container_id FROM container_user WHERE id BETWEEN \(\.self) AND \(\.self) ORDER BY id LIMIT 1) AS u
         CROSS JOIN LATERAL (
               SELECT closed_at FROM container
                WHERE id BETWEEN u.container_id AND u.container_id ORDER BY id LIMIT 1) AS c
         WHERE c.closed_at IS NOT NULL
        """)

    /// With what each counts of ``SubscriptionSaves/publicBytesMax``.
    let keys = DeclaredStatement<UserID, (key: Subscription.Key, publicBytes: Int)?>(
        .read, "subscription_keys",
        """
        SELECT scope, id,
               CASE WHEN scope = 1 THEN coalesce(octet_length(query), 0) + octet_length(notification_info) ELSE 0
                END::bigint AS public_bytes
          FROM subscription s WHERE user_id = \(\.self) AND NOT \(hasFired)
        """
    ) { row throws(PostgresError) in
        guard let scope = DatabaseScope(rawValue: try row["scope"]) else { return nil }
        return (Subscription.Key(scope: scope, id: try row["id"]), try row["public_bytes"])
    }

    /// The living zones for zone subscriptions.
    let zones = DeclaredStatement<(user: UserID, names: [String]), (name: String, id: ZoneID)>(
        .read, "subscription_zones",
        """
        SELECT k.zone_name, z.id
          FROM (SELECT d.id AS database_id, n.zone_name
                  FROM (SELECT \(\.user) AS user_id) AS s
                 CROSS JOIN LATERAL (\(privateDatabase)) AS d
                 CROSS JOIN unnest(\(\.names)) AS n (zone_name)) AS k
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
        """
    ) { row throws(PostgresError) in
        (try row["zone_name"], try row["id"])
    }

    let save = DeclaredStatement<(user: UserID, rows: [KeptSubscription]), Void>(
        .write, "save_subscriptions",
        """
        INSERT INTO subscription (user_id, scope, id, kind, record_type, notification_info, zone_id, database_id, query)
        SELECT \(\.user), k.scope, k.id, k.kind, k.record_type, k.notification_info, k.zone_id,
               k.database_id, k.query
          FROM unnest(\(\.rows, \.scopeCode), \(\.rows, \.subscription.id), \(\.rows, \.kindCode),
                      \(\.rows, \.subscription.recordType), \(\.rows, \.subscription.notificationInfo),
                      \(\.rows, \.zone), \(\.rows, \.watched), \(\.rows, \.queryBytes))
               AS k (scope, id, kind, record_type, notification_info, zone_id, database_id, query)
            ON CONFLICT (user_id, scope, id) DO UPDATE
           SET kind = excluded.kind, record_type = excluded.record_type,
               notification_info = excluded.notification_info, zone_id = excluded.zone_id,
               database_id = excluded.database_id, query = excluded.query, fired_at = NULL
        """)

    /// A row for each that there was.
    let delete = DeclaredStatement<
        (user: UserID, scope: DatabaseScope, ids: [String]), (id: String, existed: Bool)
    >(
        .write, "delete_subscriptions",
        """
        DELETE FROM subscription s WHERE user_id = \(\.user) AND scope = \(\.scope) AND id = ANY (\(\.ids))
        RETURNING id, NOT \(hasFired) AND (zone_id IS NULL OR EXISTS (\(livingZone))) AS existed
        """
    ) { row throws(PostgresError) in
        (try row["id"], try row["existed"])
    }
}

/// A subscription of which a change was found that fires it, as it was then.
struct FiringRow: Sendable {
    let user: UserID
    let scopeCode: Int32
    let id: String
    let queryBytes: [UInt8]?

    init(watching: WatchingSubscription, queryBytes: [UInt8]?) {
        user = watching.user
        // There are no arrays of smallint.
        scopeCode = Int32(watching.subscription.scope.rawValue)
        id = watching.subscription.id
        self.queryBytes = queryBytes
    }
}

extension KeptSubscription {
    // There are no arrays of smallint.
    fileprivate var scopeCode: Int32 { Int32(subscription.scope.rawValue) }
    fileprivate var kindCode: Int32 { Int32(subscription.kind.rawValue) }

    fileprivate var watched: DatabaseID? { subscription.query?.database }
}

/// A subscription in a row, with the name of its living zone.
private enum SubscriptionRow {
    /// Of one whose zone is gone there is only its key.
    static func decodeWatching(_ row: PostgresRow) throws(PostgresError) -> WatchingRow {
        let (user, container): (UserID, ContainerID) = (try row["user_id"], try row["container_id"])
        let (scope, id): (DatabaseScope?, String) = (DatabaseScope(rawValue: try row["scope"]), try row["id"])
        let isLiving: Bool = try row["is_living"]
        let subscription = try decode(row).flatMap { isLiving ? $0 : nil }
        return WatchingRow(
            database: try row["database_id"],
            key: scope.map { SubscriberKey(user: user, key: Subscription.Key(scope: $0, id: id)) },
            watching: subscription.map { WatchingSubscription(user: user, container: container, subscription: $0) })
    }

    /// Nil: a later version of the server has written it.
    static func decode(_ row: PostgresRow, hasFired: Bool = false) throws(PostgresError) -> Subscription? {
        guard let scope = DatabaseScope(rawValue: try row["scope"]),
            let kind = Subscription.Kind(rawValue: try row["kind"])
        else { return nil }
        let database: DatabaseID? = try row["database_id"]
        let bytes: [UInt8]? = try row["query"]
        var query: SubscriptionQuery?
        var zoneName: String? = try row["name"]
        // NB: an older server replaces a query subscription by one of another kind, and leaves these columns.
        if kind == .query, let database, let bytes {
            guard let stored = SubscriptionQuery.decoded(bytes, of: database) else { return nil }
            query = stored.query
            zoneName = stored.zoneName
        }
        return Subscription(
            id: try row["id"], scope: scope, kind: kind, recordType: try row["record_type"], zoneName: zoneName,
            notificationInfo: try row["notification_info"], query: query, hasFired: hasFired)
    }
}

/// One row of ``SubscriptionStatements/watching``.
struct WatchingRow: Sendable {
    let database: DatabaseID
    /// Nil: its scope is one of a later version of the server.
    let key: SubscriberKey?
    /// Nil: a later version has written it, or its zone is gone.
    let watching: WatchingSubscription?
}
