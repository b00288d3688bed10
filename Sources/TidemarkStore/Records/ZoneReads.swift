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
        /// Of the reads that ask for shares, by their places.
        fileprivate var sharing: [Int: SharingRows] = [:]
        /// What creators have of a public database, by the places of the reads.
        fileprivate var creatorBytes: [Int: [UserID: Int64]] = [:]
        fileprivate var cascadeRowCount = 0
        fileprivate var childRowCount = 0
        fileprivate var ancestorRowCount = 0

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
        // Each step may use what the steps before it have found: zones first, then records, relatives, containers.
        addZones()
        addSharing()
        addMemoriesAndRecords()
        addAncestors()
        addCascade()
        addReferenceCounts()
        addAssets()
        addAssetClaims()
        addZoneKeys()
        addRoles()
        if !withQuota.isEmpty { addStorageUse(of: withQuota) }
        if !accounts.isEmpty { addUse(of: accounts) }
        addCreatorUses()
        addContainers()
    }

    /// Locks and reads, on a connection that stays with the transaction. If relatives are cut, all snapshots say so:
    /// nobody knows whose are missing.
    func run(on connection: PostgresConnection) async throws(PostgresError) -> Found {
        let nothing = Found(snapshots: reads.map { ZoneSnapshot(key: $0.key) })
        var found = try await connection.run(reading, into: nothing)
        let isCascadeCut = bounds.isCascadeCut(rowCount: found.cascadeRowCount)
        let areChildrenCut = bounds.areChildrenCut(rowCount: found.childRowCount)
        let areAncestorsCut = bounds.areAncestorsCut(rowCount: found.ancestorRowCount)
        for index in reads.indices {
            found.snapshots[index].isCascadeCut = isCascadeCut
            found.snapshots[index].areChildrenCut = areChildrenCut
            found.snapshots[index].areAncestorsCut = areAncestorsCut
            found.snapshots[index].sharing = found.sharing[index]?.sharing
            let database = reads[index].key.database
            guard let entry = containers[database] ?? found.containers[database] else { continue }
            found.snapshots[index].schema = SchemaStamp(container: entry.container, version: found.schemaVersion)
            guard entry.isPublic else { continue }
            found.snapshots[index].publicUse = PublicUse(
                bytesMax: entry.shareMax, byteCounts: found.creatorBytes[index] ?? [:])
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
        let lock = zones.count == 1 ? sql.records.lockZone(zones[0]) : sql.records.lockZones(zones)
        reading.add(lock) { found, row in
            guard let index = indexByKey[row.zone.key] else { return }
            found.snapshots[index].zone = row.zone
            found.snapshots[index].writeNumber = row.writeNumber
            found.indexByID[row.zone.id] = index
        }
    }

    /// Who may do what, as of the locks: nobody changes it before the transaction ends.
    private mutating func addSharing() {
        let changing = reads.indices.filter { reads[$0].sharing.countsRows }
        addShares(of: changing) { sql.sharing.readPeople(PeopleQuery($0, $1)) }
        if !changing.isEmpty {
            reading.add(sql.sharing.countRows(changing.map { reads[$0].key.database })) { found, row in
                found.snapshots[changing[ordinal: row.ordinal]].sharingRowCount = Int(row.count)
            }
        }
        let others = reads.indices.filter { !reads[$0].sharing.countsRows && reads[$0].sharing != .nothing }
        addShares(of: others) { sql.sharing.readAccess(AccessQuery($0, $1)) }
    }

    private mutating func addShares(of places: [Int], _ call: ([ZoneKey], [SharingRead]) -> Call<SharingRow>) {
        guard !places.isEmpty else { return }
        let isWhole = reads.map(\.sharing.isWhole)
        reading.add(call(places.map { reads[$0].key }, places.map { reads[$0].sharing })) { found, row in
            let place = places[ordinal: row.ordinal]
            found.sharing[place, default: SharingRows(isWhole: isWhole[place])].add(row)
        }
    }

    private mutating func addMemoriesAndRecords() {
        guard let query = oneRecordQuery else {
            addMemories()
            addRecords()
            return
        }
        reading.add(sql.records.readOne(query)) { found, row in
            Self.take(row.memories, of: WantedKey(readIndex: 0, zone: query.zone, key: query.life), into: &found)
            if let record = row.record { found.snapshots[0].records[record.name] = record }
        }
    }

    /// What most transactions read: one record, for one request.
    private var oneRecordQuery: OneRecordQuery? {
        guard reads.count == 1, reads[0].lives.count == 1, reads[0].recordNames.count == 1,
            let life = reads[0].lives.first, let name = reads[0].recordNames.first
        else { return nil }
        return OneRecordQuery(zone: reads[0].key, life: life, name: name)
    }

    /// Remembered requests, and facts of the store.
    private mutating func addMemories() {
        let lives = wanted(\.lives)
        reading.add(sql.records.readMemories((zones, lives))) { found, row in
            Self.take(row, of: row.ordinal.map { lives[ordinal: $0] }, into: &found)
        }
    }

    private static func take(_ row: MemoriesRow, of life: WantedKey<DeviceID>?, into found: inout Found) {
        (found.store, found.schemaVersion) = (row.store, row.schemaVersion)
        for index in found.snapshots.indices { found.snapshots[index].memoryEpoch = row.epoch }
        guard let life, let memory = row.memory else { return }
        found.snapshots[life.readIndex].memories[life.key] = memory
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

    /// If the byte limit is reached, records whose fields are not needed lose theirs first.
    private var wantedRecords: [WantedKey<String>] {
        guard reads.contains(where: { !$0.fieldlessNames.isEmpty }) else { return wanted(\.recordNames) }
        return wanted { read in read.recordNames.filter { !read.fieldlessNames.contains($0) } }
            + wanted { read in read.recordNames.filter(read.fieldlessNames.contains) }
    }

    private mutating func addAncestors() {
        let newParents = wanted(\.newParentNames)
        guard !newParents.isEmpty else { return }
        reading.add(sql.records.readAncestors((newParents, bounds.ancestorRowsMax))) { found, related in
            found.ancestorRowCount += 1
            guard let index = found.indexByID[related.zone] else { return }
            found.add(related, at: index)
        }
    }

    /// All that refers to what is deleted, directly or not, and the living children of all of it.
    private mutating func addCascade() {
        let roots = wanted(\.cascadeRoots)
        guard !roots.isEmpty else { return }
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

    private mutating func addReferenceCounts() {
        let targets = wanted(\.referenceTargets)
        guard !targets.isEmpty else { return }
        reading.add(sql.records.countReferences((zones, targets))) { found, row in
            let target = targets[ordinal: row.ordinal]
            found.snapshots[target.readIndex].referenceCounts[target.key] = row.count
            if let countMax = row.countMax { found.snapshots[target.readIndex].referencesMax = Int(countMax) }
        }
    }

    private mutating func addAssets() {
        let assets = wanted(\.assets)
        guard !assets.isEmpty else { return }
        reading.add(sql.assets.lock(assets)) { found, ordinal in
            let asset = assets[ordinal: ordinal]
            found.snapshots[asset.readIndex].assets.insert(asset.key)
        }
    }

    /// Who may name which assets of a public database. Private ones ask nothing.
    private mutating func addAssetClaims() {
        let claimants = reads.enumerated().flatMap { index, read in
            read.assetClaimants.map { (readIndex: index, claimant: $0) }
        }
        guard !claimants.isEmpty else { return }
        func key(_ readIndex: Int, _ content: FieldAsset) -> AssetKey {
            AssetKey(database: reads[readIndex].key.database, content: content)
        }
        let senders = claimants.map { readIndex, claimant in
            AssetSender(asset: key(readIndex, claimant.asset), user: claimant.user)
        }
        reading.add(sql.assets.senders(senders)) { found, ordinal in
            let (readIndex, claimant) = claimants[ordinal: ordinal]
            found.snapshots[readIndex].assetClaims[claimant.asset, default: AssetClaims()].senders.insert(claimant.user)
        }
        let assets = reads.enumerated().flatMap { index, read in
            Set(read.assetClaimants.map(\.asset)).map { (readIndex: index, asset: $0) }
        }
        // One user's many assets must not leave another's without holders.
        let countMax = max(PostgresStorage.holdersMax, assets.count)
        let ofAssetMax = min(PostgresStorage.holdersOfAssetMax, countMax / assets.count)
        let keys = assets.map { key($0.readIndex, $0.asset) }
        reading.add(sql.assets.holders((assets: keys, ofAssetMax: ofAssetMax, countMax: countMax))) { found, row in
            let (readIndex, asset) = assets[ordinal: row.ordinal]
            found.snapshots[readIndex].assetClaims[asset, default: AssetClaims()].holders.append(row.holder)
        }
    }

    private mutating func addZoneKeys() {
        let readIndexes = reads.indices.filter { reads[$0].needsZoneKeys }
        guard !readIndexes.isEmpty else { return }
        reading.add(sql.keys.readZoneKeyIDs(readIndexes.map { reads[$0].key })) { found, row in
            found.snapshots[readIndexes[ordinal: row.ordinal]].zoneKeyIDs.insert(row.id)
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

    /// Only where an account's share is bounded.
    private mutating func addCreatorUses() {
        for (index, read) in reads.enumerated() where containers[read.key.database]?.shareMax != nil {
            let call = sql.publicUses.ofCreators((read.key, read.users, read.recordNames))
            reading.add(call) { found, row in found.creatorBytes[index, default: [:]][row.user] = row.byteCount }
        }
    }

    /// A quota that is not remembered is found last. The caller then begins again and locks it.
    private mutating func addContainers() {
        let unknown = Set(reads.map(\.key.database)).filter { containers[$0] == nil }.sorted()
        guard !unknown.isEmpty else { return }
        reading.add(sql.schemas.containers(unknown)) { found, row in
            found.containers[row.database] = DatabaseContainers.Entry(
                container: row.container, bytesMax: row.bytesMax, limitedAccount: row.limitedAccount,
                isPublic: row.isPublic, shareMax: row.shareMax, version: found.schemaVersion)
        }
    }
}
