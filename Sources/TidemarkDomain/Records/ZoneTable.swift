// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// The records of one zone, as a transaction has read them and its requests have changed them so far.
struct ZoneTable: Sendable {
    let zone: ZoneID
    let store: StoreIncarnation
    /// The newest change number that has been assigned.
    private(set) var changeNumber: ChangeNumber
    /// As they were read.
    private let records: [String: RecordState]
    /// The versions that were written since, by growing change number. The next property has the place of a record's
    /// newest version in it.
    private var versions: [RecordState] = []
    private var newest: [String: Int] = [:]
    /// The children of the records that a request of the group deletes, as many as the snapshot has.
    private var children: [String: Set<String>]
    /// Whether some of these lack theirs, because there are too many.
    let areChildrenCut: Bool
    /// The uploaded ones among the assets that the group's saves name.
    private let uploadedAssets: Set<FieldAsset>
    /// As they were read.
    private let assetClaims: [FieldAsset: AssetClaims]
    /// The ids of the zone's keys, if a save of the group has encrypted values.
    let zoneKeyIDs: Set<[UInt8]>
    /// The assets that changed records named before, for those that named any.
    private var assetsBefore: [String: [FieldAsset]] = [:]
    /// Changed records that name assets now or did before.
    private var changedWithAssets: Set<String> = []
    /// The living versions that were read and have been replaced.
    private var replaced: [RecordState] = []
    /// Records that were changed and named the asset then; only if somebody may want to name it for their sake.
    private var newHolders: [FieldAsset: Set<String>] = [:]
    /// How many bytes of fields each record has that was read without them.
    private let unread: [String: Int]
    /// How many bytes the living records have grown since, as quotas count them.
    private(set) var byteGrowth: Int64 = 0
    /// How many bytes the tombstones have grown since.
    private(set) var tombstoneGrowth: Int64 = 0
    /// The use of a public database by the creators of records; nil: the database is not public.
    private var creators: CreatorUses?
    private(set) var references: ReferenceTable
    /// The zone's shares, if the group needs them. Most groups do not.
    private(set) var shares: ShareTable?
    /// The shared hierarchies that cover its records; nil: none is shared.
    private(set) var hierarchies: HierarchyTable?
    /// The value in the zone's row.
    private let saysHierarchies: Bool
    /// The cause of the next changes.
    var cause: ChangeCause?

    /// Nil if the zone does not live.
    init?(_ snapshot: ZoneSnapshot, store: StoreIncarnation) {
        guard let zone = snapshot.zone else { return nil }
        self.zone = zone.id
        self.store = store
        changeNumber = zone.changeNumber
        records = snapshot.records
        children = snapshot.children.mapValues(Set.init)
        areChildrenCut = snapshot.areChildrenCut
        references = ReferenceTable(snapshot)
        uploadedAssets = snapshot.assets
        assetClaims = snapshot.assetClaims
        zoneKeyIDs = snapshot.zoneKeyIDs
        unread = snapshot.unread
        creators = snapshot.publicUse.map(CreatorUses.init)
        shares = ShareTable(snapshot)
        hierarchies = HierarchyTable(snapshot)
        saysHierarchies = zone.hasHierarchies
    }

    /// The newest version of the record: its fields or its tombstone. It says which share of a hierarchy covers it now.
    subscript(name: String) -> RecordState? {
        guard let hierarchies else { return version(of: name) }
        return version(of: name)?
            .covered(by: hierarchies.share(of: name), asRootOf: hierarchies.shareName(ofRoot: name))
    }

    private func version(of name: String) -> RecordState? {
        if !newest.isEmpty, let index = newest[name] { return versions[index] }
        return records[name]
    }

    func living(_ name: String) -> RecordState? {
        guard let record = self[name], !record.isDeleted else { return nil }
        return record
    }

    /// Whether the newest version of the record was read without its fields.
    func isUnread(_ name: String) -> Bool {
        !unread.isEmpty && unread[name] != nil && newest[name] == nil
    }

    func tag(of record: RecordState) -> ChangeTag {
        .version(store: store, zone: zone, number: record.changeNumber)
    }

    /// The living records whose parent this is.
    func children(of name: String) -> Set<String> { children[name] ?? [] }

    /// Whether a record may name the asset. It must be uploaded, and in a database of several users this caller
    /// must be allowed to name it. Changes of earlier requests of the group count.
    func mayName(_ asset: FieldAsset, in name: String, _ access: RecordAccess) -> Bool {
        guard uploadedAssets.contains(asset) else { return false }
        if access.scope == .private { return true }
        func isNamed(by record: RecordState) -> Bool {
            AssetRules.isNamed(asset, by: record) && access.mayRead(record)
        }
        if let current = self[name], isNamed(by: current) { return true }
        let claims = assetClaims[asset] ?? AssetClaims()
        // A share's permissions apply only in its zone.
        let holders = access.scope == .shared ? claims.holders.filter { $0.zone == zone } : claims.holders
        return claims.isSender(access.user)
            || holders.contains { newest[$0.name] == nil && access.mayRead($0) }
            || newHolders[asset, default: []].contains { self[$0].map(isNamed) ?? false }
    }

