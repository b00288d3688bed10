// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness

/// What the rules decide on the requests of one transaction: an outcome for each request, and the final states to
/// write.
///
/// There is one overlay for each zone, so that a request of the group sees what earlier ones did.
struct GroupDecision: Sendable {
    /// One for each request, in order.
    private(set) var outcomes: [Result<RecordsOutcome, FailureReason>] = []
    /// Only zones in which something must be written, even if only a remembered outcome.
    let changes: [ZoneChanges]
    /// The zones whose records changed, each once.
    let moved: ZonesMoved
    /// How many more bytes are remembered of each owner's requests.
    let memoryGrowth: [WorkOwner: Int]
    /// How many of these bytes are in zones of others.
    let memoryElsewhere: [WorkOwner: Int]
    /// Databases in which deletions have left too much.
    let fullOfTombstones: Set<DatabaseID>

    /// - Parameters:
    ///   - keys: each zone of `entries` once.
    ///   - snapshots: what was read of the zones, in the same order.
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
        let indices = Dictionary(uniqueKeysWithValues: zip(keys, overlays.indices))
        // Zones of one database share its quota.
        var uses = Dictionary(
            zip(keys, snapshots).compactMap { key, snapshot in snapshot.storageUse.map { (key.database, $0) } },
            uniquingKeysWith: { first, _ in first })
        // And databases of one account that of the account.
        var accountUses = Dictionary(
            snapshots.compactMap { $0.accountUse.map { ($0.account, $0.use) } }, uniquingKeysWith: { first, _ in first }
        )
        outcomes.reserveCapacity(entries.count)
        for part in entries.zones {
            guard let key = part.first?.key, let index = indices[key] else {
                outcomes += part.map { _ in .failure(.serverFault) }
                continue
            }
            for entry in part {
                let arrivalEpoch = entry.arrivalEpoch
                guard !uses.isEmpty || !accountUses.isEmpty else {
                    outcomes.append(overlays[index].apply(entry.request, arrivalEpoch: arrivalEpoch, now: now))
                    continue
                }
                let byteGrowth = overlays[index].byteGrowth
                let account = snapshots[index].accountUse?.account
                let use = StorageUse.tighter(uses[key.database], account.flatMap { accountUses[$0] })
                outcomes.append(overlays[index].apply(entry.request, arrivalEpoch: arrivalEpoch, now: now, use: use))
                uses[key.database]?.byteCount += overlays[index].byteGrowth - byteGrowth
                if let account { accountUses[account]?.byteCount += overlays[index].byteGrowth - byteGrowth }
            }
        }
        var news: [ZoneNews] = []
        var growth: [DatabaseID: Int64] = [:]
        let owners = Dictionary(entries.lazy.map { ($0.request.memoryLife, $0.owner) }) { first, _ in first }
        // A device has another life in zones of others than in its own (`RecordAccess.marking`), so no life is in both.
        let guests = Set(entries.lazy.filter { $0.request.access.scope == .shared }.map(\.request.memoryLife))
        var memoryGrowth: [WorkOwner: Int] = [:]
        var memoryElsewhere: [WorkOwner: Int] = [:]
        var reshared: Set<ZoneKey> = []
        changes = zip(overlays, snapshots).compactMap { overlay, snapshot in
            guard var changes = overlay.changes else { return nil }
            // A zone's change number is its part of the database's mark.
            growth[changes.database, default: 0] += changes.changeNumber - (snapshot.zone?.changeNumber ?? 0)
            if !changes.sharing.isEmpty, let zone = snapshot.zone { reshared.insert(zone.key) }
            if let some = ZoneNews(of: changes, before: snapshot.zone, store: store) { news.append(some) }
            for (life, memory) in changes.memories {
                let owner: WorkOwner = owners[life] ?? .nobody
                let bytes = memory.growth(since: snapshot.memories[life])
                memoryGrowth[owner, default: 0] += bytes
                if !guests.isEmpty, guests.contains(life) { memoryElsewhere[owner, default: 0] += bytes }
            }
            if let schema = snapshot.schema.flatMap({ schemas[$0.container] }) {
                changes.indexColumns = schema.indexColumns(of: changes)
            }
            return changes
        }
        self.memoryGrowth = memoryGrowth
        self.memoryElsewhere = memoryElsewhere
        let notices = zip(keys, overlays).compactMap { key, overlay -> ZoneNotice? in
            guard let first = overlay.movedBy.first else { return nil }
            // If several devices changed the zone, each of them is told, like everybody else.
            let life = overlay.movedBy.count == 1 ? first : .nobody
            return ZoneNotice(
                database: key.database, life: life, zoneName: key.name,
                changesShares: !reshared.isEmpty && reshared.contains(key))
        }
        moved = ZonesMoved(notices, news: news, growth: growth)
    }

    /// One for each zone: everything that its requests need.
    static func reads(of entries: [WriteQueue.Entry], keys: [ZoneKey], limits: Limits) -> [ZoneRead] {
        if keys.count == 1 { return [ZoneRead(of: entries.map(\.request), in: keys[0], limits: limits)] }
        var requests: [ZoneKey: [RecordsRequest]] = [:]
        for part in entries.zones { requests[part[part.startIndex].key, default: []] += part.lazy.map(\.request) }
        return keys.map { ZoneRead(of: requests[$0] ?? [], in: $0, limits: limits) }
    }
}
