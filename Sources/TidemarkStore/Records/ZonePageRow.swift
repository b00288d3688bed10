// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// A row of a statement that reads a zone and records of it in one snapshot. What is no record is in columns of records
/// that have its type, with null as its name. The zone comes first.
enum ZonePageRow {
    struct Zone {
        let id: ZoneID
        let createdAt: Timestamp
        let changeNumber: ChangeNumber
        let oldestTokenNumber: ChangeNumber
        let isPerZone: Bool
        let hasHierarchies: Bool
        /// The client change token of the device that asks.
        let clientToken: [UInt8]?
        let store: StoreIncarnation?

        func state(_ key: ZoneKey) -> ZoneState {
            var zone = ZoneState(
                id: id, key: key, createdAt: createdAt, changeNumber: changeNumber,
                oldestTokenNumber: oldestTokenNumber)
            zone.encryptionScope = isPerZone ? .perZone : .perRecord
            zone.hasHierarchies = hasHierarchies
            return zone
        }
    }

    case zone(Zone)
    case record(RecordState)
    /// A page of a feed has nothing from this number on, because the statement looked at too many rows.
    case scanEnd(ChangeNumber)

    /// What a common table expression `z` takes from `zone`.
    static let zoneColumns = "id, change_number, oldest_token_number, created_at, encryption_scope, has_hierarchies"

    /// The columns of the zone `z`.
    static func zone<Input>(clientToken: SQL<Input>, store: String) -> SQL<Input> {
        SQL(
            joining: RecordColumn.read.map { column in
                switch column.name {
                case "fields": "(\(clientToken)) AS fields"
                case "change_number": "z.change_number"
                case "is_deleted": "z.encryption_scope = 1 AS is_deleted"
                case "parent": "CASE WHEN z.has_hierarchies THEN '' END AS parent"
                case "created_at": "z.created_at"
                case "created_by": "z.id AS created_by"
                case "modified_by": "z.oldest_token_number AS modified_by"
                case "batch_end": "(\(store)) AS batch_end"
                default: "NULL AS \(column.name)"
                }
            })
    }

    /// The columns of ``scanEnd(_:)``, whose number is in a table.
    static let scanEndColumns = RecordColumn.read.map { $0.name == "change_number" ? $0.name : "NULL" }
        .joined(separator: ", ")

    /// - Parameter name: the place of the column `name`, the first one of a record. NB: to look for it by its name took a
    ///   hundredth of the server's time for a page.
    init(_ row: PostgresRow, at name: Int) throws(PostgresError) {
        if try row.isNull(name) {
            guard let id: ZoneID = try row["created_by"] else {
                self = .scanEnd(try row["change_number"])
                return
            }
            let mark: String? = try row["parent"]
            self = .zone(
                Zone(
                    id: id, createdAt: try row["created_at"],
                    changeNumber: try row["change_number"], oldestTokenNumber: try row["modified_by"],
                    isPerZone: try row["is_deleted"], hasHierarchies: mark != nil, clientToken: try row["fields"],
                    store: try row["batch_end"]))
        } else {
            self = .record(try RecordRow.decode(row, at: name))
        }
    }
}
