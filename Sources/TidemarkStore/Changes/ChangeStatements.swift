// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkService

/// A question for a part of a viewer's database feed.
struct DatabaseFeedQuery: Sendable {
    let viewer: DatabaseID
    /// The number of the token; -1 for a feed from the beginning, which has living zones only (R-204).
    let after: ChangeNumber
    /// The most entries, and one more, which tells whether there are more.
    let entriesMax: Int
    /// The most zones without a number.
    let unnumberedMax = FeedPosition.aheadMax + 1
}

/// A row of a database feed. The feed itself comes first, then the entries, and last the zones without a number.
enum FeedRow {
    case feed(head: ChangeNumber, oldestToken: ChangeNumber, store: StoreIncarnation, feedsEverywhere: Bool)
    /// `mustNumber`: ``DatabaseFeedRead/mustNumber``, because of this zone.
    case entry(DatabaseFeedEntry, mustNumber: Bool)

    init(_ row: PostgresRow) throws(PostgresError) {
        if let zone: ZoneID = try row["zone_id"] {
            let removal: Int16? = try row["removal"]
            self = .entry(
                DatabaseFeedEntry(
                    number: try row["number"], zone: zone,
                    key: ZoneKey(database: try row["owner_database_id"], name: try row["name"]),
                    changeNumber: try row["change_number"], removal: removal.flatMap(ZoneRemovalReason.init)),
                // A column that only the first row uses otherwise.
                mustNumber: try row["feeds_everywhere"] ?? false)
        } else {
            self = .feed(
                head: try row["number"], oldestToken: try row["owner_database_id"], store: try row["incarnation"],
                feedsEverywhere: try row["feeds_everywhere"] ?? false)
        }
    }
}

extension ZonePageQuery {
    fileprivate var afterNumber: ChangeNumber { after?.number ?? 0 }
    /// One record more than is wanted, which tells whether there are more.
    fileprivate var rowsMax: Int { recordsMax + 1 }
    /// No more than the bytes of one tombstone more than may be passed over (R-755).
    fileprivate var tombstoneBytesPassedMax: Int { tombstonesPassedMax * RecordState.overheadBytes }
}

/// The SQL of the two change feeds. Each page is one statement, so that expiry check, entries and token come from one
/// snapshot.
struct ChangeStatements: Sendable {
    let zonePage = zonePage("zone_page")

    /// The same during a first fetch, which is not told of older deletions (R-211): of living records, of tombstones of
    /// those that the device created, and of newer tombstones. It looks at a bounded number of rows (R-732).
    let firstZonePage = zonePage(
        "first_zone_page", scanEnd: scanEnd,
        filter: """
            AND r.change_number < coalesce((SELECT change_number FROM scan_end), \(String(ChangeNumber.max)))
                                AND (NOT r.is_deleted OR r.created_by_device = \(\.device)
                                     OR r.change_number > \(\.leftOutThrough))
            """,
        lastRow: "UNION ALL SELECT \(ZonePageRow.scanEndColumns) FROM scan_end")

    /// The first record at which a first fetch does not look any more. There is none in a zone with so few tombstones
    /// that the page is full before that, or the zone at its end. There, nothing is read for it: its zone is null.
    private static let scanEnd: SQL<ZonePageQuery> = """
        , scan_end AS MATERIALIZED (
                SELECT r.change_number FROM record r
                 WHERE r.database_id = \(\.key.database) AND r.change_number > \(\.afterNumber)
                   AND r.zone_id = (SELECT id FROM z WHERE tombstone_byte_count > \(\.tombstoneBytesPassedMax))
                 ORDER BY r.change_number OFFSET \(\.lookedAtMax) LIMIT 1)
        """

