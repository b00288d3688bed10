// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
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
    /// Stands for the database itself: its owner's devices, or all that come to a public one.
    static let noUser = UserID(0)

    let database: DatabaseID
    let zone: ZoneID
    let device: DeviceID
    /// The participant whose device it is.
    let user: UserID
    let token: [UInt8]
}

/// A record whose rows of `record_reference` change.
struct HolderRow: Sendable {
    let database: DatabaseID
    let zone: ZoneID
    let holder: String
    /// Whether its references go that are not written with it.
    let losesOthers: Bool
}

/// A reference that is there afterwards, of the holder at a place in a list.
struct HeldRow: Sendable {
    /// Counted from 1.
    let place: Int32
    let target: String
}

/// What a group of zones writes.
struct ZoneWrites: Sendable {
    let zones: [ZoneChanges]
    /// One for each zone.
    let digests: [ZoneDigestChange]
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
        digests = ZoneDigestChange.all(of: changes)
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
        isOneRun ? sql.records.writeRunIfStill(self) : sql.records.writeIfStill(self)
    }

    /// Whether this is what a request of a device usually writes.
    private var isOneRun: Bool { zones.count == 1 && records.runs.count == 1 && memories.count == 1 }

    /// One round trip: final states, then COMMIT.
    var calls: [Call<Void>] {
        var calls: [Call<Void>] = []
        if zones.contains(where: { !$0.records.isEmpty || !$0.memories.isEmpty }) {
            calls.append(isOneRun ? sql.records.writeRun(self) : sql.records.write(self))
        }
        let creators = creators
        if !creators.isEmpty { calls.append(sql.publicUses.count(creators)) }
        calls += AssetUseWrites(zones).calls
        let references = references
        if !references.holders.isEmpty { calls.append(sql.records.writeReferences(references)) }
        let clientTokens = clientTokens
        if !clientTokens.isEmpty {
            // All zones have the same bounds.
            calls.append(
                sql.records.writeClientTokens(
                    (clientTokens, zones[0].clientTokensMax, zones[0].participantTokensMax)))
        }
        return calls + SharingWrites(zones).calls + [.commit]
    }

    /// Empty unless a database is public.
    private var creators: [CreatorGrowthRow] {
        zones.flatMap { zone in
            zone.creatorGrowth.sorted { $0.key.rawValue < $1.key.rawValue }.map { creator, byteCount in
                CreatorGrowthRow(database: zone.database, creator: creator, byteCount: byteCount)
            }
        }
    }

    private var clientTokens: [ClientTokenRow] {
        zones.flatMap { zone in
            zone.clientTokens.sorted { $0.key < $1.key }.map { device, token in
                ClientTokenRow(
                    database: zone.database, zone: zone.zone, device: device,
                    user: zone.tokenUsers[device] ?? ClientTokenRow.noUser, token: token)
            }
        }
    }

    /// Holders that hold some stand first, because PostgreSQL walks through an array of names to a place in it.
    private var references: (holders: [HolderRow], held: [HeldRow]) {
        var (holders, others): ([HolderRow], [HolderRow]) = ([], [])
        var held: [HeldRow] = []
        for zone in zones where !zone.references.isEmpty {
            let losers = Set(zone.references.dropped)
            func row(_ holder: String) -> HolderRow {
                HolderRow(
                    database: zone.database, zone: zone.zone, holder: holder, losesOthers: losers.contains(holder))
            }
            var places: [String: Int32] = [:]
            for reference in zone.references.added {
                let place = places[reference.holder] ?? Int32(holders.count + 1)
                if places.updateValue(place, forKey: reference.holder) == nil { holders.append(row(reference.holder)) }
                held.append(HeldRow(place: place, target: reference.target))
            }
            others += zone.references.dropped.filter { places[$0] == nil }.map(row)
        }
        return (holders + others, held)
    }
}

extension ZoneChanges {
    /// The bytes of the largest record's fields.
    var largestRecord: Int { records.lazy.map(\.fields.byteCount).max() ?? 0 }
}

extension ZoneDigestChange {
    // PostgreSQL has no unsigned numbers.
    var high: Int64 { Int64(bitPattern: digest.high) }
    var low: Int64 { Int64(bitPattern: digest.low) }
}
