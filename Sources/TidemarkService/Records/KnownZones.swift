// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields

/// A server's knowledge of zones in which it was the last to write: their newest records, and the memory of requests.
///
/// A request that this cache can decide needs one database round trip instead of two. If a zone has more records than
/// the cache keeps, the missing ones that a request names are read first, without a lock. They are not read if the
/// request says that they are new.
///
/// The cache is never trusted. ``Storage/commit(_:at:)`` writes only if nobody else has written in the zone since, and
/// if records that were assumed to be new are new. So servers do not have to notify each other, and an entry may be
/// dropped at any time. Accounts share the room: the account that uses most gives way to a new zone.
struct KnownZones {
    /// Everything that the rules need, as a transaction would have read it.
    struct Knowledge {
        var snapshots: [ZoneSnapshot] = []
        /// One for each snapshot. Unknown records are among its ``ZoneMoment/absentNames``.
        var moments: [ZoneMoment] = []

        var hasUnknown: Bool { moments.contains { !$0.absentNames.isEmpty } }

        /// Whether every request that names unknown records saves them as new. Such a save has no tag, and the policy
        /// that never replaces unseen versions. If the guess is wrong it costs one more round trip, and nothing
        /// else.
        ///
        /// - Parameter keys: one for each moment.
        func areUnknownNew(to entries: [WriteQueue.Entry], keys: [ZoneKey]) -> Bool {
            zip(keys, moments).allSatisfy { key, moment in
                guard !moment.absentNames.isEmpty else { return true }
                let requests = entries.lazy.filter { $0.key == key }.map(\.request)
                let newNames = requests.filter { $0.policy == .ifServerRecordUnchanged }
                    .flatMap { $0.saves.lazy.filter { $0.tag == nil }.map(\.name) }
                return Set(newNames).isSuperset(of: moment.absentNames)
            }
        }
    }

    private var zones: FairCache<ZoneKey, KnownZone>
    /// How often the whole cache was dropped.
    private var lossCount = 0

    /// - Parameter bytesMax: the approximate memory of the cache; 0 turns it off.
    init(bytesMax: Int) {
        zones = FairCache(roomMax: bytesMax)
    }

    /// - Returns: nil if anything but records is missing for these reads.
    mutating func knowledge(for reads: [ZoneRead]) -> Knowledge? {
        var knowledge = Knowledge()
        for read in reads {
            guard read.isPlain, let zone = zones.use(read.key), zone.isTrusted else { return nil }
            var moment = zone.moment
            guard let snapshot = zone.snapshot(for: read, unknownNames: &moment.absentNames) else { return nil }
            knowledge.snapshots.append(snapshot)
            knowledge.moments.append(moment)
        }
        return knowledge
    }

    /// Takes in what a transaction read of zones and then wrote in them, once that is durable.
    ///
    /// - Parameters:
    ///   - snapshots: one for each read.
    ///   - owners: for each read, the owners who have written in the zone. A zone takes its room, until it is
    ///     forgotten.
    ///   - store: the incarnation of the store in which all of them were read.
    mutating func learn(
        _ reads: [ZoneRead], _ snapshots: [ZoneSnapshot], _ changes: [ZoneChanges], of owners: [WorkOwner],
        in store: StoreIncarnation
    ) -> Dropped {
        var dropped = Dropped()
        guard zones.roomMax > 0 else { return dropped }
        var written = changes[...]
        for ((read, snapshot), owner) in zip(zip(reads, snapshots), owners) {
            guard let state = snapshot.zone, let changes = written.first, changes.zone == state.id else { continue }
            written.removeFirst()
            // With a quota or with roles, writes in other zones matter too, and the cache does not see those. Bytes of
            // creators are counted by a transaction that has read the zone. Where hierarchies are shared, the places of
            // records would have to be known too.
            guard snapshot.storageUse == nil, snapshot.accountUse == nil, snapshot.publicUse == nil,
                read.users.isEmpty, !state.hasHierarchies,
                changes.hasHierarchies != true, let schema = snapshot.schema
            else {
                dropped.take(forget([read.key]))
                continue
            }
            var zone = KnownZone(state, schema, in: store, snapshot.writeNumber)
            if let (old, _) = zones.take(read.key) {
                if old.isSame(as: zone) {
                    zone = old
                    zone.isTrusted = true
                    zone.schema = schema
                } else {
                    dropped.zones.append(old)
                }
            }
            zone.learn(read, snapshot, changes)
            dropped.zones += keep(zone, as: read.key, of: owner)
        }
        return dropped
    }

