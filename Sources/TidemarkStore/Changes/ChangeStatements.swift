// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// The SQL of the two change feeds. Each page is one statement, so that expiry check, entries and token come from one
/// snapshot.
enum ChangeStatements {
    /// 1 database, 2 zone name, 3 change number of the token, 4 the most records, 5 the most bytes, 6 the device that
    /// asks.
    static let zonePage = zonePage("zone_page", filter: "")

    /// The same from the beginning: living records, and tombstones of those that the device created.
    static let firstZonePage = zonePage(
        "first_zone_page", filter: "AND (NOT r.is_deleted OR r.created_by_device = $6)")

    /// The first row is the zone itself: its name column is null, `fields` is the device's client change token,
    /// `is_deleted` says whether the zone is encrypted as a whole, and the last column is the store's
    /// incarnation. The records follow, oldest change first.
    ///
    /// A record is included if those before it are within the bytes, so there is always one. Bytes are counted only if
    /// the zone's largest record makes it possible that they matter, because counting takes a third of the time.
    private static func zonePage(_ name: String, filter: String) -> Statement {
        let records = """
            FROM record r
                              WHERE r.database_id = $1 AND r.zone_id = (SELECT id FROM z) AND r.change_number > $3
                                    \(filter)
            """
        return Statement(
            .read, name,
            """
            WITH z AS MATERIALIZED (
                SELECT id, change_number, oldest_token_number, created_at, encryption_scope,
                       largest_record * $4 <= $5 AS has_small_records
                  FROM zone
                 WHERE database_id = $1 AND name BETWEEN $2 AND $2 AND removal IS NULL ORDER BY name LIMIT 1)
            SELECT NULL AS name, NULL AS type,
                   (SELECT t.token FROM client_token t
                     WHERE t.database_id = $1 AND t.zone_id = z.id AND t.device_id BETWEEN $6 AND $6
                     ORDER BY t.device_id LIMIT 1) AS fields,
                   z.change_number, z.encryption_scope = 1 AS is_deleted, NULL AS parent, z.created_at,
                   z.id AS created_by, NULL::uuid AS created_by_device,
                   NULL::timestamptz AS modified_at, z.oldest_token_number AS modified_by,
                   (SELECT incarnation FROM store) AS batch_end
              FROM z
             UNION ALL
            (SELECT \(pageColumns)
               \(records) AND (SELECT has_small_records FROM z)
              ORDER BY r.change_number LIMIT $4)
             UNION ALL
            (SELECT \(pageColumns)
               FROM (SELECT r.*, sum(r.byte_count) OVER (ORDER BY r.change_number ROWS UNBOUNDED PRECEDING) - r.byte_count
                           AS bytes_before
                       FROM (SELECT *
                               \(records) AND NOT (SELECT has_small_records FROM z)
                              ORDER BY r.change_number LIMIT $4) AS r) AS r
              WHERE r.bytes_before < $5
              ORDER BY r.change_number)
            """, [.int8, .text, .int8, .int8, .int8, .uuid])
    }

    /// NB: the device that created a record is returned for tombstones only, where it decides who sees them.
    private static let pageColumns = RecordStatements.columns(
        createdByDevice: "CASE WHEN r.is_deleted THEN r.created_by_device END")

    /// Whether the viewer's container gives the default zones a feed too. Read once for each statement.
    private static let feedsEverywhere = """
        (SELECT k.feeds_everywhere
           FROM (SELECT container_id FROM database WHERE id BETWEEN $1 AND $1 ORDER BY id LIMIT 1) AS d
          CROSS JOIN LATERAL (
                SELECT feeds_everywhere FROM container
                 WHERE id BETWEEN d.container_id AND d.container_id ORDER BY id LIMIT 1) AS k)
        """

    /// Zones of a viewer whose current state has no number in the feed.
    private static let unseenZones = """
        zone z LEFT JOIN LATERAL (
               SELECT zone_id, zone_change_number, removal FROM feed_entry
                WHERE database_id = z.database_id AND zone_id BETWEEN z.id AND z.id ORDER BY zone_id LIMIT 1) AS e ON true
         WHERE z.database_id = $1 AND (z.name <> '_defaultZone' OR \(feedsEverywhere))
           AND (e.zone_id IS NULL OR e.zone_change_number < z.change_number
                OR (z.removal IS NOT NULL AND e.removal IS NULL))
        """

    /// 1 viewer, 2 number of the token (-1: from the beginning, living zones only, R-204), 3 the most entries, 4 the
    /// most zones without a number. The first row is the feed itself: its zone is null, and its last columns are the
    /// store's incarnation and the container's choice. Then come the entries, and last the zones without a number.
    static let databaseFeed = Statement(
        .read, "database_feed",
        """
        SELECT NULL::bigint AS zone_id, coalesce((SELECT head FROM feed WHERE database_id = $1), 0) AS number,
               coalesce((SELECT oldest_token FROM feed WHERE database_id = $1), 0) AS owner_database_id,
               NULL AS name, NULL::bigint AS change_number, NULL::smallint AS removal,
               (SELECT incarnation FROM store) AS incarnation, \(feedsEverywhere) AS feeds_everywhere
         UNION ALL
        (SELECT e.zone_id, e.number, e.owner_database_id, z.name, e.zone_change_number, e.removal, NULL, NULL
           FROM feed_entry e JOIN zone z ON z.database_id = e.owner_database_id AND z.id = e.zone_id
          WHERE e.database_id = $1 AND e.number > $2 AND ($2 >= 0 OR e.removal IS NULL)
          ORDER BY e.number LIMIT $3)
         UNION ALL
        (SELECT z.id, NULL, z.database_id, z.name, z.change_number, z.removal, NULL, NULL
           FROM \(unseenZones)
          LIMIT $4)
        """, [.int8, .int8, .int8, .int8])

    static let createFeed = Statement(
        .write, "create_feed", "INSERT INTO feed (database_id) VALUES ($1) ON CONFLICT DO NOTHING", [.int8])

    static let lockFeed = Statement(
        .read, "lock_feed", "SELECT head FROM feed WHERE database_id = $1 FOR UPDATE", [.int8])

    static let numberZones = Statement(
        .write, "number_zones",
        """
        INSERT INTO feed_entry (database_id, zone_id, owner_database_id, number, zone_change_number, removal)
        SELECT z.database_id, z.id, z.database_id,
               (SELECT head FROM feed WHERE database_id = $1)
                   + row_number() OVER (PARTITION BY z.database_id ORDER BY z.id),
               z.change_number, z.removal
          FROM \(unseenZones)
            ON CONFLICT (database_id, zone_id) DO UPDATE
           SET number = excluded.number, zone_change_number = excluded.zone_change_number, removal = excluded.removal
        """, [.int8])

    static let moveFeed = Statement(
        .write, "move_feed",
        """
        UPDATE feed SET head = greatest(head,
               (SELECT number FROM feed_entry WHERE database_id = $1 ORDER BY number DESC LIMIT 1))
         WHERE database_id = $1
        """, [.int8])

    /// 1 databases.
    static let changeMarks = Statement(
        .read, "change_marks",
        """
        SELECT k.database_id, m.mark
          FROM unnest($1::bigint[]) AS k (database_id)
         CROSS JOIN LATERAL (
               SELECT coalesce(sum(z.change_number + 1 + (z.removal IS NOT NULL)::integer), 0)::bigint AS mark
                 FROM zone z WHERE z.database_id = k.database_id) AS m
        """, [.int8Array])
}
