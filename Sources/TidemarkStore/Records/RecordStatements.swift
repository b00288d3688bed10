// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of the write path.
///
/// Nothing here depends on table statistics, so a freshly filled table, which has none, is as fast as an old one. Rows
/// are looked up by a list of keys with `LATERAL (… BETWEEN key AND key ORDER BY … LIMIT 1)`. Only one index has that
/// order, and `PostgresStorage.sessionSettings` forbids sorting instead. A plain join would be planned by costs.
/// Without statistics an index with less of the key costs the same, and each key would then read a whole zone, or all
/// zones.
/// without statistics an index that has less of the key costs the same: each key then reads a whole zone, or all of them.
enum RecordStatements {
    /// Locks the living zones of the list, in the order of their ids, so that two groups never deadlock. 1 databases, 2
    /// names.
    static let lockZones = Statement(
        .read, "lock_zones",
        """
        SELECT z.database_id, \(ZoneStatements.columns), z.write_number
          FROM (SELECT k.database_id, n.id
                  FROM unnest($1::bigint[], $2::text[]) AS k (database_id, zone_name)
                 CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS n
                 ORDER BY n.id OFFSET 0) AS i
         CROSS JOIN LATERAL (\(ZoneStatements.lockByID)) AS z
        """, [.int8Array, .textArray])

    /// The same for one living zone, which most transactions lock. 1 database, 2 name.
    static let lockZone = Statement(
        .read, "lock_zone",
        """
        SELECT z.database_id, \(ZoneStatements.columns), z.write_number
          FROM zone z
         WHERE z.database_id = $1 AND z.name BETWEEN $2 AND $2 AND z.removal IS NULL
         ORDER BY z.name LIMIT 1 FOR UPDATE
        """, [.int8, .text])

    /// The columns that `RecordRow` decodes. Every value takes time on both sides, so a column that nearly always
    /// equals its neighbour is null when it does.
    /// neighbour is null then.
    static let columns = columns(createdByDevice: "r.created_by_device")

    static func columns(createdByDevice: String) -> String {
        """
        r.name, r.type, r.fields, r.change_number, NULLIF(r.is_deleted, false), r.parent, r.created_at, \
        NULLIF(r.created_by, r.modified_by), \(createdByDevice), NULLIF(r.modified_at, r.created_at), r.modified_by, \
        NULLIF(r.batch_end, r.change_number)
        """
    }

    /// The ids of zones that a statement's first two parameters list, databases and names; null for a zone that does
    /// not live. They are looked up once for each statement, in the order of the list, in which unnest returns its
    /// rows.
    private static let zoneIDs = """
        (ARRAY(SELECT (\(ZoneStatements.livingID))
                 FROM unnest($1::bigint[], $2::text[]) AS k (database_id, zone_name)))
        """

    /// Records by name. 1 databases, 2 zone names, 3 the index of each record's zone in these lists, 4 record names.
    /// The first column is the index in the list.
    static let readRecords = Statement(
        .read, "read_records",
        """
        SELECT k.ordinal, \(columns)
          FROM unnest($3::integer[], $4::text[]) WITH ORDINALITY AS k (place, record_name, ordinal)
         CROSS JOIN LATERAL (
               SELECT * FROM record
                WHERE database_id = ($1::bigint[])[k.place] AND zone_id = \(zoneIDs)[k.place]
                  AND name BETWEEN k.record_name AND k.record_name ORDER BY name LIMIT 1) AS r
        """, [.int8Array, .textArray, .int4Array, .textArray])

    /// Records by name without a lock, and their zone, in one snapshot. The first row is the zone (its name column is
    /// null), in the columns of a page. 1 database, 2 zone name, 3 record names.
    static let lookUpRecords = Statement(
        .read, "look_up_records",
        """
        WITH z AS MATERIALIZED (
            SELECT id, change_number, oldest_token_number, created_at, encryption_scope FROM zone
             WHERE database_id = $1 AND name BETWEEN $2 AND $2 AND removal IS NULL ORDER BY name LIMIT 1)
        SELECT NULL AS name, NULL AS type, NULL::bytea AS fields, z.change_number, z.encryption_scope = 1 AS is_deleted,
               NULL AS parent, z.created_at, z.id AS created_by, NULL::uuid AS created_by_device,
               NULL::timestamptz AS modified_at, z.oldest_token_number AS modified_by, NULL::bigint AS batch_end
          FROM z
         UNION ALL
        SELECT \(columns)
          FROM unnest($3::text[]) AS k (name)
         CROSS JOIN LATERAL (
               SELECT * FROM record
                WHERE database_id = $1 AND zone_id = (SELECT id FROM z) AND name BETWEEN k.name AND k.name
                ORDER BY name LIMIT 1) AS r
        """, [.int8, .text, .textArray])

