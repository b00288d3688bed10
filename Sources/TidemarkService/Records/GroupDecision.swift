// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness

/// The rules' decisions on the requests of one transaction: an outcome for each request, and the final states to write.
///
/// There is one overlay for each zone, so that a request of the group sees what earlier ones did.
struct GroupDecision: Sendable {
    /// One for each request, in order.
    let outcomes: [Result<RecordsOutcome, FailureReason>]
    /// Only zones in which something must be written, even if only a remembered outcome.
    let changes: [ZoneChanges]
    /// The zones whose records changed, each once.
    let moved: ZonesMoved
    /// The writes in these zones, for query subscriptions.
    let written: [WrittenZone]
    /// How many more bytes are remembered of each owner's requests.
    let memoryGrowth: [WorkOwner: Int]
    /// How many of these bytes are in zones of others.
    let memoryElsewhere: [WorkOwner: Int]
    /// Databases in which deletions have left too much.
    let fullOfTombstones: Set<DatabaseID>

    /// - Parameters:
    ///   - keys: each zone of `entries` once.
    ///   - snapshots: the data that was read of the zones, in the same order.
    ///   - schemas: in the versions that the snapshots name.
    init(
        _ entries: [WriteQueue.Entry], keys: [ZoneKey], snapshots: [ZoneSnapshot], store: StoreIncarnation,
        schemas: [ContainerID: KnownSchema] = [:], limits: Limits, now: Timestamp
    ) {
        fullOfTombstones = Set(
            zip(keys, snapshots).compactMap { key, snapshot in
                snapshot.hasTooManyTombstones(within: limits) ? key.database : nil
            })
        let overlays = snapshots.map { ZoneOverlay(snapshot: $0, store: store, limits: limits) }
        outcomes = Self.outcomes(of: entries, keys: keys, snapshots, overlays, now: now)
        var effects = GroupEffects(of: entries, store: store)
        var written: [WrittenZone] = []
        changes = zip(overlays, snapshots).compactMap { overlay, snapshot in
            guard var changes = overlay.changes else { return nil }
            effects.take(changes, of: snapshot)
            if !changes.records.isEmpty {
                written.append(WrittenZone(changes, of: snapshot, by: overlay.makers))
            }
            if let schema = snapshot.schema.flatMap({ schemas[$0.container] }) {
                changes.indexColumns = schema.indexColumns(of: changes)
            }
            return changes
        }
        self.written = written
        memoryGrowth = effects.memoryGrowth
        memoryElsewhere = effects.memoryElsewhere
        moved = effects.moved(keys: keys, overlays)
    }

    /// Decides the requests, one after another. Each sees what earlier ones did, and has the room that they left.
    private static func outcomes(
        of entries: [WriteQueue.Entry], keys: [ZoneKey], _ snapshots: [ZoneSnapshot], _ overlays: [ZoneOverlay],
        now: Timestamp
    ) -> [Result<RecordsOutcome, FailureReason>] {
        let indices = Dictionary(uniqueKeysWithValues: zip(keys, overlays.indices))
        var uses = GroupUses(of: keys, snapshots)
        var outcomes: [Result<RecordsOutcome, FailureReason>] = []
        outcomes.reserveCapacity(entries.count)
        for part in entries.zones {
            guard let key = part.first?.key, let index = indices[key] else {
                outcomes += part.map { _ in .failure(.serverFault) }
                continue
            }
            let overlay = overlays[index]
            for entry in part {
                let arrivalEpoch = entry.arrivalEpoch
                guard !uses.isEmpty else {
                    outcomes.append(
                        overlay.apply(entry.request, arrivalEpoch: arrivalEpoch, now: now, cause: entry.cause))
                    continue
                }
                let byteGrowth = overlay.byteGrowth
                let account = snapshots[index].accountUse?.account
                let use = uses.tightest(of: key.database, account)
                outcomes.append(
                    overlay.apply(
                        entry.request, arrivalEpoch: arrivalEpoch, now: now, use: use, cause: entry.cause))
                uses.grow(by: overlay.byteGrowth - byteGrowth, in: key.database, account)
            }
        }
        return outcomes
    }

    /// One for each zone: everything that its requests need.
    static func reads(of entries: [WriteQueue.Entry], keys: [ZoneKey], limits: Limits) -> [ZoneRead] {
        if keys.count == 1 { return [ZoneRead(of: entries.map(\.request), in: keys[0], limits: limits)] }
        var requests: [ZoneKey: [RecordsRequest]] = [:]
        for part in entries.zones { requests[part[part.startIndex].key, default: []] += part.lazy.map(\.request) }
        return keys.map { ZoneRead(of: requests[$0] ?? [], in: $0, limits: limits) }
    }
}

