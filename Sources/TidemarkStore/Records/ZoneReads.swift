// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres

/// What a group of zones must read, in one round trip: locks first, then reads. Statements that nothing needs are left
/// out.
struct ZoneReads {
    /// What was found.
    struct Found {
        /// One for each read, in their order.
        var snapshots: [ZoneSnapshot]
        var store = StoreIncarnation(0)
        /// The version of the schemas and of operators' choices.
        var schemaVersion: Int64 = 0
        /// Of databases whose containers were not known.
        var containers: [DatabaseID: DatabaseContainers.Entry] = [:]
        /// Where the snapshot of each living zone is.
        fileprivate var indexByID: [ZoneID: Int] = [:]
        fileprivate var cascadeRowCount = 0
        fileprivate var childRowCount = 0

        /// Adds a record without its fields, unless it has been read already.
        fileprivate mutating func add(_ related: RelatedRecord, at index: Int) {
            guard snapshots[index].records[related.record.name] == nil else { return }
            snapshots[index].records[related.record.name] = related.record
            snapshots[index].unread[related.record.name] = related.byteCount
        }
    }

    private let reads: [ZoneRead]
    /// The containers of the databases, as far as they are remembered.
    private let containers: [DatabaseID: DatabaseContainers.Entry]
    private let bounds: CascadeBounds
    private var reading = Reading<Found>()

    /// The most ancestors of a group's new parents. In a longer line a cycle would go unnoticed, which does no harm.
    private static let ancestorsMax = 50_000

    /// - Parameter containers: what is remembered; the rest is read.
    init(_ reads: [ZoneRead], containers: [DatabaseID: DatabaseContainers.Entry]) {
        self.reads = reads
        self.containers = containers
        bounds = CascadeBounds(of: reads)
        let withQuota = containers.filter { $0.value.hasQuota }.keys.sorted()
        let accounts = Set(containers.values.compactMap(\.limitedAccount)).sorted { $0.rawValue < $1.rawValue }
        reading.add(Call.begin)
        // A database with a quota is locked before its zones, and an account before that.
        if !accounts.isEmpty { reading.add(sql.quotas.lockAccounts(accounts)) }
        if !withQuota.isEmpty { reading.add(sql.quotas.lock(withQuota)) }
        addZones()
        addRecords()
        addRelatives()
        addAssetsAndKeys()
        addRoles()
        if !withQuota.isEmpty { addStorageUse(of: withQuota) }
        if !accounts.isEmpty { addUse(of: accounts) }
        addContainers()
    }

    /// Locks and reads, on a connection that stays with the transaction. If references or children are cut, all
    /// snapshots say so: nobody knows whose are missing.
    func run(on connection: PostgresConnection) async throws(PostgresError) -> Found {
        let nothing = Found(snapshots: reads.map { ZoneSnapshot(key: $0.key) })
        var found = try await connection.run(reading, into: nothing)
        let isCascadeCut = bounds.isCascadeCut(rowCount: found.cascadeRowCount)
        let areChildrenCut = bounds.areChildrenCut(rowCount: found.childRowCount)
        for index in reads.indices {
            found.snapshots[index].isCascadeCut = isCascadeCut
            found.snapshots[index].areChildrenCut = areChildrenCut
            let database = reads[index].key.database
            guard let entry = containers[database] ?? found.containers[database] else { continue }
            found.snapshots[index].schema = SchemaStamp(container: entry.container, version: found.schemaVersion)
        }
        return found
    }

    // MARK: What is read

    private var zones: [ZoneKey] { reads.map(\.key) }

    /// What all reads want, each with its read.
    private func wanted<Key>(_ keys: (ZoneRead) -> [Key]) -> [WantedKey<Key>] {
        reads.enumerated().flatMap { index, read in
            keys(read).map { WantedKey(readIndex: index, zone: read.key, key: $0) }
        }
    }

    private mutating func addZones() {
        let indexByKey = Dictionary(zones.enumerated().map { ($1, $0) }) { first, _ in first }
        reading.add(sql.records.lockZones(zones)) { found, row in
            guard let index = indexByKey[row.zone.key] else { return }
            found.snapshots[index].zone = row.zone
            found.snapshots[index].writeNumber = row.writeNumber
            found.indexByID[row.zone.id] = index
        }
        let lives = wanted(\.lives)
        reading.add(sql.records.readMemories((zones, lives))) { found, row in
            (found.store, found.schemaVersion) = (row.store, row.schemaVersion)
            for index in found.snapshots.indices { found.snapshots[index].memoryEpoch = row.epoch }
            guard let ordinal = row.ordinal, let memory = row.memory else { return }
            let life = lives[ordinal: ordinal]
            found.snapshots[life.readIndex].memories[life.key] = memory
        }
    }

    private mutating func addRecords() {
        let records = wantedRecords
        guard !records.isEmpty else { return }
        let bytesMax = reads.lazy.map(\.storedBytesMax).max() ?? 0
        reading.add(sql.records.readRecords((zones, records, bytesMax))) { found, row in
            let index = records[ordinal: row.ordinal].readIndex
            found.snapshots[index].records[row.record.name] = row.record
            if let unread = row.unread { found.snapshots[index].unread[row.record.name] = Int(unread) }
        }
    }

    /// The records whose fields are needed come first, so that the others are left out before them.
    private var wantedRecords: [WantedKey<String>] {
        guard reads.contains(where: { !$0.fieldlessNames.isEmpty }) else { return wanted(\.recordNames) }
        return wanted { read in read.recordNames.filter { !read.fieldlessNames.contains($0) } }
            + wanted { read in read.recordNames.filter(read.fieldlessNames.contains) }
    }

