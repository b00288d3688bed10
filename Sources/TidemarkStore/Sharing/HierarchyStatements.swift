// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// Asks for records of one zone by name, as its shared hierarchies have them.
struct CoverQuery: Sendable {
    let database: DatabaseID
    let zone: ZoneID
    let names: [String]
    var rowsMax = 0
}

/// Asks for what happened in some shares of hierarchies of one zone.
struct HierarchyPageStatementQuery: Sendable {
    let key: ZoneKey
    let shares: [ShareNumber]
    let after: ChangeNumber
    let rowsMax: Int
    let bytesMax: Int
}

/// Rows of `share_record` that one statement writes.
struct ShareRecordsWrite: Sendable {
    let database: DatabaseID
    let zone: ZoneID
    let rows: [ShareRecord]
}

/// Shares of a zone that have ended, of whose rows in `share_record` some are deleted.
struct EndedHierarchies: Sendable {
    let database: DatabaseID
    let zone: ZoneID
    let shares: [ShareNumber]
    let rowsMax: Int
}

/// The SQL of shared hierarchies. The rows are written under the lock of their zone.
struct HierarchyStatements: Sendable {
    /// Of some records, the living share that covers each.
    let covers = DeclaredStatement<CoverQuery, (name: String, cover: CoveredRecord)>(
        .read, "read_covers",
        """
        SELECT k.name, l.share_number, l.entered_number
          FROM unnest(\(\.names)) AS k (name)
         CROSS JOIN LATERAL (\(cover(of: "k.name"))) AS l
        """
    ) { row throws(PostgresError) in
        (
            name: try row["name"],
            cover: CoveredRecord(share: try row["share_number"], enteredNumber: try row["entered_number"])
        )
    }

    /// The living records below some others, with the living share that covers each. Each comes once, so a cycle ends.
    let below = DeclaredStatement<CoverQuery, RecordBelow>(
        .read, "read_below",
        """
        WITH RECURSIVE below (name, type, parent) AS (
            SELECT r.* FROM unnest(\(\.names)) AS b (name) CROSS JOIN LATERAL (\(children)) AS r
             UNION
            SELECT r.* FROM below b CROSS JOIN LATERAL (\(children)) AS r)
        SELECT b.name, b.type, b.parent, l.share_number, l.entered_number
          FROM (SELECT * FROM below LIMIT \(\.rowsMax)) AS b
          LEFT JOIN LATERAL (\(cover(of: "b.name"))) AS l ON true
        """
    ) { row throws(PostgresError) in
        let (share, entered): (ShareNumber?, ChangeNumber?) = (try row["share_number"], try row["entered_number"])
        let cover = share.flatMap { share in entered.map { CoveredRecord(share: share, enteredNumber: $0) } }
        return RecordBelow(name: try row["name"], type: try row["type"], parent: try row["parent"], cover: cover)
    }

    private static let children: SQL<CoverQuery> = """
        SELECT name, type, parent FROM record
         WHERE database_id = \(\.database) AND zone_id = \(\.zone)
           AND parent BETWEEN b.name AND b.name AND parent IS NOT NULL AND NOT is_deleted
         ORDER BY parent OFFSET 0
        """

    private static func cover(of name: String) -> SQL<CoverQuery> {
        """
        SELECT e.share_number, e.entered_number
          FROM (SELECT share_number, entered_number, has_left FROM share_record
                 WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND name BETWEEN \(name) AND \(name)
                 ORDER BY name OFFSET 0) AS e
         WHERE NOT e.has_left
           AND (SELECT 1 FROM share s
                 WHERE s.database_id = \(\.database) AND s.zone_id = \(\.zone)
                   AND s.number BETWEEN e.share_number AND e.share_number AND s.ended_number IS NULL
                 ORDER BY s.number LIMIT 1) IS NOT NULL
         LIMIT 1
        """
    }

