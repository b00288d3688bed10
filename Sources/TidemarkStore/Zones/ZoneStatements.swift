// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL of zones. They are created and ended under the lock of their database's row.
struct ZoneStatements: Sendable {
    let lockDatabase = DeclaredStatement<DatabaseID, Void>(
        .read, "lock_database",
        "SELECT id FROM database WHERE id = \(\.self) FOR UPDATE")

    /// A row: an operator deletes the database's container. Whoever holds the database's lock and finds none is waited for by
    /// the deletion.
    let isClosed = DeclaredStatement<DatabaseID, Void>(
        .read, "is_database_closed",
        """
        SELECT 1
          FROM (SELECT container_id FROM database WHERE id BETWEEN \(\.self) AND \(\.self) ORDER BY id LIMIT 1) AS d
         CROSS JOIN LATERAL (
               SELECT closed_at FROM container
                WHERE id BETWEEN d.container_id AND d.container_id ORDER BY id LIMIT 1) AS c
         WHERE c.closed_at IS NOT NULL
        """)

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
        z.database_id, z.name, z.id, z.change_number, z.oldest_token_number, z.created_at, z.encryption_scope,
        NULLIF(z.has_hierarchies, false) AS has_hierarchies
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

    /// How many living zones the private databases of the database's owner have, in all containers; 0 for a public database.
    /// It ends at one more than ``ZonesSnapshot/accountZonesCounted``.
    let countOfAccount = DeclaredStatement<DatabaseID, Int>(
        .read, "count_account_zones",
        """
        SELECT count(*) AS living
          FROM (SELECT 1
                  FROM database o
                  JOIN container_user w ON w.id = o.user_id
                  JOIN container_user u ON u.account_id = w.account_id
                  JOIN database d ON d.user_id = u.id AND d.scope = 2
                 CROSS JOIN LATERAL (
                       SELECT 1 FROM zone z WHERE z.database_id = d.id AND z.removal IS NULL
                        LIMIT \(String(ZonesSnapshot.accountZonesCounted + 1))) AS l
                 WHERE o.id = \(\.self) AND o.scope = 2
                 LIMIT \(String(ZonesSnapshot.accountZonesCounted + 1))) AS n
        """
    ) { row throws(PostgresError) in try row["living"] }

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

    /// Ends the zones of a database whose numbers are in `locked`, and forgets their keys. It goes on after `WITH locked AS …,`
    /// and gives their names.
    static func endingLocked<Input>(
        of database: any KeyPath<Input, DatabaseID> & Sendable, _ reason: ZoneRemovalReason
    ) -> SQL<Input> {
        """
        ended AS (
            UPDATE zone SET removal = \(String(reason.rawValue)), removed_at = now()
             WHERE database_id = \(database) AND removal IS NULL AND id IN (SELECT id FROM locked)
         RETURNING database_id, id, name),
        forgotten AS (
            DELETE FROM zone_key k USING ended WHERE k.database_id = ended.database_id AND k.zone_id = ended.id),
        taken AS (
            DELETE FROM key_grant g USING ended WHERE g.database_id = ended.database_id AND g.zone_id = ended.id)
        SELECT name FROM ended
        """
    }

