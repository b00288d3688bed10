// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of schemas. Learning takes a shared lock on a container's row, and replacing an exclusive one, so that
/// neither misses what the other wrote.
enum SchemaStatements {
    /// The container of each database, and its quota. 1 databases.
    static let containers = Statement(
        .read, "schema_containers",
        """
        SELECT d.id, d.container_id, \(QuotaStatements.bytesMax)
          FROM unnest($1::bigint[]) AS k (id)
         CROSS JOIN LATERAL (
               SELECT id, container_id, scope FROM database WHERE id BETWEEN k.id AND k.id ORDER BY id LIMIT 1) AS d
         CROSS JOIN LATERAL (
               SELECT * FROM container WHERE id BETWEEN d.container_id AND d.container_id ORDER BY id LIMIT 1) AS c
        """, [.int8Array])

    /// The version comes first, in a statement of its own: everything that is read after it is at least as new.
    static let container = Statement(
        .read, "schema_container",
        "SELECT environment, (SELECT schema_version FROM store) FROM container WHERE id = $1",
        [.int8])

    static let types = Statement(
        .read, "schema_types", "SELECT name, has_own_grants FROM record_type WHERE container_id = $1", [.int8])

    static let fields = Statement(
        .read, "schema_fields",
        "SELECT record_type, key, value_type, is_encrypted, marks FROM record_field WHERE container_id = $1", [.int8])

    static let grants = Statement(
        .read, "schema_grants", "SELECT record_type, role, permissions FROM record_grant WHERE container_id = $1",
        [.int8])

    static let roles = Statement(.read, "schema_roles", "SELECT name FROM record_role WHERE container_id = $1", [.int8])

    // MARK: Learning

    static let lockToLearn = Statement(
        .read, "schema_lock_to_learn", "SELECT 1 FROM container WHERE id = $1 FOR SHARE", [.int8])

    /// 1 container, 2 names.
    static let learnTypes = Statement(
        .write, "schema_learn_types",
        """
        INSERT INTO record_type (container_id, name)
        SELECT $1, name FROM unnest($2::text[]) AS k (name)
         WHERE EXISTS (SELECT 1 FROM container WHERE id = $1 AND environment = 1)
            ON CONFLICT DO NOTHING
        """, [.int8, .textArray])

    /// 1 container, 2 types, 3 keys, 4 value types, 5 whether encrypted.
    static let learnFields = Statement(
        .write, "schema_learn_fields",
        """
        INSERT INTO record_field (container_id, record_type, key, value_type, is_encrypted)
        SELECT $1, k.* FROM unnest($2::text[], $3::text[], $4::integer[], $5::boolean[]) AS k
         WHERE EXISTS (SELECT 1 FROM container WHERE id = $1 AND environment = 1)
            ON CONFLICT DO NOTHING
        """, [.int8, .textArray, .textArray, .int4Array, .boolArray])

    // MARK: Replacing

    static let lockToReplace = Statement(
        .read, "schema_lock_to_replace", "SELECT 1 FROM container WHERE id = $1 FOR NO KEY UPDATE", [.int8])

    /// Comes before all statements that replace rows: fields are written with the new version.
    static let countOn = Statement(
        .write, "schema_count_on", "UPDATE store SET schema_version = schema_version + 1", [])

    /// With their fields and grants. 1 container, 2 names.
    static let removeTypes = Statement(
        .write, "schema_remove_types", "DELETE FROM record_type WHERE container_id = $1 AND name = ANY ($2)",
        [.int8, .textArray])

    /// 1 container, 2 names, 3 whether they have their own grants.
    static let putTypes = Statement(
        .write, "schema_put_types",
        """
        INSERT INTO record_type (container_id, name, has_own_grants)
        SELECT $1, k.* FROM unnest($2::text[], $3::boolean[]) AS k
            ON CONFLICT (container_id, name) DO UPDATE SET has_own_grants = excluded.has_own_grants
        """, [.int8, .textArray, .boolArray])

    /// 1 container, 2 types, 3 keys.
    static let removeFields = Statement(
        .write, "schema_remove_fields",
        """
        DELETE FROM record_field f USING unnest($2::text[], $3::text[]) AS k (record_type, key)
         WHERE f.container_id = $1 AND f.record_type = k.record_type AND f.key = k.key
        """, [.int8, .textArray, .textArray])

    /// Existing index values stay valid as long as the field's type does not change. 1 container, 2 types, 3 keys, 4
    /// value types, 5 whether encrypted, 6 marks.
    static let putFields = Statement(
        .write, "schema_put_fields",
        """
        INSERT INTO record_field (container_id, record_type, key, value_type, is_encrypted, marks, marked_at_version)
        SELECT $1, k.*, (SELECT schema_version FROM store)
          FROM unnest($2::text[], $3::text[], $4::integer[], $5::boolean[], $6::integer[]) AS k
            ON CONFLICT (container_id, record_type, key) DO UPDATE
           SET value_type = excluded.value_type, is_encrypted = excluded.is_encrypted, marks = excluded.marks,
               marked_at_version = excluded.marked_at_version,
               ready_marks = CASE WHEN record_field.value_type = excluded.value_type
                                  THEN record_field.ready_marks & excluded.marks ELSE 0 END
        """, [.int8, .textArray, .textArray, .int4Array, .boolArray, .int4Array])

    /// A record has the words of all searchable fields together. If a field is no longer searchable, the words of the
    /// others must be computed anew. 1 container, 2 types, 3 the mark.
    static let forgetWords = Statement(
        .write, "schema_forget_words",
        """
        UPDATE record_field
           SET ready_marks = ready_marks & ~$3::smallint, marked_at_version = (SELECT schema_version FROM store)
         WHERE container_id = $1 AND record_type = ANY ($2) AND marks & $3 <> 0
        """, [.int8, .textArray, .int2])

    /// 1 container, 2 types.
    static let removeGrants = Statement(
        .write, "schema_remove_grants", "DELETE FROM record_grant WHERE container_id = $1 AND record_type = ANY ($2)",
        [.int8, .textArray])

    /// 1 container, 2 types, 3 roles, 4 permissions.
    static let putGrants = Statement(
        .write, "schema_put_grants",
        """
        INSERT INTO record_grant (container_id, record_type, role, permissions)
        SELECT $1, k.* FROM unnest($2::text[], $3::text[], $4::integer[]) AS k
        """, [.int8, .textArray, .textArray, .int4Array])

    static let removeRoles = Statement(
        .write, "schema_remove_roles", "DELETE FROM record_role WHERE container_id = $1 AND NOT name = ANY ($2)",
        [.int8, .textArray])

    static let putRoles = Statement(
        .write, "schema_put_roles",
        "INSERT INTO record_role (container_id, name) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING",
        [.int8, .textArray])
}