    /// A page of what happened in some shares, by growing number. A record is included if those before it are within the bytes,
    /// so there is always one. What left one of them and is in another now comes too, so that each read looks at as many rows
    /// as it returns. NB: it comes after the row with the same number by which the other share covers it, which is told. A page
    /// may end between the two.
    ///
    /// The shares are merged: nobody reads a page of each to throw most of it away. First it is found up to which number the page
    /// reaches. That reads the index alone, and so few entries of each share that all together are hardly more than a page; then
    /// all entries up to there, if a few shares have most of them. `Limits.zonePartsMax` bounds the shares.
    let page = DeclaredStatement<HierarchyPageStatementQuery, HierarchyEvent>(
        .read, "hierarchy_page",
        """
        WITH z AS MATERIALIZED (\(SharingStatements.living(\.key))),
        early AS MATERIALIZED (
            SELECT (\(pageEnd(reading: "1 + \(\.rowsMax)::bigint / greatest(cardinality(\(\.shares)), 1)", upTo: "\(lastNumber)"))) AS number),
        bound AS MATERIALIZED (
            SELECT (\(pageEnd(reading: "\(\.rowsMax)", upTo: "(SELECT coalesce(number, \(lastNumber)) FROM early)"))) AS number),
        happened AS MATERIALIZED (
            SELECT e.*,
                   e.has_left AND (
                       SELECT 1
                         FROM (SELECT share_number, has_left FROM share_record
                                WHERE database_id = \(\.key.database) AND zone_id = (SELECT id FROM z)
                                  AND name BETWEEN e.name AND e.name ORDER BY name OFFSET 0) AS o
                        WHERE NOT o.has_left AND o.share_number = ANY (\(\.shares)) LIMIT 1) IS NOT NULL AS is_elsewhere
              FROM (SELECT e.*
                      FROM unnest(\(\.shares)) AS k (share_number)
                     CROSS JOIN LATERAL (
                           SELECT share_number, number, entered_number, has_left, name, type FROM share_record
                            WHERE database_id = \(\.key.database) AND zone_id = (SELECT id FROM z)
                              AND share_number = k.share_number AND number > \(\.after)
                              AND number <= (SELECT coalesce(number, \(lastNumber)) FROM bound)
                            ORDER BY number LIMIT \(\.rowsMax)) AS e
                     ORDER BY e.number, e.has_left LIMIT \(\.rowsMax)) AS e),
        found AS (
            SELECT e.share_number, e.number AS event_number, e.entered_number, e.has_left, e.name AS event_name,
                   e.type AS event_type, e.is_elsewhere, r.*,
                   sum(coalesce(r.byte_count, 0)) OVER (ORDER BY e.number, e.has_left ROWS UNBOUNDED PRECEDING)
                       - coalesce(r.byte_count, 0) AS bytes_before
              FROM happened e
              LEFT JOIN LATERAL (
                   SELECT * FROM record
                    WHERE database_id = \(\.key.database) AND zone_id = (SELECT id FROM z)
                      AND name BETWEEN e.name AND e.name AND NOT e.has_left ORDER BY name LIMIT 1) AS r ON true)
        SELECT r.share_number, r.event_number, r.entered_number, r.has_left, r.event_name, r.event_type, r.is_elsewhere,
               \(RecordColumn.selected("r"))
          FROM found r WHERE r.bytes_before < \(\.bytesMax)
         ORDER BY r.event_number, r.has_left
        """
    ) { row throws(PostgresError) in
        let event = ShareRecord(
            share: try row["share_number"], name: try row["event_name"], type: try row["event_type"],
            number: try row["event_number"], enteredNumber: try row["entered_number"], hasLeft: try row["has_left"])
        let name: String? = try row["name"]
        let record = name == nil ? nil : try RecordRow.decode(row).covered(by: event.share)
        return HierarchyEvent(
            row: event, record: event.hasLeft ? nil : record, isElsewhere: try row["is_elsewhere"])
    }

    /// More than any number.
    private static let lastNumber = "9223372036854775807"

