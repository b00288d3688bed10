// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// The values that all records of a run share.
private struct Run: Equatable {
    let database: DatabaseID
    let zone: ZoneID
    let batchEnd: ChangeNumber
    let createdBy: UserID
    let createdByDevice: DeviceID
    let modifiedAt: Timestamp
    let modifiedBy: UserID
    let isDeleted: Bool

    init(_ record: RecordState, in changes: ZoneChanges) {
        database = changes.database
        zone = changes.zone
        batchEnd = record.batchEnd
        createdBy = record.createdBy
        createdByDevice = record.createdByDevice
        modifiedAt = record.modifiedAt
        modifiedBy = record.modifiedBy
        isDeleted = record.isDeleted
    }
}

/// Values that only some records have, in lists that end with the last record that has one.
private struct SparseColumns {
    private var createdAt = PostgresArray(of: .timestamptz)
    private var parent = PostgresArray(of: .text)
    private var indexValues = PostgresArray(of: .text)
    private var recordCount = 0

    mutating func append(_ record: RecordState, in changes: ZoneChanges) {
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

    var values: [PostgresValue] { [.array(createdAt), .array(parent), .array(indexValues)] }
}

/// Records as the first sixteen parameters of `RecordStatements.write`: runs with the values that neighbouring records
/// share, and the other values of each record.
struct RecordColumns {
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

    private var place: PostgresArray
    private var changeNumber: PostgresArray
    private var name: PostgresArray
    private var type: PostgresArray
    private var fields: PostgresArray
    private var sparse = SparseColumns()

    /// - Parameter fieldsByteCount: the bytes of all records' fields together.
    init(recordCount: Int, fieldsByteCount: Int) {
        place = PostgresArray(of: .int4, byteCount: recordCount * 8)
        changeNumber = PostgresArray(of: .int8, byteCount: recordCount * 12)
        name = PostgresArray(of: .text, byteCount: recordCount * 40)
        type = PostgresArray(of: .text, byteCount: recordCount * 16)
        fields = PostgresArray(of: .bytea, byteCount: recordCount * 4 + fieldsByteCount)
    }

    mutating func append(_ record: RecordState, in changes: ZoneChanges) {
        let run = Run(record, in: changes)
        if self.run != run { begin(run) }
        place.append(runCount)
        changeNumber.append(record.changeNumber)
        name.append(record.name)
        type.append(record.type)
        fields.append(record.fields.bytes)
        sparse.append(record, in: changes)
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
            place, changeNumber, name, type, fields,
        ].map { .array($0) } + sparse.values
    }
}

/// Records of one type in one run, with consecutive change numbers, as the parameters 8 to 20 of
/// `RecordStatements.writeRunIfStill`.
struct RecordRun {
    let values: [PostgresValue]

    /// Nil if the records are not like that.
    init?(_ changes: ZoneChanges) {
        guard let first = changes.records.first else { return nil }
        let run = Run(first, in: changes)
        var number = first.changeNumber - 1
        for record in changes.records {
            number += 1
            guard record.changeNumber == number, record.type == first.type, Run(record, in: changes) == run else {
                return nil
            }
        }
        var names = PostgresArray(of: .text, byteCount: changes.records.count * 40)
        var fields = PostgresArray(
            of: .bytea, byteCount: changes.records.reduce(0) { $0 + $1.fields.byteCount + 4 })
        var sparse = SparseColumns()
        for record in changes.records {
            names.append(record.name)
            fields.append(record.fields.bytes)
            sparse.append(record, in: changes)
        }
        values =
            [
                .int8(first.changeNumber - 1), .int8(run.batchEnd), .int8(run.createdBy.rawValue),
                .uuid(run.createdByDevice.bytes), .timestamp(milliseconds: run.modifiedAt.milliseconds),
                .int8(run.modifiedBy.rawValue), .bool(run.isDeleted), .text(first.type), .array(names), .array(fields),
            ] + sparse.values
    }
}
