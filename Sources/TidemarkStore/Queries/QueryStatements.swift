// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// A row of ``QueryStatements/type``: a container and a type, and one of its fields if it has any.
struct QueryTypeRow {
    let container: ContainerID
    let version: Int64
    let environment: Int16
    /// Whether the container has the type.
    let isKnown: Bool
    let key: String?
    let valueType: Int16?
    let isEncrypted: Bool?
    let marks: Int16?
    let readyMarks: Int16?
}

/// A record with the index values that were computed for it.
struct IndexValuesRow: Sendable {
    let record: ScannedRecord
    let indexValues: String?
}

/// The SQL around queries: statements with fixed text.
struct QueryStatements: Sendable {
    /// The schema of one type as queries need it. First a row with container, version, environment and whether the type
    /// is known; then a row for each field.
    let type = DeclaredStatement<(database: DatabaseID, name: String), QueryTypeRow>(
        .read, "query_type",
        """
        SELECT c.id AS container_id, (SELECT schema_version FROM store) AS version, c.environment,
               t.name IS NOT NULL AS is_known, f.key, f.value_type,
               f.is_encrypted, f.marks, f.ready_marks
          FROM database d JOIN container c ON c.id = d.container_id
          LEFT JOIN record_type t ON t.container_id = c.id AND t.name = \(\.name)
          LEFT JOIN record_field f ON f.container_id = t.container_id AND f.record_type = t.name
         WHERE d.id = \(\.database)
        """
    ) { row throws(PostgresError) in
        QueryTypeRow(
            container: try row["container_id"], version: try row["version"], environment: try row["environment"],
            isKnown: try row["is_known"], key: try row["key"], valueType: try row["value_type"],
            isEncrypted: try row["is_encrypted"], marks: try row["marks"], readyMarks: try row["ready_marks"])
    }

    /// Types with marks whose index values are not computed yet.
    let unreadyTypes = DeclaredStatement<ContainerID, String>(
        .read, "query_unready_types",
        """
        SELECT DISTINCT record_type FROM record_field
         WHERE container_id = \(\.self) AND marks & ~ready_marks <> 0 ORDER BY record_type
        """)

    /// The transactions that hold a zone's lock or wait for one.
    let writers = DeclaredStatement<Void, String>(
        .read, "query_writers",
        """
        SELECT DISTINCT virtualtransaction FROM pg_locks
         WHERE relation = 'zone'::regclass AND mode IN ('RowShareLock', 'RowExclusiveLock')
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """)

    /// Locks living zones in the order of their ids, as every writer does.
    let lockZones = DeclaredStatement<(database: DatabaseID, zones: [ZoneID]), ZoneID>(
        .read, "query_lock_zones",
        """
        SELECT z.id FROM (SELECT id FROM unnest(\(\.zones)) AS k (id) ORDER BY id OFFSET 0) AS k
         CROSS JOIN LATERAL (
               SELECT id FROM zone
                WHERE database_id = \(\.database) AND id BETWEEN k.id AND k.id ORDER BY id LIMIT 1 FOR NO KEY UPDATE) AS z
        """)

    /// Skips records that were saved since they were read.
    let fill = DeclaredStatement<[IndexValuesRow], Void>(
        .write, "query_fill",
        """
        UPDATE record SET index_values = k.index_values::jsonb
          FROM unnest(\(\.self, \.record.database), \(\.self, \.record.zone), \(\.self, \.record.name), \(\.self, \.record.changeNumber), \(\.self, \.indexValues))
               AS k (database_id, zone_id, name, change_number, index_values)
         WHERE record.database_id = k.database_id AND record.zone_id = k.zone_id AND record.name = k.name
           AND record.change_number = k.change_number AND NOT record.is_deleted
        """)

    /// Only marks that have not changed since that version of the schemas.
    let markReady = DeclaredStatement<(container: ContainerID, type: String, version: Int64), Void>(
        .write, "query_mark_ready",
        """
        UPDATE record_field SET ready_marks = marks
         WHERE container_id = \(\.container) AND record_type = \(\.type) AND marked_at_version <= \(\.version)
        """)

    /// The indexes for queries on the table of records. A row has the name, whether the index is good, whether somebody
    /// is building it, and its bytes. It also has whether there are statistics of that name, how often it was used, and
    /// who asked for it (``PhysicalIndex/askerSQL(_:)``).
    let indexes = DeclaredStatement<String, ExistingIndex>(
        .read, "query_indexes",
        """
        SELECT c.relname::text AS name, i.indisvalid AND i.indisready AS is_valid, p.pid IS NOT NULL AS is_being_built,
               pg_relation_size(c.oid) AS byte_count,
               EXISTS (SELECT FROM pg_stats_ext_exprs s
                        WHERE s.statistics_schemaname = n.nspname AND s.statistics_name = c.relname
                          AND s.null_frac IS NOT NULL) AS has_statistics,
               pg_stat_get_numscans(c.oid) AS use_count,
               substring(obj_description(c.oid, 'pg_class') FROM '^account ([0-9]{1,18})$')::bigint AS asker
          FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
          JOIN pg_namespace n ON n.oid = c.relnamespace
          LEFT JOIN pg_stat_progress_create_index p ON p.index_relid = c.oid
         WHERE i.indrelid = 'record'::regclass AND starts_with(c.relname::text, \(\.self))
         ORDER BY c.relname
        """
    ) { row throws(PostgresError) in
        ExistingIndex(
            name: try row["name"], isValid: try row["is_valid"], isBeingBuilt: try row["is_being_built"],
            byteCount: try row["byte_count"], hasStatistics: try row["has_statistics"],
            useCount: try row["use_count"], asker: try row["asker"])
    }

    /// All containers in an environment.
    let containers = DeclaredStatement<ContainerEnvironment, ContainerID>(
        .read, "query_containers",
        "SELECT id FROM container WHERE environment = \(\.self) ORDER BY id")

    /// The names of the good ones.
    let validIndexes = DeclaredStatement<String, String>(
        .read, "query_valid_indexes",
        """
        SELECT c.relname::text
          FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
         WHERE i.indrelid = 'record'::regclass AND i.indisvalid AND starts_with(c.relname::text, \(\.self))
        """)

    /// Holds until the transaction ends.
    let set = DeclaredStatement<(name: String, value: String), Void>(
        .read, "query_set",
        "SELECT set_config(\(\.name), \(\.value), true)")

    /// "tide" and 1: one server at a time builds indexes. Holds until the session ends.
    let tryLock = DeclaredStatement<Void, Bool>(
        .read, "query_try_lock",
        "SELECT pg_try_advisory_lock(1953064037, 1)")
}