    /// Everything that changed, by growing change number.
    var changedRecords: [RecordState] {
        // NB: usually no record changes twice, and nothing needs to be copied.
        if newest.count == versions.count { return versions }
        return versions.indices.compactMap { newest[versions[$0].name] == $0 ? versions[$0] : nil }
    }

    /// Names of records that several of these runs of versions wrote. Each run ends with a change number.
    func writtenBySeveral(_ runs: [(end: ChangeNumber, life: DeviceID)]) -> Set<String> {
        guard newest.count < versions.count else { return [] }
        var (lives, several, run): ([String: DeviceID], Set<String>, Int) = ([:], [], 0)
        for version in versions {
            while run < runs.count, runs[run].end < version.changeNumber { run += 1 }
            guard run < runs.count else { break }
            let life = runs[run].life
            if lives.updateValue(life, forKey: version.name).map({ $0 != life }) == true {
                several.insert(version.name)
            }
        }
        return several
    }

    /// The assets that each changed record began or ceased to name, by the records' names.
    var assetUses: [AssetUse] {
        changedWithAssets.sorted().compactMap { name in
            guard let record = self[name] else { return nil }
            let before = assetsBefore[name] ?? []
            let now = record.fields.assets
            let wasUnread = unread[name] != nil
            guard before != now || wasUnread else { return nil }
            return AssetUse(
                recordName: name, at: record.modifiedAt, added: now.filter { !before.contains($0) },
                removed: before.filter { !now.contains($0) }, removesUnread: wasUnread,
                addedBy: creators == nil ? nil : record.createdBy,
                removedFrom: creators == nil ? nil : records[name]?.createdBy)
        }
    }

    /// How many bytes the zone would grow if the record replaced `old`.
    func growth(by record: RecordState, over old: RecordState?) -> Int64 {
        let growth = record.countedBytes(fieldBytes: record.fields.byteCount)
        guard let old else { return growth }
        let unreadCount = isUnread(old.name) ? unread[old.name] : nil
        return growth - old.countedBytes(fieldBytes: unreadCount ?? old.fields.byteCount)
    }

    // MARK: Shares of a public database

    /// Whether what one account creates is bounded.
    var isShared: Bool { creators?.isBounded == true }

    /// The use of the share of a public database that a user's records have; nil: there is no bound.
    func share(of user: UserID) -> StorageUse? { creators?.share(of: user) }

    /// By how many bytes the share of the record's creator would grow if the record replaced `old`, a version of the same creator or a
    /// tombstone.
    func shareGrowth(by record: RecordState, over old: RecordState?) -> Int64 {
        growth(by: record, over: old) + record.assetBytes - (old?.assetBytes ?? 0)
    }

    /// Counts a new version for its creator, and takes the version before from the one who created that.
    private mutating func countCreators(of record: RecordState, over old: RecordState?) {
        guard creators != nil else { return }
        if let old, !old.isDeleted {
            let fieldBytes = isUnread(old.name) ? unread[old.name] : nil
            let byteCount = old.countedBytes(fieldBytes: fieldBytes ?? old.fields.byteCount) + old.assetBytes
            creators?.grow(by: -byteCount, of: old.createdBy)
        }
        creators?.grow(
            by: record.countedBytes(fieldBytes: record.fields.byteCount) + record.assetBytes, of: record.createdBy)
    }

    /// Reserves memory for this many versions, if they are many.
    mutating func reserve(_ count: Int) {
        guard count > 8 else { return }
        versions.reserveCapacity(versions.count + count)
        newest.reserveCapacity(newest.count + count)
    }

    /// Gives a version the next change number and makes it the current one.
    ///
    /// - Parameters:
    ///   - old: the version until now, or the tombstone.
    ///   - batchEnd: the last number of the version's atomic batch; nil if the version is not in a batch. A page of the
    ///     feed should not end within the batch (I-3).
    /// - Returns: the change number.
    mutating func write(_ version: RecordState, over old: RecordState?, batchEnd: ChangeNumber?) -> ChangeNumber {
        changeNumber += 1
        version.place(at: changeNumber, batchEnd: batchEnd ?? changeNumber, cause: cause)
        replace(old, with: version)
        hierarchies?.replace(old, with: version)
        if let ended = shares?.follow(version) { hierarchies?.end(ended) }
        return changeNumber
    }

    // MARK: Shares

    /// Takes in what the newest version of a CKShare record stands for.
    mutating func change(_ changes: SharingChanges?) {
        guard let changes else { return }
        shares?.take(changes)
        if let share = changes.insertedShare, share.isOfHierarchy { hierarchies?.add(share) }
    }

