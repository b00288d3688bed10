// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkService

/// A thing to read in a zone of a group.
struct WantedKey<Key: Sendable>: Sendable {
    /// Which of the group's reads wants it.
    let readIndex: Int
    let zone: ZoneKey
    let key: Key

    var database: DatabaseID { zone.database }
    /// Arrays of PostgreSQL begin with 1.
    var place: Int32 { Int32(readIndex + 1) }
}

extension Array {
    /// The element whose place in the list a statement returned. PostgreSQL counts from 1.
    subscript(ordinal ordinal: Int) -> Element { self[ordinal - 1] }
}

/// A record without its fields, which was read for its relations.
struct RelatedRecord {
    let zone: ZoneID
    let record: RecordState
    let byteCount: Int

    init(_ row: PostgresRow) throws(PostgresError) {
        zone = try row["zone_id"]
        record = try RecordRow.decode(row)
        byteCount = Int(try row["byte_count"] as Int32)
    }
}

/// A question for records by name.
struct LookUpQuery: Sendable {
    let zone: ZoneKey
    let names: [String]
    /// Bytes of fields.
    let bytesMax: Int
}

/// A question for one record and what is remembered of one life of a device.
struct OneRecordQuery: Sendable {
    let zone: ZoneKey
    let life: DeviceID
    let name: String
}

/// A question for what deletions may reach.
struct CascadeQuery: Sendable {
    /// Where the cascades begin.
    let roots: [WantedKey<String>]
    let bounds: CascadeBounds

    fileprivate var parentsMax: Int { roots.count + bounds.followedMax }
}

/// The SQL of the write path.
///
/// Nothing here depends on table statistics, so a freshly filled table, which has none, is as fast as an old one. Rows
/// are looked up by a list of keys with `LATERAL (… BETWEEN key AND key ORDER BY … LIMIT 1)`. Only one index has that
/// order, and `PostgresStorage.sessionSettings` forbids sorting instead. A plain join would be planned by costs.
/// Without statistics an index with less of the key costs the same, and each key would then read a whole zone, or all
/// zones.
struct RecordStatements: Sendable {
    /// Locks the living zones of the list, in the order of their ids, so that two groups never deadlock.
    let lockZones = DeclaredStatement<[ZoneKey], (zone: ZoneState, writeNumber: Int64)>(
        .read, "lock_zones",
        """
        SELECT \(ZoneStatements.columns), z.write_number
          FROM (SELECT k.database_id, n.id
                  FROM unnest(\(\.self, \.database), \(\.self, \.name)) AS k (database_id, zone_name)
                 CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS n
                 ORDER BY n.id OFFSET 0) AS i
         CROSS JOIN LATERAL (\(ZoneStatements.lockByID)) AS z
        """
    ) { row throws(PostgresError) in (try ZoneRow.decode(row), try row["write_number"]) }

    /// The same for a single zone, in two thirds of the time.
    let lockZone = DeclaredStatement<ZoneKey, (zone: ZoneState, writeNumber: Int64)>(
        .read, "lock_zone",
        """
        SELECT \(ZoneStatements.columns), z.write_number
          FROM zone z
         WHERE z.database_id = \(\.database) AND z.name BETWEEN \(\.name) AND \(\.name) AND z.removal IS NULL
         ORDER BY z.name LIMIT 1 FOR UPDATE
        """
    ) { row throws(PostgresError) in (try ZoneRow.decode(row), try row["write_number"]) }

    /// The ids of some zones; null for a zone that does not live. They are looked up once for each statement, in the
    /// order of the list, in which unnest returns its rows.
    private static func ids<Input>(of zones: any KeyPath<Input, [ZoneKey]> & Sendable) -> SQL<Input> {
        """
        (ARRAY(SELECT (\(ZoneStatements.livingID))
                 FROM unnest(\(zones, \.database), \(zones, \.name)) AS k (database_id, zone_name)))
        """
    }