    /// Ancestors, children, and the holders of references.
    private mutating func addRelatives() {
        let newParents = wanted(\.newParentNames)
        if !newParents.isEmpty {
            reading.add(sql.records.readAncestors((newParents, Self.ancestorsMax))) { found, related in
                guard let index = found.indexByID[related.zone] else { return }
                found.add(related, at: index)
            }
        }
        let roots = wanted(\.cascadeRoots)
        if !roots.isEmpty {
            let query = CascadeQuery(roots: roots, bounds: bounds)
            reading.add(sql.records.readChildren(query)) { found, row in
                found.childRowCount += 1
                guard let index = found.indexByID[row.zone] else { return }
                found.snapshots[index].children[row.parent, default: []].append(row.child)
            }
            reading.add(sql.records.readCascade(query)) { found, row in
                found.cascadeRowCount += 1
                guard let index = found.indexByID[row.holder.zone] else { return }
                let name = row.holder.record.name
                found.snapshots[index].holders[row.target, default: []].append(name)
                // Records that the request names have been read before, most with their fields.
                found.add(row.holder, at: index)
            }
        }
        let targets = wanted(\.referenceTargets)
        if !targets.isEmpty {
            reading.add(sql.records.countReferences((zones, targets))) { found, row in
                let target = targets[ordinal: row.ordinal]
                found.snapshots[target.readIndex].referenceCounts[target.key] = row.count
                if let countMax = row.countMax { found.snapshots[target.readIndex].referencesMax = Int(countMax) }
            }
        }
    }

    private mutating func addAssetsAndKeys() {
        let assets = wanted(\.assets)
        if !assets.isEmpty {
            reading.add(sql.assets.lock(assets)) { found, ordinal in
                let asset = assets[ordinal: ordinal]
                found.snapshots[asset.readIndex].assets.insert(asset.key)
            }
        }
        addAssetClaims()
        let needingKeys = reads.indices.filter { reads[$0].needsZoneKeys }
        if !needingKeys.isEmpty {
            reading.add(sql.keys.readZoneKeyIDs(needingKeys.map { reads[$0].key })) { found, row in
                found.snapshots[needingKeys[ordinal: row.ordinal]].zoneKeyIDs.insert(row.id)
            }
        }
    }

    /// Who may name which assets of a public database. Private ones ask nothing.
    private mutating func addAssetClaims() {
        let claimants = reads.enumerated().flatMap { index, read in read.assetClaimants.map { (index, $0) } }
        guard !claimants.isEmpty else { return }
        func key(_ index: Int, _ content: FieldAsset) -> AssetKey {
            AssetKey(database: reads[index].key.database, content: content)
        }
        let senders = claimants.map { index, claimant in
            AssetSender(asset: key(index, claimant.asset), user: claimant.user)
        }
        reading.add(sql.assets.senders(senders)) { found, ordinal in
            let (index, claimant) = claimants[ordinal: ordinal]
            found.snapshots[index].assetClaims[claimant.asset, default: AssetClaims()].senders.insert(claimant.user)
        }
        let assets = reads.enumerated().flatMap { index, read in
            Set(read.assetClaimants.map(\.asset)).map { (index, $0) }
        }
        // One user's many assets must not leave another's without holders.
        let holdersMax = max(PostgresStorage.holdersMax, assets.count)
        let limits = (min(PostgresStorage.holdersOfAssetMax, holdersMax / assets.count), holdersMax)
        reading.add(sql.assets.holders((assets.map { key($0, $1) }, limits.0, limits.1))) { found, row in
            let (index, asset) = assets[ordinal: row.ordinal]
            found.snapshots[index].assetClaims[asset, default: AssetClaims()].holders.append(row.holder)
        }
    }

    /// The custom roles of users, each user once.
    private mutating func addRoles() {
        let users = Set(reads.lazy.flatMap(\.users)).sorted { $0.rawValue < $1.rawValue }
        guard !users.isEmpty else { return }
        reading.add(sql.choices.roles(users)) { [reads] found, row in
            for index in reads.indices where reads[index].users.contains(row.user) {
                found.snapshots[index].roles[row.user, default: []].insert(row.role)
            }
        }
    }

    private mutating func addStorageUse(of databases: [DatabaseID]) {
        reading.add(sql.quotas.byteCounts(databases)) { [reads, containers] found, row in
            let bytesMax = containers[row.database]?.bytesMax
            for index in reads.indices where reads[index].key.database == row.database {
                found.snapshots[index].storageUse = bytesMax.map {
                    StorageUse(byteCount: row.byteCount, bytesMax: $0)
                }
                found.snapshots[index].tombstoneBytes = row.tombstoneBytes
            }
        }
    }

    private mutating func addUse(of accounts: [AccountID]) {
        reading.add(sql.quotas.accountUses(accounts)) { [reads, containers] found, row in
            for index in reads.indices where containers[reads[index].key.database]?.limitedAccount == row.account {
                found.snapshots[index].accountUse = row
            }
        }
    }

    private mutating func addContainers() {
        let unknown = Set(reads.map(\.key.database)).filter { containers[$0] == nil }.sorted()
        guard !unknown.isEmpty else { return }
        reading.add(sql.schemas.containers(unknown)) { found, row in
            found.containers[row.database] = DatabaseContainers.Entry(
                container: row.container, bytesMax: row.bytesMax, limitedAccount: row.limitedAccount,
                version: found.schemaVersion)
        }
    }
}
