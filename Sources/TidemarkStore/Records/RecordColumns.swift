// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// Records as the first sixteen parameters of `RecordStatements.write`: runs of records that have much in common, and what
/// each has of its own.
struct RecordColumns {
    /// What the records of a run have in common.
    private struct Run: Equatable {
        let database: DatabaseID
        let zone: ZoneID
        let batchEnd: ChangeNumber
        let createdBy: UserID
        let createdByDevice: DeviceID
        let modifiedAt: Timestamp
        let modifiedBy: UserID
        let isDeleted: Bool
    }

    private var runs: [Run] = []
    private var recordCount = 0
    private var place: PostgresArray
    private var changeNumber: PostgresArray
    private var name: PostgresArray
    private var type: PostgresArray
    private var fields: PostgresArray
    // These end with the last record that has one.
    private var createdAt = PostgresArray(of: .timestamptz)
    private var parent = PostgresArray(of: .text)
    private var indexValues = PostgresArray(of: .text)

    /// - Parameter fieldsByteCount: of all records' fields together.
    init(recordCount: Int, fieldsByteCount: Int) {
        place = PostgresArray(of: .int4, byteCount: recordCount * 8)
        changeNumber = PostgresArray(of: .int8, byteCount: recordCount * 12)
        name = PostgresArray(of: .text, byteCount: recordCount * 40)
        type = PostgresArray(of: .text, byteCount: recordCount * 16)
        fields = PostgresArray(of: .bytea, byteCount: recordCount * 4 + fieldsByteCount)
    }

    mutating func append(_ record: RecordState, in changes: ZoneChanges) {
        let run = Run(
            database: changes.database, zone: changes.zone, batchEnd: record.batchEnd, createdBy: record.createdBy,
            createdByDevice: record.createdByDevice, modifiedAt: record.modifiedAt, modifiedBy: record.modifiedBy,
            isDeleted: record.isDeleted)
        if runs.last != run { runs.append(run) }
        place.append(Int32(runs.count))
        changeNumber.append(record.changeNumber)
        name.append(record.name)
        type.append(record.type)
        fields.append(record.fields.bytes)
        if record.createdAt != record.modifiedAt {
            createdAt.appendNulls(upTo: recordCount)
            createdAt.append(milliseconds: record.createdAt.milliseconds)
        }
        if let parentName = record.parent {
            parent.appendNulls(upTo: recordCount)
            parent.append(parentName)
        }
        if !changes.indexColumns.isEmpty, let values = changes.indexColumns[record.name] {
            indexValues.appendNulls(upTo: recordCount)
            indexValues.append(values)
        }
        recordCount += 1
    }

    var values: [PostgresValue] {
        [
            .int8Array(runs.map(\.database.rawValue)), .int8Array(runs.map(\.zone.rawValue)),
            .int8Array(runs.map(\.batchEnd)), .int8Array(runs.map(\.createdBy.rawValue)),
            .uuidArray(runs.map(\.createdByDevice.bytes)),
            .timestampArray(milliseconds: runs.map(\.modifiedAt.milliseconds)),
            .int8Array(runs.map(\.modifiedBy.rawValue)), .boolArray(runs.map(\.isDeleted)), .array(place),
            .array(changeNumber), .array(name), .array(type), .array(fields), .array(createdAt), .array(parent),
            .array(indexValues),
        ]
    }
}
