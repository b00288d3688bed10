// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// A user of a container, with the user's databases; nil: there is none yet.
struct ContainerUserRow: Sendable {
    let account: AccountID
    let user: UserID
    let privateDatabase: DatabaseID?
    let sharedDatabase: DatabaseID?
}

/// The SQL that closes a container and deletes it.
///
/// What destroys something begins with ``hold`` in its transaction, and does nothing unless the container is still closed
/// by the same deletion. So nobody deletes what was stored after the container was created again.
struct ClosingStatements: Sendable {
    /// A database of a container that is being deleted, and how many rows one statement removes.
    typealias Step = (closed: ClosedContainer, database: DatabaseID, rowsMax: Int)

    /// Whole milliseconds, because a ``Timestamp`` has no more.
    let close = DeclaredStatement<ContainerKey, ClosedContainer>(
        .write, "close_container",
        """
        UPDATE container SET closed_at = coalesce(closed_at, date_trunc('milliseconds', now()))
         WHERE identifier = \(\.identifier) AND environment = \(\.environment) RETURNING id, closed_at
        """
    ) { row throws(PostgresError) in ClosedContainer(id: try row["id"], closedAt: try row["closed_at"]) }

    let closed = DeclaredStatement<[ContainerID], ContainerID>(
        .read, "closed_containers",
        """
        SELECT k.id FROM unnest(\(\.self)) AS k (id)
          LEFT JOIN container c ON c.id = k.id
         WHERE c.id IS NULL OR c.closed_at IS NOT NULL
        """)

    /// No row: the container was deleted, and may be there again. Whoever creates it again waits for this lock.
    let hold = DeclaredStatement<ClosedContainer, Void>(
        .read, "hold_closed_container",
        """
        SELECT 1 FROM container
         WHERE id = \(\.id) AND closed_at = \(\.closedAt) AND deleted_identifier IS NULL FOR SHARE
        """)

    /// The same before ``delete``. Two who both had the shared lock would wait for each other.
    let holdAlone = DeclaredStatement<ClosedContainer, Void>(
        .read, "hold_closed_container_alone",
        """
        SELECT 1 FROM container
         WHERE id = \(\.id) AND closed_at = \(\.closedAt) AND deleted_identifier IS NULL FOR UPDATE
        """)

    /// Whether it is closed by this deletion. Certain after ``hold``.
    private static func isHeld<Input>(_ closed: any KeyPath<Input, ClosedContainer> & Sendable) -> SQL<Input> {
        """
        (SELECT 1 FROM container
          WHERE id = \(part: closed, \.id) AND closed_at = \(part: closed, \.closedAt)
            AND deleted_identifier IS NULL) IS NOT NULL
        """
    }

    // MARK: Looking

    /// By account: there is an index.
    let users = DeclaredStatement<(container: ContainerID, after: AccountID, countMax: Int), ContainerUserRow>(
        .read, "users_of_container",
        """
        SELECT u.account_id, u.id, p.id AS private_id, s.id AS shared_id
          FROM (SELECT account_id, id FROM container_user
                 WHERE container_id = \(\.container) AND account_id > \(\.after)
                 ORDER BY account_id LIMIT \(\.countMax)) AS u
          LEFT JOIN database p ON p.user_id = u.id AND p.scope = 2
          LEFT JOIN database s ON s.user_id = u.id AND s.scope = 3
         ORDER BY u.account_id
        """
    ) { row throws(PostgresError) in
        ContainerUserRow(
            account: try row["account_id"], user: try row["id"], privateDatabase: try row["private_id"],
            sharedDatabase: try row["shared_id"])
    }

    let publicDatabase = DeclaredStatement<ContainerID, DatabaseID>(
        .read, "public_database_of_container",
        "SELECT id FROM database WHERE container_id = \(\.self) AND scope = 1")

    /// What some databases, and some users, have together.
    let contents = DeclaredStatement<(databases: [DatabaseID], users: [UserID]), ContainerContents>(
        .read, "container_contents",
        """
        SELECT count(z.id) AS zones, coalesce(sum(z.byte_count), 0)::bigint AS record_bytes,
               coalesce(sum(z.record_count) FILTER (WHERE z.digest_number = z.change_number), 0)::bigint AS records,
               coalesce(bool_or(z.digest_number <> z.change_number), false) AS is_uncounted,
               (SELECT coalesce(sum(byte_count), 0)::bigint FROM asset_total
                 WHERE database_id = ANY (\(\.databases))) AS asset_bytes,
               (SELECT count(*) FROM share
                 WHERE database_id = ANY (\(\.databases)) AND ended_number IS NULL) AS shares,
               (SELECT count(*) FROM subscription WHERE user_id = ANY (\(\.users))) AS subscriptions
          FROM zone z WHERE z.database_id = ANY (\(\.databases)) AND z.removal IS NULL
        """
    ) { row throws(PostgresError) in
        let records: Int64 = try row["records"]
        let isUncounted: Bool = try row["is_uncounted"]
        return ContainerContents(
            zoneCount: try row["zones"], recordCount: isUncounted ? .atLeast(Int(records)) : .exactly(Int(records)),
            recordBytes: try row["record_bytes"], assetBytes: try row["asset_bytes"], shareCount: try row["shares"],
            subscriptionCount: try row["subscriptions"])
    }

    /// A container that was deleted and created again has another time.
    let createdAt = DeclaredStatement<ContainerKey, Timestamp>(
        .read, "container_created_at",
        "SELECT created_at FROM container WHERE identifier = \(\.identifier) AND environment = \(\.environment)")

    let typeCount = DeclaredStatement<ContainerID, Int>(
        .read, "record_type_count",
        "SELECT count(*) FROM record_type WHERE container_id = \(\.self)")