    /// Living children. 1 databases, 2 zone names, 3 names of parents.
    static let readChildren = Statement(
        .read, "read_children",
        """
        SELECT k.ordinal, r.name
          FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY
               AS k (database_id, zone_name, parent_name, ordinal)
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
         CROSS JOIN LATERAL (
               SELECT name FROM record
                WHERE database_id = k.database_id AND zone_id = z.id
                  AND parent BETWEEN k.parent_name AND k.parent_name AND parent IS NOT NULL AND NOT is_deleted
                ORDER BY parent OFFSET 0) AS r
        """, [.int8Array, .textArray, .textArray])

    /// The ancestors of some records, themselves included, as far as R-081 needs them. Without fields, but with the
    /// number of their bytes. Each record comes once, so a cycle ends. 1 databases, 2 zone names, 3 names of records, 4
    /// the most rows.
    static let readAncestors = Statement(
        .read, "read_ancestors",
        """
        WITH RECURSIVE line (database_id, zone_id, name) AS (
            SELECT k.database_id, z.id, k.name COLLATE "C"
              FROM unnest($1::bigint[], $2::text[], $3::text[]) AS k (database_id, zone_name, name)
             CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
             UNION
            SELECT l.database_id, l.zone_id, r.parent
              FROM line l
             CROSS JOIN LATERAL (
                   SELECT parent, is_deleted FROM record
                    WHERE database_id = l.database_id AND zone_id = l.zone_id AND name BETWEEN l.name AND l.name
                    ORDER BY name LIMIT 1) AS r
             WHERE r.parent IS NOT NULL AND NOT r.is_deleted)
        SELECT l.zone_id, r.name, r.type, ''::bytea AS fields, r.change_number, r.is_deleted, r.parent, r.created_at,
               r.created_by, r.created_by_device, r.modified_at, r.modified_by, r.batch_end, r.byte_count
          FROM line l
         CROSS JOIN LATERAL (
               SELECT * FROM record
                WHERE database_id = l.database_id AND zone_id = l.zone_id AND name BETWEEN l.name AND l.name
                ORDER BY name LIMIT 1) AS r
         LIMIT $4
        """, [.int8Array, .textArray, .textArray, .int8])

    /// The holders of deleteSelf references to `t.name`, for a `LATERAL` join.
    private static let holders = """
        SELECT holder FROM record_reference
         WHERE database_id = t.database_id AND zone_id = t.zone_id AND target BETWEEN t.name AND t.name
         ORDER BY target, holder OFFSET 0
        """

    /// Everything that a cascade may reach (R-133): every deleteSelf reference from the roots on, with its holder's
    /// record (without fields) and the holder's living children. Cycles end, because UNION takes each record once. 1
    /// databases, 2 zone names, 3 names of roots, 4 the most rows.
    static let readCascade = Statement(
        .read, "read_cascade",
        """
        WITH RECURSIVE reached (database_id, zone_id, name) AS (
            SELECT k.database_id, z.id, k.root COLLATE "C"
              FROM unnest($1::bigint[], $2::text[], $3::text[]) AS k (database_id, zone_name, root)
             CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
             UNION
            SELECT t.database_id, t.zone_id, f.holder FROM reached t CROSS JOIN LATERAL (\(holders)) AS f)
        SELECT t.zone_id, t.name,
               ARRAY(SELECT name FROM record
                      WHERE database_id = t.database_id AND zone_id = t.zone_id
                        AND parent BETWEEN f.holder AND f.holder AND parent IS NOT NULL AND NOT is_deleted
                      ORDER BY parent OFFSET 0),
               r.name, r.type, ''::bytea AS fields, r.change_number, r.is_deleted, r.parent, r.created_at, r.created_by,
               r.created_by_device, r.modified_at, r.modified_by, r.batch_end, r.byte_count
          FROM reached t
         CROSS JOIN LATERAL (\(holders)) AS f
         CROSS JOIN LATERAL (
               SELECT * FROM record
                WHERE database_id = t.database_id AND zone_id = t.zone_id AND name BETWEEN f.holder AND f.holder
                ORDER BY name LIMIT 1) AS r
         LIMIT $4
        """, [.int8Array, .textArray, .textArray, .int8])

