// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres
internal import TidemarkService

/// Zones that are locked by a transaction on a connection of its own.
final class PostgresWriteTransaction: WriteTransaction {
    let snapshots: [ZoneSnapshot]
    let store: StoreIncarnation
    private let lease: PostgresLease
    private let storage: PostgresStorage

    init(lease: PostgresLease, storage: PostgresStorage, snapshots: [ZoneSnapshot], store: StoreIncarnation) {
        self.lease = lease
        self.storage = storage
        self.snapshots = snapshots
        self.store = store
    }

    func commit(_ changes: [ZoneChanges]) async throws(StorageError) {
        do {
            _ = try await lease.connection.execute(ZoneWrites(changes).statements)
            storage.release(lease)
        } catch {
            storage.release(lease)
            throw StorageError(error, duringCommit: true)
        }
    }

    func rollback() async {
        storage.release(lease)
    }
}

/// What a group of zones writes, as lists for PostgreSQL.
struct ZoneWrites {
    private let changes: [ZoneChanges]

    init(_ changes: [ZoneChanges]) {
        self.changes = changes
    }

    /// One round trip: final states, then COMMIT.
    var statements: [BoundStatement] {
        var statements: [BoundStatement] = []
        if changes.contains(where: { !$0.records.isEmpty }) {
            statements.append(records)
            statements.append(zones)
        }
        statements += AssetUseWrites(changes).statements
        if changes.contains(where: { !$0.references.dropped.isEmpty }) { statements.append(droppedReferences) }
        if changes.contains(where: { !$0.references.added.isEmpty }) { statements.append(addedReferences) }
        if changes.contains(where: { !$0.clientTokens.isEmpty }) { statements.append(clientTokens) }
        if changes.contains(where: { !$0.memories.isEmpty }) { statements.append(memories) }
        statements.append(.commit)
        return statements
    }

    private var records: BoundStatement {
        var columns = RecordColumns(capacity: changes.reduce(0) { $0 + $1.records.count })
        for zone in changes {
            for record in zone.records { columns.append(record, in: zone) }
        }
        return columns.bound
    }

    private var zones: BoundStatement {
        let moved = changes.filter { !$0.records.isEmpty }
        return RecordStatements.moveZones(
            .int8Array(moved.map(\.database.rawValue)), .int8Array(moved.map(\.zone.rawValue)),
            .int8Array(moved.map(\.changeNumber)),
            .int8Array(moved.map { Int64($0.records.lazy.map(\.fields.byteCount).max() ?? 0) }))
    }

    private var clientTokens: BoundStatement {
        let rows = changes.flatMap { zone in zone.clientTokens.sorted { $0.key < $1.key }.map { (zone, $0) } }
        return RecordStatements.writeClientTokens(
            .int8Array(rows.map(\.0.database.rawValue)), .int8Array(rows.map(\.0.zone.rawValue)),
            .uuidArray(rows.map(\.1.key.bytes)), .byteaArray(rows.map(\.1.value)))
    }

    private var droppedReferences: BoundStatement {
        let rows = changes.flatMap { zone in zone.references.dropped.map { (zone, $0) } }
        return RecordStatements.dropReferences(
            .int8Array(rows.map(\.0.database.rawValue)), .int8Array(rows.map(\.0.zone.rawValue)),
            .textArray(rows.map(\.1)))
    }

    private var addedReferences: BoundStatement {
        let rows = changes.flatMap { zone in zone.references.added.map { (zone, $0) } }
        return RecordStatements.addReferences(
            .int8Array(rows.map(\.0.database.rawValue)), .int8Array(rows.map(\.0.zone.rawValue)),
            .textArray(rows.map(\.1.target)), .textArray(rows.map(\.1.holder)))
    }

    private var memories: BoundStatement {
        var databases: [Int64] = []
        var zones: [Int64] = []
        var devices: [[UInt8]] = []
        var memories: [[UInt8]] = []
        for zone in changes {
            for (device, memory) in zone.memories.sorted(by: { $0.key < $1.key }) {
                databases.append(zone.database.rawValue)
                zones.append(zone.zone.rawValue)
                devices.append(device.bytes)
                memories.append(memory.encoded)
            }
        }
        return RecordStatements.writeMemories(
            .int8Array(databases), .int8Array(zones), .uuidArray(devices), .byteaArray(memories))
    }
}

/// The columns of `RecordStatements.writeRecords`.
private struct RecordColumns {
    var database: [Int64] = []
    var zone: [Int64] = []
    var changeNumber: [Int64] = []
    var batchEnd: [Int64] = []
    var createdAt: [Int64] = []
    var createdBy: [Int64] = []
    var modifiedAt: [Int64] = []
    var modifiedBy: [Int64] = []
    var createdByDevice: [[UInt8]] = []
    var byteCount: [Int32] = []
    var isDeleted: [Bool] = []
    var name: [String] = []
    var type: [String] = []
    var parent: [String?] = []
    var fields: [[UInt8]] = []
    var indexValues: [String?] = []

    init(capacity: Int) {
        database.reserveCapacity(capacity)
        zone.reserveCapacity(capacity)
        changeNumber.reserveCapacity(capacity)
        batchEnd.reserveCapacity(capacity)
        createdAt.reserveCapacity(capacity)
        createdBy.reserveCapacity(capacity)
        modifiedAt.reserveCapacity(capacity)
        modifiedBy.reserveCapacity(capacity)
        createdByDevice.reserveCapacity(capacity)
        byteCount.reserveCapacity(capacity)
        isDeleted.reserveCapacity(capacity)
        name.reserveCapacity(capacity)
        type.reserveCapacity(capacity)
        parent.reserveCapacity(capacity)
        fields.reserveCapacity(capacity)
    }

    mutating func append(_ record: RecordState, in changes: ZoneChanges) {
        database.append(changes.database.rawValue)
        zone.append(changes.zone.rawValue)
        changeNumber.append(record.changeNumber)
        batchEnd.append(record.batchEnd)
        createdAt.append(record.createdAt.milliseconds)
        createdBy.append(record.createdBy.rawValue)
        modifiedAt.append(record.modifiedAt.milliseconds)
        modifiedBy.append(record.modifiedBy.rawValue)
        createdByDevice.append(record.createdByDevice.bytes)
        byteCount.append(Int32(clamping: record.fields.byteCount))
        isDeleted.append(record.isDeleted)
        name.append(record.name)
        type.append(record.type)
        parent.append(record.parent)
        fields.append(record.fields.bytes)
        indexValues.append(changes.indexColumns[record.name])
    }

    var bound: BoundStatement {
        let columns: [PostgresValue] = [
            .int8Array(database), .int8Array(zone), .int8Array(changeNumber), .int8Array(batchEnd),
            .timestampArray(milliseconds: createdAt), .int8Array(createdBy),
            .timestampArray(milliseconds: modifiedAt), .int8Array(modifiedBy), .uuidArray(createdByDevice),
            .int4Array(byteCount), .boolArray(isDeleted), .textArray(name), .textArray(type),
            .textArray(parent), .byteaArray(fields),
        ]
        guard indexValues.contains(where: { $0 != nil }) else { return RecordStatements.writeRecords.bind(columns) }
        return RecordStatements.writeIndexedRecords.bind(columns + [.textArray(indexValues)])
    }
}