    /// Of the records `found`, in the order of `k.ordinal`, the first ones with their fields, as long as these have no
    /// more than some bytes together. Those of the first record with fields always come. The others have `is_read` false.
    ///
    /// NB: `unnest … WITH ORDINALITY` is known to be in order, so nothing is sorted. Fields that are not selected in the
    /// end are not read from where PostgreSQL keeps large values.
    private static func bounded<Input>(
        _ found: SQL<Input>, to bytesMax: any KeyPath<Input, Int> & Sendable
    ) -> SQL<Input> {
        """
        (SELECT r.*, r.byte_count = 0 OR r.bytes_through <= \(bytesMax) OR r.bytes_through = r.byte_count AS is_read
           FROM (SELECT k.ordinal, r.*,
                        sum(r.byte_count) OVER (ORDER BY k.ordinal ROWS UNBOUNDED PRECEDING) AS bytes_through
                   FROM \(found)) AS r) AS r
        """
    }

    /// The columns of a record of ``bounded(_:to:)``. The first, `unread`, has the bytes of fields that were not read.
    private static let boundedColumns =
        "CASE WHEN NOT r.is_read THEN r.byte_count END AS unread, "
        + RecordColumn.selected("r", ["fields": "CASE WHEN r.is_read THEN r.fields ELSE '' END"])

    /// Records by name, each with its place in the list. In the order of the list they have their fields, up to a number
    /// of bytes.
    let readRecords = DeclaredStatement<
        (zones: [ZoneKey], wanted: [WantedKey<String>], bytesMax: Int),
        (ordinal: Int, record: RecordState, unread: Int32?)
    >(
        .read, "read_records",
        """
        SELECT r.ordinal, \(boundedColumns)
          FROM \(bounded(wantedRecords, to: \.bytesMax))
        """
    ) { row throws(PostgresError) in
        let (ordinal, unread): (Int, Int32?) = (try row["ordinal"], try row["unread"])
        return (ordinal, try RecordRow.decode(row, isSurveyed: true), unread)
    }

    private static let wantedRecords: SQL<(zones: [ZoneKey], wanted: [WantedKey<String>], bytesMax: Int)> = """
        unnest(\(\.wanted, \.place), \(\.wanted, \.key)) WITH ORDINALITY AS k (place, record_name, ordinal)
         CROSS JOIN LATERAL (
               SELECT * FROM record
                WHERE database_id = (\(\.zones, \.database))[k.place] AND zone_id = \(ids(of: \.zones))[k.place]
                  AND name BETWEEN k.record_name AND k.record_name ORDER BY name LIMIT 1) AS r
        """

    /// Records by name without a lock, and their zone, in one snapshot. In the order of the names the records have their
    /// fields, up to a number of bytes.
    let lookUpRecords = DeclaredStatement<LookUpQuery, (row: ZonePageRow, unread: Int32?)>(
        .read, "look_up_records",
        """
        WITH z AS MATERIALIZED (
            SELECT \(ZonePageRow.zoneColumns) FROM zone
             WHERE database_id = \(\.zone.database) AND name BETWEEN \(\.zone.name) AND \(\.zone.name)
               AND removal IS NULL ORDER BY name LIMIT 1)
        SELECT NULL::integer AS unread, \(ZonePageRow.zone(clientToken: "NULL", store: "NULL"))
          FROM z
         UNION ALL
        SELECT \(boundedColumns)
          FROM \(bounded(namedRecords, to: \.bytesMax))
        """
    ) { row throws(PostgresError) in
        let unread: Int32? = try row["unread"]
        return (try ZonePageRow(row, at: 1), unread)
    }

    private static let namedRecords: SQL<LookUpQuery> = """
        unnest(\(\.names)) WITH ORDINALITY AS k (name, ordinal)
         CROSS JOIN LATERAL (
               SELECT * FROM record
                WHERE database_id = \(\.zone.database) AND zone_id = (SELECT id FROM z)
                  AND name BETWEEN k.name AND k.name ORDER BY name LIMIT 1) AS r
        """