    /// How many records have a deleteSelf reference to each target, and how many may (R-079). 1 databases, 2 zone
    /// names, 3 targets.
    static let countReferences = Statement(
        .read, "count_references",
        """
        SELECT k.ordinal, n.count,
               (SELECT references_max FROM container
                 WHERE id = (SELECT container_id FROM database WHERE id = k.database_id))
          FROM unnest($1::bigint[], $2::text[], $3::text[]) WITH ORDINALITY
               AS k (database_id, zone_name, target, ordinal)
         CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
         CROSS JOIN LATERAL (
               SELECT count(*) AS count
                 FROM (SELECT target FROM record_reference
                        WHERE database_id = k.database_id AND zone_id = z.id AND target BETWEEN k.target AND k.target
                        ORDER BY target, holder OFFSET 0) AS f) AS n
        """, [.int8Array, .textArray, .textArray])

    /// Removes all references of these holders. 1 databases, 2 zones, 3 holders.
    static let dropReferences = Statement(
        .write, "drop_references",
        """
        DELETE FROM record_reference f
         USING (SELECT h.*
                  FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS k (database_id, zone_id, holder)
                 CROSS JOIN LATERAL (
                       SELECT ctid FROM record_reference
                        WHERE database_id = k.database_id AND zone_id = k.zone_id
                          AND holder BETWEEN k.holder AND k.holder
                        ORDER BY holder OFFSET 0) AS h) AS d
         WHERE f.ctid = d.ctid
        """, [.int8Array, .int8Array, .textArray])

    /// 1 databases, 2 zones, 3 targets, 4 holders.
    static let addReferences = Statement(
        .write, "add_references",
        """
        INSERT INTO record_reference (database_id, zone_id, target, holder)
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[])
            ON CONFLICT DO NOTHING
        """, [.int8Array, .int8Array, .textArray, .textArray])

    /// Remembered requests. Every row also has the store's life, the version of its schemas and its memory epoch. There
    /// is at least one row; its other columns are null if nothing is remembered. 1 databases, 2 zone names, 3 the index
    /// of each device's zone in these lists, 4 devices.
    static let readMemories = Statement(
        .read, "read_memories",
        """
        SELECT s.incarnation, s.schema_version, s.memory_epoch, m.ordinal, m.memory
          FROM store s
          LEFT JOIN LATERAL (
               SELECT k.ordinal, m.memory
                 FROM unnest($3::integer[], $4::uuid[]) WITH ORDINALITY AS k (place, device_id, ordinal)
                CROSS JOIN LATERAL (
                      SELECT memory FROM request_memory
                       WHERE database_id = ($1::bigint[])[k.place] AND zone_id = \(zoneIDs)[k.place]
                         AND device_id BETWEEN k.device_id AND k.device_id ORDER BY device_id LIMIT 1) AS m) AS m ON true
        """, [.int8Array, .textArray, .int4Array, .uuidArray])

    /// ``readMemories`` and ``readRecords`` in one row, for a device that saves one record: the most frequent case, and
    /// one in which the user waits. The record's columns follow the memory, and are null if there is no record. 1
    /// database, 2 zone name, 3 device, 4 record name.
    static let readOne = Statement(
        .read, "read_one",
        """
        WITH z AS MATERIALIZED (
            SELECT id FROM zone
             WHERE database_id = $1 AND name BETWEEN $2 AND $2 AND removal IS NULL ORDER BY name LIMIT 1)
        SELECT s.incarnation, s.schema_version, s.memory_epoch, m.memory, \(columns)
          FROM store s
          LEFT JOIN LATERAL (
               SELECT memory FROM request_memory
                WHERE database_id = $1 AND zone_id = (SELECT id FROM z) AND device_id BETWEEN $3 AND $3
                ORDER BY device_id LIMIT 1) AS m ON true
          LEFT JOIN LATERAL (
               SELECT * FROM record
                WHERE database_id = $1 AND zone_id = (SELECT id FROM z) AND name BETWEEN $4 AND $4
                ORDER BY name LIMIT 1) AS r ON true
        """, [.int8, .text, .uuid, .text])