    // MARK: Emptying databases

    /// Ends some living zones, but not the default zone. They are locked in the order of all who lock several zones.
    let endZones = DeclaredStatement<Step, String>(
        .write, "end_zones_of_closed",
        """
        WITH locked AS MATERIALIZED (
            SELECT id FROM zone
             WHERE database_id = \(\.database) AND removal IS NULL AND name <> '_defaultZone' AND \(isHeld(\.closed))
             ORDER BY id LIMIT \(\.rowsMax) FOR UPDATE),
        \(ZoneStatements.endingLocked(of: \.database, .deleted))
        """
    ) { row throws(PostgresError) in try row["name"] }

    /// Ends the default zone if anything was ever stored in it. It is locked first: a write that was under way when the
    /// container was closed is seen when it has ended.
    let endDefaultZone = DeclaredStatement<(closed: ClosedContainer, database: DatabaseID), Void>(
        .write, "end_default_zone_of_closed",
        """
        WITH locked AS MATERIALIZED (
            SELECT id, change_number FROM zone
             WHERE database_id = \(\.database) AND name = '_defaultZone' AND removal IS NULL AND \(isHeld(\.closed))
               FOR UPDATE),
        ended AS (
            UPDATE zone SET removal = 0, removed_at = now()
             WHERE database_id = \(\.database) AND removal IS NULL
               AND id IN (SELECT id FROM locked WHERE change_number > 0)
         RETURNING database_id, id),
        taken AS (
            DELETE FROM key_grant g USING ended WHERE g.database_id = ended.database_id AND g.zone_id = ended.id)
        DELETE FROM zone_key k USING ended WHERE k.database_id = ended.database_id AND k.zone_id = ended.id
        """)

    /// The default zone always exists.
    let createDefaultZone = DeclaredStatement<(closed: ClosedContainer, database: DatabaseID), Void>(
        .write, "create_default_zone_of_closed",
        ZoneStatements.createDefault(
            in: "database d WHERE d.id = \(\.database) AND \(isHeld(\.closed))", now: "now()"))

    /// Forgets some ended zones. Nobody is told of them one by one: all tokens of the database expire.
    let forgetZones = DeclaredStatement<Step, Void>(
        .write, "forget_zones_of_closed",
        """
        DELETE FROM zone WHERE ctid = ANY (ARRAY(
            SELECT z.ctid FROM zone z
             WHERE z.database_id = \(\.database) AND z.removal IS NOT NULL AND \(isHeld(\.closed))
               AND \(CompactionStatements.nothingIsLeft)
             LIMIT \(\.rowsMax)))
        """)

    let forgetEntries = forgetting("feed_entries", from: "feed_entry")
    let forgetPointers = forgetting("pointers", from: "shared_zone")
    let forgetMemories = forgetting("memories", from: "request_memory")
    let forgetPublicUses = forgetting("public_uses", from: "public_use")

    private static func forgetting(_ what: String, from table: String) -> DeclaredStatement<Step, Void> {
        DeclaredStatement(
            .write, "forget_\(what)_of_closed",
            """
            DELETE FROM \(table) WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM \(table) WHERE database_id = \(\.database) AND \(isHeld(\.closed)) LIMIT \(\.rowsMax)))
            """)
    }

    /// All tokens that there are of the feed expire, also that of its end: what it led to is gone.
    let expireFeed = DeclaredStatement<(closed: ClosedContainer, database: DatabaseID), Void>(
        .write, "expire_feed_of_closed",
        """
        UPDATE feed SET head = head + 1, oldest_token = head + 1
         WHERE database_id = \(\.database) AND \(isHeld(\.closed))
        """)

    // MARK: Users and the rest

    /// In the order of all who lock several users.
    let lockUsers = DeclaredStatement<[UserID], Void>(
        .read, "lock_users",
        "SELECT id FROM container_user WHERE id = ANY (\(\.self)) ORDER BY id FOR NO KEY UPDATE")

    let forgetSubscriptions = forgettingUsers("subscriptions", from: "subscription")
    let forgetRoles = forgettingUsers("roles", from: "user_role")
    let forgetAccountKeys = forgettingUsers("account_keys", from: "account_key")

    private static func forgettingUsers(
        _ what: String, from table: String
    ) -> DeclaredStatement<(closed: ClosedContainer, users: [UserID]), Void> {
        DeclaredStatement(
            .write, "forget_\(what)_of_closed",
            "DELETE FROM \(table) WHERE user_id = ANY (\(\.users)) AND \(isHeld(\.closed))")
    }

    /// With their fields and grants.
    let forgetTypes = DeclaredStatement<ClosedContainer, Void>(
        .write, "forget_types_of_closed",
        "DELETE FROM record_type WHERE container_id = \(\.id) AND \(isHeld(\.self))")

    let forgetOwnRoles = DeclaredStatement<ClosedContainer, Void>(
        .write, "forget_own_roles_of_closed",
        "DELETE FROM record_role WHERE container_id = \(\.id) AND \(isHeld(\.self))")

    /// No container can have the new identifier, because identifiers are ASCII.
    let delete = DeclaredStatement<ClosedContainer, Void>(
        .write, "delete_container",
        """
        UPDATE container SET deleted_identifier = identifier, identifier = 'deleted – ' || id, references_max = NULL,
                             feeds_everywhere = false, private_quota_bytes = NULL, public_quota_bytes = NULL,
                             public_share_bytes = NULL,
                             request_rate = NULL, request_burst = NULL
         WHERE id = \(\.id) AND closed_at = \(\.closedAt) AND deleted_identifier IS NULL RETURNING id
        """)
}
