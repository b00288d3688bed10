// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
import TidemarkFields

let store = StoreIncarnation(0xFEED_0000_0000_0001)
let database = DatabaseID(7)
let alice = UserID(1)
let bob = UserID(2)
let phone = DeviceID(high: 1, low: 1)
let laptop = DeviceID(high: 2, low: 2)

extension Timestamp: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) { self.init(milliseconds: value) }
}

/// Fields with integers; nil removes the key.
func fields(_ pairs: KeyValuePairs<String, Int64?>) -> FieldMap {
    do {
        return try FieldMap(pairs.map { Field($0.key, $0.value.map(FieldValue.int64) ?? .removed) })
    } catch {
        preconditionFailure("\(error)")
    }
}

/// Fields that take at least so many bytes.
func bigFields(_ byteCount: Int) -> FieldMap {
    do {
        return try FieldMap(
            [Field("big", .bytes(Array(repeating: 1, count: byteCount)))], limits: .init(byteCountMax: .max))
    } catch {
        preconditionFailure("\(error)")
    }
}

func save(
    _ name: String, type: String = "Item", tag: ChangeTag? = nil, _ fields: FieldMap = fields(["k": 1]),
    parent: ParentChange = .unchanged, fieldsFailure: FailureReason? = nil
) -> RecordSave {
    RecordSave(name: name, type: type, tag: tag, fields: fields, parent: parent, fieldsFailure: fieldsFailure)
}

func stamp(
    _ counter: UInt64, waitingFor lowest: UInt64 = 1, device: DeviceID = phone, life: DeviceID? = nil,
    nonce: UInt64 = 0,
    isRepeated: Bool = false, epoch: Int64 = 0
) -> RequestID {
    RequestID(
        device: device, life: life, counter: counter, nonce: nonce, lowestUnanswered: lowest, isRepeated: isRepeated,
        epoch: epoch)
}

/// A zone as a store would keep it: the smallest thing on which overlays and pages can be tried.
struct TestZone {
    var zone: ZoneState?
    var lastRemoval: ZoneRemovalReason?
    var records: [String: RecordState] = [:]
    var memories: [DeviceID: RequestMemory] = [:]
    var references: Set<HeldReference> = []
    var limits = Limits()
    /// Those that have been uploaded.
    var assets: Set<FieldAsset> = []
    /// Who may name them in a public database.
    var assetClaims: [FieldAsset: AssetClaims] = [:]
    var zoneKeyIDs: Set<[UInt8]> = []
    /// Of the living zone, which is alice's.
    var sharing = ZoneSharing(owner: alice)
    /// What participants of shared hierarchies see.
    var shareRecords: [ShareNumber: [String: ShareRecord]] = [:]
    private(set) var assetUses: [AssetUse] = []
    /// The quota of the database, which has no other zone.
    var bytesMax: Int64?
    /// What the living records have, as a store counts it.
    private(set) var byteCount: Int64 = 0
    /// And the tombstones.
    private(set) var tombstoneBytes: Int64 = 0
    /// If the database is public: what accounts have there.
    var publicUse: PublicUse?
    /// What the last changes added to that.
    private(set) var creatorGrowth: [UserID: Int64] = [:]
    let key: ZoneKey
    private var counter: UInt64 = 0

    init(name: String = "Notes", exists: Bool = true, lastRemoval: ZoneRemovalReason? = nil) {
        key = ZoneKey(database: database, name: name)
        zone = exists ? ZoneState(id: ZoneID(70), key: key, createdAt: 0) : nil
        self.lastRemoval = lastRemoval
    }

    // MARK: Asking

    mutating func request(
        saves: [RecordSave] = [], deletes: [String] = [], policy: SavePolicy = .ifServerRecordUnchanged,
        atomic: Bool = false, device: DeviceID = phone, user: UserID = alice
    ) -> RecordsRequest {
        counter += 1
        return RecordsRequest(
            id: stamp(counter, device: device), key: key, saves: saves, deletes: deletes, policy: policy,
            isAtomic: atomic, user: user, access: .owner(user))
    }

    /// Decides requests as one group and keeps what they change.
    @discardableResult
    mutating func run(_ requests: [RecordsRequest], now: Timestamp = 1_000) -> [Result<RecordsOutcome, FailureReason>] {
        let read = ZoneRead(of: requests, in: key, limits: Limits())
        let overlay = ZoneOverlay(snapshot: snapshot(for: read), store: store, limits: limits)
        let results = requests.map { request in
            let use = bytesMax.map { StorageUse(byteCount: byteCount + overlay.byteGrowth, bytesMax: $0) }
            return overlay.apply(request, now: now, use: use)
        }
        if let changes = overlay.changes { commit(changes) }
        return results
    }

    @discardableResult
    mutating func run(_ request: RecordsRequest, now: Timestamp = 1_000) -> Result<RecordsOutcome, FailureReason> {
        run([request], now: now)[0]
    }

    @discardableResult
    mutating func save(
        _ saves: RecordSave..., policy: SavePolicy = .ifServerRecordUnchanged, atomic: Bool = false,
        device: DeviceID = phone, user: UserID = alice, now: Timestamp = 1_000
    ) -> Result<RecordsOutcome, FailureReason> {
        run(request(saves: saves, policy: policy, atomic: atomic, device: device, user: user), now: now)
    }

    @discardableResult
    mutating func delete(_ names: String..., now: Timestamp = 1_000) -> Result<RecordsOutcome, FailureReason> {
        run(request(deletes: names), now: now)
    }

    // MARK: What a store does

