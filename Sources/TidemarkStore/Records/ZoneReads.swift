// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// What a group of zones must read, as lists for PostgreSQL, and how rows become snapshots.
struct ZoneReads {
    private let reads: [ZoneRead]
    /// The containers of the databases, as far as they are remembered.
    private let homes: [DatabaseID: DatabaseContainers.Home]
    private let unknownDatabases: [Int64]
    /// Databases that have a quota, in the order of their ids.
    private let limited: [Int64]
    private var records = KeyList<String>()
    private var newParents = KeyList<String>()
    private var roots = KeyList<String>()
    private var targets = KeyList<String>()
    private var lives = KeyList<DeviceID>()
    private var assets = KeyList<FieldAsset>()
    private var readsNeedingKeys: [Int] = []
    /// Users whose custom roles must be read, each once.
    private let users: [UserID]

    /// One list for each column; `zone` says to which read each entry belongs.
    private struct KeyList<Key> {
        var zone: [Int] = []
        var keys: [Key] = []

        mutating func add(_ more: [Key], zone index: Int) {
            zone.append(contentsOf: repeatElement(index, count: more.count))
            keys.append(contentsOf: more)
        }
    }

    /// - Parameter homes: what is remembered; the rest is read.
    init(_ reads: [ZoneRead], homes: [DatabaseID: DatabaseContainers.Home]) {
        self.reads = reads
        self.homes = homes
        users = Set(reads.lazy.flatMap(\.users)).sorted { $0.rawValue < $1.rawValue }
        unknownDatabases = Set(reads.map(\.key.database)).filter { homes[$0] == nil }.map(\.rawValue).sorted()
        limited = homes.lazy.filter { $0.value.bytesMax != nil }.map(\.key.rawValue).sorted()
        for (index, read) in reads.enumerated() {
            records.add(read.recordNames, zone: index)
            newParents.add(read.newParentNames, zone: index)
            roots.add(read.cascadeRoots, zone: index)
            targets.add(read.referenceTargets, zone: index)
            lives.add(read.lives, zone: index)
            assets.add(read.assets, zone: index)
            if read.needsZoneKeys { readsNeedingKeys.append(index) }
        }
    }

    /// The most ancestors of a group's new parents. In a longer line a cycle would go unnoticed, which does no harm.
    private static let ancestorsMax: Int64 = 50_000
    /// References that the deletions of the group may follow.
    private var followedMax: Int { reads.lazy.map(\.referencesFollowedMax).max() ?? 0 }

    /// One round trip: locks first, then reads. Statements that nothing needs are left out.
    var statements: [BoundStatement] {
        var statements: [BoundStatement] = [.begin]
        if !limited.isEmpty { statements.append(QuotaStatements.lock(.int8Array(limited))) }
        statements.append(lock)
        statements += isOne ? [one] : [memories]
        if !records.keys.isEmpty, !isOne {
            statements.append(
                RecordStatements.readRecords(databases, zoneNames, places(records), .textArray(records.keys)))
        }
        if !newParents.keys.isEmpty {
            statements.append(
                RecordStatements.readAncestors(
                    .int8Array(databases(newParents)), .textArray(zoneNames(newParents)), .textArray(newParents.keys),
                    .int8(Self.ancestorsMax)))
        }
        if !roots.keys.isEmpty {
            statements.append(named(RecordStatements.readChildren, roots))
            statements.append(
                RecordStatements.readCascade(
                    .int8Array(databases(roots)), .textArray(zoneNames(roots)), .textArray(roots.keys),
                    .int8(Int64(followedMax) + 1)))
        }
        if !targets.keys.isEmpty { statements.append(named(RecordStatements.countReferences, targets)) }
        if !assets.keys.isEmpty {
            statements.append(
                AssetStatements.lock(
                    .int8Array(databases(assets)), .byteaArray(assets.keys.map(\.sha256)),
                    .int8Array(assets.keys.map(\.byteCount))))
        }
        if !readsNeedingKeys.isEmpty {
            statements.append(
                KeyStatements.readZoneKeyIDs(
                    .int8Array(readsNeedingKeys.map { reads[$0].key.database.rawValue }),
                    .textArray(readsNeedingKeys.map { reads[$0].key.name })))
        }
        if !users.isEmpty { statements.append(ChoiceStatements.roles(.int8Array(users.map(\.rawValue)))) }
        if !limited.isEmpty { statements.append(QuotaStatements.byteCounts(.int8Array(limited))) }
        if !unknownDatabases.isEmpty { statements.append(SchemaStatements.containers(.int8Array(unknownDatabases))) }
        return statements
    }

