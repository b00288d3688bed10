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

    private var run: Run?
    private var runCount: Int32 = 0
    private var database = PostgresArray(of: .int8)
    private var zone = PostgresArray(of: .int8)
    private var batchEnd = PostgresArray(of: .int8)
    private var createdBy = PostgresArray(of: .int8)
    private var createdByDevice = PostgresArray(of: .uuid)
    private var modifiedAt = PostgresArray(of: .timestamptz)
    private var modifiedBy = PostgresArray(of: .int8)
    private var isDeleted = PostgresArray(of: .bool)

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
        if self.run != run { begin(run) }
        place.append(runCount)
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

    private mutating func begin(_ run: Run) {
        self.run = run
        runCount += 1
        database.append(run.database.rawValue)
        zone.append(run.zone.rawValue)
        batchEnd.append(run.batchEnd)
        createdBy.append(run.createdBy.rawValue)
        createdByDevice.append(uuid: run.createdByDevice.high, run.createdByDevice.low)
        modifiedAt.append(milliseconds: run.modifiedAt.milliseconds)
        modifiedBy.append(run.modifiedBy.rawValue)
        isDeleted.append(run.isDeleted)
    }

    var values: [PostgresValue] {
        [
            database, zone, batchEnd, createdBy, createdByDevice, modifiedAt, modifiedBy, isDeleted,
            place, changeNumber, name, type, fields, createdAt, parent, indexValues,
        ].map { .array($0) }
    }
}
