// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of zones: created and ended under the lock of their database's row.
enum ZoneStatements {
    static let lockDatabase = Statement("lock_database", "SELECT id FROM database WHERE id = $1 FOR UPDATE", [.int8])

    /// The living zone named `k.zone_name`, to be joined `LATERAL`; see ``RecordStatements`` for its form.
    static let livingID = """
        SELECT id FROM zone
         WHERE database_id = k.database_id AND name BETWEEN k.zone_name AND k.zone_name AND removal IS NULL
         ORDER BY name LIMIT 1
        """

    /// The zone `i.id`, locked; none if it has ended meanwhile. To be joined `LATERAL` to ids in their order.
    static let lockByID = """
        SELECT * FROM zone
         WHERE database_id = i.database_id AND id BETWEEN i.id AND i.id AND removal IS NULL
         ORDER BY id LIMIT 1 FOR UPDATE
        """

    static let columns = "z.name, z.id, z.change_number, z.oldest_token_number, z.created_at"

    /// 1 database, 2 names.
    static let lockNamed = Statement(
        "lock_named_zones",
        """
        SELECT \(columns)
          FROM (SELECT k.database_id, n.id
                  FROM (SELECT $1::bigint AS database_id, name AS zone_name FROM unnest($2::text[]) AS n (name)) AS k
                 CROSS JOIN LATERAL (\(livingID)) AS n
                 ORDER BY n.id OFFSET 0) AS i
         CROSS JOIN LATERAL (\(lockByID)) AS z
        """, [.int8, .textArray])

    static let count = Statement(
        "count_zones", "SELECT count(*) FROM zone WHERE database_id = $1 AND removal IS NULL", [.int8])

    /// 1 database, 2 device. The database's own memory has the zone 0.
    static let readMemory = Statement(
        "read_database_memory",
        "SELECT memory FROM request_memory WHERE database_id = $1 AND zone_id = 0 AND device_id = $2", [.int8, .uuid])

    /// 1 database, 2 names, 3 now.
    static let create = Statement(
        "create_zones",
        """
        INSERT INTO zone (database_id, name, created_at)
        SELECT $1, k.name, $3 FROM unnest($2::text[]) WITH ORDINALITY AS k (name, ordinal) ORDER BY k.ordinal
        """, [.int8, .textArray, .timestamptz])

    /// 1 database, 2 ids, 3 reason, 4 now.
    static let end = Statement(
        "end_zones",
        "UPDATE zone SET removal = $3, removed_at = $4 WHERE database_id = $1 AND id = ANY ($2) AND removal IS NULL",
        [.int8, .int8Array, .int2, .timestamptz])

    static let all = Statement(
        "all_zones",
        "SELECT \(columns) FROM zone z WHERE z.database_id = $1 AND z.removal IS NULL ORDER BY z.id", [.int8])

    /// Records and memories of ended zones, a bounded number at a time. 1 rows at most.
    static let clearRecords = Statement(
        "clear_ended_zones",
        """
        DELETE FROM record r USING (
            SELECT r.database_id, r.zone_id, r.name
              FROM zone z JOIN record r ON r.database_id = z.database_id AND r.zone_id = z.id
             WHERE z.removal IS NOT NULL LIMIT $1) AS k
         WHERE r.database_id = k.database_id AND r.zone_id = k.zone_id AND r.name = k.name
        """, [.int8])

    /// Memories that nobody may ask for any more. 1 the time before which they are void.
    static let clearMemories = Statement(
        "clear_memories", "DELETE FROM request_memory WHERE updated_at < $1", [.timestamptz])
}