    /// Living children of everything that a cascade may reach, its roots included.
    ///
    /// The requests can take away the records that they name and those that the cascade reaches. So of each parent one
    /// more is enough to see that a child stays.
    let readChildren = DeclaredStatement<CascadeQuery, (zone: ZoneID, parent: String, child: String)>(
        .read, "read_children",
        """
        WITH RECURSIVE \(reached(from: \.roots)),
        parents AS MATERIALIZED (SELECT * FROM reached LIMIT \(\.parentsMax))
        SELECT t.zone_id, t.name AS parent, r.name AS child
          FROM parents t
         CROSS JOIN LATERAL (
               SELECT name FROM record
                WHERE database_id = t.database_id AND zone_id = t.zone_id
                  AND parent BETWEEN t.name AND t.name AND parent IS NOT NULL AND NOT is_deleted
                ORDER BY parent LIMIT (SELECT count(*) FROM parents) + \(\.bounds.namedCount) + 1) AS r
         LIMIT \(\.bounds.childRowsMax)
        """
    ) { row throws(PostgresError) in (try row["zone_id"], try row["parent"], try row["child"]) }

    /// The ancestors of some records, themselves included, as far as R-081 needs them. Each record comes once, so a
    /// cycle ends.
    let readAncestors = DeclaredStatement<(records: [WantedKey<String>], rowsMax: Int), RelatedRecord>(
        .read, "read_ancestors",
        """
        WITH RECURSIVE line (database_id, zone_id, name) AS (
            \(living(\.records))
             UNION
            SELECT l.database_id, l.zone_id, r.parent
              FROM line l
             CROSS JOIN LATERAL (
                   SELECT parent, is_deleted FROM record
                    WHERE database_id = l.database_id AND zone_id = l.zone_id AND name BETWEEN l.name AND l.name
                    ORDER BY name LIMIT 1) AS r
             WHERE r.parent IS NOT NULL AND NOT r.is_deleted)
        SELECT l.zone_id, \(RecordColumn.selectedWithoutFields), r.byte_count
          FROM line l
         CROSS JOIN LATERAL (
               SELECT * FROM record
                WHERE database_id = l.database_id AND zone_id = l.zone_id AND name BETWEEN l.name AND l.name
                ORDER BY name LIMIT 1) AS r
         LIMIT \(\.rowsMax)
        """
    ) { row throws(PostgresError) in try RelatedRecord(row) }

    /// Where a recursion begins: the names of the records, with the ids of their living zones.
    private static func living<Input>(
        _ records: any KeyPath<Input, [WantedKey<String>]> & Sendable
    ) -> SQL<Input> {
        """
        SELECT k.database_id, z.id, k.name COLLATE "C"
              FROM unnest(\(records, \.database), \(records, \.zone.name), \(records, \.key))
                   AS k (database_id, zone_name, name)
             CROSS JOIN LATERAL (\(ZoneStatements.livingID)) AS z
        """
    }

    /// The holders of deleteSelf references to `t.name`, for a `LATERAL` join.
    private static let holders = """
        SELECT holder FROM record_reference
         WHERE database_id = t.database_id AND zone_id = t.zone_id AND target BETWEEN t.name AND t.name
         ORDER BY target, holder OFFSET 0
        """

    /// All that a cascade from the records may reach, themselves included. Cycles end, because UNION takes each record
    /// once.
    private static func reached<Input>(
        from records: any KeyPath<Input, [WantedKey<String>]> & Sendable
    ) -> SQL<Input> {
        """
        reached (database_id, zone_id, name) AS (
            \(living(records))
             UNION
            SELECT t.database_id, t.zone_id, f.holder FROM reached t CROSS JOIN LATERAL (\(holders)) AS f)
        """
    }

    /// Everything that a cascade may reach (R-133): every deleteSelf reference from the roots on, with its holder's
    /// record.
    let readCascade = DeclaredStatement<CascadeQuery, (target: String, holder: RelatedRecord)>(
        .read, "read_cascade",
        """
        WITH RECURSIVE \(reached(from: \.roots))
        SELECT t.zone_id, t.name AS target, \(RecordColumn.selectedWithoutFields), r.byte_count
          FROM reached t
         CROSS JOIN LATERAL (\(holders)) AS f
         CROSS JOIN LATERAL (
               SELECT * FROM record
                WHERE database_id = t.database_id AND zone_id = t.zone_id AND name BETWEEN f.holder AND f.holder
                ORDER BY name LIMIT 1) AS r
         LIMIT \(\.bounds.cascadeRowsMax)
        """
    ) { row throws(PostgresError) in (try row["target"], try RelatedRecord(row)) }

