// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// The SQL with which operators read records.
struct AdminRecordStatements: Sendable {
    /// The first row is always returned, however large it is.
    let page = DeclaredStatement<
        (database: DatabaseID, zone: ZoneID, after: String, rowsMax: Int, bytesMax: Int), RecordState
    >(
        .read, "admin_record_page",
        """
        SELECT \(RecordColumn.selected("r"))
          FROM (SELECT *, sum(byte_count) OVER (
                           ORDER BY name ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
                  FROM (SELECT * FROM record
                         WHERE database_id = \(\.database) AND zone_id = \(\.zone) AND name > \(\.after)
                         ORDER BY name LIMIT \(\.rowsMax)) AS p) AS r
         WHERE coalesce(r.bytes_before, 0) < \(\.bytesMax)
         ORDER BY r.name
        """
    ) { row throws(PostgresError) in try RecordRow.decode(row) }

    let changes = DeclaredStatement<
        (database: DatabaseID, zone: ZoneID, before: ChangeNumber, countMax: Int), AdminStore.RecordHistory
    >(
        .read, "admin_zone_changes",
        """
        SELECT \(columns)
          FROM zone z
         CROSS JOIN LATERAL (
               SELECT * FROM record
                WHERE database_id = z.database_id AND zone_id = z.id AND change_number < \(\.before)
                ORDER BY change_number DESC LIMIT \(\.countMax)) AS r
          \(accounts)
         WHERE z.database_id = \(\.database) AND z.id = \(\.zone)
         ORDER BY r.change_number DESC
        """
    ) { row throws(PostgresError) in try AdminStore.RecordHistory(row) }

    /// The same in the order in which they were made.
    let changesAfter = DeclaredStatement<
        (database: DatabaseID, zone: ZoneID, after: ChangeNumber, countMax: Int), AdminStore.RecordHistory
    >(
        .read, "admin_zone_changes_after",
        """
        SELECT \(columns)
          FROM zone z
         CROSS JOIN LATERAL (
               SELECT * FROM record
                WHERE database_id = z.database_id AND zone_id = z.id AND change_number > \(\.after)
                ORDER BY change_number LIMIT \(\.countMax)) AS r
          \(accounts)
         WHERE z.database_id = \(\.database) AND z.id = \(\.zone)
         ORDER BY r.change_number
        """
    ) { row throws(PostgresError) in try AdminStore.RecordHistory(row) }

    let history = DeclaredStatement<
        (database: DatabaseID, zoneName: String, name: String), AdminStore.RecordHistory
    >(
        .read, "admin_record_history",
        """
        SELECT \(columns)
          FROM zone z
          JOIN record r ON r.database_id = z.database_id AND r.zone_id = z.id AND r.name = \(\.name)
          \(accounts)
         WHERE z.database_id = \(\.database) AND z.name = \(\.zoneName)
         ORDER BY z.id DESC
        """
    ) { row throws(PostgresError) in try AdminStore.RecordHistory(row) }

    private static let columns = """
        z.id AS zone_id, z.removal, r.name, r.type, r.change_number, r.is_deleted, r.byte_count, r.created_at,
               r.created_by_device, c.name AS creator, r.modified_at, m.name AS modifier, \(RecordColumn.cause) AS request
        """

    private static let accounts = """
        LEFT JOIN container_user cu ON cu.id = r.created_by
          LEFT JOIN account c ON c.id = cu.account_id AND c.deleted_at IS NULL
          LEFT JOIN container_user mu ON mu.id = r.modified_by
          LEFT JOIN account m ON m.id = mu.account_id AND m.deleted_at IS NULL
        """
}

extension AdminStore.RecordHistory {
    fileprivate init(_ row: PostgresRow) throws(PostgresError) {
        let (removal, byteCount): (Int16?, Int32) = (try row["removal"], try row["byte_count"])
        zoneID = try row["zone_id"]
        zoneRemoval = removal.flatMap(ZoneRemovalReason.init)
        name = try row["name"]
        type = try row["type"]
        changeNumber = try row["change_number"]
        isDeleted = try row["is_deleted"]
        self.byteCount = Int(byteCount)
        createdAt = try row["created_at"]
        createdByDevice = try row["created_by_device"]
        createdBy = try row["creator"]
        modifiedAt = try row["modified_at"]
        modifiedBy = try row["modifier"]
        cause = try row["request"]
    }
}
