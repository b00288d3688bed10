// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkPostgres
package import TidemarkService

/// An operator's choices for a container: its feeds, its quota, its requests, and who has its own roles.
extension PostgresStorage {
    package func feedsEverywhere(in container: ContainerKey) async throws(StorageError) -> Bool {
        try await read(sql.choices.feedsEverywhere(container)).first ?? false
    }

    package func setFeedsEverywhere(_ isOn: Bool, in container: ContainerKey) async throws(StorageError) -> Bool {
        let (set, _) = try await write(
            sql.choices.setFeedsEverywhere((container, isOn)), sql.choices.forgetDefaultZones(container))
        return !set.isEmpty
    }

    package func setQuota(_ quota: StorageQuota, of container: ContainerKey) async throws(StorageError) -> Bool {
        // Every server notices this at its next write transaction.
        let (set, _) = try await write(sql.quotas.set((container, quota)), sql.schemas.countOn())
        return !set.isEmpty
    }

    /// Reads of how full accounts are, that are under way at once. All zones of a database are looked at, and those of all of
    /// the account's databases: in a hundred containers up to three million, which takes PostgreSQL seconds.
    static let storageUseBounds = FairBounds(
        room: 2, roomPerOwner: 1, waitingMax: 4_096, waitingPerOwnerMax: 1_024, workTime: .milliseconds(20))

    package func storageUse(of database: DatabaseID) async throws(StorageError) -> StorageUse? {
        if let entry = containers.remembered(of: [database])[database], !entry.hasQuota { return nil }
        guard let account = try await read(sql.quotas.owner(database)).first else {
            // A public database has few zones.
            return try await read(sql.quotas.use(database)).first ?? nil
        }
        // In a turn of the account that has the zones, whoever asks.
        return try await storageUses.run(for: .account(account.rawValue)) {
            () async throws(StorageError) -> StorageUse? in
            let (uses, ofAccount) = try await readAll(
                isLong: true, sql.quotas.use(database), sql.quotas.accountUses([account]))
            return StorageUse.tighter(uses.rows.first ?? nil, ofAccount.rows.first?.use)
        }
    }

    package func publicUse(of user: UserID, in database: DatabaseID) async throws(StorageError) -> StorageUse? {
        if let entry = containers.remembered(of: [database])[database], entry.shareMax == nil { return nil }
        // There may be many files that the user has sent. As for uploads, a user is told apart if the account is not known.
        let account = sharedDatabases.account(of: user)?.rawValue ?? -user.rawValue
        return try await storageUses.run(for: .account(account)) { () async throws(StorageError) -> StorageUse? in
            try await read(sql.publicUses.use((database, user)), isLong: true).first ?? nil
        }
    }

    package func setAccountQuota(_ bytesMax: Int64?, of account: AccountID?) async throws(StorageError) -> Bool {
        // Every server notices this at its next write transaction.
        guard let account else {
            _ = try await write(sql.quotas.setOfAccounts(bytesMax), sql.schemas.countOn())
            return true
        }
        let (set, _) = try await write(sql.quotas.setOfAccount((account, bytesMax)), sql.schemas.countOn())
        return !set.isEmpty
    }

    package func limits(of users: [UserID]) async throws(StorageError) -> [UserID: AccountLimits] {
        Dictionary(try await read(sql.rates.ofUsers(users)).map { ($0.user, $0.limits) }) { $1 }
    }

    package func setRequestRate(_ choice: RateChoice, of account: AccountID?) async throws(StorageError) -> Bool {
        guard let account else {
            return try await !write(sql.rates.setOfEach((choice.storedRate, choice.storedBurst))).isEmpty
        }
        let rate = (account, choice.storedRate, choice.storedBurst)
        return try await !write(sql.rates.setOfAccount(rate)).isEmpty
    }

    package func setRequestRate(
        _ choice: RateChoice, in container: ContainerKey
    ) async throws(StorageError) -> Bool {
        let rate = (container, choice.storedRate, choice.storedBurst)
        return try await !write(sql.rates.setOfContainer(rate)).isEmpty
    }

