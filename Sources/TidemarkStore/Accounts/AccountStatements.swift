// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of accounts, credentials, containers and users.
enum AccountStatements {
    /// The store's life, and the version of its schemas.
    static let store = Statement(.read, "store", "SELECT incarnation, schema_version, memory_epoch FROM store", [])

    /// 1 hash, 2 container, 3 environment, 4 now. No row: no such credential. Nulls: not created yet.
    static let identity = Statement(
        .read, "identity",
        """
        SELECT c.account_id, c.id, c.expires_at, k.id, u.id, u.record_name, d.id, s.id, k.feeds_everywhere
          FROM credential c
          LEFT JOIN container k ON k.identifier = $2 AND k.environment = $3
          LEFT JOIN container_user u ON u.container_id = k.id AND u.account_id = c.account_id
          LEFT JOIN database d ON d.user_id = u.id AND d.scope = 2
          LEFT JOIN database s ON s.user_id = u.id AND s.scope = 3
         WHERE c.hash = $1 AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > $4)
        """, [.bytea, .text, .int2, .timestamptz])

    /// 1 hash, 2 environment, 3 now, 4 the most rows. It starts from the containers, because there may be many more
    /// accounts.
    static let containers = Statement(
        .read, "containers_of_credential",
        """
        SELECT k.identifier
          FROM credential c
          JOIN container k ON k.environment = $2
          JOIN container_user u ON u.container_id = k.id AND u.account_id = c.account_id
         WHERE c.hash = $1 AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > $3)
         ORDER BY u.id DESC LIMIT $4
        """, [.bytea, .int2, .timestamptz, .int8])

    /// 1 container, 2 environment.
    static let createContainer = Statement(
        .write, "create_container",
        "INSERT INTO container (identifier, environment) VALUES ($1, $2) ON CONFLICT DO NOTHING", [.text, .int2])

    /// 1 container, 2 environment, 3 account.
    static let createUser = Statement(
        .write, "create_user",
        """
        INSERT INTO container_user (container_id, account_id)
        SELECT id, $3 FROM container WHERE identifier = $1 AND environment = $2
            ON CONFLICT (container_id, account_id) DO NOTHING
        """, [.text, .int2, .int8])

    static let createPrivateDatabase = createDatabase("create_private_database", scope: 2)
    /// A shared database has no zone of its own, so no default zone.
    static let createSharedDatabase = createDatabase("create_shared_database", scope: 3)

    private static func createDatabase(_ name: String, scope: Int) -> Statement {
        Statement(
            .write, name,
            """
            INSERT INTO database (container_id, scope, user_id)
            SELECT k.id, \(scope), u.id
              FROM container k JOIN container_user u ON u.container_id = k.id AND u.account_id = $3
             WHERE k.identifier = $1 AND k.environment = $2
                ON CONFLICT DO NOTHING
            """, [.text, .int2, .int8])
    }

    /// The default zone always exists and needs no save. 4 now.
    static let createDefaultZone = Statement(
        .write, "create_default_zone",
        """
        INSERT INTO zone (database_id, name, created_at)
        SELECT d.id, '_defaultZone', $4
          FROM container k
          JOIN container_user u ON u.container_id = k.id AND u.account_id = $3
          JOIN database d ON d.user_id = u.id AND d.scope = 2
         WHERE k.identifier = $1 AND k.environment = $2
            ON CONFLICT DO NOTHING
        """, [.text, .int2, .int8, .timestamptz])

    /// 1 container, 2 environment. No row: no such container. The database is null before its first use.
    static let publicDatabase = Statement(
        .read, "public_database",
        """
        SELECT k.id, d.id
          FROM container k LEFT JOIN database d ON d.container_id = k.id AND d.scope = 1
         WHERE k.identifier = $1 AND k.environment = $2
        """, [.text, .int2])

    /// 1 container.
    static let createPublicDatabase = Statement(
        .write, "create_public_database",
        "INSERT INTO database (container_id, scope) VALUES ($1, 1) ON CONFLICT DO NOTHING", [.int8])