    /// Zones that have left the cache. Freeing their memory under the lock would hold up all loops, so it is done
    /// without the lock.
    struct Dropped: Sendable {
        fileprivate var zones: [KnownZone] = []
        fileprivate var all: FairCache<ZoneKey, KnownZone>?

        fileprivate mutating func take(_ other: Dropped) { zones += other.zones }
    }

    /// Zones that are lent by the cache to be updated, while other loops use the rest.
    struct Followed {
        fileprivate var zones: [(zone: KnownZone, loan: FairCache<ZoneKey, KnownZone>.Loan)] = []
        fileprivate let lossCount: Int

        /// Takes in what a decision from the cache wrote, once that is durable. There is one change for each zone.
        mutating func follow(_ changes: [ZoneChanges]) {
            let changes = Dictionary(uniqueKeysWithValues: changes.lazy.map { ($0.zone, $0) })
            for index in zones.indices {
                if let changes = changes[zones[index].zone.state.id] { zones[index].zone.follow(changes) }
            }
        }
    }

    /// NB: no other request of the queue needs them during this, because a zone is in at most one of its transactions. A zone that is
    /// forgotten in between, for example when its shares are changed beside the queue, stays forgotten.
    mutating func lend(_ keys: [ZoneKey]) -> Followed {
        Followed(
            zones: keys.compactMap { zones.lend($0).map { (zone: $0.value, loan: $0.loan) } }, lossCount: lossCount)
    }

    /// Takes the zones back, unless the whole cache was dropped meanwhile.
    mutating func takeBack(_ followed: consuming Followed) -> Dropped {
        var dropped = Dropped()
        let isLost = followed.lossCount != lossCount
        for (zone, loan) in followed.zones {
            if isLost {
                dropped.zones.append(zone)
            } else {
                dropped.zones += takeBack(zone, loan)
            }
        }
        return dropped
    }

    private mutating func takeBack(
        _ zone: consuming KnownZone, _ loan: FairCache<ZoneKey, KnownZone>.Loan
    ) -> [KnownZone] {
        let large = limit(&zone)
        guard let room = room(for: zone) else {
            zones.forget(loan)
            return [zone] + large
        }
        return zones.takeBack(zone, loan, room: room) + large
    }

    /// Drops zones whose last writes are unknown.
    mutating func forget(_ keys: [ZoneKey]) -> Dropped {
        Dropped(zones: keys.compactMap { zones.take($0)?.value })
    }

    mutating func forgetAll() -> Dropped {
        lossCount += 1
        defer { zones = FairCache(roomMax: zones.roomMax) }
        return Dropped(all: zones)
    }

    private mutating func keep(
        _ zone: consuming KnownZone, as key: ZoneKey, of owner: WorkOwner
    ) -> [KnownZone] {
        let large = limit(&zone)
        guard let room = room(for: zone) else { return [zone] + large }
        return zones.keep(zone, as: key, room: room, of: owner) + large
    }

    /// NB: if a zone takes a quarter of the room, its records are dropped, so that no single zone drives out all others.
    ///
    /// - Returns: the zone as it was, so that its memory goes back without the lock.
    private func limit(_ zone: inout KnownZone) -> [KnownZone] {
        guard zone.byteCount > zones.roomMax / 4 else { return [] }
        let whole = zone
        zone.forgetRecords()
        return [whole]
    }

    /// Nil if there is none.
    private func room(for zone: KnownZone) -> Int? {
        zone.byteCount <= zones.roomMax / 4 ? zone.byteCount + Self.bytesPerZone : nil
    }

    /// The approximate memory of a zone without records: the zone itself, its name, and its place in the cache.
    private static let bytesPerZone = 500
}

