// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// What is known of a credential's account in a container.
enum IdentityFinding {
    /// The account exists, but not yet in this container.
    case incomplete(account: AccountID, hasContainer: Bool)
    /// An operator deletes the container.
    case closed
    case complete(Identity)
}

/// An account that comes to a container for the first time.
typealias NewUser = (container: ContainerKey, account: AccountID, now: Timestamp)

/// The SQL of accounts, credentials, containers and users.
struct AccountStatements: Sendable {
    /// The store's incarnation, and the version of its schemas.
    let store = DeclaredStatement<Void, (incarnation: StoreIncarnation, schemaVersion: Int64, memoryEpoch: Int64)>(
        .read, "store",
        "SELECT incarnation, schema_version, memory_epoch FROM store"
    ) { row throws(PostgresError) in
        (try row["incarnation"], try row["schema_version"], try row["memory_epoch"])
    }

    /// No row: no such credential.
    let identity = DeclaredStatement<(hash: [UInt8], container: ContainerKey, now: Timestamp), IdentityFinding>(
        .read, "identity",
        """
        SELECT c.account_id, c.id AS credential_id, c.expires_at, k.id AS container_id, u.id AS user_id, u.record_name,
               d.id AS database_id, s.id AS shared_id, k.feeds_everywhere, k.closed_at IS NOT NULL AS is_closed,
               \(RateStatements.columns),
               \(QuotaStatements.standingColumns)
          FROM credential c
          JOIN account a ON a.id = c.account_id AND a.disabled_at IS NULL
          LEFT JOIN container k ON k.identifier = \(\.container.identifier) AND k.environment = \(\.container.environment)
          LEFT JOIN container_user u ON u.container_id = k.id AND u.account_id = c.account_id
          LEFT JOIN database d ON d.user_id = u.id AND d.scope = 2
          LEFT JOIN database s ON s.user_id = u.id AND s.scope = 3
         WHERE c.hash = \(\.hash) AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > \(\.now))
        """
    ) { row throws(PostgresError) in
        let isClosed: Bool = try row["is_closed"]
        guard let database: DatabaseID = try row["database_id"], let shared: DatabaseID = try row["shared_id"] else {
            let container: ContainerID? = try row["container_id"]
            let account: AccountID = try row["account_id"]
            return isClosed ? .closed : .incomplete(account: account, hasContainer: container != nil)
        }
        let identity = Identity(
            account: try row["account_id"], credential: try row["credential_id"],
            credentialExpiresAt: try row["expires_at"], container: try row["container_id"],
            user: try row["user_id"], userRecordName: try row["record_name"], privateDatabase: database,
            sharedDatabase: shared, feedsEverywhere: try row["feeds_everywhere"], limits: try AccountLimits(row),
            quota: try Self.quota(row))
        return isClosed ? .closed : .complete(identity)
    }

    private static func quota(_ row: PostgresRow) throws(PostgresError) -> QuotaStanding? {
        QuotaStanding.tighter(
            QuotaStanding(bytesMax: try row["quota_bytes"], byteCount: try row["used_bytes"]),
            QuotaStanding(bytesMax: try row["account_quota_bytes"], byteCount: try row["account_used_bytes"]))
    }

    /// It starts from the containers, because there may be many more accounts.
    let containers = DeclaredStatement<
        (hash: [UInt8], environment: ContainerEnvironment, now: Timestamp, countMax: Int), String
    >(
        .read, "containers_of_credential",
        """
        SELECT k.identifier
          FROM credential c
          JOIN account a ON a.id = c.account_id AND a.disabled_at IS NULL
          JOIN container k ON k.environment = \(\.environment) AND k.deleted_identifier IS NULL
          JOIN container_user u ON u.container_id = k.id AND u.account_id = c.account_id
         WHERE c.hash = \(\.hash) AND c.revoked_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > \(\.now))
         ORDER BY u.id DESC LIMIT \(\.countMax)
        """)

    let lockAccount = DeclaredStatement<AccountID, Void>(
        .read, "lock_account",
        "SELECT 1 FROM account WHERE id = \(\.self) FOR NO KEY UPDATE")

