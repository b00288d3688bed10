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
    private static let rowsMax: Int64 = 500
    /// A page ends with the record at which the fields reach this many bytes together. A whole page is in memory at
    /// once.
    private static let bytesMax: Int64 = 4 * 1_024 * 1_024

    private let storage: PostgresStorage
    private let container: ContainerID
    private var databases: [Int64]?
    private var zone: Int64 = 0
    private var name = ""

    init(_ storage: PostgresStorage, container: ContainerID) {
        self.storage = storage
        self.container = container
    }

    /// The living records of these types among the next rows; possibly none. Nil at the end.
    mutating func nextPage(types: Set<String>) async throws(StorageError) -> [ScannedRecord]? {
        if databases == nil {
            let rows = try await storage.read(ScanStatements.databases(.int8(container.rawValue)))
            databases = try decode { () throws(PostgresError) in
                var ids: [Int64] = []
                for row in rows { ids.append(try row.int64(0)) }
                return ids
            }
        }
        guard let database = databases?.last else { return nil }
        let rows = try await storage.read(
            ScanStatements.page(
                .int8(database), .int8(zone), .text(name), .textArray(types.sorted()), .int8(Self.rowsMax),
                .int8(Self.bytesMax)))
        return try decode { () throws(PostgresError) in try take(rows, of: database) }
    }

    private mutating func take(_ rows: PostgresRows, of database: Int64) throws(PostgresError) -> [ScannedRecord] {
        var records: [ScannedRecord] = []
        for row in rows {
            (zone, name) = (try row.int64(0), try row.string(1))
            guard let fields = try row.bytes(ifPresent: 4) else { continue }
            records.append(
                ScannedRecord(
                    database: DatabaseID(database), zone: ZoneID(zone), name: name, type: try row.string(2),
                    changeNumber: try row.int64(3), fields: FieldMap(trusting: fields)))
        }
        // A page may be short because its records are large.
        if rows.isEmpty {
            databases?.removeLast()
            (zone, name) = (0, "")
        }
        return records
    }
}

enum ScanStatements {
    static let databases = Statement(
        .read, "scan_databases", "SELECT id FROM database WHERE container_id = $1 ORDER BY id", [.int8])

    /// The first row is always returned, however large it is. 1 database, 2 zone, 3 name, 4 types, 5 rows, 6 bytes.
    static let page = Statement(
        .read, "scan_page",
        """
        SELECT zone_id, name, type, change_number, fields
          FROM (SELECT zone_id, name, type, change_number,
                       CASE WHEN type = ANY ($4) AND NOT is_deleted THEN fields END AS fields,
                       sum(byte_count) FILTER (WHERE type = ANY ($4) AND NOT is_deleted) OVER (
                           ORDER BY zone_id, name ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS bytes_before
                  FROM record
                 WHERE database_id = $1 AND (zone_id, name) > ($2, $3)
                 ORDER BY zone_id, name
                 LIMIT $5) AS p
         WHERE coalesce(bytes_before, 0) < $6
         ORDER BY zone_id, name
        """, [.int8, .int8, .text, .textArray, .int8, .int8])
}