    /// The first row is the zone itself. The records follow, oldest change first.
    ///
    /// A record is included if those before it are within the bytes, so there is always one. Bytes are counted only if
    /// the zone's largest record makes it possible that they matter, because counting takes a third of the time.
    ///
    /// - Parameters:
    ///   - scanEnd: a further common table expression, after a comma.
    ///   - filter: further conditions for records `r`.
    ///   - lastRow: what follows the records.
    private static func zonePage(
        _ name: String, scanEnd: SQL<ZonePageQuery> = "", filter: SQL<ZonePageQuery> = "",
        lastRow: SQL<ZonePageQuery> = ""
    ) -> DeclaredStatement<ZonePageQuery, ZonePageRow> {
        let records: SQL<ZonePageQuery> = """
            FROM record r
                              WHERE r.database_id = \(\.key.database) AND r.zone_id = (SELECT id FROM z)
                                AND r.change_number > \(\.afterNumber) \(filter)
            """
        return DeclaredStatement(
            .read, name,
            """
            WITH z AS MATERIALIZED (
                SELECT \(ZonePageRow.zoneColumns), tombstone_byte_count,
                       largest_record * \(\.rowsMax) <= \(\.bytesMax) AS has_small_records
                  FROM zone
                 WHERE database_id = \(\.key.database) AND name BETWEEN \(\.key.name) AND \(\.key.name)
                   AND removal IS NULL ORDER BY name LIMIT 1)\(scanEnd)
            SELECT \(ZonePageRow.zone(clientToken: clientToken, store: "SELECT incarnation FROM store"))
              FROM z
             UNION ALL
            (SELECT \(pageColumns)
               \(records) AND (SELECT has_small_records FROM z)
              ORDER BY r.change_number LIMIT \(\.rowsMax))
             UNION ALL
            (SELECT \(pageColumns)
               FROM (SELECT r.*, sum(r.byte_count) OVER (ORDER BY r.change_number ROWS UNBOUNDED PRECEDING) - r.byte_count
                           AS bytes_before
                       FROM (SELECT *
                               \(records) AND NOT (SELECT has_small_records FROM z)
                              ORDER BY r.change_number LIMIT \(\.rowsMax)) AS r) AS r
              WHERE r.bytes_before < \(\.bytesMax)
              ORDER BY r.change_number)
            \(lastRow)
            """
        ) { row throws(PostgresError) in try ZonePageRow(row, at: 0) }
    }

    /// The first row is the zone. Rows of records follow, in the order of their names. Without any the zone alone is read.
    ///
    /// NB: one index has the order of names, and nothing may be sorted (``RecordStatements``).
    let inventory = DeclaredStatement<ZoneInventoryQuery, ZoneInventoryRow>(
        .read, "zone_inventory",
        """
        WITH z AS MATERIALIZED (
            SELECT * FROM zone
             WHERE database_id = \(\.key.database) AND name BETWEEN \(\.key.name) AND \(\.key.name)
               AND removal IS NULL ORDER BY name LIMIT 1)
        SELECT NULL AS name, z.change_number, z.encryption_scope = 1 AS flag, z.id AS zone_id, z.created_at,
               z.oldest_token_number, (SELECT incarnation FROM store) AS incarnation,
               CASE WHEN z.digest_number = z.change_number THEN z.record_count ELSE 0 END AS record_count,
               CASE WHEN z.digest_number = z.change_number THEN z.digest_high END AS digest_high,
               CASE WHEN z.digest_number = z.change_number THEN z.digest_low END AS digest_low
          FROM z
         UNION ALL
        (SELECT r.name, r.change_number, r.is_deleted, NULL, NULL, NULL, NULL, NULL, NULL, NULL
           FROM record r
          WHERE r.database_id = \(\.key.database) AND r.zone_id = (SELECT id FROM z) AND r.name > \(\.after)
          ORDER BY r.name LIMIT \(\.rowsMax))
        """
    ) { row throws(PostgresError) in try ZoneInventoryRow(row) }

    private static let clientToken: SQL<ZonePageQuery> = """
        SELECT t.token FROM client_token t
         WHERE t.database_id = \(\.key.database) AND t.zone_id = z.id
           AND t.device_id BETWEEN \(\.device) AND \(\.device) ORDER BY t.device_id LIMIT 1
        """

    /// NB: the device that created a record is returned for tombstones only, where it decides who sees them (R-211).
    private static let pageColumns = RecordColumn.selected(
        "r", ["created_by_device": "CASE WHEN r.is_deleted THEN r.created_by_device END"])

    /// Whether the viewer's container gives the default zones a feed too (R-202). Read once for each statement.
    private static func feedsEverywhere<Input>(_ viewer: any KeyPath<Input, DatabaseID> & Sendable) -> SQL<Input> {
        """
        (SELECT k.feeds_everywhere
           FROM (SELECT container_id FROM database WHERE id BETWEEN \(viewer) AND \(viewer) ORDER BY id LIMIT 1) AS d
          CROSS JOIN LATERAL (
                SELECT feeds_everywhere FROM container
                 WHERE id BETWEEN d.container_id AND d.container_id ORDER BY id LIMIT 1) AS k)
        """
    }

