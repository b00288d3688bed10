// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of schemas. Learning takes a shared lock on a container's row, and replacing an exclusive one, so that
/// neither misses what the other wrote.
struct SchemaStatements: Sendable {
    /// The container of each database, and its quota.
    let containers = DeclaredStatement<
        [DatabaseID],
        (
            database: DatabaseID, container: ContainerID, bytesMax: Int64?, limitedAccount: AccountID?, isPublic: Bool,
            shareMax: Int64?
        )
    >(
        .read, "schema_containers",
        """
        SELECT d.id, d.container_id, \(QuotaStatements.bytesMax) AS bytes_max,
               (SELECT a.id FROM container_user u JOIN account a ON a.id = u.account_id
                 WHERE u.id = d.user_id AND d.scope = 2 AND \(QuotaStatements.accountBytesMax) IS NOT NULL) AS limited_account,
               d.scope = 1 AS is_public, \(PublicUseStatements.bytesMax) AS share_max
          FROM unnest(\(\.self)) AS k (id)
         CROSS JOIN LATERAL (
               SELECT id, container_id, scope, user_id FROM database WHERE id BETWEEN k.id AND k.id ORDER BY id LIMIT 1) AS d
         CROSS JOIN LATERAL (
               SELECT * FROM container WHERE id BETWEEN d.container_id AND d.container_id ORDER BY id LIMIT 1) AS c
        """
    ) { row throws(PostgresError) in
        (
            try row["id"], try row["container_id"], try row["bytes_max"], try row["limited_account"],
            try row["is_public"], try row["share_max"]
        )
    }

    /// The version comes first, in a statement of its own: everything that is read after it is at least as new.
    let container = DeclaredStatement<ContainerID, (environment: Int16, version: Int64)>(
        .read, "schema_container",
        """
        SELECT environment, (SELECT schema_version FROM store) AS version FROM container
         WHERE id = \(\.self) AND closed_at IS NULL
        """
    ) { row throws(PostgresError) in
        (try row["environment"], try row["version"])
    }

    let revision = DeclaredStatement<ContainerID, SchemaRevision>(
        .read, "schema_revision",
        """
        SELECT (SELECT schema_version FROM store) AS version,
               (SELECT count(*) FROM record_type WHERE container_id = c.id)
                 + (SELECT count(*) FROM record_field WHERE container_id = c.id) AS row_count
          FROM container c WHERE c.id = \(\.self)
        """
    ) { row throws(PostgresError) in
        let rowCount: Int64 = try row["row_count"]
        return SchemaRevision(version: try row["version"], rowCount: Int(rowCount))
    }

    /// A row: an operator deletes the container, or has deleted it.
    let isClosed = DeclaredStatement<ContainerID, Void>(
        .read, "schema_is_closed",
        "SELECT 1 FROM container WHERE id = \(\.self) AND closed_at IS NOT NULL")

    let types = DeclaredStatement<ContainerID, (name: String, hasOwnGrants: Bool)>(
        .read, "schema_types",
        "SELECT name, has_own_grants FROM record_type WHERE container_id = \(\.self)"
    ) { row throws(PostgresError) in
        (try row["name"], try row["has_own_grants"])
    }

    typealias ReadField = (type: String, key: String, valueCode: Int16, isEncrypted: Bool, marks: FieldMarks)

    let fields = DeclaredStatement<ContainerID, ReadField>(
        .read, "schema_fields",
        """
        SELECT record_type, key, value_type, is_encrypted, marks FROM record_field WHERE container_id = \(\.self)
        """,
        row: field)

    private static func field(_ row: PostgresRow) throws(PostgresError) -> ReadField {
        let marks = FieldMarks(rawValue: try row["marks"])
        return (try row["record_type"], try row["key"], try row["value_type"], try row["is_encrypted"], marks)
    }

    let grants = DeclaredStatement<ContainerID, (type: String, role: Role, permissions: Permissions)>(
        .read, "schema_grants",
        "SELECT record_type, role, permissions FROM record_grant WHERE container_id = \(\.self)"
    ) { row throws(PostgresError) in
        guard let role = Role(name: try row["role"]) else { throw PostgresError(.unexpectedResult) }
        return (try row["record_type"], role, Permissions(rawValue: try row["permissions"]))
    }

    let roles = DeclaredStatement<ContainerID, String>(
        .read, "schema_roles",
        "SELECT name FROM record_role WHERE container_id = \(\.self)")

    // MARK: Learning

    let lockToLearn = DeclaredStatement<ContainerID, Void>(
        .read, "schema_lock_to_learn",
        "SELECT 1 FROM container WHERE id = \(\.self) FOR SHARE")

    let learnTypes = DeclaredStatement<(container: ContainerID, names: [String]), Void>(
        .write, "schema_learn_types",
        """
        INSERT INTO record_type (container_id, name)
        SELECT \(\.container), name FROM unnest(\(\.names)) AS k (name)
         WHERE EXISTS (SELECT 1 FROM container WHERE id = \(\.container) AND environment = 1 AND closed_at IS NULL)
            ON CONFLICT DO NOTHING
        """)

