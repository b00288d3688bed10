// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkService

/// A question for a part of the feed of a shared database.
struct SharedFeedQuery: Sendable {
    let feed: DatabaseFeedQuery
    /// Whose shared database it is.
    let user: UserID
}

/// A viewer's shared database.
struct SharedDatabase: Sendable {
    let viewer: DatabaseID
    let user: UserID
}

/// The SQL of the zones in a viewer's list: shared databases and their feeds (R-225). The list grants nothing. Whether
/// the user has access is read with it, from the rows of the owner, as `ShareAccess` says.
///
/// To the viewer, a zone ends with the access, whatever becomes of it afterwards.
struct SharedFeedStatements: Sendable {
    /// Those to which the user has access, by id.
    let page = DeclaredStatement<(database: SharedDatabase, after: ZoneID, zonesMax: Int), ZoneState>(
        .read, "shared_zones_page",
        """
        SELECT \(ZoneStatements.columns)
          FROM (SELECT owner_database_id AS database_id, zone_id AS id FROM shared_zone
                 WHERE database_id = \(\.database.viewer) AND zone_id > \(\.after) ORDER BY zone_id OFFSET 0) AS i
         CROSS JOIN LATERAL (\(SharingStatements.livingByID)) AS z
         WHERE \(access(of: "\(\.database.user)"))
         ORDER BY i.id LIMIT \(\.zonesMax)
        """
    ) { row throws(PostgresError) in try ZoneRow.decode(row) }

    /// Whether the user takes part in a living share of the zone `i.id` that allows anything.
    private static func access<Input>(of user: SQL<Input>) -> SQL<Input> {
        "\(accessBegin(of: user)) IS NOT NULL"
    }

    /// The number of the change with which the access began; null: there is none. With several shares of one zone the access
    /// goes on as long as one of them is there (R-321), so it may have begun in one that has ended. See
    /// `Participant.begunNumber`.
    private static func accessBegin<Input>(of user: SQL<Input>) -> SQL<Input> {
        """
        (SELECT min(coalesce(p.begun_number, p.accepted_number)) FROM (\(livingShares)) AS s
          CROSS JOIN LATERAL (\(row(of: user))) AS p
          WHERE p.status = 2 AND p.accepted_number IS NOT NULL
            AND CASE p.role WHEN 4 THEN s.public_permission ELSE p.permission END > 1)
        """
    }

    private static let livingShares = """
        SELECT * FROM share
         WHERE database_id = i.database_id AND zone_id = i.id AND ended_number IS NULL ORDER BY record_name OFFSET 0
        """

    private static func row<Input>(of user: SQL<Input>) -> SQL<Input> {
        """
        SELECT role, permission, status, accepted_number, begun_number FROM share_participant
                        WHERE database_id = s.database_id AND zone_id = s.zone_id AND share_number = s.number
                          AND user_id BETWEEN \(user) AND \(user) ORDER BY user_id LIMIT 1
        """
    }

    // MARK: The feed

    /// The zones `i` of a viewer's list: whether each lives, which change gave the user access, and what the feed has told.
    private static func listed<Input>(_ viewer: SQL<Input>, _ user: SQL<Input>) -> SQL<Input> {
        """
        (SELECT i.*, z.change_number, z.id IS NOT NULL AS is_living,
                        CASE WHEN z.id IS NOT NULL THEN \(accessBegin(of: user)) END AS access_begin,
                        e.zone_id IS NOT NULL AS is_told, e.number AS told_at, e.zone_change_number AS told_number,
                        e.removal AS told_removal, e.last_end
                   FROM (SELECT ctid AS place, owner_database_id AS database_id, zone_id AS id, zone_name, pointed_at
                           FROM shared_zone WHERE database_id = \(viewer) ORDER BY zone_id OFFSET 0) AS i
                   LEFT JOIN LATERAL (\(SharingStatements.livingByID)) AS z ON true
                   LEFT JOIN LATERAL (
                        SELECT zone_id, number, zone_change_number, removal, last_end FROM feed_entry
                         WHERE database_id = \(viewer) AND zone_id BETWEEN i.id AND i.id
                         ORDER BY zone_id LIMIT 1) AS e ON true OFFSET 0) AS i
        """
    }

    /// Of ``listed(_:_:)``: whether the user has access.
    private static let isVisible = "i.access_begin IS NOT NULL"

    /// Whether the feed has the zone from before the present access, and not the end in between.
    private static let lacksEnd = "i.told_removal IS NULL AND i.told_number < i.access_begin"