    /// The number of the last row that a page may have, if no more rows of each share are looked at; null: all of these are
    /// fewer. No row of the page has a larger number, because rows that are not looked at can only make it smaller.
    ///
    /// NB: the share is compared with `=`, so that the numbers are the borders of the read. With `BETWEEN` it would begin at the
    /// share's first row, and end at its last. Only one index has the order of the numbers then, too.
    private static func pageEnd(
        reading count: SQL<HierarchyPageStatementQuery>, upTo number: SQL<HierarchyPageStatementQuery>
    ) -> SQL<HierarchyPageStatementQuery> {
        """
        SELECT e.number
                      FROM unnest(\(\.shares)) AS k (share_number)
                     CROSS JOIN LATERAL (
                           SELECT number FROM share_record
                            WHERE database_id = \(\.key.database) AND zone_id = (SELECT id FROM z)
                              AND share_number = k.share_number AND number > \(\.after) AND number <= \(number)
                            ORDER BY number LIMIT \(count)) AS e
                     ORDER BY e.number OFFSET \(\.rowsMax)::bigint - 1 LIMIT 1
        """
    }

    // MARK: Writing

    /// Inserts rows, or replaces those of the same records in the same shares.
    let write = DeclaredStatement<ShareRecordsWrite, Void>(
        .write, "write_share_records",
        """
        INSERT INTO share_record (database_id, zone_id, share_number, number, entered_number, has_left, name, type)
        SELECT \(\.database), \(\.zone), k.share_number, k.number, k.entered_number, k.has_left <> 0, k.name, k.type
          FROM unnest(\(\.rows, \.share), \(\.rows, \.number), \(\.rows, \.enteredNumber), \(\.rows, \.leftCode),
                      \(\.rows, \.name), \(\.rows, \.type))
               AS k (share_number, number, entered_number, has_left, name, type)
            ON CONFLICT (database_id, zone_id, name, share_number) DO UPDATE
           SET number = excluded.number, entered_number = excluded.entered_number, has_left = excluded.has_left,
               type = excluded.type
        """)

    /// Deletes rows that say nothing any more, because their shares have ended.
    let forgetEnded = DeclaredStatement<EndedHierarchies, Void>(
        .write, "forget_ended_hierarchies",
        """
        DELETE FROM share_record WHERE ctid = ANY (ARRAY(
            SELECT e.ctid FROM unnest(\(\.shares)) AS k (share_number)
             CROSS JOIN LATERAL (
                   SELECT ctid FROM share_record
                    WHERE database_id = \(\.database) AND zone_id = \(\.zone)
                      AND share_number BETWEEN k.share_number AND k.share_number
                    ORDER BY share_number, number LIMIT \(\.rowsMax)) AS e
             LIMIT \(\.rowsMax)))
        """)

    /// Forgets the oldest rows of records that have too many. Tokens that could tell of what they have left are expired.
    let forgetOldest = DeclaredStatement<CoverQuery, Void>(
        .write, "forget_oldest_share_records",
        """
        WITH gone AS (
            DELETE FROM share_record WHERE ctid = ANY (ARRAY(
                SELECT e.ctid FROM unnest(\(\.names)) AS k (name)
                 CROSS JOIN LATERAL (
                       SELECT l.ctid
                         FROM (SELECT ctid, number, has_left FROM share_record
                                WHERE database_id = \(\.database) AND zone_id = \(\.zone)
                                  AND name BETWEEN k.name AND k.name ORDER BY name OFFSET 0) AS l
                        ORDER BY l.number DESC, l.has_left OFFSET \(\.rowsMax)) AS e))
            RETURNING number, has_left)
        UPDATE zone SET oldest_token_number =
                            greatest(oldest_token_number, (SELECT max(number) FROM gone WHERE has_left))
         WHERE database_id = \(\.database) AND id = \(\.zone) AND EXISTS (SELECT FROM gone)
        """)

    let markZone = DeclaredStatement<(database: DatabaseID, zone: ZoneID, hasHierarchies: Bool), Void>(
        .write, "mark_hierarchies",
        "UPDATE zone SET has_hierarchies = \(\.hasHierarchies) WHERE database_id = \(\.database) AND id = \(\.zone)")
}

extension ShareRecord {
    fileprivate var leftCode: Int32 { hasLeft ? 1 : 0 }
}
