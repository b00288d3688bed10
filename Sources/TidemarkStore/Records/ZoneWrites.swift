// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres
internal import TidemarkService

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

    /// The same as one statement and a transaction by itself, which writes only if the zones are unchanged since these
    /// moments. Its answer is one number, 0 if they are not. There is one moment for each zone, in the order of the
    /// changes; all are of one store and one version of its schemas.
    func ifStill(at moments: [ZoneMoment]) -> BoundStatement {
        let store: [PostgresValue] = [
            .int8(Int64(bitPattern: moments[0].store.rawValue)), .int8(moments[0].schema.version),
        ]
        if changes.count == 1, changes[0].memories.count == 1, let run = RecordRun(changes[0]) {
            let moment: [PostgresValue] = [.int8(moments[0].changeNumber), .int8(moments[0].writeNumber)]
            return RecordStatements.writeRunIfStill.bind(
                zone(changes[0]) + run.values + moment + store + [.textArray(moments[0].absentNames)])
        }
        let numbers: [PostgresValue] = [
            .int8Array(moments.map(\.changeNumber)), .int8Array(moments.map(\.writeNumber)),
        ]
        let absent = moments.filter { !$0.absentNames.isEmpty }
        let absentNames: [PostgresValue] = [
            .int8Array(absent.flatMap { [Int64](repeating: $0.database.rawValue, count: $0.absentNames.count) }),
            .int8Array(absent.flatMap { [Int64](repeating: $0.zone.rawValue, count: $0.absentNames.count) }),
            .textArray(absent.flatMap(\.absentNames)),
        ]
        return RecordStatements.writeIfStill.bind(all + numbers + store + absentNames)
    }

    private var main: BoundStatement {
        if changes.count == 1, changes[0].records.count == 1, changes[0].memories.count == 1 { return one }
        return RecordStatements.write.bind(all)
    }

    /// The parameters of `RecordStatements.write`.
    private var all: [PostgresValue] {
        var records = RecordColumns(
            recordCount: changes.reduce(0) { $0 + $1.records.count },
            fieldsByteCount: changes.reduce(0) { $0 + $1.records.reduce(0) { $0 + $1.fields.byteCount } })
        for zone in changes {
            for record in zone.records { records.append(record, in: zone) }
        }
        return records.values + zones + memories
    }

    private var one: BoundStatement {
        let record = changes[0].records[0]
        return RecordStatements.writeOne.bind(
            zone(changes[0]) + [
                .int8(record.batchEnd), .timestamp(milliseconds: record.createdAt.milliseconds),
                .int8(record.createdBy.rawValue), .uuid(record.createdByDevice.bytes),
                .timestamp(milliseconds: record.modifiedAt.milliseconds), .int8(record.modifiedBy.rawValue),
                .bool(record.isDeleted), .text(record.name), .text(record.type), .text(ifPresent: record.parent),
                .bytea(record.fields.bytes), .text(ifPresent: changes[0].indexColumns[record.name]),
            ])
    }

    /// The first seven parameters of statements that write in one zone for one device.
    private func zone(_ changes: ZoneChanges) -> [PostgresValue] {
        let (device, memory) = changes.memories[changes.memories.startIndex]
        return [
            .int8(changes.database.rawValue), .int8(changes.zone.rawValue), .int8(changes.changeNumber),
            .int8(Int64(changes.largestRecord)), .int8(changes.byteGrowth), .uuid(device.bytes),
            .bytea(memory.encoded),
        ]
    }

    private var zones: [PostgresValue] {
        [
            .int8Array(changes.map(\.database.rawValue)), .int8Array(changes.map(\.zone.rawValue)),
            .int8Array(changes.map(\.changeNumber)),
            .int8Array(changes.map { Int64($0.largestRecord) }),
            .int8Array(changes.map(\.byteGrowth)),
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
            // In one order everywhere, so that two transactions never deadlock.
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

extension ZoneChanges {
    /// The bytes of the largest record's fields.
    fileprivate var largestRecord: Int { records.lazy.map(\.fields.byteCount).max() ?? 0 }
}
