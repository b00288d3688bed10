// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL with which operators look at accounts, disable and delete them, and revoke devices.
struct AccountLifeStatements: Sendable {
    // MARK: Disabling

    /// Deleted accounts have no name that anybody could give, so they are not found.
    let disable = DeclaredStatement<AccountID, Void>(
        .write, "disable_account",
        "UPDATE account SET disabled_at = now() WHERE id = \(\.self) AND disabled_at IS NULL RETURNING id")

    let enable = DeclaredStatement<AccountID, Void>(
        .write, "enable_account",
        """
        UPDATE account SET disabled_at = NULL
         WHERE id = \(\.self) AND disabled_at IS NOT NULL AND deleted_at IS NULL
           AND NOT EXISTS (SELECT FROM account_end e WHERE e.account_id = account.id)
        RETURNING id
        """)

    /// Those that open sessions, or would if the account were not disabled.
    let liveCredentials = DeclaredStatement<AccountID, CredentialID>(
        .read, "live_credentials",
        """
        SELECT id FROM credential
         WHERE account_id = \(\.self) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
        """)

    let revokeDevice = DeclaredStatement<AccountDevice, Bool>(
        .write, "revoke_device",
        """
        UPDATE device d SET revoked_at = coalesce(d.revoked_at, now())
          FROM (SELECT account_id, id, revoked_at FROM device
                 WHERE account_id = \(\.account) AND id = \(\.device) FOR UPDATE) AS old
         WHERE d.account_id = old.account_id AND d.id = old.id RETURNING old.revoked_at IS NULL AS is_changed
        """
    ) { row throws(PostgresError) in try row["is_changed"] }

    let forgetDevice = DeclaredStatement<AccountDevice, Void>(
        .write, "forget_device",
        "DELETE FROM device WHERE account_id = \(\.account) AND id = \(\.device) RETURNING 1")

    // MARK: Looking

    let users = DeclaredStatement<AccountID, AccountUser>(
        .read, "users_of_account",
        """
        SELECT k.identifier, k.environment, u.id, u.record_name, d.id AS private_id, s.id AS shared_id
          FROM container_user u
          JOIN container k ON k.id = u.container_id
          JOIN database d ON d.user_id = u.id AND d.scope = 2
          LEFT JOIN database s ON s.user_id = u.id AND s.scope = 3
         WHERE u.account_id = \(\.self) AND k.deleted_identifier IS NULL
         ORDER BY k.identifier, k.environment
        """
    ) { row throws(PostgresError) in
        AccountUser(
            container: ContainerKey(
                identifier: try row["identifier"],
                environment: ContainerEnvironment(rawValue: try row["environment"]) ?? .development),
            user: try row["id"], recordName: try row["record_name"], privateDatabase: try row["private_id"],
            sharedDatabase: try row["shared_id"])
    }

    /// Accounts that were deleted have no name.
    let accountNames = DeclaredStatement<[UserID], (user: UserID, name: String)>(
        .read, "account_names_of_users",
        """
        SELECT u.id, a.name FROM container_user u JOIN account a ON a.id = u.account_id
         WHERE u.id = ANY (\(\.self)) AND a.deleted_at IS NULL
        """
    ) { row throws(PostgresError) in (try row["id"], try row["name"]) }

    /// The databases of account `a` of this scope, for an `IN`.
    private static func databases(_ scope: String) -> String {
        """
        (SELECT d.id FROM container_user u JOIN database d ON d.user_id = u.id AND d.scope = \(scope)
          WHERE u.account_id = a.id)
        """
    }

    let contents = DeclaredStatement<AccountID, AccountContents>(
        .read, "account_contents",
        """
        SELECT a.created_at, a.disabled_at, a.encryption_mode, a.quota_bytes,
               (SELECT count(*) FROM credential c
                 WHERE c.account_id = a.id AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > now()))
                   AS credential_count,
               (SELECT count(*) FROM device v WHERE v.account_id = a.id) AS device_count,
               (SELECT count(*) FROM account_address e WHERE e.account_id = a.id) AS address_count,
               (SELECT count(*) FROM subscription s
                 WHERE s.user_id IN (SELECT u.id FROM container_user u WHERE u.account_id = a.id)
                   AND s.fired_at IS NULL) AS subscription_count,
               (SELECT count(*) FROM zone z WHERE z.database_id IN \(databases("2")) AND z.removal IS NULL) AS zone_count,
               (SELECT count(*) FROM share h JOIN zone z ON z.database_id = h.database_id AND z.id = h.zone_id
                 WHERE h.database_id IN \(databases("2")) AND h.ended_number IS NULL AND z.removal IS NULL) AS share_count,
               (SELECT count(*) FROM shared_zone p WHERE p.database_id IN \(databases("3"))) AS shared_zone_count,
               (SELECT coalesce(sum(z.byte_count), 0)::bigint FROM zone z
                 WHERE z.database_id IN \(databases("2")) AND z.removal IS NULL) AS record_bytes,
               (SELECT coalesce(sum(t.byte_count), 0)::bigint FROM asset_total t
                 WHERE t.database_id IN \(databases("2"))) AS asset_bytes
          FROM account a WHERE a.id = \(\.self)
        """
    ) { row throws(PostgresError) in
        AccountContents(
            createdAt: try row["created_at"], disabledAt: try row["disabled_at"],
            encryptionMode: EncryptionMode(rawValue: try row["encryption_mode"]) ?? .escrowed,
            quotaBytes: try row["quota_bytes"], credentialCount: try row["credential_count"],
            deviceCount: try row["device_count"], addressCount: try row["address_count"],
            subscriptionCount: try row["subscription_count"], zoneCount: try row["zone_count"],
            shareCount: try row["share_count"], sharedZoneCount: try row["shared_zone_count"],
            recordBytes: try row["record_bytes"], assetBytes: try row["asset_bytes"])
    }