    /// How many records have a deleteSelf reference to each target, and how many may (R-079).
    let countReferences = DeclaredStatement<
        (zones: [ZoneKey], wanted: [WantedKey<String>]), (ordinal: Int, count: Int, countMax: Int32?)
    >(
        .read, "count_references",
        """
        SELECT k.ordinal, n.count,
               (SELECT references_max FROM container
                 WHERE id = (SELECT container_id FROM database WHERE id = z.database_id)) AS count_max
          FROM unnest(\(\.wanted, \.place), \(\.wanted, \.key)) WITH ORDINALITY AS k (place, target, ordinal)
         CROSS JOIN LATERAL (
               SELECT (\(\.zones, \.database))[k.place] AS database_id, \(ids(of: \.zones))[k.place] AS id OFFSET 0) AS z
         CROSS JOIN LATERAL (
               SELECT count(*) AS count
                 FROM (SELECT target FROM record_reference
                        WHERE database_id = z.database_id AND zone_id = z.id AND target BETWEEN k.target AND k.target
                        ORDER BY target, holder OFFSET 0) AS f) AS n
         WHERE z.id IS NOT NULL
        """
    ) { row throws(PostgresError) in (try row["ordinal"], try row["count"], try row["count_max"]) }

    /// Removes the other references of holders that lose theirs, and adds those that are not there. So one that stays is
    /// not written. A holder has many targets, so its names are sent once.
    let writeReferences = DeclaredStatement<(holders: [HolderRow], held: [HeldRow]), Void>(
        .write, "write_references",
        """
        WITH gone AS (
            DELETE FROM record_reference f
             USING (SELECT h.*
                      FROM unnest(\(\.holders, \.database), \(\.holders, \.zone), \(\.holders, \.holder),
                                  \(\.holders, \.losesOthers)) WITH ORDINALITY
                           AS k (database_id, zone_id, holder, loses_others, place)
                     CROSS JOIN LATERAL (
                           SELECT ctid FROM record_reference
                            WHERE database_id = k.database_id AND zone_id = k.zone_id
                              AND holder BETWEEN k.holder AND k.holder
                              AND (k.place::integer, target) NOT IN (
                                  SELECT * FROM unnest(\(\.held, \.place), \(\.held, \.target)))
                            ORDER BY holder OFFSET 0) AS h
                     WHERE k.loses_others) AS d
             WHERE f.ctid = d.ctid)
        INSERT INTO record_reference (database_id, zone_id, target, holder)
        SELECT (\(\.holders, \.database))[t.place], (\(\.holders, \.zone))[t.place], t.target,
               (\(\.holders, \.holder))[t.place]
          FROM unnest(\(\.held, \.place), \(\.held, \.target)) AS t (place, target)
            ON CONFLICT DO NOTHING
        """)

    /// Remembered requests, each with its place in the list. Every row also has the store's incarnation, the version of
    /// its schemas and its memory epoch. There is at least one row; it has no memory if nothing is remembered.
    let readMemories = DeclaredStatement<(zones: [ZoneKey], wanted: [WantedKey<DeviceID>]), MemoriesRow>(
        .read, "read_memories",
        """
        SELECT s.incarnation, s.schema_version, s.memory_epoch, m.ordinal, m.memory
          FROM store s
          LEFT JOIN LATERAL (
               SELECT k.ordinal, m.memory
                 FROM unnest(\(\.wanted, \.place), \(\.wanted, \.key)) WITH ORDINALITY AS k (place, device_id, ordinal)
                CROSS JOIN LATERAL (
                      SELECT memory FROM request_memory
                       WHERE database_id = (\(\.zones, \.database))[k.place] AND zone_id = \(ids(of: \.zones))[k.place]
                         AND device_id BETWEEN k.device_id AND k.device_id ORDER BY device_id LIMIT 1) AS m) AS m ON true
        """
    ) { row throws(PostgresError) in
        MemoriesRow(
            store: try row["incarnation"], schemaVersion: try row["schema_version"], epoch: try row["memory_epoch"],
            ordinal: try row["ordinal"], memory: try row["memory"])
    }

