// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres
internal import TidemarkService

/// A living record that a scan found.
struct ScannedRecord {
    let database: DatabaseID
    let zone: ZoneID
    let name: String
    let type: String
    let changeNumber: ChangeNumber
    let fields: FieldMap
}

/// Goes through all records of a container in the order of their keys, a page at a time, so that no statement takes
/// long.
struct RecordScan {
    /// The most rows of one page, of any type.
    private static let rowsMax = 500
    /// A page ends with the record at which the fields reach this many bytes together. A whole page is in memory at
    /// once.
    private static let bytesMax = 4 * 1_024 * 1_024

    /// Where the next page begins.
    struct Position: Sendable {
        let database: DatabaseID
        var zone = ZoneID(0)
        var name = ""
        var types: [String] = []
        let rowsMax = RecordScan.rowsMax
        let bytesMax = RecordScan.bytesMax
    }

    private let storage: PostgresStorage
    private let container: ContainerID
    /// The databases that are left, each with its next page.
    private var positions: [Position]?

    init(_ storage: PostgresStorage, container: ContainerID) {
        self.storage = storage
        self.container = container
    }

    /// The living records of these types among the next rows; possibly none. Nil at the end.
    mutating func nextPage(types: Set<String>) async throws(StorageError) -> [ScannedRecord]? {
        if positions == nil {
            positions = try await storage.read(sql.scan.databases(container)).map { Position(database: $0) }
        }
        guard var position = positions?.popLast() else { return nil }
        position.types = types.sorted()
        let rows = try await storage.read(sql.scan.page(position))
        // A page may be short because its records are large.
        guard let last = rows.last else { return [] }
        (position.zone, position.name) = (last.zone, last.name)
        positions?.append(position)
        return rows.compactMap { row in
            row.fields.map { fields in
                ScannedRecord(
                    database: position.database, zone: row.zone, name: row.name, type: row.type,
                    changeNumber: row.changeNumber, fields: FieldMap(trusting: fields))
            }
        }
    }
}

struct ScanStatements: Sendable {
    let databases = DeclaredStatement<ContainerID, DatabaseID>(
        .read, "scan_databases",
        "SELECT id FROM database WHERE container_id = \(\.self) ORDER BY id")

    /// The first row is always returned, however large it is.
    let page = DeclaredStatement<
        RecordScan.Position, (zone: ZoneID, name: String, type: String, changeNumber: ChangeNumber, fields: [UInt8]?)
    >(
        .read, "scan_page",
        """
        SELECT zone_id, name, type, change_number, fields
          FROM (SELECT zone_id, name, type, change_number,
                       CASE WHEN type = ANY (\(\.types)) AND NOT is_deleted THEN fields END AS fields,
                       sum(byte_count) FILTER (WHERE type = ANY (\(\.types)) AND NOT is_deleted) OVER (
                           ORDER BY zone_id, name ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
                  FROM record
                 WHERE database_id = \(\.database) AND (zone_id, name) > (\(\.zone), \(\.name))
                 ORDER BY zone_id, name
                 LIMIT \(\.rowsMax)) AS p
         WHERE coalesce(bytes_before, 0) < \(\.bytesMax)
         ORDER BY zone_id, name
        """
    ) { row throws(PostgresError) in
        (try row["zone_id"], try row["name"], try row["type"], try row["change_number"], try row["fields"])
    }
}