    /// Runs after ``lockAccount``. It starts from the containers, as ``containers``.
    let createContainer = DeclaredStatement<(user: NewUser, countMax: Int), Void>(
        .write, "create_container",
        """
        WITH allowed AS MATERIALIZED (
            SELECT (SELECT count(*)
                      FROM container k
                      JOIN container_user u ON u.container_id = k.id AND u.account_id = \(\.user.account)
                     WHERE k.environment = \(\.user.container.environment) AND k.deleted_identifier IS NULL)
                   < \(\.countMax) AS more),
        revived AS (
            \(ContainerStatements.reviving(\.user.container)) AND (SELECT more FROM allowed) RETURNING id)
        INSERT INTO container (identifier, environment)
        SELECT \(\.user.container.identifier), \(\.user.container.environment)
         WHERE (SELECT more FROM allowed) AND NOT EXISTS (SELECT FROM revived)
            ON CONFLICT DO NOTHING
        """)

    let createUser = DeclaredStatement<NewUser, Void>(
        .write, "create_user",
        """
        INSERT INTO container_user (container_id, account_id)
        SELECT id, \(\.account) FROM container
         WHERE identifier = \(\.container.identifier) AND environment = \(\.container.environment) AND closed_at IS NULL
            ON CONFLICT (container_id, account_id) DO NOTHING
        """)

    let createPrivateDatabase = createDatabase("create_private_database", scope: "2")
    /// A shared database has no zone of its own, so no default zone.
    let createSharedDatabase = createDatabase("create_shared_database", scope: "3")

    private static func createDatabase(_ name: String, scope: String) -> DeclaredStatement<NewUser, Void> {
        DeclaredStatement(
            .write, name,
            """
            INSERT INTO database (container_id, scope, user_id)
            SELECT k.id, \(scope), u.id
              FROM container k JOIN container_user u ON u.container_id = k.id AND u.account_id = \(\.account)
             WHERE k.identifier = \(\.container.identifier) AND k.environment = \(\.container.environment)
                ON CONFLICT DO NOTHING
            """)
    }

    let createDefaultZone = DeclaredStatement<NewUser, Void>(
        .write, "create_default_zone",
        ZoneStatements.createDefault(
            in: """
                container k
                  JOIN container_user u ON u.container_id = k.id AND u.account_id = \(\.account)
                  JOIN database d ON d.user_id = u.id AND d.scope = 2
                 WHERE k.identifier = \(\.container.identifier) AND k.environment = \(\.container.environment)
                """, now: "\(\.now)"))

    /// No row: no such container. The database is null before its first use.
    let publicDatabase = DeclaredStatement<
        ContainerKey, (container: ContainerID, database: DatabaseID?, isClosed: Bool)
    >(
        .read, "public_database",
        """
        SELECT k.id AS container_id, d.id AS database_id, k.closed_at IS NOT NULL AS is_closed
          FROM container k LEFT JOIN database d ON d.container_id = k.id AND d.scope = 1
         WHERE k.identifier = \(\.identifier) AND k.environment = \(\.environment)
        """
    ) { row throws(PostgresError) in
        (try row["container_id"], try row["database_id"], try row["is_closed"])
    }

    let createPublicDatabase = DeclaredStatement<ContainerID, Void>(
        .write, "create_public_database",
        "INSERT INTO database (container_id, scope) VALUES (\(\.self), 1) ON CONFLICT DO NOTHING")

    let createPublicZone = DeclaredStatement<(container: ContainerID, now: Timestamp), Void>(
        .write, "create_public_zone",
        ZoneStatements.createDefault(
            in: "database d WHERE d.container_id = \(\.container) AND d.scope = 1", now: "\(\.now)"))

    let userRecordNames = DeclaredStatement<[UserID], (user: UserID, name: String)>(
        .read, "user_record_names",
        "SELECT id, record_name FROM container_user WHERE id = ANY (\(\.self))"
    ) { row throws(PostgresError) in
        (try row["id"], try row["record_name"])
    }

    let usersNamed = named("users_named")
    let personsNamed = named(
        "persons_named",
        and: " AND EXISTS (SELECT FROM account a WHERE a.id = u.account_id AND a.deleted_at IS NULL)")

