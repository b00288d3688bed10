// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// What a group of zones writes, as lists for PostgreSQL.
struct ZoneWrites {
    private let changes: [ZoneChanges]

    init(_ changes: [ZoneChanges]) {
        self.changes = changes
    }

    /// One round trip: final states, then COMMIT.
    var statements: [BoundStatement] {
        var statements: [BoundStatement] = []
        if changes.contains(where: { !$0.records.isEmpty || !$0.memories.isEmpty }) { statements.append(main) }
        statements += AssetUseWrites(changes).statements
        if changes.contains(where: { !$0.references.dropped.isEmpty }) { statements.append(droppedReferences) }
        if changes.contains(where: { !$0.references.added.isEmpty }) { statements.append(addedReferences) }
        if changes.contains(where: { !$0.clientTokens.isEmpty }) { statements.append(clientTokens) }
        statements.append(.commit)
        return statements
    }

    private var main: BoundStatement {
        if changes.count == 1, changes[0].records.count == 1, changes[0].memories.count == 1 { return one }
        var records = RecordColumns(
            recordCount: changes.reduce(0) { $0 + $1.records.count },
            fieldsByteCount: changes.reduce(0) { $0 + $1.records.reduce(0) { $0 + $1.fields.byteCount } })
        for zone in changes {
            for record in zone.records { records.append(record, in: zone) }
        }
        return RecordStatements.write.bind(records.values + zones + memories)
    }

    private var one: BoundStatement {
        let zone = changes[0]
        let record = zone.records[0]
        let (device, memory) = zone.memories[zone.memories.startIndex]
        return RecordStatements.writeOne(
            .int8(zone.database.rawValue), .int8(zone.zone.rawValue), .int8(zone.changeNumber),
            .int8(Int64(record.fields.byteCount)), .int8(zone.byteGrowth), .uuid(device.bytes), .bytea(memory.encoded),
            .int8(record.batchEnd), .timestamp(milliseconds: record.createdAt.milliseconds),
            .int8(record.createdBy.rawValue), .uuid(record.createdByDevice.bytes),
            .timestamp(milliseconds: record.modifiedAt.milliseconds), .int8(record.modifiedBy.rawValue),
            .bool(record.isDeleted), .text(record.name), .text(record.type), .text(ifPresent: record.parent),
            .bytea(record.fields.bytes), .text(ifPresent: zone.indexColumns[record.name]))
    }

    private var zones: [PostgresValue] {
        let moved = changes.filter { !$0.records.isEmpty }
        return [
            .int8Array(moved.map(\.database.rawValue)), .int8Array(moved.map(\.zone.rawValue)),
            .int8Array(moved.map(\.changeNumber)),
            .int8Array(moved.map { Int64($0.records.lazy.map(\.fields.byteCount).max() ?? 0) }),
            .int8Array(moved.map(\.byteGrowth)),
        ]
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

    private var memories: [PostgresValue] {
        var databases = PostgresArray(of: .int8)
        var zones = PostgresArray(of: .int8)
        var devices = PostgresArray(of: .uuid)
        var memories = PostgresArray(of: .bytea)
        for zone in changes {
            // In one order everywhere, so that two transactions never wait for each other in a circle.
            for (device, memory) in zone.memories.sorted(by: { $0.key < $1.key }) {
                databases.append(zone.database.rawValue)
                zones.append(zone.zone.rawValue)
                devices.append(uuid: device.high, device.low)
                memories.append(memory.encoded)
            }
        }
        return [.array(databases), .array(zones), .array(devices), .array(memories)]
    }
}
