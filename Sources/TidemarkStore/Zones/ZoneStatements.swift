// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of zones. They are created and ended under the lock of their database's row.
enum ZoneStatements {
    static let lockDatabase = Statement(
        .read, "lock_database", "SELECT id FROM database WHERE id = $1 FOR UPDATE", [.int8])

    /// The living zone named `k.zone_name`, for a `LATERAL` join; see ``RecordStatements`` for its form.
    static let livingID = """
        SELECT id FROM zone
         WHERE database_id = k.database_id AND name BETWEEN k.zone_name AND k.zone_name AND removal IS NULL
         ORDER BY name LIMIT 1
        """

    /// The zone `i.id`, locked; none if it has ended meanwhile. For a `LATERAL` join to ids in their order.
    static let lockByID = """
        SELECT * FROM zone
         WHERE database_id = i.database_id AND id BETWEEN i.id AND i.id AND removal IS NULL
         ORDER BY id LIMIT 1 FOR UPDATE
        """

    static let columns = "z.name, z.id, z.change_number, z.oldest_token_number, z.created_at, z.encryption_scope"

    /// 1 database, 2 names.
    static let lockNamed = Statement(
        .read, "lock_named_zones",
        """
        SELECT \(columns)
          FROM (SELECT k.database_id, n.id
                  FROM (SELECT $1::bigint AS database_id, name AS zone_name FROM unnest($2::text[]) AS n (name)) AS k
                 CROSS JOIN LATERAL (\(livingID)) AS n
                 ORDER BY n.id OFFSET 0) AS i
         CROSS JOIN LATERAL (\(lockByID)) AS z
        """, [.int8, .textArray])

    static let count = Statement(
        .read, "count_zones", "SELECT count(*) FROM zone WHERE database_id = $1 AND removal IS NULL", [.int8])

    /// One row: the store's memory epoch, and the memory, null if there is none. 1 database, 2 life. The database's own
    /// memory has the zone 0.
    static let readMemory = Statement(
        .read, "read_database_memory",
        """
        SELECT s.memory_epoch, m.memory
          FROM store s
          LEFT JOIN request_memory m ON m.database_id = $1 AND m.zone_id = 0 AND m.device_id = $2
        """, [.int8, .uuid])

    /// 1 database, 2 names, 3 whether each is encrypted as a whole, 4 now.
    static let create = Statement(
        .write, "create_zones",
        """
        INSERT INTO zone (database_id, name, encryption_scope, created_at)
        SELECT $1, k.name, k.is_per_zone::integer, $4
          FROM unnest($2::text[], $3::boolean[]) WITH ORDINALITY AS k (name, is_per_zone, ordinal) ORDER BY k.ordinal
        """, [.int8, .textArray, .boolArray, .timestamptz])

    /// Ends a zone by name, as an operator does; never the default zone, which always exists. 1 database, 2 name,
    /// 3 reason.
    static let endNamed = Statement(
        .write, "end_named_zone",
        """
        WITH ended AS (
            UPDATE zone SET removal = $3, removed_at = now()
             WHERE database_id = $1 AND name = $2 AND removal IS NULL AND name <> '_defaultZone'
         RETURNING database_id, id),
        forgotten AS (
            DELETE FROM zone_key k USING ended WHERE k.database_id = ended.database_id AND k.zone_id = ended.id)
        SELECT id FROM ended
        """, [.int8, .text, .int2])

    /// Every incarnation that the store still knows, by name and age. 1 database.
    static let history = Statement(
        .read, "zone_history",
        """
        SELECT name, created_at, change_number, removal, removed_at FROM zone
         WHERE database_id = $1 ORDER BY name, id
        """, [.int8])

    /// Removes the zones' keys at once: from now on nobody can decrypt what is still stored of their encrypted values.
    /// 1 database, 2 ids, 3 reason, 4 now.
    static let end = Statement(
        .write, "end_zones",
        """
        WITH ended AS (
            UPDATE zone SET removal = $3, removed_at = $4
             WHERE database_id = $1 AND id = ANY ($2) AND removal IS NULL RETURNING database_id, id)
        DELETE FROM zone_key k USING ended WHERE k.database_id = ended.database_id AND k.zone_id = ended.id
        """, [.int8, .int8Array, .int2, .timestamptz])

    static let all = Statement(
        .read, "all_zones",
        "SELECT \(columns) FROM zone z WHERE z.database_id = $1 AND z.removal IS NULL ORDER BY z.id", [.int8])

    /// Removes records of ended zones, a bounded number at a time. 1 the most rows.
    static let clearRecords = Statement(
        .write, "clear_ended_zones",
        """
        DELETE FROM record WHERE ctid = ANY (ARRAY(
            SELECT r.ctid
              FROM (SELECT database_id, id FROM zone WHERE removal IS NOT NULL ORDER BY database_id, name, id OFFSET 0) AS z
             CROSS JOIN LATERAL (
                   SELECT ctid FROM record WHERE database_id = z.database_id AND zone_id = z.id
                    ORDER BY name LIMIT $1) AS r
             LIMIT $1))
        """, [.int8])

    /// Removes references of ended zones, a bounded number at a time. 1 the most rows.
    static let clearReferences = Statement(
        .write, "clear_ended_references",
        """
        DELETE FROM record_reference WHERE ctid = ANY (ARRAY(
            SELECT f.ctid
              FROM (SELECT database_id, id FROM zone WHERE removal IS NOT NULL ORDER BY database_id, name, id OFFSET 0) AS z
             CROSS JOIN LATERAL (
                   SELECT ctid FROM record_reference WHERE database_id = z.database_id AND zone_id = z.id
                    ORDER BY holder LIMIT $1) AS f
             LIMIT $1))
        """, [.int8])

    /// Removes client change tokens of ended zones. There is one for each device, so there are few.
    static let clearClientTokens = Statement(
        .write, "clear_ended_client_tokens",
        """
        DELETE FROM client_token t USING zone z
         WHERE z.removal IS NOT NULL AND t.database_id = z.database_id AND t.zone_id = z.id
        """, [])

    /// If a clock was set back, an epoch may begin in the future; such an epoch ends at once. 1 seconds.
    static let advanceMemoryEpoch = Statement(
        .write, "advance_memory_epoch",
        """
        UPDATE store SET memory_epoch = memory_epoch + 1, memory_epoch_began_at = now()
         WHERE memory_epoch_began_at NOT BETWEEN now() - make_interval(secs => $1) AND now()
        """, [.float8])

    /// Removes memories that no request may use any more. 1 how many epochs are kept.
    static let clearMemories = Statement(
        .write, "clear_memories",
        "DELETE FROM request_memory WHERE epoch <= (SELECT memory_epoch FROM store) - $1", [.int8])
}