    func snapshot(for read: ZoneRead) -> ZoneSnapshot {
        guard zone != nil else { return ZoneSnapshot(key: key, lastRemoval: lastRemoval) }
        var snapshot = ZoneSnapshot(
            key: key, zone: zone, records: records.filter { read.recordNames.contains($0.key) },
            memories: memories.filter { read.lives.contains($0.key) })
        for name in read.newParentNames {
            var next: String? = name
            var seen: Set<String> = []
            while let name = next, seen.insert(name).inserted, let record = records[name] {
                if snapshot.records[name] == nil {
                    snapshot.records[name] = record.withoutFields
                    snapshot.unread[name] = record.fields.byteCount
                }
                next = record.parent
            }
        }
        readCascade(read, into: &snapshot)
        for target in read.referenceTargets {
            snapshot.referenceCounts[target] = references.filter { $0.target == target }.count
        }
        snapshot.publicUse = publicUse
        snapshot.assets = assets.intersection(read.assets)
        for claimant in read.assetClaimants {
            var claims = assetClaims[claimant.asset] ?? AssetClaims()
            claims.senders.formIntersection(read.assetClaimants.filter { $0.asset == claimant.asset }.map(\.user))
            snapshot.assetClaims[claimant.asset] = claims
        }
        if read.needsZoneKeys { snapshot.zoneKeyIDs = zoneKeyIDs }
        snapshot.sharing = sharing.part(read.sharing)
        if zone?.hasHierarchies == true || read.sharesHierarchy { complete(&snapshot, read) }
        return snapshot
    }

    private func readCascade(_ read: ZoneRead, into snapshot: inout ZoneSnapshot) {
        var reached = read.cascadeRoots
        var next = 0
        while next < reached.count {
            let target = reached[next]
            next += 1
            for child in records.values where child.parent == target {
                snapshot.children[target, default: []].append(child.name)
            }
            for holder in references.filter({ $0.target == target }).map(\.holder).sorted() {
                snapshot.holders[target, default: []].append(holder)
                if snapshot.records[holder] == nil {
                    snapshot.records[holder] = records[holder]?.withoutFields
                    snapshot.unread[holder] = records[holder]?.fields.byteCount
                }
                if !reached.contains(holder) { reached.append(holder) }
            }
        }
    }

    mutating func commit(_ changes: ZoneChanges) {
        zone?.changeNumber = changes.changeNumber
        if let hasHierarchies = changes.hasHierarchies { zone?.hasHierarchies = hasHierarchies }
        for row in changes.shareRecords { shareRecords[row.share, default: [:]][row.name] = row }
        assetUses = changes.assetUses
        creatorGrowth = changes.creatorGrowth
        for (creator, growth) in creatorGrowth { publicUse?.byteCounts[creator, default: 0] += growth }
        for use in assetUses where use.removesUnread {
            guard let creator = use.removedFrom, let old = records[use.recordName] else { continue }
            publicUse?.byteCounts[creator, default: 0] -= old.fields.assets.reduce(0) { $0 + $1.byteCount }
        }
        for record in changes.records { records[record.name] = record }
        byteCount += changes.byteGrowth
        tombstoneBytes += changes.tombstoneGrowth
        references = references.filter { !changes.references.dropped.contains($0.holder) }
        references.formUnion(changes.references.added)
        for change in changes.sharing { sharing = sharing.applying(change) }
        for (device, memory) in changes.memories {
            memories[device] = RequestMemory(decoding: memory.encoded)
        }
    }

    /// - Parameters:
    ///   - extra: how many records more than asked for are read.
    ///   - passes: whether tombstones are passed over, or read for the rules to leave out.
    func read(_ query: ZonePageQuery, extra: Int = 1, passes: Bool = false) -> ZonePageRead {
        let all = records.values.sorted { $0.changeNumber < $1.changeNumber }
            .filter { $0.changeNumber > (query.after?.number ?? 0) }
        let lookedAt = passes ? all.prefix(query.lookedAtMax) : all[...]
        let due = lookedAt.filter { !passes || !query.passesOver($0) }
        let shown = due.prefix(query.recordsMax + extra)
        var read = ZonePageRead(
            zone: zone, lastRemoval: lastRemoval, records: Array(shown),
            hasMore: shown.count < due.count || lookedAt.count < all.count)
        if shown.count == due.count, lookedAt.count < all.count {
            read.passedTo = all[lookedAt.count].changeNumber - 1
        }
        read.sharing = zone == nil ? nil : sharing.part(query.sharing)
        return read
    }

    // MARK: Looking

    func living(_ name: String) -> RecordState? {
        records[name].flatMap { $0.isDeleted ? nil : $0 }
    }

    func tag(_ name: String) -> ChangeTag? {
        guard let zone, let record = records[name] else { return nil }
        return .version(store: store, zone: zone.id, number: record.changeNumber)
    }
}

extension Result where Success == RecordsOutcome, Failure == FailureReason {
    /// The reasons of all items, saves first; nil for one that succeeded. Nil if the request as a whole was refused.
    var reasons: [FailureReason?]? {
        guard case .success(let outcome) = self else { return nil }
        return outcome.saves.map(\.reason) + outcome.deletes.map(\.reason)
    }

    var refusal: FailureReason? {
        if case .failure(let reason) = self { reason } else { nil }
    }

    var saves: [SaveOutcome] { (try? get().saves) ?? [] }
}

extension SaveOutcome {
    var reason: FailureReason? { failure?.reason }
    var failure: ItemFailure? { if case .failed(let failure) = self { failure } else { nil } }
    var metadata: RecordMetadata? { if case .saved(let metadata) = self { metadata } else { nil } }
}

extension DeleteOutcome {
    var reason: FailureReason? { if case .failed(let failure) = self { failure.reason } else { nil } }
}

/// Limits with answers of so many bytes.
func answers(of bytesMax: Int) -> Limits {
    var limits = Limits()
    limits.answerBytesMax = bytesMax
    return limits
}
