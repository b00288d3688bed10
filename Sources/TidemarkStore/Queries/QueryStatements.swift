// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL around queries: statements with fixed text.
enum QueryStatements {
    /// The schema of one type as queries need it. First a row with container, version, environment and whether the type
    /// is known; then a row for each field. 1 database, 2 type.
    static let type = Statement(
        .read, "query_type",
        """
        SELECT c.id, (SELECT schema_version FROM store), c.environment, t.name IS NOT NULL, f.key, f.value_type,
               f.is_encrypted, f.marks, f.ready_marks
          FROM database d JOIN container c ON c.id = d.container_id
          LEFT JOIN record_type t ON t.container_id = c.id AND t.name = $2
          LEFT JOIN record_field f ON f.container_id = t.container_id AND f.record_type = t.name
         WHERE d.id = $1
        """, [.int8, .text])

    /// Types with marks whose index values are not computed yet. 1 container.
    static let unreadyTypes = Statement(
        .read, "query_unready_types",
        """
        SELECT DISTINCT record_type FROM record_field
         WHERE container_id = $1 AND marks & ~ready_marks <> 0 ORDER BY record_type
        """, [.int8])

    /// The transactions that hold a zone's lock or wait for one.
    static let writers = Statement(
        .read, "query_writers",
        """
        SELECT DISTINCT virtualtransaction FROM pg_locks
         WHERE relation = 'zone'::regclass AND mode IN ('RowShareLock', 'RowExclusiveLock')
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        """, [])

    /// Locks living zones in the order of their ids, as every writer does. 1 database, 2 zones.
    static let lockZones = Statement(
        .read, "query_lock_zones",
        """
        SELECT z.id FROM (SELECT id FROM unnest($2::bigint[]) AS k (id) ORDER BY id OFFSET 0) AS k
         CROSS JOIN LATERAL (
               SELECT id FROM zone
                WHERE database_id = $1 AND id BETWEEN k.id AND k.id ORDER BY id LIMIT 1 FOR NO KEY UPDATE) AS z
        """, [.int8, .int8Array])

    /// Skips records that were saved since they were read. 1 databases, 2 zones, 3 names, 4 change numbers, 5 index
    /// values.
    static let fill = Statement(
        .write, "query_fill",
        """
        UPDATE record SET index_values = k.index_values::jsonb
          FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[])
               AS k (database_id, zone_id, name, change_number, index_values)
         WHERE record.database_id = k.database_id AND record.zone_id = k.zone_id AND record.name = k.name
           AND record.change_number = k.change_number AND NOT record.is_deleted
        """, [.int8Array, .int8Array, .textArray, .int8Array, .textArray])

    /// Only marks that have not changed since that version of the schemas. 1 container, 2 type, 3 version.
    static let markReady = Statement(
        .write, "query_mark_ready",
        """
        UPDATE record_field SET ready_marks = marks
         WHERE container_id = $1 AND record_type = $2 AND marked_at_version <= $3
        """, [.int8, .text, .int8])

    /// The indexes for queries on the table of records: name, whether they are good, whether somebody is building them,
    /// bytes, and whether there are statistics of that name. 1 the beginning of their names.
    static let indexes = Statement(
        .read, "query_indexes",
        """
        SELECT c.relname::text, i.indisvalid AND i.indisready, p.pid IS NOT NULL, pg_relation_size(c.oid),
               EXISTS (SELECT FROM pg_stats_ext_exprs s
                        WHERE s.statistics_schemaname = n.nspname AND s.statistics_name = c.relname
                          AND s.null_frac IS NOT NULL)
          FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
          JOIN pg_namespace n ON n.oid = c.relnamespace
          LEFT JOIN pg_stat_progress_create_index p ON p.index_relid = c.oid
         WHERE i.indrelid = 'record'::regclass AND starts_with(c.relname::text, $1)
         ORDER BY c.relname
        """, [.text])

    /// The names of the good ones. 1 the beginning of their names.
    static let validIndexes = Statement(
        .read, "query_valid_indexes",
        """
        SELECT c.relname::text
          FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
         WHERE i.indrelid = 'record'::regclass AND i.indisvalid AND starts_with(c.relname::text, $1)
        """, [.text])

    /// Holds until the transaction ends. 1 setting, 2 value.
    static let set = Statement(.read, "query_set", "SELECT set_config($1, $2, true)", [.text, .text])

    /// "tide" and 1: one server at a time builds indexes. Holds until the session ends.
    static let tryLock = Statement(.read, "query_try_lock", "SELECT pg_try_advisory_lock(1953064037, 1)", [])
}