    let learnFields = DeclaredStatement<(container: ContainerID, fields: [SchemaFieldRow]), Void>(
        .write, "schema_learn_fields",
        """
        INSERT INTO record_field (container_id, record_type, key, value_type, is_encrypted)
        SELECT \(\.container), k.* FROM unnest(\(\.fields, \.type), \(\.fields, \.key), \(\.fields, \.valueCode), \(\.fields, \.isEncrypted)) AS k
         WHERE EXISTS (SELECT 1 FROM container WHERE id = \(\.container) AND environment = 1 AND closed_at IS NULL)
            ON CONFLICT DO NOTHING
        """)

    let learnedTypes = DeclaredStatement<(container: ContainerID, names: [String]), String>(
        .read, "schema_learned_types",
        "SELECT name FROM record_type WHERE container_id = \(\.container) AND name = ANY (\(\.names))")

    let learnedFields = DeclaredStatement<(container: ContainerID, fields: [SchemaFieldRow]), ReadField>(
        .read, "schema_learned_fields",
        """
        SELECT f.record_type, f.key, f.value_type, f.is_encrypted, f.marks
          FROM unnest(\(\.fields, \.type), \(\.fields, \.key)) AS k (record_type, key)
          JOIN record_field f ON f.container_id = \(\.container) AND f.record_type = k.record_type AND f.key = k.key
        """,
        row: field)

    // MARK: Replacing

    let lockToReplace = DeclaredStatement<ContainerID, Void>(
        .read, "schema_lock_to_replace",
        "SELECT 1 FROM container WHERE id = \(\.self) FOR NO KEY UPDATE")

    /// Comes before all statements that replace rows: fields are written with the new version.
    let countOn = DeclaredStatement<Void, Void>(
        .write, "schema_count_on",
        "UPDATE store SET schema_version = schema_version + 1")

    /// With their fields and grants.
    let removeTypes = DeclaredStatement<(container: ContainerID, names: [String]), Void>(
        .write, "schema_remove_types",
        "DELETE FROM record_type WHERE container_id = \(\.container) AND name = ANY (\(\.names))")

    let putTypes = DeclaredStatement<(container: ContainerID, types: [(name: String, hasOwnGrants: Bool)]), Void>(
        .write, "schema_put_types",
        """
        INSERT INTO record_type (container_id, name, has_own_grants)
        SELECT \(\.container), k.* FROM unnest(\(\.types, \.name), \(\.types, \.hasOwnGrants)) AS k
            ON CONFLICT (container_id, name) DO UPDATE SET has_own_grants = excluded.has_own_grants
        """)

    let removeFields = DeclaredStatement<(container: ContainerID, fields: [SchemaFieldRow]), Void>(
        .write, "schema_remove_fields",
        """
        DELETE FROM record_field f USING unnest(\(\.fields, \.type), \(\.fields, \.key)) AS k (record_type, key)
         WHERE f.container_id = \(\.container) AND f.record_type = k.record_type AND f.key = k.key
        """)

    /// Existing index values stay valid as long as the field's type does not change.
    let putFields = DeclaredStatement<(container: ContainerID, fields: [SchemaFieldRow]), Void>(
        .write, "schema_put_fields",
        """
        INSERT INTO record_field (container_id, record_type, key, value_type, is_encrypted, marks, marked_at_version)
        SELECT \(\.container), k.*, (SELECT schema_version FROM store)
          FROM unnest(\(\.fields, \.type), \(\.fields, \.key), \(\.fields, \.valueCode), \(\.fields, \.isEncrypted), \(\.fields, \.markBits)) AS k
            ON CONFLICT (container_id, record_type, key) DO UPDATE
           SET value_type = excluded.value_type, is_encrypted = excluded.is_encrypted, marks = excluded.marks,
               marked_at_version = excluded.marked_at_version,
               ready_marks = CASE WHEN record_field.value_type = excluded.value_type
                                  THEN record_field.ready_marks & excluded.marks ELSE 0 END
        """)

    /// A record has the words of all searchable fields together. If a field is no longer searchable, the words of the
    /// others must be computed anew.
    let forgetWords = DeclaredStatement<(container: ContainerID, names: [String], mark: FieldMarks), Void>(
        .write, "schema_forget_words",
        """
        UPDATE record_field
           SET ready_marks = ready_marks & ~\(\.mark), marked_at_version = (SELECT schema_version FROM store)
         WHERE container_id = \(\.container) AND record_type = ANY (\(\.names)) AND marks & \(\.mark) <> 0
        """)

    let removeGrants = DeclaredStatement<(container: ContainerID, names: [String]), Void>(
        .write, "schema_remove_grants",
        "DELETE FROM record_grant WHERE container_id = \(\.container) AND record_type = ANY (\(\.names))")

    let putGrants = DeclaredStatement<
        (container: ContainerID, grants: [(type: String, role: String, permissions: Int32)]), Void
    >(
        .write, "schema_put_grants",
        """
        INSERT INTO record_grant (container_id, record_type, role, permissions)
        SELECT \(\.container), k.* FROM unnest(\(\.grants, \.type), \(\.grants, \.role), \(\.grants, \.permissions)) AS k
        """)

    let removeRoles = DeclaredStatement<(container: ContainerID, kept: [String]), Void>(
        .write, "schema_remove_roles",
        "DELETE FROM record_role WHERE container_id = \(\.container) AND NOT name = ANY (\(\.kept))")

    let putRoles = DeclaredStatement<(container: ContainerID, names: [String]), Void>(
        .write, "schema_put_roles",
        "INSERT INTO record_role (container_id, name) SELECT \(\.container), unnest(\(\.names)) ON CONFLICT DO NOTHING")
}