/// A zone as it was when this server last wrote in it.
private struct KnownZone {
    private(set) var state: ZoneState
    private var writeNumber: Int64
    private let store: StoreIncarnation
    var schema: SchemaStamp
    /// Whether this server has seen everything that was ever written in the zone. Then a record that is not here does
    /// not exist.
    private var isWhole: Bool
    /// Whether this server wrote twice in a row. A zone that several servers write in turn is never trusted. A decision
    /// from the cache would then cost one more round trip, not one less.
    var isTrusted: Bool
    private var records: [String: RecordState] = [:]
    /// By life of a device.
    private var memories: [DeviceID: RequestMemory] = [:]
    /// Some of the zone's keys with which values may be saved. Others may have been added since. If some are retired, the write
    /// number goes on, and this zone is not known any more.
    private var zoneKeyIDs: Set<[UInt8]> = []
    private(set) var byteCount = 0

    /// A zone without further data: it exists.
    init(_ state: ZoneState, _ schema: SchemaStamp, in store: StoreIncarnation, _ writeNumber: Int64) {
        self.state = state
        self.schema = schema
        self.store = store
        self.writeNumber = writeNumber
        isWhole = writeNumber == 0 && state.changeNumber == 0
        isTrusted = isWhole
    }

    var moment: ZoneMoment {
        ZoneMoment(
            store: store, schema: schema, database: state.key.database, zone: state.id,
            changeNumber: state.changeNumber, writeNumber: writeNumber)
    }

    /// Whether nobody wrote in the zone between this knowledge and the newer read.
    func isSame(as now: KnownZone) -> Bool {
        state.id == now.state.id && store == now.store && writeNumber == now.writeNumber
            && state.changeNumber == now.state.changeNumber
    }

    /// Nil if anything but records is missing.
    ///
    /// NB: if no record that is asked for is unknown, the snapshot has all of the zone's records, because picking some
    /// out costs more. Release it before ``follow(_:)``, which would otherwise have to copy them all.
    func snapshot(for read: ZoneRead, unknownNames: inout [String]) -> ZoneSnapshot? {
        guard read.namedZoneKeyIDs.isSubset(of: zoneKeyIDs) else { return nil }
        var snapshot = ZoneSnapshot(key: read.key, zone: state, schema: schema)
        snapshot.writeNumber = writeNumber
        snapshot.zoneKeyIDs = zoneKeyIDs
        if !isWhole { unknownNames = read.recordNames.filter { records[$0] == nil } }
        snapshot.records = unknownNames.isEmpty ? records : records(named: read.recordNames)
        for life in read.lives {
            if let memory = memories[life] {
                snapshot.memories[life] = memory
            } else if !isWhole {
                return nil
            }
        }
        return snapshot
    }

    private func records(named names: [String]) -> [String: RecordState] {
        Dictionary(uniqueKeysWithValues: names.lazy.compactMap { name in self.records[name].map { (name, $0) } })
    }

    mutating func learn(_ read: ZoneRead, _ snapshot: ZoneSnapshot, _ changes: ZoneChanges) {
        for (name, record) in snapshot.records where snapshot.unread[name] == nil { keep(record) }
        zoneKeyIDs.formUnion(snapshot.zoneKeyIDs)
        // A life without remembered requests is also worth knowing.
        for life in read.lives { keep(snapshot.memories[life] ?? RequestMemory(), of: life) }
        follow(changes)
    }

    mutating func follow(_ changes: ZoneChanges) {
        for record in changes.records { keep(record) }
        for (life, memory) in changes.memories { keep(memory, of: life) }
        state.changeNumber = changes.changeNumber
        writeNumber += 1
    }

    mutating func forgetRecords() {
        byteCount -= records.values.reduce(0) { $0 + Self.byteCount(of: $1) }
        records = [:]
        isWhole = false
    }

    private mutating func keep(_ record: RecordState) {
        let old = records.updateValue(record, forKey: record.name)
        byteCount += Self.byteCount(of: record) - (old.map(Self.byteCount) ?? 0)
    }

    private mutating func keep(_ memory: RequestMemory, of life: DeviceID) {
        let old = memories.updateValue(memory, forKey: life)
        byteCount += memory.byteCount - (old?.byteCount ?? 0)
    }

    /// Includes the approximate cost of keeping it: the object, the head of an array and an entry of the dictionary.
    private static func byteCount(of record: RecordState) -> Int {
        record.fields.byteCount + record.name.utf8.count + 300
    }
}