    // MARK: Deleting

    /// Ends some living zones of a database, also the default zone: the database ends with them. They are locked in the order
    /// of all who lock several zones.
    let endZones = DeclaredStatement<(database: DatabaseID, countMax: Int), String>(
        .write, "end_some_zones",
        """
        WITH locked AS MATERIALIZED (
            SELECT id FROM zone WHERE database_id = \(\.database) AND removal IS NULL
             ORDER BY id LIMIT \(\.countMax) FOR UPDATE),
        \(ZoneStatements.endingLocked(of: \.database, .purged))
        """
    ) { row throws(PostgresError) in try row["name"] }

    /// Private databases with living zones, of accounts that were deleted a short time ago.
    let survivors = DeclaredStatement<(after: Timestamp, countMax: Int), DatabaseID>(
        .read, "databases_of_deleted_accounts",
        """
        SELECT d.id FROM account a
          JOIN container_user u ON u.account_id = a.id
          JOIN database d ON d.user_id = u.id AND d.scope = 2
         WHERE a.deleted_at > \(\.after)
           AND EXISTS (SELECT FROM zone z WHERE z.database_id = d.id AND z.removal IS NULL)
         LIMIT \(\.countMax)
        """)

    let forgetSubscriptions = deleting("subscriptions", from: "subscription", by: "user_id")
    let forgetRoles = deleting("roles", from: "user_role", by: "user_id")
    let forgetAccountKey = deleting("account_key", from: "account_key", by: "user_id")
    let forgetSenders = deleting("asset_senders", from: "asset_sender", by: "user_id")

    /// Those that the ends of zones and shares have left: nobody sees them. The others go under the locks of their zones.
    let forgetAccessRequests = DeclaredStatement<UserID, Void>(
        .write, "forget_user_access_requests",
        """
        DELETE FROM share_requester q
         WHERE q.user_id = \(\.self)
           AND NOT EXISTS (
               SELECT FROM share s JOIN zone z ON z.database_id = s.database_id AND z.id = s.zone_id
                WHERE s.database_id = q.database_id AND s.zone_id = q.zone_id AND s.number = q.share_number
                  AND s.ended_number IS NULL AND z.removal IS NULL)
        """)

    private static func deleting(
        _ what: String, from table: String, by column: String
    ) -> DeclaredStatement<UserID, Void> {
        DeclaredStatement(.write, "forget_user_\(what)", "DELETE FROM \(table) WHERE \(column) = \(\.self)")
    }

    let forgetFeedEntries = deleting("feed_entries", from: "feed_entry")
    let forgetFeed = deleting("feed", from: "feed")
    let forgetMemories = deleting("memories", from: "request_memory")
    let forgetPointers = deleting("pointers", from: "shared_zone")

    private static func deleting(_ what: String, from table: String) -> DeclaredStatement<DatabaseID, Void> {
        DeclaredStatement(.write, "forget_database_\(what)", "DELETE FROM \(table) WHERE database_id = \(\.self)")
    }

    let forgetCredentials = forgetting("credentials", from: "credential")
    let forgetDevices = forgetting("devices", from: "device")
    let forgetAddresses = forgetting("addresses", from: "account_address")

    private static func forgetting(_ what: String, from table: String) -> DeclaredStatement<AccountID, Void> {
        DeclaredStatement(.write, "forget_account_\(what)", "DELETE FROM \(table) WHERE account_id = \(\.self)")
    }

    /// No account can have the new name, because names have no spaces.
    let forgetAccount = DeclaredStatement<AccountID, Void>(
        .write, "forget_account",
        """
        UPDATE account SET name = 'deleted ' || id, given_name = NULL, family_name = NULL, quota_bytes = NULL,
                           deleted_at = coalesce(deleted_at, now()),
                           disabled_at = coalesce(disabled_at, now())
         WHERE id = \(\.self)
        """)

    // MARK: Public records

    /// Some records of a zone that follow a name: those that a user has created, and the last one that was looked at if
    /// there may be more.
    let created = DeclaredStatement<
        (database: DatabaseID, zone: ZoneID, after: String, creator: UserID, rowsMax: Int),
        (name: String, isWanted: Bool, isLast: Bool)
    >(
        .read, "records_created_by",
        """
        SELECT name, is_wanted, place = \(\.rowsMax) AS is_last
          FROM (SELECT name, NOT is_deleted AND created_by = \(\.creator) AS is_wanted,
                       row_number() OVER (ORDER BY name) AS place
                  FROM (SELECT name, is_deleted, created_by FROM record
                         WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND name > \(\.after)
                         ORDER BY name LIMIT \(\.rowsMax)) AS r) AS p
         WHERE is_wanted OR place = \(\.rowsMax)
         ORDER BY place
        """
    ) { row throws(PostgresError) in (try row["name"], try row["is_wanted"], try row["is_last"]) }
}