    /// The newest ended incarnation of each zone of the list. 1 databases, 2 names.
    static let readRemovals = Statement(
        .read, "read_removals",
        """
        SELECT k.database_id, k.name, z.removal
          FROM unnest($1::bigint[], $2::text[]) AS k (database_id, name)
         CROSS JOIN LATERAL (
               SELECT removal FROM zone
                WHERE database_id = k.database_id AND name = k.name AND removal IS NOT NULL
                ORDER BY id DESC LIMIT 1) AS z
        """, [.int8Array, .textArray])

    /// Everything that most transactions write, as one statement: records and tombstones to insert or replace, the
    /// zones that change, and remembered requests. Every part may be empty.
    ///
    /// Neighbouring records that share values are a *run*, and have these values once, because every value that
    /// PostgreSQL takes out of an array costs time. Lists of values that only some records have (a creation date that
    /// is not the date of the change, parents, index values) end with the last record that has one.
    ///
    /// Of runs: 1 databases, 2 zones, 3 batch ends, 4 creators, 5 their devices, 6 times of change, 7 who changed, 8
    /// whether they are tombstones. Of records: 9 indexes of their runs, 10 change numbers, 11 names, 12 types, 13
    /// fields, 14 times of creation, 15 parents, 16 index values. Of zones: 17 databases, 18 ids, 19 change numbers, 20
    /// bytes of the largest record that is written, 21 bytes by which their records grow. Of memories: 22 databases, 23
    /// zones, 24 devices, 25 memories.
    /// 25 memories.
    static let write = Statement(
        .write, "write",
        """
        WITH \(movedAndRemembered(from: ""))
        \(insertion(from: ""))
        """, writeTypes)

    /// The same as a transaction by itself, which writes only if the zones are unchanged. Returns one number, 0 if they
    /// are not.
    ///
    /// Beside the parameters of ``write``, of zones: 26 change numbers until now, 27 write numbers until now; 28 the
    /// store's incarnation, 29 the version of its schemas. Of records that must not exist: 30 databases, 31 zones, 32
    /// names.
    static let writeIfStill = Statement(
        .write, "write_if_still",
        """
        WITH locked AS MATERIALIZED (
            SELECT z.change_number = i.change_number AND z.write_number = i.write_number AS is_same
              FROM (SELECT * FROM unnest($17::bigint[], $18::bigint[], $26::bigint[], $27::bigint[])
                           AS k (database_id, id, change_number, write_number)
                     ORDER BY id OFFSET 0) AS i
             CROSS JOIN LATERAL (\(ZoneStatements.lockByID)) AS z),
        still AS MATERIALIZED (
            SELECT 1 FROM store
             WHERE incarnation = $28 AND schema_version = $29
               AND (SELECT count(*) FROM locked WHERE is_same) = cardinality($18::bigint[])
               AND NOT EXISTS (
                   SELECT FROM unnest($30::bigint[], $31::bigint[], $32::text[]) AS k (database_id, zone_id, name)
                    CROSS JOIN LATERAL (\(recordKey)) AS r)),
        \(movedAndRemembered(from: "still, ")),
        written AS (
        \(insertion(from: "still, ")))
        SELECT count(*) FROM still
        """, writeTypes + [.int8Array, .int8Array, .int8, .int8, .int8Array, .int8Array, .textArray])

    /// Whether the record `k.name` exists, for a `LATERAL` join.
    private static let recordKey = """
        SELECT FROM record
         WHERE database_id = k.database_id AND zone_id = k.zone_id AND name BETWEEN k.name AND k.name
         ORDER BY name LIMIT 1
        """

