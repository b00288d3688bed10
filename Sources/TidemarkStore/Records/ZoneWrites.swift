// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkPostgres
internal import TidemarkService

/// A row of `request_memory`.
struct MemoryRow: Sendable {
    let database: DatabaseID
    let zone: ZoneID
    let life: DeviceID
    let memory: RequestMemory
}

/// A row of `client_token`.
struct ClientTokenRow: Sendable {
    let database: DatabaseID
    let zone: ZoneID
    let device: DeviceID
    let token: [UInt8]
}

/// A row of `record_reference`. Without its target, all references of the holder.
struct HolderRow: Sendable {
    let database: DatabaseID
    let zone: ZoneID
    let holder: String
}

/// A reference to write, of the holder at a place in a list.
struct AddedReference: Sendable {
    /// Counted from 1.
    let place: Int32
    let target: String
}

/// What a group of zones writes.
struct ZoneWrites: Sendable {
    let zones: [ZoneChanges]
    let records: RecordColumns
    let memories: [MemoryRow]

    // What must still be so, for a write that does not lock its zones before.
    let moments: [ZoneMoment]
    let absent: [AbsentRecord]

    /// A record that must not exist.
    struct AbsentRecord: Sendable {
        let database: DatabaseID
        let zone: ZoneID
        let name: String
    }

    /// - Parameter moments: one for each zone, in the order of the changes. All are of one store and one version of its
    ///   schemas.
    init(_ changes: [ZoneChanges], ifStill moments: [ZoneMoment] = []) {
        zones = changes
        records = RecordColumns(changes)
        // In one order everywhere, so that two transactions never deadlock.
        memories = changes.flatMap { zone in
            zone.memories.sorted { $0.key < $1.key }.map { life, memory in
                MemoryRow(database: zone.database, zone: zone.zone, life: life, memory: memory)
            }
        }
        self.moments = moments
        absent = moments.flatMap { moment in
            moment.absentNames.map { AbsentRecord(database: moment.database, zone: moment.zone, name: $0) }
        }
    }

    /// A transaction by itself, which writes only if the zones are unchanged. Its answer is whether it has written.
    var callIfStill: Call<Bool> {
        let isOneRun = zones.count == 1 && records.runs.count == 1 && memories.count == 1
        return isOneRun ? sql.records.writeRunIfStill(self) : sql.records.writeIfStill(self)
    }

    /// One round trip: final states, then COMMIT.
    var calls: [Call<Void>] {
        var calls: [Call<Void>] = []
        if zones.contains(where: { !$0.records.isEmpty || !$0.memories.isEmpty }) {
            calls.append(sql.records.write(self))
        }
        calls += AssetUseWrites(zones).calls
        if !droppedReferences.isEmpty { calls.append(sql.records.dropReferences(droppedReferences)) }
        let added = addedReferences
        if !added.holders.isEmpty { calls.append(sql.records.addReferences(added)) }
        if let countMax = zones.lazy.map(\.clientTokensMax).min(), !clientTokens.isEmpty {
            calls.append(sql.records.writeClientTokens((clientTokens, countMax)))
        }
        return calls + [.commit]
    }

    private var clientTokens: [ClientTokenRow] {
        zones.flatMap { zone in
            zone.clientTokens.sorted { $0.key < $1.key }.map { device, token in
                ClientTokenRow(database: zone.database, zone: zone.zone, device: device, token: token)
            }
        }
    }

    private var droppedReferences: [HolderRow] {
        zones.flatMap { zone in
            zone.references.dropped.map { HolderRow(database: zone.database, zone: zone.zone, holder: $0) }
        }
    }

    private var addedReferences: (holders: [HolderRow], added: [AddedReference]) {
        var holders: [HolderRow] = []
        var added: [AddedReference] = []
        for zone in zones {
            // Those of one holder stand together.
            var last: String?
            for reference in zone.references.added {
                if reference.holder != last {
                    holders.append(HolderRow(database: zone.database, zone: zone.zone, holder: reference.holder))
                }
                last = reference.holder
                added.append(AddedReference(place: Int32(holders.count), target: reference.target))
            }
        }
        return (holders, added)
    }
}

extension ZoneChanges {
    /// The bytes of the largest record's fields.
    var largestRecord: Int { records.lazy.map(\.fields.byteCount).max() ?? 0 }
}