    package func setConnectionsMax(_ count: Int32?, of account: AccountID?) async throws(StorageError) -> Bool {
        guard let account else { return try await !write(sql.rates.setConnectionsOfEach(count)).isEmpty }
        return try await !write(sql.rates.setConnections((account, count))).isEmpty
    }

    package func roles(of users: [UserID]) async throws(StorageError) -> [UserID: Set<Role>] {
        var roles: [UserID: Set<Role>] = [:]
        for (user, role) in try await read(sql.choices.roles(users)) { roles[user, default: []].insert(role) }
        return roles
    }

    package func setRole(_ name: String, of user: UserID, isGiven: Bool) async throws(StorageError) -> Bool {
        let change = isGiven ? sql.choices.giveRole : sql.choices.takeRole
        let (found, _) = try await write(sql.choices.findRole((user, name)), change((user, name)))
        return !found.isEmpty
    }
}

/// The SQL of what operators choose.
struct ChoiceStatements: Sendable {
    let feedsEverywhere = DeclaredStatement<ContainerKey, Bool>(
        .read, "feeds_everywhere",
        "SELECT feeds_everywhere FROM container WHERE identifier = \(\.identifier) AND environment = \(\.environment)")

    let setFeedsEverywhere = DeclaredStatement<(container: ContainerKey, isOn: Bool), Void>(
        .write, "set_feeds_everywhere",
        "UPDATE container SET feeds_everywhere = \(\.isOn) WHERE identifier = \(\.container.identifier) AND environment = \(\.container.environment) RETURNING id"
    )

    /// The feeds give their default zones new numbers, so that older tokens do not skip them.
    let forgetDefaultZones = DeclaredStatement<ContainerKey, Void>(
        .write, "forget_default_zones",
        """
        DELETE FROM feed_entry e
         USING container k, database d, zone z
         WHERE k.identifier = \(\.identifier) AND k.environment = \(\.environment) AND d.container_id = k.id
           AND z.database_id = d.id AND z.name = '_defaultZone' AND z.removal IS NULL
           AND e.database_id = d.id AND e.zone_id = z.id
        """)

    let roles = DeclaredStatement<[UserID], (user: UserID, role: Role)>(
        .read, "user_roles",
        "SELECT user_id, role FROM user_role WHERE user_id = ANY (\(\.self))"
    ) { row throws(PostgresError) in
        guard let role = Role(name: try row["role"]) else {
            throw PostgresError(.unexpectedResult, detail: "user_role")
        }
        return (try row["user_id"], role)
    }

    let findRole = DeclaredStatement<(user: UserID, role: String), Void>(
        .read, "find_role",
        """
        SELECT 1 FROM container_user u JOIN record_role r ON r.container_id = u.container_id AND r.name = \(\.role)
         WHERE u.id = \(\.user) FOR SHARE OF r
        """)

    let giveRole = DeclaredStatement<(user: UserID, role: String), Void>(
        .write, "give_role",
        """
        INSERT INTO user_role (user_id, container_id, role)
        SELECT u.id, u.container_id, r.name
          FROM container_user u JOIN record_role r ON r.container_id = u.container_id AND r.name = \(\.role)
         WHERE u.id = \(\.user)
            ON CONFLICT DO NOTHING
        """)

    let takeRole = DeclaredStatement<(user: UserID, role: String), Void>(
        .write, "take_role",
        "DELETE FROM user_role WHERE user_id = \(\.user) AND role = \(\.role)")

    let listRoles = DeclaredStatement<ContainerKey, AdminStore.RoleMember>(
        .read, "admin_list_roles",
        """
        SELECT r.name AS role, a.name AS account, u.record_name
          FROM container k
          JOIN record_role r ON r.container_id = k.id
          LEFT JOIN user_role x ON x.container_id = k.id AND x.role = r.name
          LEFT JOIN container_user u ON u.id = x.user_id
          LEFT JOIN account a ON a.id = u.account_id
         WHERE k.identifier = \(\.identifier) AND k.environment = \(\.environment)
         ORDER BY r.name, a.name
        """
    ) { row throws(PostgresError) in
        AdminStore.RoleMember(
            role: try row["role"], account: try row["account"], userRecordName: try row["record_name"] ?? "")
    }
}