    private static func named(_ name: String, and condition: String = "") -> DeclaredStatement<
        (names: [String], container: ContainerKey), (user: UserID, name: String)
    > {
        DeclaredStatement(
            .read, name,
            """
            SELECT u.id, u.record_name
              FROM container k JOIN container_user u ON u.container_id = k.id AND u.record_name = ANY (\(\.names))
             WHERE k.identifier = \(\.container.identifier) AND k.environment = \(\.container.environment)\(condition)
            """
        ) { row throws(PostgresError) in
            (try row["id"], try row["record_name"])
        }
    }

    /// NB: `xmax` tells an old row from a new one, as in `AssetStatements.keep`. Only a new row makes others go. The
    /// statement does not see it, so one place less is left for the others.
    let noteDevice = DeclaredStatement<
        (device: DeviceID, account: AccountID, name: String, now: Timestamp, countMax: Int), Void
    >(
        .write, "note_device",
        """
        WITH noted AS (
            INSERT INTO device (account_id, id, name, first_seen_at, last_seen_at)
            VALUES (\(\.account), \(\.device), \(\.name), \(\.now), \(\.now))
                ON CONFLICT (account_id, id) DO UPDATE SET name = excluded.name, last_seen_at = excluded.last_seen_at
         RETURNING xmax)
        DELETE FROM device
         WHERE account_id = \(\.account) AND EXISTS (SELECT FROM noted WHERE xmax = 0) AND revoked_at IS NULL
           AND id IN (SELECT id FROM device WHERE account_id = \(\.account)
                       ORDER BY last_seen_at DESC, id OFFSET greatest(0, \(\.countMax)::bigint - 1))
        """)

    let forgetDevices = DeclaredStatement<Timestamp, Void>(
        .write, "forget_devices",
        "DELETE FROM device WHERE last_seen_at < \(\.self) AND revoked_at IS NULL")

    /// No row: it may sign in.
    let revokedDevice = DeclaredStatement<(device: DeviceID, account: AccountID), Void>(
        .read, "revoked_device",
        "SELECT 1 FROM device WHERE account_id = \(\.account) AND id = \(\.device) AND revoked_at IS NOT NULL")

    let revokedDevices = DeclaredStatement<[AccountID], AccountDevice>(
        .read, "revoked_devices",
        "SELECT account_id, id FROM device WHERE account_id = ANY (\(\.self)) AND revoked_at IS NOT NULL"
    ) { row throws(PostgresError) in AccountDevice(account: try row["account_id"], device: try row["id"]) }

    // MARK: For operators

    let createAccount = DeclaredStatement<String, AccountID>(
        .write, "create_account",
        "INSERT INTO account (name) VALUES (\(\.self)) ON CONFLICT DO NOTHING RETURNING id")

    let listAccounts = DeclaredStatement<(after: String, countMax: Int), AdminStore.Account>(
        .read, "list_accounts",
        """
        \(accounts) WHERE a.name > \(\.after) AND a.deleted_at IS NULL ORDER BY a.name LIMIT \(\.countMax)
        """, row: decodeAccount)

    let showAccount = DeclaredStatement<String, AdminStore.Account>(
        .read, "show_account", "\(accounts) WHERE a.name = \(\.self) AND a.deleted_at IS NULL", row: decodeAccount)

    /// Accounts as operators see them.
    private static let accounts = """
        SELECT a.id, a.name, a.created_at,
               (SELECT count(*) FROM credential c WHERE c.account_id = a.id AND c.revoked_at IS NULL
                                                    AND (c.expires_at IS NULL OR c.expires_at > now())) AS credential_count,
               (SELECT count(*) FROM device d WHERE d.account_id = a.id) AS device_count, a.encryption_mode,
               a.given_name, a.family_name, a.disabled_at
          FROM account a
        """