    /// As for private databases. 1 container, 2 now.
    static let createPublicZone = Statement(
        .write, "create_public_zone",
        """
        INSERT INTO zone (database_id, name, created_at)
        SELECT id, '_defaultZone', $2 FROM database WHERE container_id = $1 AND scope = 1
            ON CONFLICT DO NOTHING
        """, [.int8, .timestamptz])

    static let userRecordNames = Statement(
        .read, "user_record_names", "SELECT id, record_name FROM container_user WHERE id = ANY ($1)", [.int8Array])

    /// 1 container, 2 environment, 3 record names.
    static let usersNamed = Statement(
        .read, "users_named",
        """
        SELECT u.id, u.record_name
          FROM container k JOIN container_user u ON u.container_id = k.id AND u.record_name = ANY ($3)
         WHERE k.identifier = $1 AND k.environment = $2
        """, [.text, .int2, .textArray])

    /// 1 account, 2 device, 3 name, 4 now.
    static let noteDevice = Statement(
        .write, "note_device",
        """
        INSERT INTO device (account_id, id, name, first_seen_at, last_seen_at) VALUES ($1, $2, $3, $4, $4)
            ON CONFLICT (account_id, id) DO UPDATE SET name = excluded.name, last_seen_at = excluded.last_seen_at
        """, [.int8, .uuid, .text, .timestamptz])

    // MARK: For operators

    static let createAccount = Statement(
        .write, "create_account", "INSERT INTO account (name) VALUES ($1) ON CONFLICT DO NOTHING RETURNING id", [.text])

    static let listAccounts = Statement(
        .read, "list_accounts",
        """
        SELECT a.id, a.name, a.created_at,
               (SELECT count(*) FROM credential c WHERE c.account_id = a.id AND c.revoked_at IS NULL
                                                    AND (c.expires_at IS NULL OR c.expires_at > now())),
               (SELECT count(*) FROM device d WHERE d.account_id = a.id), a.encryption_mode
          FROM account a ORDER BY a.name
        """, [])

    static let findAccount = Statement(.read, "find_account", "SELECT id FROM account WHERE name = $1", [.text])

    /// 1 account, 2 hash, 3 label, 4 expiry.
    static let issueCredential = Statement(
        .write, "issue_credential",
        "INSERT INTO credential (account_id, hash, label, expires_at) VALUES ($1, $2, $3, $4) RETURNING id",
        [.int8, .bytea, .text, .timestamptz])

    static let revokeCredential = Statement(
        .write, "revoke_credential",
        "UPDATE credential SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL RETURNING id", [.int8])

    static let listCredentials = Statement(
        .read, "list_credentials",
        "SELECT id, label, created_at, expires_at, revoked_at FROM credential WHERE account_id = $1 ORDER BY id",
        [.int8])

    static let listDevices = Statement(
        .read, "list_devices",
        "SELECT id, name, first_seen_at, last_seen_at FROM device WHERE account_id = $1 ORDER BY last_seen_at DESC",
        [.int8])

    /// As `StoreIncarnation.next` says.
    static let renewIncarnation = Statement(
        .write, "renew_incarnation",
        """
        UPDATE store SET incarnation = (incarnation << 32) | ('x' || left(gen_random_uuid()::text, 8))::bit(32)::bigint
        """, [])

    /// As `ChangeNumber.inNextLife` says.
    static let countZonesOn = Statement(
        .write, "count_zones_on",
        """
        UPDATE zone SET change_number = ((change_number >> 40) + 1) << 40, write_number = write_number + 1
         WHERE removal IS NULL
        """, [])

    /// As `ZoneID.gapBetweenLives` says.
    static let moveZoneNumbers = Statement(
        .read, "move_zone_numbers",
        """
        SELECT setval(pg_get_serial_sequence('zone', 'id'), nextval(pg_get_serial_sequence('zone', 'id')) + $1)
        """, [.int8])

    /// Credentials in the list that are no longer valid. 1 ids, 2 now.
    static let voidCredentials = Statement(
        .read, "void_credentials",
        """
        SELECT id FROM credential
         WHERE id = ANY ($1) AND (revoked_at IS NOT NULL OR expires_at <= $2)
        """, [.int8Array, .timestamptz])
}