    private static func movedAndRemembered(from guards: String) -> String {
        """
        moved AS (
            UPDATE zone SET change_number = k.change_number, write_number = zone.write_number + 1,
                            largest_record = greatest(zone.largest_record, k.largest),
                            byte_count = zone.byte_count + k.byte_growth
              FROM \(guards)unnest($17::bigint[], $18::bigint[], $19::bigint[], $20::bigint[], $21::bigint[])
                   AS k (database_id, id, change_number, largest, byte_growth)
             WHERE zone.database_id = k.database_id AND zone.id = k.id),
        remembered AS (
            \(writtenMemories("$22::bigint[], $23::bigint[], $24::uuid[], $25::bytea[]", from: guards)))
        """
    }

    private static func insertion(from guards: String) -> String {
        """
        INSERT INTO record (\(written))
        SELECT ($1::bigint[])[k.run], ($2::bigint[])[k.run], k.change_number, ($3::bigint[])[k.run],
               coalesce(k.created_at, ($6::timestamptz[])[k.run]), ($4::bigint[])[k.run],
               ($6::timestamptz[])[k.run], ($7::bigint[])[k.run], ($5::uuid[])[k.run], octet_length(k.fields),
               ($8::boolean[])[k.run], k.name, k.type, k.parent, k.fields, k.index_values::jsonb
          FROM \(guards)unnest($9::integer[], $10::bigint[], $11::text[], $12::text[], $13::bytea[], $14::timestamptz[],
                      $15::text[], $16::text[])
               AS k (run, change_number, name, type, fields, created_at, parent, index_values)
        \(replacement)
        """
    }

    private static let writeTypes: [PostgresType] = [
        .int8Array, .int8Array, .int8Array, .int8Array, .uuidArray, .timestamptzArray, .int8Array, .boolArray,
        .int4Array, .int8Array, .textArray, .textArray, .byteaArray, .timestamptzArray, .textArray, .textArray,
        .int8Array, .int8Array, .int8Array, .int8Array, .int8Array, .int8Array, .int8Array, .uuidArray, .byteaArray,
    ]

    /// ``write`` for one record of one device.
    ///
    /// 1 database, 2 zone, 3 change number, 4 bytes of fields, 5 bytes by which the zone's records grow, 6 device, 7
    /// its memory; of the record: 8 batch end, 9 time of creation, 10 creator, 11 the creator's device, 12 time of
    /// change, 13 who changed, 14 whether it is a tombstone, 15 name, 16 type, 17 parent, 18 fields, 19 index values.
    static let writeOne = Statement(
        .write, "write_one",
        """
        WITH moved AS (
            \(moveOne)),
        remembered AS (
            INSERT INTO request_memory (database_id, zone_id, device_id, memory, epoch)
            VALUES ($1, $2, $6, $7, \(memoryEpoch))
            \(memoryReplacement))
        INSERT INTO record (\(written))
        VALUES ($1, $2, $3, $8, $9, $10, $12, $13, $11, $4, $14, $15, $16, $17, $18, $19::text::jsonb)
        \(replacement)
        """,
        [
            .int8, .int8, .int8, .int8, .int8, .uuid, .bytea, .int8, .timestamptz, .int8, .uuid, .timestamptz, .int8,
            .bool, .text, .text, .text, .bytea, .text,
        ])