/// How full the databases and accounts of a group are, with what its requests have changed so far.
private struct GroupUses {
    /// Zones of one database share its quota.
    private var databases: [DatabaseID: StorageUse]
    /// Databases of one account share that of the account.
    private var accounts: [AccountID: StorageUse]

    init(of keys: [ZoneKey], _ snapshots: [ZoneSnapshot]) {
        databases = Dictionary(
            zip(keys, snapshots).compactMap { key, snapshot in snapshot.storageUse.map { (key.database, $0) } },
            uniquingKeysWith: { first, _ in first })
        accounts = Dictionary(
            snapshots.compactMap { $0.accountUse.map { ($0.account, $0.use) } }, uniquingKeysWith: { first, _ in first }
        )
    }

    /// Whether there is no quota.
    var isEmpty: Bool { databases.isEmpty && accounts.isEmpty }

    /// The quota that leaves less room.
    func tightest(of database: DatabaseID, _ account: AccountID?) -> StorageUse? {
        StorageUse.tighter(databases[database], account.flatMap { accounts[$0] })
    }

    mutating func grow(by byteCount: Int64, in database: DatabaseID, _ account: AccountID?) {
        databases[database]?.byteCount += byteCount
        if let account { accounts[account]?.byteCount += byteCount }
    }
}

/// The effects of a group's changes on others: on devices and servers that get them, and on the owners of memory.
private struct GroupEffects {
    private let store: StoreIncarnation
    private let owners: [DeviceID: WorkOwner]
    private let guests: Set<DeviceID>
    private var news: [ZoneNews] = []
    private var growth: [DatabaseID: Int64] = [:]
    /// Zones whose shares changed.
    private var reshared: Set<ZoneKey> = []
    private var types: [ZoneKey: ChangedTypes] = [:]
    private(set) var memoryGrowth: [WorkOwner: Int] = [:]
    private(set) var memoryElsewhere: [WorkOwner: Int] = [:]

    init(of entries: [WriteQueue.Entry], store: StoreIncarnation) {
        self.store = store
        owners = Dictionary(entries.lazy.map { ($0.request.memoryLife, $0.owner) }) { first, _ in first }
        // A device has another life in zones of others than in its own (`RecordAccess.marking`), so no life is in both.
        guests = Set(entries.lazy.filter { $0.request.access.scope == .shared }.map(\.request.memoryLife))
    }

    /// Takes in the changes of one zone.
    mutating func take(_ changes: ZoneChanges, of snapshot: ZoneSnapshot) {
        // A zone's change number is its part of the database's mark.
        growth[changes.database, default: 0] += changes.changeNumber - (snapshot.zone?.changeNumber ?? 0)
        if !changes.sharing.isEmpty, let zone = snapshot.zone { reshared.insert(zone.key) }
        if !changes.records.isEmpty { types[snapshot.key] = ChangedTypes(of: changes) }
        if let some = ZoneNews(of: changes, before: snapshot.zone, store: store) { news.append(some) }
        for (life, memory) in changes.memories {
            let owner: WorkOwner = owners[life] ?? .nobody
            let bytes = memory.growth(since: snapshot.memories[life])
            memoryGrowth[owner, default: 0] += bytes
            if !guests.isEmpty, guests.contains(life) { memoryElsewhere[owner, default: 0] += bytes }
        }
    }

    /// The notices and pushes, once the changes of all zones are included.
    func moved(keys: [ZoneKey], _ overlays: [ZoneOverlay]) -> ZonesMoved {
        let notices = zip(keys, overlays).compactMap { key, overlay -> ZoneNotice? in
            guard let first = overlay.movedBy.first else { return nil }
            // If several devices changed the zone, each of them gets a push, like all others.
            let life = overlay.movedBy.count == 1 ? first : .nobody
            return ZoneNotice(
                database: key.database, life: life, zoneName: key.name,
                changesShares: !reshared.isEmpty && reshared.contains(key))
        }
        return ZonesMoved(notices, news: news, growth: growth, types: types)
    }
}

extension WrittenZone {
    fileprivate init(_ changes: ZoneChanges, of snapshot: ZoneSnapshot, by makers: ChangeMakers) {
        self.init(
            key: snapshot.key, makers: makers, records: changes.records, replaced: changes.replaced,
            unread: snapshot.unread.isEmpty ? [] : Set(snapshot.unread.keys),
            part: ChangeRanges.Part(after: snapshot.zone?.changeNumber ?? 0, upTo: changes.changeNumber))
    }
}
