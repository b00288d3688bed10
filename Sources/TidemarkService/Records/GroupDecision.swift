// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// What the rules say about the requests of one transaction: every request's own outcome, and the final states to write.
///
/// Decided on an overlay for each zone, so that a later request of the group sees what the earlier ones did.
struct GroupDecision: Sendable {
    /// One a request, in order.
    private(set) var outcomes: [Result<RecordsOutcome, FailureReason>] = []
    /// Only zones in which something is to be written, if only a remembered outcome.
    let changes: [ZoneChanges]
    /// Zones whose records changed, for each device that changed them.
    let notices: [ZoneNotice]

    /// - Parameters:
    ///   - keys: each zone of `entries` once.
    ///   - snapshots: what was read of them, in the same order.
    ///   - schemas: in the versions that the snapshots tell of.
    init(
        _ entries: [WriteQueue.Entry], keys: [ZoneKey], snapshots: [ZoneSnapshot], store: StoreIncarnation,
        schemas: [ContainerID: KnownSchema] = [:], limits: Limits, now: Timestamp
    ) {
        var overlays = snapshots.map { ZoneOverlay(snapshot: $0, store: store, limits: limits) }
        let indices = Dictionary(uniqueKeysWithValues: zip(keys, overlays.indices))
        // Zones of one database share what room there is.
        var uses = Dictionary(
            zip(keys, snapshots).compactMap { key, snapshot in snapshot.storageUse.map { (key.database, $0) } },
            uniquingKeysWith: { first, _ in first })
        for entry in entries {
            guard let index = indices[entry.key] else {
                outcomes.append(.failure(.serverFault))
                continue
            }
            let byteGrowth = overlays[index].byteGrowth
            outcomes.append(overlays[index].apply(entry.request, now: now, use: uses[entry.key.database]))
            uses[entry.key.database]?.byteCount += overlays[index].byteGrowth - byteGrowth
        }
        changes = zip(overlays, snapshots).compactMap { overlay, snapshot in
            guard var changes = overlay.changes else { return nil }
            if let schema = snapshot.schema.flatMap({ schemas[$0.container] }) {
                changes.indexColumns = schema.indexColumns(of: changes)
            }
            return changes
        }
        notices = zip(keys, overlays).flatMap { key, overlay in
            overlay.movedBy.sorted().map { ZoneNotice(database: key.database, device: $0, zoneName: key.name) }
        }
    }

    /// One a zone: all that its requests need to have read.
    static func reads(of entries: [WriteQueue.Entry], keys: [ZoneKey]) -> [ZoneRead] {
        let requests = Dictionary(grouping: entries, by: \.key)
        return keys.map { key in ZoneRead.merging((requests[key] ?? []).map { $0.request.read(in: key.database) }) }
    }
}