    /// Zones of a viewer whose current state has no number in the feed.
    private static func unseenZones<Input>(_ viewer: any KeyPath<Input, DatabaseID> & Sendable) -> SQL<Input> {
        """
        zone z LEFT JOIN LATERAL (
               SELECT zone_id, zone_change_number, removal FROM feed_entry
                WHERE database_id = z.database_id AND zone_id BETWEEN z.id AND z.id ORDER BY zone_id LIMIT 1) AS e ON true
         WHERE z.database_id = \(viewer) AND (z.name <> '_defaultZone' OR \(feedsEverywhere(viewer)))
           AND (e.zone_id IS NULL OR e.zone_change_number < z.change_number
                OR (z.removal IS NOT NULL AND e.removal IS NULL))
        """
    }

    /// The first row is the feed itself: its zone is null, and its last columns are the store's incarnation and the
    /// container's choice. Then come the entries, and last the zones without a number. To find those, all zones of the
    /// viewer are read. Only the last page needs them.
    let databaseFeed = DeclaredStatement<DatabaseFeedQuery, FeedRow>(
        .read, "database_feed",
        """
        WITH entries AS MATERIALIZED (
            SELECT e.zone_id, e.number, e.owner_database_id, z.name, e.zone_change_number, e.removal
              FROM feed_entry e JOIN zone z ON z.database_id = e.owner_database_id AND z.id = e.zone_id
             WHERE e.database_id = \(\.viewer) AND e.number > \(\.after) AND (\(\.after) >= 0 OR e.removal IS NULL)
             ORDER BY e.number LIMIT \(\.entriesMax))
        SELECT NULL::bigint AS zone_id, coalesce((SELECT head FROM feed WHERE database_id = \(\.viewer)), 0) AS number,
               coalesce((SELECT oldest_token FROM feed WHERE database_id = \(\.viewer)), 0) AS owner_database_id,
               NULL AS name, NULL::bigint AS change_number, NULL::smallint AS removal,
               (SELECT incarnation FROM store) AS incarnation, \(feedsEverywhere(\.viewer)) AS feeds_everywhere
         UNION ALL
        (SELECT e.*, NULL, NULL FROM entries e ORDER BY e.number)
         UNION ALL
        (SELECT z.id, NULL, z.database_id, z.name, z.change_number, z.removal, NULL, NULL
           FROM \(unseenZones(\.viewer)) AND (SELECT count(*) FROM entries) < \(\.entriesMax)
          LIMIT \(\.unnumberedMax))
        """
    ) { row throws(PostgresError) in try FeedRow(row) }

    let createFeed = DeclaredStatement<DatabaseID, Void>(
        .write, "create_feed",
        "INSERT INTO feed (database_id) VALUES (\(\.self)) ON CONFLICT DO NOTHING")

    let lockFeed = DeclaredStatement<DatabaseID, Void>(
        .read, "lock_feed",
        "SELECT head FROM feed WHERE database_id = \(\.self) FOR UPDATE")

    let numberZones = DeclaredStatement<DatabaseID, Void>(
        .write, "number_zones",
        """
        INSERT INTO feed_entry (database_id, zone_id, owner_database_id, number, zone_change_number, removal)
        SELECT z.database_id, z.id, z.database_id,
               (SELECT head FROM feed WHERE database_id = \(\.self))
                   + row_number() OVER (PARTITION BY z.database_id ORDER BY z.id),
               z.change_number, z.removal
          FROM \(unseenZones(\.self))
            ON CONFLICT (database_id, zone_id) DO UPDATE
           SET number = excluded.number, zone_change_number = excluded.zone_change_number, removal = excluded.removal
        """)

    let moveFeed = DeclaredStatement<DatabaseID, Void>(
        .write, "move_feed",
        """
        UPDATE feed SET head = greatest(head,
               (SELECT number FROM feed_entry WHERE database_id = \(\.self) ORDER BY number DESC LIMIT 1))
         WHERE database_id = \(\.self)
        """)

    let changeMarks = DeclaredStatement<[DatabaseID], (database: DatabaseID, mark: ChangeMark)>(
        .read, "change_marks",
        """
        SELECT k.database_id, m.mark, m.zone_count
          FROM unnest(\(\.self)) AS k (database_id)
         CROSS JOIN LATERAL (
               SELECT coalesce(sum(z.change_number + 1 + (z.removal IS NOT NULL)::integer), 0)::bigint AS mark,
                      count(*) AS zone_count
                 FROM zone z WHERE z.database_id = k.database_id) AS m
        """
    ) { row throws(PostgresError) in
        let zoneCount: Int64 = try row["zone_count"]
        return (
            database: try row["database_id"], mark: ChangeMark(value: try row["mark"], zoneCount: Int(zoneCount))
        )
    }
}
