// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// Where the columns of `RecordStatements.columns` stand in a row.
enum RecordRow {
    static func decode(_ row: PostgresRow, from first: Int) throws(PostgresError) -> RecordState {
        RecordState(
            name: try row.string(first),
            type: try row.string(first + 1),
            fields: FieldMap(trusting: try row.bytes(first + 2)),
            changeNumber: try row.int64(first + 3),
            isDeleted: try row.bool(first + 4),
            parent: try row.string(ifPresent: first + 5),
            createdAt: Timestamp(milliseconds: try row.milliseconds(first + 6)),
            createdBy: UserID(try row.int64(first + 7)),
            createdByDevice: try row.device(first + 8),
            modifiedAt: Timestamp(milliseconds: try row.milliseconds(first + 9)),
            modifiedBy: UserID(try row.int64(first + 10)),
            batchEnd: try row.int64(first + 11))
    }
}

/// A record in the columns of a page (`ChangeStatements.pageColumns`): what is null says the same as its neighbour.
///
/// NB: which device created a record is told of tombstones alone: it decides whom they are shown.
enum PageRecordRow {
    static func decode(_ row: PostgresRow) throws(PostgresError) -> RecordState {
        let number = try row.int64(3)
        let isDeleted = try !row.isNull(4)
        let createdAt = try row.milliseconds(6)
        let modifiedBy = try row.int64(10)
        return RecordState(
            name: try row.string(0),
            type: try row.string(1),
            fields: FieldMap(trusting: try row.bytes(2)),
            changeNumber: number,
            isDeleted: isDeleted,
            parent: try row.string(ifPresent: 5),
            createdAt: Timestamp(milliseconds: createdAt),
            createdBy: UserID(try row.int64(ifPresent: 7) ?? modifiedBy),
            createdByDevice: isDeleted ? try row.device(8) : DeviceID(high: 0, low: 0),
            modifiedAt: Timestamp(milliseconds: try row.milliseconds(ifPresent: 9) ?? createdAt),
            modifiedBy: UserID(modifiedBy),
            batchEnd: try row.int64(ifPresent: 11) ?? number)
    }
}

/// A zone in the columns of a page: the row before the records.
enum PageZoneRow {
    static func decode(_ row: PostgresRow, key: ZoneKey) throws(PostgresError) -> ZoneState {
        var zone = ZoneState(
            id: ZoneID(try row.int64(7)), key: key, createdAt: Timestamp(milliseconds: try row.milliseconds(6)),
            changeNumber: try row.int64(3), oldestTokenNumber: try row.int64(10))
        zone.encryptionScope = try row.bool(4) ? .perZone : .perRecord
        return zone
    }
}

extension PostgresRow {
    func device(_ column: Int) throws(PostgresError) -> DeviceID {
        let (high, low) = try uuidHalves(column)
        return DeviceID(high: high, low: low)
    }
}