    private var lock: BoundStatement {
        guard reads.count == 1 else { return RecordStatements.lockZones(databases, zoneNames) }
        return RecordStatements.lockZone(.int8(reads[0].key.database.rawValue), .text(reads[0].key.name))
    }

    /// Whether it is one record of one device, for which there is a cheaper statement.
    private var isOne: Bool { reads.count == 1 && lives.keys.count == 1 && records.keys.count == 1 }

    private var one: BoundStatement {
        RecordStatements.readOne(
            .int8(reads[0].key.database.rawValue), .text(reads[0].key.name), .uuid(lives.keys[0].bytes),
            .text(records.keys[0]))
    }

    private var memories: BoundStatement {
        var keys = PostgresArray(of: .uuid, byteCount: lives.keys.count * 20)
        for life in lives.keys { keys.append(uuid: life.high, life.low) }
        return RecordStatements.readMemories(databases, zoneNames, places(lives), .array(keys))
    }

    // Of all zones, in the order of the reads. Other lists refer to a zone by its index here.
    private var databases: PostgresValue { .int8Array(reads.map(\.key.database.rawValue)) }
    private var zoneNames: PostgresValue { .textArray(reads.map(\.key.name)) }

    private func places<Key>(_ list: KeyList<Key>) -> PostgresValue {
        var places = PostgresArray(of: .int4, byteCount: list.zone.count * 8)
        for index in list.zone { places.append(Int32(index + 1)) }
        return .array(places)
    }

    private func named(_ statement: Statement, _ list: KeyList<String>) -> BoundStatement {
        statement(.int8Array(databases(list)), .textArray(zoneNames(list)), .textArray(list.keys))
    }

    private func databases<Key>(_ list: KeyList<Key>) -> [Int64] { list.zone.map { reads[$0].key.database.rawValue } }

    private func zoneNames<Key>(_ list: KeyList<Key>) -> [String] { list.zone.map { reads[$0].key.name } }

    /// The index of the answer to ``lock``. The answer to ``memories`` or ``one`` is the next.
    private var lockIndex: Int { limited.isEmpty ? 1 : 2 }

    /// Decodes the answers to ``statements``.
    func store(from rows: [PostgresRows]) throws(PostgresError) -> StoreIncarnation {
        StoreIncarnation(UInt64(bitPattern: try rows[lockIndex + 1][0].int64(0)))
    }

    /// Decodes the answers to ``statements``: the version of the schemas and of operators' choices.
    func schemaVersion(from rows: [PostgresRows]) throws(PostgresError) -> Int64 {
        try rows[lockIndex + 1][0].int64(1)
    }

    /// Decodes the answers to ``statements``: the containers of databases that were unknown before.
    func newHomes(from rows: [PostgresRows]) throws(PostgresError) -> [DatabaseID: DatabaseContainers.Home] {
        var found: [DatabaseID: DatabaseContainers.Home] = [:]
        guard !unknownDatabases.isEmpty, let answer = rows.last else { return found }
        let version = try schemaVersion(from: rows)
        for row in answer {
            found[DatabaseID(try row.int64(0))] = DatabaseContainers.Home(
                container: ContainerID(try row.int64(1)), bytesMax: try row.int64(ifPresent: 2), version: version)
        }
        return found
    }