    /// ``readMemories`` and ``readRecords`` for one request that names one record, in half of the time. It is one row.
    let readOne = DeclaredStatement<OneRecordQuery, (memories: MemoriesRow, record: RecordState?)>(
        .read, "read_one",
        """
        WITH z AS MATERIALIZED (
            SELECT id FROM zone
             WHERE database_id = \(\.zone.database) AND name BETWEEN \(\.zone.name) AND \(\.zone.name)
               AND removal IS NULL ORDER BY name LIMIT 1)
        SELECT s.incarnation, s.schema_version, s.memory_epoch, m.memory, \(RecordColumn.selected("r"))
          FROM store s
          LEFT JOIN LATERAL (
               SELECT memory FROM request_memory
                WHERE database_id = \(\.zone.database) AND zone_id = (SELECT id FROM z)
                  AND device_id BETWEEN \(\.life) AND \(\.life) ORDER BY device_id LIMIT 1) AS m ON true
          LEFT JOIN LATERAL (
               SELECT * FROM record
                WHERE database_id = \(\.zone.database) AND zone_id = (SELECT id FROM z)
                  AND name BETWEEN \(\.name) AND \(\.name) ORDER BY name LIMIT 1) AS r ON true
        """
    ) { row throws(PostgresError) in
        let memory: RequestMemory? = try row["memory"]
        let memories = MemoriesRow(
            store: try row["incarnation"], schemaVersion: try row["schema_version"], epoch: try row["memory_epoch"],
            ordinal: 1, memory: memory)
        let name: String? = try row["name"]
        return (memories, name == nil ? nil : try RecordRow.decode(row, isSurveyed: true))
    }

    /// Why the newest ended incarnation of each zone of the list has ended.
    let readRemovals = DeclaredStatement<[ZoneKey], (zone: ZoneKey, reason: ZoneRemovalReason?)>(
        .read, "read_removals",
        """
        SELECT k.database_id, k.name, z.removal
          FROM unnest(\(\.self, \.database), \(\.self, \.name)) AS k (database_id, name)
         CROSS JOIN LATERAL (
               SELECT removal FROM zone
                WHERE database_id = k.database_id AND name = k.name AND removal IS NOT NULL
                ORDER BY id DESC LIMIT 1) AS z
        """
    ) { row throws(PostgresError) in
        let zone = ZoneKey(database: try row["database_id"], name: try row["name"])
        return (zone, ZoneRemovalReason(rawValue: try row["removal"]))
    }

    /// Everything that most transactions write, as one statement: records and tombstones to insert or replace, the
    /// zones that change, and remembered requests. Every part may be empty.
    let write = DeclaredStatement<ZoneWrites, Void>(
        .write, "write",
        """
        WITH \(movedAndRemembered(from: ""))
        \(RecordColumn.insertion(from: ""))
        """)

    /// The same as a transaction by itself, which writes only if the zones are unchanged and none of the absent records
    /// exists. Returns whether it has written.
    let writeIfStill = DeclaredStatement<ZoneWrites, Bool>(
        .write, "write_if_still",
        """
        WITH locked AS MATERIALIZED (
            SELECT z.change_number = i.change_number AND z.write_number = i.write_number AS is_same
              FROM (SELECT * FROM unnest(\(\.zones, \.database), \(\.zones, \.zone), \(\.moments, \.changeNumber),
                                         \(\.moments, \.writeNumber))
                           AS k (database_id, id, change_number, write_number)
                     ORDER BY id OFFSET 0) AS i
             CROSS JOIN LATERAL (\(ZoneStatements.lockByID)) AS z),
        still AS MATERIALIZED (
            SELECT 1 FROM store
             WHERE incarnation = \(first: \.moments, \.store) AND schema_version = \(first: \.moments, \.schema.version)
               AND (SELECT count(*) FROM locked WHERE is_same) = cardinality(\(\.zones, \.zone))
               AND NOT EXISTS (\(existing("unnest(\(\.absent, \.database), \(\.absent, \.zone), \(\.absent, \.name))")))),
        \(movedAndRemembered(from: "still, ")),
        written AS (
        \(RecordColumn.insertion(from: "still, ")))
        SELECT count(*) > 0 FROM still
        """)

