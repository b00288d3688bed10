// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of zones. They are created and ended under the lock of their database's row.
struct ZoneStatements: Sendable {
    let lockDatabase = DeclaredStatement<DatabaseID, Void>(
        .read, "lock_database",
        "SELECT id FROM database WHERE id = \(\.self) FOR UPDATE")

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

    /// The columns that ``ZoneRow`` reads.
    static let columns = """
        z.database_id, z.name, z.id, z.change_number, z.oldest_token_number, z.created_at, z.encryption_scope
        """

    /// Creates the default zone, which always exists, where there is none yet.
    ///
    /// - Parameter databases: what follows FROM; its `d.id` are the databases.
    static func createDefault<Input>(in databases: SQL<Input>, now: SQL<Input>) -> SQL<Input> {
        """
        INSERT INTO zone (database_id, name, created_at)
        SELECT d.id, '_defaultZone', \(now)
          FROM \(databases)
            ON CONFLICT DO NOTHING
        """
    }

    let lockNamed = DeclaredStatement<(database: DatabaseID, names: [String]), ZoneState>(
        .read, "lock_named_zones",
        """
        SELECT \(columns)
          FROM (SELECT k.database_id, n.id
                  FROM (SELECT \(\.database) AS database_id, name AS zone_name FROM unnest(\(\.names)) AS n (name)) AS k
                 CROSS JOIN LATERAL (\(livingID)) AS n
                 ORDER BY n.id OFFSET 0) AS i
         CROSS JOIN LATERAL (\(lockByID)) AS z
        """
    ) { row throws(PostgresError) in
        try ZoneRow.decode(row)
    }

    let count = DeclaredStatement<DatabaseID, (living: Int, ended: Int)>(
        .read, "count_zones",
        """
        SELECT (SELECT count(*) FROM zone WHERE database_id = \(\.self) AND removal IS NULL) AS living,
               (SELECT count(*) FROM zone WHERE database_id = \(\.self) AND removal IS NOT NULL) AS ended
        """
    ) { row throws(PostgresError) in (try row["living"], try row["ended"]) }

    /// One row: the store's memory epoch, and the memory, null if there is none. The database's own memory has the zone
    /// 0.
    let readMemory = DeclaredStatement<(database: DatabaseID, life: DeviceID), (epoch: Int64, memory: RequestMemory?)>(
        .read, "read_database_memory",
        """
        SELECT s.memory_epoch, m.memory
          FROM store s
          LEFT JOIN request_memory m ON m.database_id = \(\.database) AND m.zone_id = 0 AND m.device_id = \(\.life)
        """
    ) { row throws(PostgresError) in
        let memory: [UInt8]? = try row["memory"]
        return (try row["memory_epoch"], memory.flatMap { RequestMemory(decoding: $0) })
    }

    let create = DeclaredStatement<
        (database: DatabaseID, zones: [(name: String, isPerZone: Bool)], now: Timestamp), Void
    >(
        .write, "create_zones",
        """
        INSERT INTO zone (database_id, name, encryption_scope, created_at)
        SELECT \(\.database), k.name, k.is_per_zone::integer, \(\.now)
          FROM unnest(\(\.zones, \.name), \(\.zones, \.isPerZone)) WITH ORDINALITY AS k (name, is_per_zone, ordinal) ORDER BY k.ordinal
        """)

    /// Ends a zone by name, as an operator does; never the default zone, which always exists.
    let endNamed = DeclaredStatement<(zone: ZoneKey, reason: ZoneRemovalReason), Void>(
        .write, "end_named_zone",
        """
        WITH ended AS (
            UPDATE zone SET removal = \(\.reason), removed_at = now()
             WHERE database_id = \(\.zone.database) AND name = \(\.zone.name) AND removal IS NULL AND name <> '_defaultZone'
         RETURNING database_id, id),
        forgotten AS (
            DELETE FROM zone_key k USING ended WHERE k.database_id = ended.database_id AND k.zone_id = ended.id)
        SELECT id FROM ended
        """)

    /// Every incarnation that the store still knows, by name and age.
    let history = DeclaredStatement<DatabaseID, AdminStore.Zone>(
        .read, "zone_history",
        """
        SELECT name, created_at, change_number, removal, removed_at FROM zone
         WHERE database_id = \(\.self) ORDER BY name, id
        """
    ) { row throws(PostgresError) in
        let removal: Int16? = try row["removal"]
        return AdminStore.Zone(
            name: try row["name"], createdAt: try row["created_at"], changeNumber: try row["change_number"],
            removal: removal.flatMap(ZoneRemovalReason.init), removedAt: try row["removed_at"])
    }

