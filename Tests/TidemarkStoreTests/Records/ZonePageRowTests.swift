// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

@testable import TidemarkPostgres
@testable import TidemarkStore

/// A zone, a record and the end of a scan come in the same columns.
@Suite struct ZonePageRowTests {
    /// A value as PostgreSQL sends it.
    private enum Cell {
        case text(String)
        case bytes([UInt8])
        case number(Int64)
        case flag(Bool)

        var sent: [UInt8] {
            switch self {
            case .text(let text): Array(text.utf8)
            case .bytes(let bytes): bytes
            case .number(let number): withUnsafeBytes(of: number.bigEndian, Array.init)
            case .flag(let flag): [flag ? 1 : 0]
            }
        }
    }

    private static let types: [String: PostgresType] = [
        "name": .text, "type": .text, "fields": .bytea, "change_number": .int8, "is_deleted": .bool, "parent": .text,
        "created_at": .timestamptz, "created_by": .int8, "created_by_device": .uuid, "modified_at": .timestamptz,
        "modified_by": .int8, "batch_end": .int8,
    ]

    /// A row with the columns of records. Those that are not in `cells` are null.
    ///
    /// - Parameter otherCount: columns before them.
    private func row(_ cells: [String: Cell], after otherCount: Int = 0) throws -> PostgresRow {
        let others = (0..<otherCount).map { PostgresRow.Cell(name: "other_\($0)", type: .int4, sent: nil) }
        let own = try RecordColumn.read.map { column in
            let type = try #require(Self.types[column.name], "\(column.name) needs its type here")
            return PostgresRow.Cell(name: column.name, type: type, sent: cells[column.name]?.sent)
        }
        return try PostgresRow.made(of: others + own)
    }

    /// Five seconds after the beginning of the year 2000.
    private static let createdAt = Timestamp(milliseconds: 946_684_805_000)

    private static let zone: [String: Cell] = [
        "change_number": .number(9), "is_deleted": .flag(true), "created_at": .number(5_000_000),
        "created_by": .number(7), "modified_by": .number(3),
    ]

    private static let record: [String: Cell] = [
        "name": .text("a"), "type": .text("Note"), "fields": .bytes([]), "change_number": .number(12),
        "created_at": .number(5_000_000), "modified_by": .number(8),
    ]

    @Test(arguments: [0, 1, 2])
    func `a row without a name is the zone, wherever its columns begin`(otherCount: Int) throws {
        guard case .zone(let zone) = try ZonePageRow(row(Self.zone, after: otherCount), at: otherCount) else {
            Issue.record("not a zone")
            return
        }
        #expect(zone.clientToken == nil && zone.store == nil)
        let state = zone.state(ZoneKey(database: DatabaseID(4), name: "notes"))
        #expect(state.id == ZoneID(7) && state.key == ZoneKey(database: DatabaseID(4), name: "notes"))
        #expect(state.changeNumber == 9 && state.oldestTokenNumber == 3 && state.createdAt == Self.createdAt)
        #expect(state.encryptionScope == .perZone)
    }

    @Test func `R-222: the zone comes with the device's client token and with the store's incarnation`() throws {
        var cells = Self.zone
        cells["is_deleted"] = .flag(false)
        cells["fields"] = .bytes([1, 2])
        // All 64 bits of the number, whatever its sign.
        cells["batch_end"] = .number(-2)
        guard case .zone(let zone) = try ZonePageRow(row(cells), at: 0) else {
            Issue.record("not a zone")
            return
        }
        #expect(zone.clientToken == [1, 2] && zone.store == StoreIncarnation(.max - 1))
        #expect(zone.state(ZoneKey(database: DatabaseID(4), name: "notes")).encryptionScope == .perRecord)
    }

    @Test func `R-732: a row with a change number alone is the end of a scan`() throws {
        guard case .scanEnd(let number) = try ZonePageRow(row(["change_number": .number(12)]), at: 0) else {
            Issue.record("not the end of a scan")
            return
        }
        #expect(number == 12)
    }

    @Test(arguments: [0, 1])
    func `a row with a name is a record, and what is null has its usual value`(otherCount: Int) throws {
        guard case .record(let record) = try ZonePageRow(row(Self.record, after: otherCount), at: otherCount) else {
            Issue.record("not a record")
            return
        }
        #expect(record.name == "a" && record.type == "Note" && record.fields.byteCount == 0)
        #expect(record.changeNumber == 12 && record.batchEnd == 12 && !record.isDeleted && record.parent == nil)
        #expect(record.createdAt == Self.createdAt && record.modifiedAt == Self.createdAt)
        #expect(record.createdBy == UserID(8) && record.modifiedBy == UserID(8))
        #expect(record.createdByDevice == .nobody)
    }

    @Test func `what is not null is read from its own column`() throws {
        let values: [String: Cell] = [
            "is_deleted": .flag(true), "parent": .text("p"), "created_by": .number(6),
            "created_by_device": .bytes([UInt8](repeating: 0, count: 15) + [5]), "modified_at": .number(6_000_000),
            "batch_end": .number(13),
        ]
        let cells = Self.record.merging(values) { $1 }
        guard case .record(let record) = try ZonePageRow(row(cells), at: 0) else {
            Issue.record("not a record")
            return
        }
        #expect(record.isDeleted && record.parent == "p" && record.batchEnd == 13 && record.changeNumber == 12)
        #expect(record.createdBy == UserID(6) && record.modifiedBy == UserID(8))
        #expect(record.createdByDevice == DeviceID(high: 0, low: 5))
        #expect(record.createdAt == Self.createdAt && record.modifiedAt == Timestamp(milliseconds: 946_684_806_000))
    }

    @Test(arguments: ["change_number", "created_at", "modified_by", "is_deleted"])
    func `a zone that lacks a value is an error, and no row of another kind`(column: String) throws {
        var cells = Self.zone
        cells[column] = nil
        let row = try row(cells)
        #expect(throws: PostgresError.self) { try ZonePageRow(row, at: 0) }
    }
}