    /// The zones whose present state has no number in the feed yet.
    ///
    /// A device is told of a zone only once it has a number (`DatabaseFeedRead.mustNumber`). So a zone without access that has
    /// none is not among them: there is no end to tell. Its acceptance may still be under way.
    private static func unseen<Input>(_ viewer: SQL<Input>, _ user: SQL<Input>) -> SQL<Input> {
        """
        \(listed(viewer, user))
         WHERE CASE WHEN \(isVisible)
                    THEN NOT i.is_told OR i.told_removal IS NOT NULL OR i.told_number < i.change_number
                    ELSE i.is_told AND i.told_removal IS NULL END
        """
    }

    /// What the viewer may know of the zone: of one that has ended, nothing newer than what was told before. Its end is a
    /// deletion, whatever the owner did.
    private static let state = """
        CASE WHEN \(isVisible) THEN i.change_number ELSE coalesce(i.told_number, 0) END,
               CASE WHEN NOT \(isVisible) THEN 0::smallint END
        """

    /// As ``ChangeStatements/databaseFeed``. Entries of zones that were visible when they got their numbers are left out
    /// if they are not visible now (I-5): their ends follow. They are left out, too, if the present access is a later one
    /// (``lacksEnd``): the end follows, and then the zone. Otherwise a device with an older token would read the zone on an
    /// earlier page than that with the end (R-225).
    ///
    /// The end before the present access is an entry of its own, with a lower number. So no page's border comes between a
    /// device and that end.
    let databaseFeed = DeclaredStatement<SharedFeedQuery, FeedRow>(
        .read, "shared_database_feed",
        """
        WITH entries AS MATERIALIZED (
           (SELECT e.zone_id, e.number, e.owner_database_id, e.zone_name, e.zone_change_number, e.removal
              FROM feed_entry e
             CROSS JOIN LATERAL (SELECT e.owner_database_id AS database_id, e.zone_id AS id OFFSET 0) AS i
             WHERE e.database_id = \(\.feed.viewer) AND e.number > \(\.feed.after)
               AND CASE WHEN e.removal IS NOT NULL THEN \(\.feed.after) >= 0
                        ELSE (SELECT 1 FROM (\(SharingStatements.livingByID)) AS z) IS NOT NULL
                             AND e.zone_change_number >= \(accessBegin(of: "\(\.user)")) END
             ORDER BY e.number LIMIT \(\.feed.entriesMax))
             UNION ALL
           (SELECT zone_id, last_end, owner_database_id, zone_name, zone_change_number, 0::smallint
              FROM feed_entry
             WHERE database_id = \(\.feed.viewer) AND last_end > \(\.feed.after) AND \(\.feed.after) >= 0
             ORDER BY last_end LIMIT \(\.feed.entriesMax))
             ORDER BY number LIMIT \(\.feed.entriesMax))
        SELECT NULL::bigint AS zone_id,
               coalesce((SELECT head FROM feed WHERE database_id = \(\.feed.viewer)), 0) AS number,
               coalesce((SELECT oldest_token FROM feed WHERE database_id = \(\.feed.viewer)), 0) AS owner_database_id,
               NULL AS name, NULL::bigint AS change_number, NULL::smallint AS removal,
               (SELECT incarnation FROM store) AS incarnation, false AS feeds_everywhere
         UNION ALL
        (SELECT e.*, NULL, NULL FROM entries e ORDER BY e.number)
         UNION ALL
        (SELECT i.id, NULL, i.database_id, i.zone_name, \(state), NULL,
                \(isVisible) AND (NOT i.is_told OR i.told_removal IS NOT NULL OR i.told_number < i.access_begin)
           FROM \(unseen("\(\.feed.viewer)", "\(\.user)")) AND (SELECT count(*) FROM entries) < \(\.feed.entriesMax)
          LIMIT \(\.feed.unnumberedMax))
        """
    ) { row throws(PostgresError) in try FeedRow(row) }

    /// As ``ChangeStatements/numberZones``, under the lock of the feed's row. An end that the feed lacks gets a number too.
    let numberZones = DeclaredStatement<SharedDatabase, Void>(
        .write, "number_shared_zones",
        """
        INSERT INTO feed_entry (database_id, zone_id, owner_database_id, number, zone_name, zone_change_number, removal,
                                last_end)
        SELECT \(\.viewer), i.id, i.database_id, i.next_number, i.zone_name, \(state),
               CASE WHEN NOT \(isVisible) THEN NULL
                    WHEN i.told_removal IS NOT NULL THEN i.told_at
                    WHEN \(lacksEnd) THEN i.next_number - 1
                    ELSE i.last_end END
          FROM (SELECT i.*, (SELECT head FROM feed WHERE database_id = \(\.viewer))
                            + sum(CASE WHEN \(lacksEnd) THEN 2 ELSE 1 END) OVER (ORDER BY i.id) AS next_number
                  FROM \(unseen("\(\.viewer)", "\(\.user)"))) AS i
            ON CONFLICT (database_id, zone_id) DO UPDATE
           SET number = excluded.number, zone_change_number = excluded.zone_change_number, removal = excluded.removal,
               last_end = excluded.last_end
        """)

