// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

/// An operator's choices for a container: its feeds, its quota, and who has its own roles.
extension PostgresStorage {
    package func feedsEverywhere(in container: ContainerKey) async throws(StorageError) -> Bool {
        let rows = try await read(
            ChoiceStatements.feedsEverywhere(.text(container.identifier), .int2(container.environment.rawValue)))
        return try decode { () throws(PostgresError) in
            for row in rows { return try row.bool(0) }
            return false
        }
    }

    package func setFeedsEverywhere(_ isOn: Bool, in container: ContainerKey) async throws(StorageError) -> Bool {
        let identifier = PostgresValue.text(container.identifier)
        let environment = PostgresValue.int2(container.environment.rawValue)
        let rows = try await write([
            ChoiceStatements.setFeedsEverywhere(identifier, environment, .bool(isOn)),
            ChoiceStatements.forgetDefaultZones(identifier, environment),
        ])
        return rows[0].count > 0
    }

    package func setQuota(_ quota: StorageQuota, of container: ContainerKey) async throws(StorageError) -> Bool {
        let rows = try await write([
            QuotaStatements.set(
                .text(container.identifier), .int2(container.environment.rawValue),
                quota.privateBytes.map { .int8($0) } ?? .null, quota.publicBytes.map { .int8($0) } ?? .null),
            // Every server notices this at its next write transaction.
            SchemaStatements.countOn(),
        ])
        return rows[0].count > 0
    }

    package func storageUse(of database: DatabaseID) async throws(StorageError) -> StorageUse? {
        if let home = containers.remembered(of: [database])[database], home.bytesMax == nil { return nil }
        let rows = try await read(QuotaStatements.use(.int8(database.rawValue)))
        return try decode { () throws(PostgresError) in
            for row in rows {
                guard let bytesMax = try row.int64(ifPresent: 0) else { return nil }
                return StorageUse(byteCount: try row.int64(1), bytesMax: bytesMax)
            }
            return nil
        }
    }

    package func roles(of users: [UserID]) async throws(StorageError) -> [UserID: Set<Role>] {
        let rows = try await read(ChoiceStatements.roles(.int8Array(users.map(\.rawValue))))
        return try decode { () throws(PostgresError) in try ChoiceStatements.decodeRoles(rows) }
    }

    package func setRole(_ name: String, of user: UserID, isGiven: Bool) async throws(StorageError) -> Bool {
        let change = isGiven ? ChoiceStatements.giveRole : ChoiceStatements.takeRole
        let rows = try await write([
            ChoiceStatements.findRole(.int8(user.rawValue), .text(name)), change(.int8(user.rawValue), .text(name)),
        ])
        return rows[0].count > 0
    }
}

/// The SQL of what operators choose.
enum ChoiceStatements {
    /// 1 identifier, 2 environment.
    static let feedsEverywhere = Statement(
        .read, "feeds_everywhere", "SELECT feeds_everywhere FROM container WHERE identifier = $1 AND environment = $2",
        [.text, .int2])

    /// 1 identifier, 2 environment, 3 on.
    static let setFeedsEverywhere = Statement(
        .write, "set_feeds_everywhere",
        "UPDATE container SET feeds_everywhere = $3 WHERE identifier = $1 AND environment = $2 RETURNING id",
        [.text, .int2, .bool])

    /// The feeds give their default zones new numbers, so that older tokens do not skip them. 1 identifier, 2
    /// environment.
    static let forgetDefaultZones = Statement(
        .write, "forget_default_zones",
        """
        DELETE FROM feed_entry e
         USING container k, database d, zone z
         WHERE k.identifier = $1 AND k.environment = $2 AND d.container_id = k.id
           AND z.database_id = d.id AND z.name = '_defaultZone' AND z.removal IS NULL
           AND e.database_id = d.id AND e.zone_id = z.id
        """, [.text, .int2])

    /// 1 users.
    static let roles = Statement(
        .read, "user_roles", "SELECT user_id, role FROM user_role WHERE user_id = ANY ($1)", [.int8Array])

    /// - Throws: `unexpectedResult` for a name that no role can have.
    static func decodeRoles(_ rows: PostgresRows) throws(PostgresError) -> [UserID: Set<Role>] {
        var roles: [UserID: Set<Role>] = [:]
        for row in rows {
            guard let role = Role(name: try row.string(1)) else {
                throw PostgresError(.unexpectedResult, detail: "user_role")
            }
            roles[UserID(try row.int64(0)), default: []].insert(role)
        }
        return roles
    }

    /// 1 user, 2 role.
    static let findRole = Statement(
        .read, "find_role",
        """
        SELECT 1 FROM container_user u JOIN record_role r ON r.container_id = u.container_id AND r.name = $2
         WHERE u.id = $1 FOR SHARE OF r
        """, [.int8, .text])

    /// 1 user, 2 role.
    static let giveRole = Statement(
        .write, "give_role",
        """
        INSERT INTO user_role (user_id, container_id, role)
        SELECT u.id, u.container_id, r.name
          FROM container_user u JOIN record_role r ON r.container_id = u.container_id AND r.name = $2
         WHERE u.id = $1
            ON CONFLICT DO NOTHING
        """, [.int8, .text])

    /// 1 user, 2 role.
    static let takeRole = Statement(
        .write, "take_role", "DELETE FROM user_role WHERE user_id = $1 AND role = $2", [.int8, .text])

    /// 1 identifier, 2 environment.
    static let listRoles = Statement(
        .read, "admin_list_roles",
        """
        SELECT r.name, a.name, u.record_name
          FROM container k
          JOIN record_role r ON r.container_id = k.id
          LEFT JOIN user_role x ON x.container_id = k.id AND x.role = r.name
          LEFT JOIN container_user u ON u.id = x.user_id
          LEFT JOIN account a ON a.id = u.account_id
         WHERE k.identifier = $1 AND k.environment = $2
         ORDER BY r.name, a.name
        """, [.text, .int2])
}
