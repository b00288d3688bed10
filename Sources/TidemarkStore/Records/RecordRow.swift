// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// The places of the columns of `RecordStatements.columns` in a row. A null means the same value as the neighbouring
/// column.
enum RecordRow {
    /// - Parameter isSurveyed: whether to look for references and assets in the fields now, because the rules will need
    ///   them more than once.
    static func decode(_ row: PostgresRow, from first: Int, isSurveyed: Bool = false) throws(PostgresError)
        -> RecordState
    {
        let fields = try row.bytes(first + 2)
        let number = try row.int64(first + 3)
        let createdAt = try row.milliseconds(first + 6)
        let modifiedBy = try row.int64(first + 10)
        return RecordState(
            name: try row.string(first),
            type: try row.string(first + 1),
            fields: isSurveyed ? FieldMap(surveying: fields) : FieldMap(trusting: fields),
            changeNumber: number,
            isDeleted: try row.bool(ifPresent: first + 4) ?? false,
            parent: try row.string(ifPresent: first + 5),
            createdAt: Timestamp(milliseconds: createdAt),
            createdBy: UserID(try row.int64(ifPresent: first + 7) ?? modifiedBy),
            createdByDevice: try row.isNull(first + 8) ? .nobody : row.device(first + 8),
            modifiedAt: Timestamp(milliseconds: try row.milliseconds(ifPresent: first + 9) ?? createdAt),
            modifiedBy: UserID(modifiedBy),
            batchEnd: try row.int64(ifPresent: first + 11) ?? number)
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