    /// Removes the zones' keys at once: from now on nobody can decrypt what is still stored of their encrypted values.
    let end = DeclaredStatement<
        (database: DatabaseID, zones: [ZoneID], reason: ZoneRemovalReason, now: Timestamp), Void
    >(
        .write, "end_zones",
        """
        WITH ended AS (
            UPDATE zone SET removal = \(\.reason), removed_at = \(\.now)
             WHERE database_id = \(\.database) AND id = ANY (\(\.zones)) AND removal IS NULL RETURNING database_id, id)
        DELETE FROM zone_key k USING ended WHERE k.database_id = ended.database_id AND k.zone_id = ended.id
        """)

    /// Zones of a database are created under a lock and get growing ids, so a page never misses an older zone.
    let page = DeclaredStatement<(database: DatabaseID, after: ZoneID, zonesMax: Int), ZoneState>(
        .read, "zones_page",
        """
        SELECT \(columns) FROM zone z
         WHERE z.database_id = \(\.database) AND z.id > \(\.after) AND z.removal IS NULL
         ORDER BY z.id LIMIT \(\.zonesMax)
        """
    ) { row throws(PostgresError) in
        try ZoneRow.decode(row)
    }

    let named = DeclaredStatement<(database: DatabaseID, names: [String]), ZoneState>(
        .read, "named_zones",
        """
        SELECT \(columns)
          FROM unnest(\(\.names)) AS k (name)
         CROSS JOIN LATERAL (
               SELECT * FROM zone
                WHERE database_id = \(\.database) AND name BETWEEN k.name AND k.name AND removal IS NULL
                ORDER BY name LIMIT 1) AS z
        """
    ) { row throws(PostgresError) in
        try ZoneRow.decode(row)
    }

    /// Removes records of ended zones, a bounded number at a time.
    let clearRecords = DeclaredStatement<Int, Void>(
        .write, "clear_ended_zones",
        """
        DELETE FROM record WHERE ctid = ANY (ARRAY(
            SELECT r.ctid
              FROM (SELECT database_id, id FROM zone WHERE removal IS NOT NULL ORDER BY database_id, name, id OFFSET 0) AS z
             CROSS JOIN LATERAL (
                   SELECT ctid FROM record WHERE database_id = z.database_id AND zone_id = z.id
                    ORDER BY name LIMIT \(\.self)) AS r
             LIMIT \(\.self)))
        """)

    /// Removes references of ended zones, a bounded number at a time.
    let clearReferences = DeclaredStatement<Int, Void>(
        .write, "clear_ended_references",
        """
        DELETE FROM record_reference WHERE ctid = ANY (ARRAY(
            SELECT f.ctid
              FROM (SELECT database_id, id FROM zone WHERE removal IS NOT NULL ORDER BY database_id, name, id OFFSET 0) AS z
             CROSS JOIN LATERAL (
                   SELECT ctid FROM record_reference WHERE database_id = z.database_id AND zone_id = z.id
                    ORDER BY holder LIMIT \(\.self)) AS f
             LIMIT \(\.self)))
        """)

    /// Removes client change tokens of ended zones. There is one for each device, so there are few.
    let clearClientTokens = DeclaredStatement<Void, Void>(
        .write, "clear_ended_client_tokens",
        """
        DELETE FROM client_token t USING zone z
         WHERE z.removal IS NOT NULL AND t.database_id = z.database_id AND t.zone_id = z.id
        """)

    /// If a clock was set back, an epoch may begin in the future; such an epoch ends at once.
    let advanceMemoryEpoch = DeclaredStatement<Double, Void>(
        .write, "advance_memory_epoch",
        """
        UPDATE store SET memory_epoch = memory_epoch + 1, memory_epoch_began_at = now()
         WHERE memory_epoch_began_at NOT BETWEEN now() - make_interval(secs => \(\.self)) AND now()
        """)

    /// Removes memories that no request may use any more.
    let clearMemories = DeclaredStatement<Int64, Void>(
        .write, "clear_memories",
        "DELETE FROM request_memory WHERE epoch <= (SELECT memory_epoch FROM store) - \(\.self)")
}