    /// A CKShare record and the root of its hierarchy follow each other. A deleted root takes its CKShare record
    /// along, and a root whose share has ended gets a new version.
    ///
    /// - Parameters:
    ///   - roots: the roots of living shares before.
    ///   - number: the zone's number before.
    mutating func followRoots(
        _ roots: [String: ShareNumber], since number: ChangeNumber, now: Timestamp, by user: UserID
    ) {
        guard !roots.isEmpty else { return }
        for (root, share) in roots.sorted(by: { $0.key < $1.key }) {
            guard let share = shares?.sharing.shares[share], let record = self[root] else { continue }
            if record.isDeleted, share.isLiving {
                let old = self[share.recordName]
                let tombstone = old.flatMap { $0.isDeleted ? nil : $0.tombstone(at: now, by: user) }
                _ = write(
                    tombstone ?? .lostShare(named: share.recordName, at: now, by: user), over: old, batchEnd: nil)
            } else if !record.isDeleted, !share.isLiving, record.changeNumber <= number, !isUnread(root) {
                _ = write(record.touched(at: now), over: record, batchEnd: nil)
            }
        }
    }

    /// All moves of a request are known: everything below the moved records is now at its new place.
    mutating func settleMoves() { hierarchies?.settle() }

    /// Gives the CKShare record of a share a new version, with which the share changes.
    ///
    /// - Parameter changes: at the next change number.
    /// - Returns: why that cannot be; nil: it is so.
    mutating func touchShare(_ changes: SharingChanges, now: Timestamp) -> FailureReason? {
        precondition(changes.number == changeNumber + 1)
        guard let name = shares?.sharing.shares[changes.share]?.recordName, let record = living(name) else {
            return .serverFault
        }
        if isUnread(name) { return .tooMuchAtOnce }
        _ = write(record.touched(at: now), over: record, batchEnd: nil)
        shares?.take(changes)
        return nil
    }

    // MARK: Changes to write

    /// The changes of the transaction.
    ///
    /// - Parameter memories: by life of a device, those that have changed.
    func changes(
        in database: DatabaseID, memories: [DeviceID: RequestMemory] = [:], clientTokens: [DeviceID: [UInt8]] = [:],
        tokenUsers: [DeviceID: UserID] = [:], limits: Limits
    ) -> ZoneChanges {
        let covered = hierarchies.map { table in
            table.settled.rows(over: Dictionary(changedRecords.map { ($0.name, $0) }) { $1 }, after: changeNumber)
        }
        var changes = ZoneChanges(
            database: database, zone: zone, changeNumber: covered?.changeNumber ?? changeNumber,
            // A root's share is not stored with the root, because it ends with the share.
            records: hierarchies == nil
                ? changedRecords : changedRecords.map { $0.covered(by: $0.share, asRootOf: nil) },
            replaced: replaced, byteGrowth: byteGrowth, tombstoneGrowth: tombstoneGrowth, memories: memories,
            references: references.written, clientTokens: clientTokens, tokenUsers: tokenUsers,
            clientTokensMax: limits.clientTokensMax, participantTokensMax: limits.participantTokensMax,
            assetUses: assetUses, sharing: shares?.changes ?? [], shareRecords: covered?.rows ?? [],
            hasHierarchies: changedHierarchies)
        changes.creatorGrowth = creators?.changed ?? [:]
        if covered != nil {
            changes.mayExceedRows = (shares?.sharing.shares.count ?? 0) >= ShareRecord.rowsMax
        }
        return changes
    }

    /// Whether hierarchies are shared now, if the zone says otherwise. With the end of the last one it says so no more, and is
    /// read and written as one that shares nothing.
    private var changedHierarchies: Bool? {
        // NB: they are read in each zone that says that it has some, and wherever a share may be made.
        guard let hasSome = shares?.sharing.hasHierarchies, hasSome != saysHierarchies else { return nil }
        return hasSome
    }

    private mutating func replace(_ old: RecordState?, with record: RecordState) {
        byteGrowth += growth(by: record, over: old)
        countCreators(of: record, over: old)
        tombstoneGrowth += record.tombstoneBytes - (old?.tombstoneBytes ?? 0)
        let isFirstChange = newest.updateValue(versions.count, forKey: record.name) == nil
        versions.append(record)
        if isFirstChange, let old, !old.isDeleted { replaced.append(old) }
        if let parent = old?.parent { children[parent]?.remove(record.name) }
        if let parent = record.parent { children[parent, default: []].insert(record.name) }
        let wasUnread = unread[record.name] != nil
        references.replace(old, with: record, wasUnread: wasUnread)
        if !assetClaims.isEmpty, record.fields.mayNameOthers {
            for asset in record.fields.assets { newHolders[asset, default: []].insert(record.name) }
        }
        let before = isFirstChange ? old?.fields.assets ?? [] : []
        if !before.isEmpty { assetsBefore[record.name] = before }
        if !before.isEmpty || record.fields.mayNameOthers || wasUnread {
            changedWithAssets.insert(record.name)
        }
    }
}