    // MARK: Pointers

    /// Removes pointers to zones without access. A pointer stays while the feed must still tell the end of its zone. An
    /// acceptance writes its pointer before it gives access, so a pointer to a living zone stays for an hour after an
    /// acceptance wrote it. A pointer that an acceptance writes again at this moment stays too.
    ///
    /// NB: if another transaction has changed a row, PostgreSQL checks the conditions again, but not its `ctid`. So the time
    /// is compared as well.
    ///
    /// `countMin`: if the list has fewer rows, nothing is removed, and no zone is looked at.
    let dropPointers = DeclaredStatement<(database: SharedDatabase, countMin: Int), Void>(
        .write, "drop_pointers",
        """
        DELETE FROM shared_zone p
         USING (SELECT i.place, i.pointed_at
                  FROM \(listed("\(\.database.viewer)", "\(\.database.user)"))
                 WHERE NOT \(isVisible) AND (NOT i.is_told OR i.told_removal IS NOT NULL)
                   AND NOT (i.is_living AND \(isRecent))
                   AND (SELECT count(*) FROM shared_zone WHERE database_id = \(\.database.viewer)) >= \(\.countMin)
               ) AS d
         WHERE p.ctid = d.place AND p.pointed_at = d.pointed_at
        """)

    /// Whether an acceptance that wrote the pointer may be under way.
    private static let isRecent = "i.pointed_at >= now() - interval '1 hour'"

    /// The row says what became of the zone. A pointer that is there already gets the present time, so that nobody removes it
    /// while the acceptance is under way. Pointers that stay only until the end of their zone is told take no room.
    let pointViewer = DeclaredStatement<(database: SharedDatabase, key: ZoneKey, countMax: Int), PointedViewer>(
        .write, "point_viewer",
        """
        WITH z AS MATERIALIZED (\(SharingStatements.living(\.key))),
        put AS (
            INSERT INTO shared_zone (database_id, owner_database_id, zone_id, zone_name)
            SELECT \(\.database.viewer), \(part: \.key, \.database), z.id, \(part: \.key, \.name)
              FROM z
             WHERE CASE WHEN (SELECT 1 FROM shared_zone
                               WHERE database_id = \(\.database.viewer)
                                 AND zone_id BETWEEN (SELECT id FROM z) AND (SELECT id FROM z)
                               ORDER BY zone_id LIMIT 1) IS NOT NULL THEN true
                        WHEN (SELECT count(*) FROM shared_zone WHERE database_id = \(\.database.viewer))
                             < \(\.countMax) THEN true
                        ELSE (SELECT count(*) FROM \(listed("\(\.database.viewer)", "\(\.database.user)"))
                               WHERE \(isVisible) OR (i.is_living AND \(isRecent))) < \(\.countMax) END
                ON CONFLICT (database_id, zone_id) DO UPDATE SET pointed_at = excluded.pointed_at
            RETURNING zone_id)
        SELECT (SELECT 1 FROM z) IS NOT NULL AS is_living, (SELECT 1 FROM put) IS NOT NULL AS is_put
        """
    ) { row throws(PostgresError) in
        let (isLiving, isPut): (Bool, Bool) = (try row["is_living"], try row["is_put"])
        return isPut ? .done : isLiving ? .full : .zoneMissing
    }

    /// The marks of many lists. NB: with a sum, one zone that moves might hide that another is gone.
    let marks = DeclaredStatement<[SharedDatabase], (database: DatabaseID, mark: ChangeMark)>(
        .read, "shared_marks",
        """
        SELECT k.database_id, m.mark, m.zone_count
          FROM unnest(\(\.self, \.viewer), \(\.self, \.user)) AS k (database_id, user_id)
         CROSS JOIN LATERAL (
               SELECT coalesce(bit_xor(hashint8extended(v.id, v.change_number)) FILTER (WHERE v.is_visible), 0) AS mark,
                      count(*) AS zone_count
                 FROM (SELECT i.id, z.change_number, z.id IS NOT NULL AND \(access(of: "k.user_id")) AS is_visible
                         FROM (SELECT owner_database_id AS database_id, zone_id AS id FROM shared_zone
                                WHERE database_id BETWEEN k.database_id AND k.database_id
                                ORDER BY shared_zone.database_id, zone_id OFFSET 0) AS i
                         LEFT JOIN LATERAL (\(SharingStatements.livingByID)) AS z ON true OFFSET 0) AS v) AS m
        """
    ) { row throws(PostgresError) in
        let zoneCount: Int64 = try row["zone_count"]
        return (
            database: try row["database_id"], mark: ChangeMark(value: try row["mark"], zoneCount: Int(zoneCount))
        )
    }
}