    /// ``write`` for one run of records in one zone and one remembered request, which is what a device sends.
    let writeRun = DeclaredStatement<ZoneWrites, Void>(
        .write, "write_run",
        """
        WITH moved AS (\(movedByRun)),
        remembered AS (
            \(writtenMemories(rowOfRun, from: "")))
        \(RecordColumn.insertion(from: "", isOneRun: true))
        """)

    /// ``writeIfStill`` for the same.
    let writeRunIfStill = DeclaredStatement<ZoneWrites, Bool>(
        .write, "write_run_if_still",
        """
        WITH moved AS (
            \(movedByRun)
               AND change_number = \(first: \.moments, \.changeNumber) AND write_number = \(first: \.moments, \.writeNumber)
               AND EXISTS (
                   SELECT FROM store WHERE incarnation = \(first: \.moments, \.store) AND schema_version = \(first: \.moments, \.schema.version))
               AND NOT EXISTS (\(existing("(SELECT \(theZone), unnest(\(\.absent, \.name)))")))
         RETURNING id),
        remembered AS (
            \(writtenMemories(rowOfRun, from: "moved, "))),
        written AS (
        \(RecordColumn.insertion(from: "moved, ", isOneRun: true)))
        SELECT count(*) > 0 FROM moved
        """)

    /// NB: the condition that the zone lives is written so that it does not use the index of living zones.
    private static let movedByRun: SQL<ZoneWrites> = """
        UPDATE zone SET change_number = \(first: \.zones, \.changeNumber), write_number = write_number + 1,
                        largest_record = greatest(largest_record, \(first: \.zones, \.largestRecord)::bigint),
                        byte_count = byte_count + \(first: \.zones, \.byteGrowth),
                        tombstone_byte_count = tombstone_byte_count + \(first: \.zones, \.tombstoneGrowth),
                        record_count = record_count + \(first: \.digests, \.countGrowth),
                        digest_high = digest_high # \(first: \.digests, \.high),
                        digest_low = digest_low # \(first: \.digests, \.low),
                        digest_number = CASE WHEN digest_number = change_number THEN \(first: \.zones, \.changeNumber)
                                             ELSE digest_number END
         WHERE database_id = \(first: \.zones, \.database) AND id = \(first: \.zones, \.zone) AND num_nulls(removal) = 1
        """

    private static let rowOfRun: SQL<ZoneWrites> =
        "(SELECT \(theZone), \(first: \.memories, \.life), \(first: \.memories, \.memory))"

    /// The first columns of everything in the one zone that is written.
    private static let theZone: SQL<ZoneWrites> = "\(first: \.zones, \.database), \(first: \.zones, \.zone)"

    /// Those of the records that exist.
    ///
    /// - Parameter records: rows of the database, the zone and the name.
    private static func existing(_ records: SQL<ZoneWrites>) -> SQL<ZoneWrites> {
        """
        SELECT FROM \(records) AS k (database_id, zone_id, name)
         CROSS JOIN LATERAL (
               SELECT FROM record
                WHERE database_id = k.database_id AND zone_id = k.zone_id AND name BETWEEN k.name AND k.name
                ORDER BY name LIMIT 1) AS r
        """
    }