    /// Decodes the answers to ``statements``.
    func snapshots(from rows: [PostgresRows]) throws(PostgresError) -> [ZoneSnapshot] {
        var snapshots = reads.map { ZoneSnapshot(key: $0.key) }
        let indexes = Dictionary(reads.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
        var next = lockIndex + 1
        for row in rows[lockIndex] {
            let zone = try ZoneRow.decode(row, from: 1, in: DatabaseID(try row.int64(0)))
            guard let index = indexes[zone.key] else { continue }
            snapshots[index].zone = zone
            snapshots[index].writeNumber = try row.int64(7)
        }
        let version = try schemaVersion(from: rows)
        let memoryEpoch = try rows[next][0].int64(2)
        for index in snapshots.indices { snapshots[index].memoryEpoch = memoryEpoch }
        for row in rows[next] where try !row.isNull(3) {
            let ordinal = isOne ? 0 : Int(try row.int64(3)) - 1
            guard let memory = RequestMemory(decoding: try row.bytes(isOne ? 3 : 4)) else {
                throw PostgresError(.unexpectedResult, detail: "request_memory")
            }
            snapshots[lives.zone[ordinal]].memories[lives.keys[ordinal]] = memory
        }
        var homes = homes
        for (database, home) in try newHomes(from: rows) { homes[database] = home }
        for index in reads.indices {
            guard let home = homes[reads[index].key.database] else { continue }
            snapshots[index].schema = SchemaStamp(container: home.container, version: version)
        }
        if isOne {
            for row in rows[next] where try !row.isNull(4) {
                let record = try RecordRow.decode(row, from: 4, isSurveyed: true)
                snapshots[0].records[record.name] = record
            }
        } else if !records.keys.isEmpty {
            next += 1
            for index in reads.indices { snapshots[index].records.reserveCapacity(reads[index].recordNames.count) }
            for row in rows[next] {
                let record = try RecordRow.decode(row, from: 1, isSurveyed: true)
                snapshots[records.zone[Int(try row.int64(0)) - 1]].records[record.name] = record
            }
        }
        if !newParents.keys.isEmpty {
            next += 1
            let zones = Self.indexes(of: snapshots)
            for row in rows[next] {
                guard let index = zones[ZoneID(try row.int64(0))] else { continue }
                let record = try RecordRow.decode(row, from: 1)
                Self.add(record, byteCount: Int(try row.int32(13)), to: &snapshots[index])
            }
        }
        if !roots.keys.isEmpty {
            for row in rows[next + 1] {
                let ordinal = Int(try row.int64(0)) - 1
                snapshots[roots.zone[ordinal]].children[roots.keys[ordinal], default: []].append(try row.string(1))
            }
            try decodeCascade(rows[next + 2], Self.indexes(of: snapshots), into: &snapshots)
            next += 2
        }
        if !targets.keys.isEmpty {
            next += 1
            for row in rows[next] {
                let ordinal = Int(try row.int64(0)) - 1
                let index = targets.zone[ordinal]
                snapshots[index].referenceCounts[targets.keys[ordinal]] = Int(try row.int64(1))
                if try !row.isNull(2) { snapshots[index].referencesMax = Int(try row.int32(2)) }
            }
        }
        if !assets.keys.isEmpty {
            next += 1
            for row in rows[next] {
                let ordinal = Int(try row.int64(0)) - 1
                snapshots[assets.zone[ordinal]].assets.insert(assets.keys[ordinal])
            }
        }
        if !readsNeedingKeys.isEmpty {
            next += 1
            for row in rows[next] {
                snapshots[readsNeedingKeys[Int(try row.int64(0)) - 1]].zoneKeyIDs.insert(try row.bytes(1))
            }
        }
        if !users.isEmpty {
            next += 1
            let roles = try ChoiceStatements.decodeRoles(rows[next])
            for index in reads.indices where !roles.isEmpty {
                snapshots[index].roles = roles.filter { reads[index].users.contains($0.key) }
            }
        }
        if !limited.isEmpty {
            next += 1
            for row in rows[next] {
                let (database, byteCount) = (DatabaseID(try row.int64(0)), try row.int64(1))
                guard let bytesMax = homes[database]?.bytesMax else { continue }
                for index in reads.indices where reads[index].key.database == database {
                    snapshots[index].storageUse = StorageUse(byteCount: byteCount, bytesMax: bytesMax)
                }
            }
        }
        return snapshots
    }

    /// Adds a record without its fields, unless it was read with them.
    private static func add(_ record: RecordState, byteCount: Int, to snapshot: inout ZoneSnapshot) {
        guard snapshot.records[record.name] == nil else { return }
        snapshot.records[record.name] = record
        snapshot.unread[record.name] = byteCount
    }

    private static func indexes(of snapshots: [ZoneSnapshot]) -> [ZoneID: Int] {
        Dictionary(
            snapshots.enumerated().compactMap { index, snapshot in snapshot.zone.map { ($0.id, index) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// - Throws: `unexpectedResult` if the references of several zones together exceed what is followed. The group is
    ///   then tried again in parts, until the one zone that has so many is alone.
    private func decodeCascade(
        _ rows: PostgresRows, _ zones: [ZoneID: Int], into snapshots: inout [ZoneSnapshot]
    ) throws(PostgresError) {
        let isCut = rows.count > followedMax
        if isCut, reads.count > 1 { throw PostgresError(.unexpectedResult, detail: "cascade") }
        for row in rows {
            guard let index = zones[ZoneID(try row.int64(0))] else { continue }
            let holder = try RecordRow.decode(row, from: 3)
            snapshots[index].isCascadeCut = isCut
            snapshots[index].holders[try row.string(1), default: []].append(holder.name)
            // Records that the request names have been read with their fields.
            Self.add(holder, byteCount: Int(try row.int32(15)), to: &snapshots[index])
            let children = try row.stringArray(2).compactMap(\.self)
            if !children.isEmpty { snapshots[index].children[holder.name] = children }
        }
    }
}
