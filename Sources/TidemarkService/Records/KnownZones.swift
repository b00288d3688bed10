// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields

/// What this server knows of zones because it wrote in them last: their newest records, and what is remembered of requests.
///
/// Who decides by it needs no question before the answer: one round trip to the store instead of two. Of a zone that has more
/// records than are kept here, those that a request names are read first, without a lock, unless it says that they are new.
/// None of it is ever believed: ``Storage/commit(_:at:)`` writes only if nobody has written in the zone since, and what was
/// taken for new is. So nothing need be told between servers, and to forget is always right.
struct KnownZones {
    /// All that the rules need to know, as a transaction would have read it.
    struct Knowledge {
        var snapshots: [ZoneSnapshot] = []
        /// One a snapshot. Records that are not known are among their ``ZoneMoment/absentNames``.
        var moments: [ZoneMoment] = []

        var hasUnknown: Bool { moments.contains { !$0.absentNames.isEmpty } }

        /// Whether whoever names records that are not known saves them as new: without a tag, and by the policy that never
        /// replaces what it has not seen. If that is wrong it costs a round trip more, and nothing else.
        ///
        /// - Parameter keys: one a moment.
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

    /// Zones in use, and those that were before: when the recent ones fill half of the room, the earlier ones are forgotten,
    /// and the recent ones become the earlier ones. So what is not used goes, and no list of uses need be kept.
    private var recent: [ZoneKey: KnownZone] = [:]
    private var earlier: [ZoneKey: KnownZone] = [:]
    private var recentByteCount = 0
    /// How often all was forgotten.
    private var lossCount = 0
    private let bytesMax: Int

    /// - Parameter bytesMax: about how much memory all of it may take; 0: nothing is known.
    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// - Returns: nil unless everything is known that is asked for, but for records.
    mutating func knowledge(for reads: [ZoneRead]) -> Knowledge? {
        var knowledge = Knowledge()
        for read in reads {
            guard read.isPlain, let zone = use(read.key), zone.isTrusted else { return nil }
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
    ///   - snapshots: one a read.
    ///   - store: of all of them.
    mutating func learn(
        _ reads: [ZoneRead], _ snapshots: [ZoneSnapshot], _ changes: [ZoneChanges], in store: StoreIncarnation
    ) {
        guard bytesMax > 0 else { return }
        var written = changes[...]
        for (read, snapshot) in zip(reads, snapshots) {
            guard let state = snapshot.zone, let changes = written.first, changes.zone == state.id else { continue }
            written.removeFirst()
            // Where there is a quota or are roles, what others do elsewhere matters too.
            guard snapshot.storageUse == nil, read.users.isEmpty, let schema = snapshot.schema else {
                forget([read.key])
                continue
            }
            var zone = KnownZone(state, schema, in: store, snapshot.writeNumber)
            if let old = take(read.key), old.isSame(as: zone) {
                zone = old
                zone.isTrusted = true
                zone.schema = schema
            }
            zone.learn(read, snapshot, changes)
            keep(zone, as: read.key)
        }
    }

    /// Zones that are taken out to follow what was written in them, while others use the rest.
    struct Followed {
        fileprivate var zones: [(key: ZoneKey, zone: KnownZone)] = []
        fileprivate let lossCount: Int

        /// Takes in what was written in zones by what was known of them, once that is durable. One change a zone.
        mutating func follow(_ changes: [ZoneChanges]) {
            let changes = Dictionary(uniqueKeysWithValues: changes.lazy.map { ($0.zone, $0) })
            for index in zones.indices {
                if let changes = changes[zones[index].zone.state.id] { zones[index].zone.follow(changes) }
            }
        }
    }

    /// NB: nobody else asks for them meanwhile, because a zone is in one transaction of a process at most.
    mutating func take(_ keys: [ZoneKey]) -> Followed {
        Followed(zones: keys.compactMap { key in take(key).map { (key, $0) } }, lossCount: lossCount)
    }

    /// Puts back what was taken, unless all was forgotten meanwhile.
    mutating func keep(_ followed: consuming Followed) {
        guard followed.lossCount == lossCount else { return }
        for (key, zone) in followed.zones { keep(zone, as: key) }
    }

    /// For zones of which it is no longer clear what was written in them.
    mutating func forget(_ keys: [ZoneKey]) {
        for key in keys { _ = take(key) }
    }

    mutating func forgetAll() {
        lossCount += 1
        recent = [:]
        earlier = [:]
        recentByteCount = 0
    }

    // MARK: Room

    /// Makes the zone one of those in use.
    private mutating func use(_ key: ZoneKey) -> KnownZone? {
        if let zone = recent[key] { return zone }
        guard let zone = earlier.removeValue(forKey: key) else { return nil }
        keep(zone, as: key)
        return zone
    }

    /// NB: taken out, so that it is changed where it is.
    private mutating func take(_ key: ZoneKey) -> KnownZone? {
        guard let zone = recent.removeValue(forKey: key) else { return earlier.removeValue(forKey: key) }
        recentByteCount -= zone.byteCount
        return zone
    }

    /// NB: of a zone that takes a quarter of the room the records are forgotten, so that no single one drives out all others.
    private mutating func keep(_ zone: consuming KnownZone, as key: ZoneKey) {
        if zone.byteCount > bytesMax / 4 { zone.forgetRecords() }
        guard zone.byteCount <= bytesMax / 4 else { return }
        if recentByteCount + zone.byteCount > bytesMax / 2 {
            earlier = recent
            recent = [:]
            recentByteCount = 0
        }
        recent[key] = zone
        recentByteCount += zone.byteCount
    }
}

/// A zone as it was when this server last wrote in it.
private struct KnownZone {
    private(set) var state: ZoneState
    private var writeNumber: Int64
    private let store: StoreIncarnation
    var schema: SchemaStamp
    /// Whether what is not here is not there either: this server has seen everything that was ever written in the zone.
    private var isWhole: Bool
    /// Whether this server wrote twice and nobody between. A zone that several servers write in turn never is: to decide by
    /// what is known would cost a round trip more, not less.
    var isTrusted: Bool
    private var records: [String: RecordState] = [:]
    /// By life.
    private var memories: [DeviceID: RequestMemory] = [:]
    /// Keys that the zone has; others may have come since, but none goes while the zone lives.
    private var zoneKeyIDs: Set<[UInt8]> = []
    private(set) var byteCount = 0

    /// Nothing of it but that it is there.
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

    /// Whether nobody has written in the zone between this and what was read of it now.
    func isSame(as now: KnownZone) -> Bool {
        state.id == now.state.id && store == now.store && writeNumber == now.writeNumber
            && state.changeNumber == now.state.changeNumber
    }

    /// Nil if more is not known than records.
    ///
    /// NB: with all records where those that are asked for are among them, which costs less than to pick these. It must be let
    /// go of before ``follow(_:)``, which would have to copy them all.
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
        // A life of which nothing is remembered is known to be one.
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
        byteCount += Self.byteCount(of: memory) - (old.map(Self.byteCount) ?? 0)
    }

    /// With about what it takes to hold it: the object, an array's head, a place in the dictionary.
    private static func byteCount(of record: RecordState) -> Int {
        record.fields.byteCount + record.name.utf8.count + 300
    }

    private static func byteCount(of memory: RequestMemory) -> Int {
        memory.outcomes.values.reduce(200) { $0 + $1.count + 64 }
    }
}