    /// - Parameter guards: as for ``RecordColumn/insertion(from:)``.
    private static func movedAndRemembered(from guards: String) -> SQL<ZoneWrites> {
        """
        moved AS (
            UPDATE zone SET change_number = k.change_number, write_number = zone.write_number + 1,
                            largest_record = greatest(zone.largest_record, k.largest),
                            byte_count = zone.byte_count + k.byte_growth,
                            tombstone_byte_count = zone.tombstone_byte_count + k.tombstone_growth,
                            record_count = zone.record_count + k.count_growth,
                            digest_high = zone.digest_high # k.high, digest_low = zone.digest_low # k.low,
                            digest_number = CASE WHEN zone.digest_number = zone.change_number THEN k.change_number
                                                 ELSE zone.digest_number END
              FROM \(guards)unnest(\(\.zones, \.database), \(\.zones, \.zone), \(\.zones, \.changeNumber),
                               \(\.zones, \.largestRecord), \(\.zones, \.byteGrowth), \(\.zones, \.tombstoneGrowth),
                               \(\.digests, \.countGrowth), \(\.digests, \.high), \(\.digests, \.low))
                   AS k (database_id, id, change_number, largest, byte_growth, tombstone_growth, count_growth, high, low)
             WHERE zone.database_id = k.database_id AND zone.id = k.id),
        remembered AS (
            \(writtenMemories(rows(of: \.memories), from: guards)))
        """
    }

    /// A database that gets new tokens forgets its oldest (R-733), at most 1,000 at once. One that gets a participant's
    /// forgets that participant's oldest. The statement does not see the new ones, so it leaves fewer places for the others.
    ///
    /// NB: `xmax` tells an old row from a new one, as in `AssetStatements.keep`. Old tokens may be in zones that other
    /// groups have locked. Waiting for such a group could deadlock, so what it writes stays for now.
    let writeClientTokens = DeclaredStatement<
        (tokens: [ClientTokenRow], countMax: Int, participantMax: Int), Void
    >(
        .write, "write_client_tokens",
        """
        WITH written AS (
            INSERT INTO client_token (database_id, zone_id, device_id, user_id, token)
            SELECT * FROM unnest(
                \(\.tokens, \.database), \(\.tokens, \.zone), \(\.tokens, \.device), \(\.tokens, \.user),
                \(\.tokens, \.token))
                ON CONFLICT (database_id, zone_id, device_id)
                DO UPDATE SET token = excluded.token, number = excluded.number
         RETURNING database_id, user_id, xmax)
        DELETE FROM client_token WHERE ctid = ANY (ARRAY(
            SELECT t.ctid
              FROM (SELECT database_id, user_id, count(*) AS count,
                           CASE user_id WHEN 0 THEN \(\.countMax)::bigint ELSE \(\.participantMax)::bigint END AS count_max
                      FROM written WHERE xmax = 0 GROUP BY database_id, user_id) AS n
             CROSS JOIN LATERAL (
                   SELECT ctid FROM client_token
                    WHERE database_id = n.database_id AND user_id = n.user_id
                      AND number <= (
                          SELECT number FROM client_token WHERE database_id = n.database_id AND user_id = n.user_id
                           ORDER BY number DESC OFFSET greatest(0, n.count_max - n.count) LIMIT 1)
                    ORDER BY number LIMIT 1000 FOR UPDATE SKIP LOCKED) AS t))
        """)

    let writeMemories = DeclaredStatement<[MemoryRow], Void>(
        .write, "write_memories", writtenMemories(rows(of: \.self), from: ""))

    private static func rows<Input>(of memories: any KeyPath<Input, [MemoryRow]> & Sendable) -> SQL<Input> {
        "unnest(\(memories, \.database), \(memories, \.zone), \(memories, \.life), \(memories, \.memory))"
    }

    /// - Parameters:
    ///   - rows: of the database, the zone, the life and the memory.
    ///   - guards: as for ``RecordColumn/insertion(from:)``.
    private static func writtenMemories<Input>(_ rows: SQL<Input>, from guards: String) -> SQL<Input> {
        """
        INSERT INTO request_memory (database_id, zone_id, device_id, memory, epoch)
        SELECT k.*, (SELECT memory_epoch FROM store) FROM \(guards)\(rows) AS k
            ON CONFLICT (database_id, zone_id, device_id) DO UPDATE SET memory = excluded.memory, epoch = excluded.epoch
        """
    }
}

/// A row of ``RecordStatements/readMemories``.
struct MemoriesRow {
    let store: StoreIncarnation
    let schemaVersion: Int64
    let epoch: Int64
    /// Which life it is, counted from 1; nil if nothing is remembered.
    let ordinal: Int?
    let memory: RequestMemory?
}