    @Sendable private static func decodeAccount(_ row: PostgresRow) throws(PostgresError) -> AdminStore.Account {
        AdminStore.Account(
            id: try row["id"], name: try row["name"], createdAt: try row["created_at"],
            credentialCount: try row["credential_count"], deviceCount: try row["device_count"],
            encryptionMode: EncryptionMode(rawValue: try row["encryption_mode"]) ?? .escrowed,
            personName: PersonName(storedGiven: try row["given_name"], family: try row["family_name"]),
            disabledAt: try row["disabled_at"])
    }

    /// Null: no such part.
    let setPersonName = DeclaredStatement<(account: AccountID, given: String?, family: String?), Void>(
        .write, "set_person_name",
        "UPDATE account SET given_name = \(\.given), family_name = \(\.family) WHERE id = \(\.account)")

    let findAccount = DeclaredStatement<String, AccountID>(
        .read, "find_account",
        "SELECT id FROM account WHERE name = \(\.self) AND deleted_at IS NULL")

    let issueCredential = DeclaredStatement<
        (account: AccountID, hash: [UInt8], label: String, expiresAt: Timestamp?), CredentialID
    >(
        .write, "issue_credential",
        "INSERT INTO credential (account_id, hash, label, expires_at) VALUES (\(\.account), \(\.hash), \(\.label), \(\.expiresAt)) RETURNING id"
    )

    let revokeCredential = DeclaredStatement<CredentialID, Void>(
        .write, "revoke_credential",
        "UPDATE credential SET revoked_at = now() WHERE id = \(\.self) AND revoked_at IS NULL RETURNING id")

    let listCredentials = DeclaredStatement<AccountID, AdminStore.ListedCredential>(
        .read, "list_credentials",
        "SELECT id, label, created_at, expires_at, revoked_at FROM credential WHERE account_id = \(\.self) ORDER BY id"
    ) { row throws(PostgresError) in
        AdminStore.ListedCredential(
            id: try row["id"], label: try row["label"], createdAt: try row["created_at"],
            expiresAt: try row["expires_at"], revokedAt: try row["revoked_at"])
    }

    let listDevices = DeclaredStatement<AccountID, AdminStore.ListedDevice>(
        .read, "list_devices",
        "SELECT id, name, first_seen_at, last_seen_at, revoked_at FROM device WHERE account_id = \(\.self) ORDER BY last_seen_at DESC"
    ) { row throws(PostgresError) in
        AdminStore.ListedDevice(
            id: try row["id"], name: try row["name"], firstSeenAt: try row["first_seen_at"],
            lastSeenAt: try row["last_seen_at"], revokedAt: try row["revoked_at"])
    }

    /// As `StoreIncarnation.next` says.
    let renewIncarnation = DeclaredStatement<Void, Void>(
        .write, "renew_incarnation",
        """
        UPDATE store SET incarnation = (incarnation << 32) | ('x' || left(gen_random_uuid()::text, 8))::bit(32)::bigint
        """)

    /// As `ChangeNumber.inNextLife` says.
    let countZonesOn = DeclaredStatement<Void, Void>(
        .write, "count_zones_on",
        """
        UPDATE zone SET change_number = ((change_number >> 40) + 1) << 40, write_number = write_number + 1,
                        digest_number = CASE WHEN digest_number = change_number THEN ((change_number >> 40) + 1) << 40
                                             ELSE digest_number END
         WHERE removal IS NULL
        """)

    /// As `ZoneID.gapBetweenLives` says.
    let moveZoneNumbers = DeclaredStatement<Int64, Void>(
        .write, "move_zone_numbers",
        """
        SELECT setval(pg_get_serial_sequence('zone', 'id'), nextval(pg_get_serial_sequence('zone', 'id')) + \(\.self))
        """)

    /// Credentials in the list that are no longer valid. Those of a deleted account are not there any more.
    let voidCredentials = DeclaredStatement<(credentials: [CredentialID], now: Timestamp), CredentialID>(
        .read, "void_credentials",
        """
        SELECT k.id FROM unnest(\(\.credentials)) AS k (id)
          LEFT JOIN credential c ON c.id = k.id
          LEFT JOIN account a ON a.id = c.account_id
         WHERE c.id IS NULL OR c.revoked_at IS NOT NULL OR c.expires_at <= \(\.now) OR a.disabled_at IS NOT NULL
        """)
}