    /// ``writeIfStill`` for one run of records in one zone, and one device's memory: what a device's request usually
    /// is. Shared values are single parameters, which takes PostgreSQL a fifth less time.
    ///
    /// NB: the condition that the zone lives is written so that it does not use the index of living zones. Lists that
    /// are unnested side by side in the select list are not materialized, as they would be by one `unnest` of all.
    ///
    /// 1 database, 2 zone, 3 change number, 4 bytes of the largest record's fields, 5 bytes by which the zone's records
    /// grow, 6 device, 7 its memory. Of the run: 8 the change number before its first, 9 batch end, 10 creator, 11 the
    /// creator's device, 12 time of change, 13 who changed, 14 whether they are tombstones, 15 type. Of records: 16
    /// names, 17 fields, 18 times of creation, 19 parents, 20 index values. 21 the zone's change number until now, 22
    /// its write number until now, 23 the store's incarnation, 24 the version of its schemas, 25 names of records that
    /// must not exist.
    /// now, 23 the store's incarnation, 24 the version of its schemas, 25 names of records that must not be there.
    static let writeRunIfStill = Statement(
        .write, "write_run_if_still",
        """
        WITH moved AS (
            \(moveOne) AND num_nulls(removal) = 1 AND change_number = $21 AND write_number = $22
               AND EXISTS (SELECT FROM store WHERE incarnation = $23 AND schema_version = $24)
               AND NOT EXISTS (
                   SELECT FROM (SELECT $1 AS database_id, $2 AS zone_id, unnest($25::text[]) AS name) AS k
                    CROSS JOIN LATERAL (\(recordKey)) AS r)
         RETURNING id),
        remembered AS (
            INSERT INTO request_memory (database_id, zone_id, device_id, memory, epoch)
            SELECT $1, $2, $6, $7, \(memoryEpoch) FROM moved
            \(memoryReplacement)),
        written AS (
            INSERT INTO record (\(written))
            SELECT $1, $2, k.change_number, $9, coalesce(k.created_at, $12), $10, $12, $13, $11,
                   octet_length(k.fields), $14, k.name, $15, k.parent, k.fields, k.index_values::jsonb
              FROM moved,
                   (SELECT generate_series($8 + 1, $3) AS change_number, unnest($16::text[]) AS name,
                           unnest($17::bytea[]) AS fields, unnest($18::timestamptz[]) AS created_at,
                           unnest($19::text[]) AS parent, unnest($20::text[]) AS index_values) AS k
            \(replacement))
        SELECT count(*) FROM moved
        """,
        [
            .int8, .int8, .int8, .int8, .int8, .uuid, .bytea, .int8, .int8, .int8, .uuid, .timestamptz, .int8, .bool,
            .text, .textArray, .byteaArray, .timestamptzArray, .textArray, .textArray, .int8, .int8, .int8, .int8,
            .textArray,
        ])

    private static let moveOne = """
        UPDATE zone SET change_number = $3, write_number = write_number + 1,
                        largest_record = greatest(largest_record, $4), byte_count = byte_count + $5
         WHERE database_id = $1 AND id = $2
        """

    private static let written = """
        database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at, modified_by, \
        created_by_device, byte_count, is_deleted, name, type, parent, fields, index_values
        """

    private static let replacement = """
         ON CONFLICT (database_id, zone_id, name) DO UPDATE
        SET change_number = excluded.change_number, batch_end = excluded.batch_end,
            created_at = excluded.created_at, created_by = excluded.created_by,
            modified_at = excluded.modified_at, modified_by = excluded.modified_by,
            created_by_device = excluded.created_by_device, byte_count = excluded.byte_count,
            is_deleted = excluded.is_deleted, type = excluded.type, parent = excluded.parent,
            fields = excluded.fields, index_values = excluded.index_values
        """

    private static let memoryReplacement = """
        ON CONFLICT (database_id, zone_id, device_id) DO UPDATE
           SET memory = excluded.memory, epoch = excluded.epoch
        """

    private static let memoryEpoch = "(SELECT memory_epoch FROM store)"

    /// 1 databases, 2 zones, 3 devices, 4 client change tokens.
    static let writeClientTokens = Statement(
        .write, "write_client_tokens",
        """
        INSERT INTO client_token (database_id, zone_id, device_id, token)
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::bytea[])
            ON CONFLICT (database_id, zone_id, device_id) DO UPDATE SET token = excluded.token
        """, [.int8Array, .int8Array, .uuidArray, .byteaArray])

    /// 1 databases, 2 zones, 3 devices, 4 memories.
    static let writeMemories = Statement(
        .write, "write_memories", writtenMemories("$1::bigint[], $2::bigint[], $3::uuid[], $4::bytea[]"),
        [.int8Array, .int8Array, .uuidArray, .byteaArray])

    private static func writtenMemories(_ arrays: String, from guards: String = "") -> String {
        """
        INSERT INTO request_memory (database_id, zone_id, device_id, memory, epoch)
        SELECT k.*, \(memoryEpoch) FROM \(guards)unnest(\(arrays)) AS k
        \(memoryReplacement)
        """
    }
}