    /// Ends a zone by name, as an operator does; never the default zone, which always exists.
    let endNamed = DeclaredStatement<(zone: ZoneKey, reason: ZoneRemovalReason), Void>(
        .write, "end_named_zone",
        """
        WITH ended AS (
            UPDATE zone SET removal = \(\.reason), removed_at = now()
             WHERE database_id = \(\.zone.database) AND name = \(\.zone.name) AND removal IS NULL AND name <> '_defaultZone'
         RETURNING database_id, id),
        forgotten AS (
            DELETE FROM zone_key k USING ended WHERE k.database_id = ended.database_id AND k.zone_id = ended.id),
        taken AS (
            DELETE FROM key_grant g USING ended WHERE g.database_id = ended.database_id AND g.zone_id = ended.id)
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

    /// What an operator sees of a living zone. The database's feed has seen the zone up to `seen_number`; null: it has not,
    /// or the zone has no feed.
    let details = DeclaredStatement<ZoneKey, AdminStore.ZoneDetails>(
        .read, "zone_details",
        """
        SELECT z.id, z.created_at, z.change_number, z.oldest_token_number, z.byte_count, z.tombstone_byte_count,
               z.largest_record, z.encryption_scope, e.zone_change_number AS seen_number,
               (SELECT count(*) FROM zone_key k WHERE k.database_id = z.database_id AND k.zone_id = z.id) AS key_count,
               (SELECT count(*) FROM share h
                 WHERE h.database_id = z.database_id AND h.zone_id = z.id AND h.ended_number IS NULL) AS share_count,
               (SELECT count(*) FROM share h JOIN share_participant p
                    ON p.database_id = h.database_id AND p.zone_id = h.zone_id AND p.share_number = h.number
                 WHERE h.database_id = z.database_id AND h.zone_id = z.id AND h.ended_number IS NULL
                   AND p.status = 2) AS participant_count,
               (SELECT count(*) FROM subscription s
                 WHERE s.user_id = d.user_id AND s.zone_id = z.id) AS subscription_count,
               (SELECT count(*) FROM client_token t
                 WHERE t.database_id = z.database_id AND t.zone_id = z.id) AS client_token_count
          FROM zone z
          JOIN database d ON d.id = z.database_id
          LEFT JOIN feed_entry e ON e.database_id = z.database_id AND e.zone_id = z.id
         WHERE z.database_id = \(\.database) AND z.name = \(\.name) AND z.removal IS NULL
        """
    ) { row throws(PostgresError) in
        AdminStore.ZoneDetails(
            id: try row["id"], createdAt: try row["created_at"], changeNumber: try row["change_number"],
            oldestTokenNumber: try row["oldest_token_number"], recordBytes: try row["byte_count"],
            tombstoneBytes: try row["tombstone_byte_count"], largestRecordBytes: try row["largest_record"],
            encryptionScope: ZoneEncryptionScope(rawValue: try row["encryption_scope"]) ?? .perRecord,
            seenByFeed: try row["seen_number"], keyCount: try row["key_count"], shareCount: try row["share_count"],
            participantCount: try row["participant_count"], subscriptionCount: try row["subscription_count"],
            clientTokenCount: try row["client_token_count"])
    }

    /// Counts some records of a zone that follow a name. No row: there are none. The name is that of the last one; null if
    /// it was the last of the zone.
    let countRecords = DeclaredStatement<
        (database: DatabaseID, zone: ZoneID, after: String, rowsMax: Int), (living: Int, deleted: Int, last: String?)
    >(
        .read, "count_records",
        """
        SELECT count(*) FILTER (WHERE NOT is_deleted) AS living, count(*) FILTER (WHERE is_deleted) AS deleted,
               CASE WHEN count(*) = \(\.rowsMax) THEN max(name) END AS last
          FROM (SELECT name, is_deleted FROM record
                 WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND name > \(\.after)
                 ORDER BY name LIMIT \(\.rowsMax)) AS r
        """
    ) { row throws(PostgresError) in (try row["living"], try row["deleted"], try row["last"]) }

    /// Removes the zones' keys at once: from now on nobody can decrypt what is still stored of their encrypted values.
    let end = DeclaredStatement<
        (database: DatabaseID, zones: [ZoneID], reason: ZoneRemovalReason, now: Timestamp), Void
    >(
        .write, "end_zones",
        """
        WITH ended AS (
            UPDATE zone SET removal = \(\.reason), removed_at = \(\.now)
             WHERE database_id = \(\.database) AND id = ANY (\(\.zones)) AND removal IS NULL RETURNING database_id, id),
        taken AS (
            DELETE FROM key_grant g USING ended WHERE g.database_id = ended.database_id AND g.zone_id = ended.id)
        DELETE FROM zone_key k USING ended WHERE k.database_id = ended.database_id AND k.zone_id = ended.id
        """)

    /// Zones of a database are created under a lock and get growing ids, so a page never misses an older zone.
    let page = DeclaredStatement<(database: DatabaseID, after: ZoneID, zonesMax: Int), ZoneState>(
        .read, "zones_page",
        """
        SELECT \(listedColumns(\.database)) FROM zone z
         WHERE z.database_id = \(\.database) AND z.id > \(\.after) AND z.removal IS NULL
         ORDER BY z.id LIMIT \(\.zonesMax)
        """
    ) { row throws(PostgresError) in
        try ZoneRow.decodeListed(row)
    }

    let named = DeclaredStatement<(database: DatabaseID, names: [String]), ZoneState>(
        .read, "named_zones",
        """
        SELECT \(listedColumns(\.database))
          FROM unnest(\(\.names)) AS k (name)
         CROSS JOIN LATERAL (
               SELECT * FROM zone
                WHERE database_id = \(\.database) AND name BETWEEN k.name AND k.name AND removal IS NULL
                ORDER BY name LIMIT 1) AS z
        """
    ) { row throws(PostgresError) in
        try ZoneRow.decodeListed(row)
    }

    /// Zones of any databases, without whether they are shared: their shares say that.
    let living = DeclaredStatement<[ZoneKey], ZoneState>(
        .read, "living_zones",
        """
        SELECT \(columns)
          FROM unnest(\(\.self, \.database), \(\.self, \.name)) AS k (database_id, zone_name)
         CROSS JOIN LATERAL (
               SELECT * FROM zone
                WHERE database_id = k.database_id AND name BETWEEN k.zone_name AND k.zone_name AND removal IS NULL
                ORDER BY name LIMIT 1) AS z
        """
    ) { row throws(PostgresError) in
        try ZoneRow.decode(row)
    }

    /// The columns of zones `z` of a database, with whether each is shared as a whole. In a database that
    /// shares nothing no zone is looked up.
    private static func listedColumns<Input>(_ database: any KeyPath<Input, DatabaseID> & Sendable) -> SQL<Input> {
        """
        \(columns),
               CASE WHEN (SELECT 1 FROM share WHERE database_id = \(database) AND ended_number IS NULL
                           ORDER BY zone_id, record_name LIMIT 1) IS NULL THEN false
                    ELSE (SELECT 1 FROM share
                           WHERE database_id = z.database_id AND zone_id BETWEEN z.id AND z.id AND ended_number IS NULL
                             AND record_name = '\(Share.zoneWideName)'
                           ORDER BY zone_id LIMIT 1) IS NOT NULL END AS is_shared
        """
    }

    /// Zones that have ended, in the order of their index.
    let ended = DeclaredStatement<(after: EndedZone, zonesMax: Int), EndedZone>(
        .read, "ended_zones",
        """
        SELECT database_id, name, id FROM zone
         WHERE removal IS NOT NULL
           AND (database_id, name, id) > (\(\.after.database), \(\.after.name), \(\.after.id))
         ORDER BY database_id, name, id LIMIT \(\.zonesMax)
        """
    ) { row throws(PostgresError) in
        EndedZone(database: try row["database_id"], name: try row["name"], id: try row["id"])
    }

    let clearRecords = clearing("record", by: "name")
    let clearReferences = clearing("record_reference", by: "holder")
    let clearAssetUses = clearing("asset_use", by: "record_name")
    let clearClientTokens = clearing("client_token", by: "device_id")
    let clearParticipants = clearing("share_participant", by: "share_number")
    let clearAccessRequests = clearing("share_requester", by: "share_number")
    let clearKeyGrants = clearing("key_grant", by: "user_id")
    let clearShareRecords = clearing("share_record", by: "name")
    let clearShares = clearing("share", by: "number")
    let clearShareLinks = clearing("share_link", by: "zone_id")
    let clearShareLinkTargets = clearing("share_link_target", of: "owner_database_id", by: "zone_id")

    /// Removes rows of ended zones, a bounded number at a time.
    ///
    /// - Parameters:
    ///   - database: the column of the database.
    ///   - column: follows database and zone in an index.
    private static func clearing(
        _ table: String, of database: String = "database_id", by column: String
    ) -> DeclaredStatement<EndedZones, Void> {
        DeclaredStatement(
            .write, "clear_ended_\(table)",
            """
            DELETE FROM \(table) WHERE ctid = ANY (ARRAY(
                SELECT r.ctid
                  FROM unnest(\(\.zones, \.database), \(\.zones, \.id)) AS z (database_id, id)
                 CROSS JOIN LATERAL (
                       SELECT ctid FROM \(table) WHERE \(database) = z.database_id AND zone_id = z.id
                        ORDER BY \(column) LIMIT \(\.rowsMax)) AS r
                 LIMIT \(\.rowsMax)))
            """)
    }

    /// If a clock was set back, an epoch may begin in the future; such an epoch ends at once.
    let advanceMemoryEpoch = DeclaredStatement<Double, Void>(
        .write, "advance_memory_epoch",
        """
        UPDATE store SET memory_epoch = memory_epoch + 1, memory_epoch_began_at = now()
         WHERE memory_epoch_began_at NOT BETWEEN now() - make_interval(secs => \(\.self)) AND now()
        """)

    /// Removes memories that no request may use any more, among some that follow a place. A row: the place of the last of
    /// these; none if there are no more.
    let clearMemories = DeclaredStatement<
        (after: MemoryPosition, kept: Int64, rowsMax: Int), MemoryPosition
    >(
        .write, "clear_memories",
        """
        WITH seen AS MATERIALIZED (
            SELECT database_id, zone_id, device_id, epoch, ctid AS place FROM request_memory
             WHERE (database_id, zone_id, device_id) > (\(\.after.database), \(\.after.zone), \(\.after.life))
             ORDER BY database_id, zone_id, device_id LIMIT \(\.rowsMax)),
        gone AS (
            DELETE FROM request_memory
             WHERE ctid = ANY (ARRAY(
                   SELECT place FROM seen WHERE epoch <= (SELECT memory_epoch FROM store) - \(\.kept)))
               AND epoch <= (SELECT memory_epoch FROM store) - \(\.kept))
        SELECT database_id, zone_id, device_id FROM seen
         WHERE (SELECT count(*) FROM seen) = \(\.rowsMax)
         ORDER BY database_id DESC, zone_id DESC, device_id DESC LIMIT 1
        """
    ) { row throws(PostgresError) in
        MemoryPosition(database: try row["database_id"], zone: try row["zone_id"], life: try row["device_id"])
    }
}

/// A zone that has ended, as a place in the order of all of them.
package struct EndedZone: Sendable, Equatable {
    let database: DatabaseID
    let name: String
    let id: ZoneID

    /// Before all of them.
    package static let beginning = EndedZone(database: DatabaseID(.min), name: "", id: ZoneID(.min))
}

/// Some ended zones, and how many rows of theirs a statement removes.
struct EndedZones: Sendable {
    let zones: [EndedZone]
    let rowsMax: Int
}

/// A position in the order of all remembered requests.
struct MemoryPosition: Sendable {
    var database = DatabaseID(.min)
    var zone = ZoneID(.min)
    var life = DeviceID(high: 0, low: 0)
}
