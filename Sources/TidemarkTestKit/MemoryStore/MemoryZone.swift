// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService

/// One incarnation of a zone: its records and its remembered requests.
struct MemoryZone {
    private(set) var state: ZoneState
    /// How many transactions have written in it.
    private(set) var writeNumber: Int64 = 0
    private var records: [String: RecordState] = [:]
    /// Record names by change number, ascending. An entry counts only while the record still has that number.
    private var log: [(number: ChangeNumber, name: String)] = []
    private var memories = MemoryOfRequests()
    private var references = MemoryReferences()
    /// The bytes of living records as quotas count them, which PostgreSQL's store keeps too.
    private(set) var byteCount: Int64 = 0
    /// Kept as records are written, as PostgreSQL's store does.
    private var recordCount: Int64 = 0
    private var digest = VersionDigest()

    init(state: ZoneState) {
        self.state = state
    }

    /// Whether one of these exists, even as a tombstone.
    func hasAny(of names: [String]) -> Bool { names.contains { records[$0] != nil } }

    /// The bytes of the tombstones, which PostgreSQL's store counts as they change.
    var tombstoneBytes: Int64 { records.values.reduce(0) { $0 + $1.tombstoneBytes } }

    /// The record or its tombstone.
    func record(_ name: String) -> RecordState? { records[name] }

    func snapshot(_ read: ZoneRead) -> ZoneSnapshot {
        var snapshot = ZoneSnapshot(key: read.key, zone: state)
        snapshot.writeNumber = writeNumber
        for name in read.recordNames { snapshot.records[name] = records[name] }
        for life in read.lives { snapshot.memories[life] = memories[life] }
        var ancestors: Set<String> = []
        for name in read.newParentNames { readAncestors(of: name, past: &ancestors, into: &snapshot) }
        snapshot.areAncestorsCut = ancestors.count - read.recordNames.count > read.relativesMax
        let roots = read.cascadeRoots
        if !roots.isEmpty { readCascade(from: roots, for: read, into: &snapshot) }
        for target in read.referenceTargets { snapshot.referenceCounts[target] = references.holders(of: target).count }
        return snapshot
    }

    private func readAncestors(of name: String, past seen: inout Set<String>, into snapshot: inout ZoneSnapshot) {
        var next: String? = name
        while let name = next, let record = records[name], seen.insert(name).inserted {
            if snapshot.records[name] == nil {
                snapshot.records[name] = record.withoutFields
                snapshot.unread[name] = record.fields.byteCount
            }
            next = record.isDeleted ? nil : record.parent
        }
    }

    private func readCascade(from roots: [String], for read: ZoneRead, into snapshot: inout ZoneSnapshot) {
        let (followedMax, namedCount) = (read.followedMax, read.recordNames.count)
        var waiting = roots
        var reached = Set(roots)
        var count = 0
        while let target = waiting.popLast(), !snapshot.isCascadeCut {
            for holder in references.holders(of: target) {
                count += 1
                snapshot.isCascadeCut = count > followedMax
                snapshot.holders[target, default: []].append(holder)
                if snapshot.records[holder] == nil {
                    snapshot.records[holder] = records[holder]?.withoutFields
                    snapshot.unread[holder] = records[holder]?.fields.byteCount
                }
                if reached.insert(holder).inserted { waiting.append(holder) }
            }
        }
        snapshot.children = children(of: reached).mapValues { Array($0.prefix(reached.count + namedCount + 1)) }
        snapshot.areChildrenCut = snapshot.children.values.reduce(0) { $0 + $1.count } > namedCount + followedMax
    }

    func children(of parents: Set<String>) -> [String: [String]] {
        var children: [String: [String]] = [:]
        for record in records.values where !record.isDeleted {
            guard let parent = record.parent, parents.contains(parent) else { continue }
            children[parent, default: []].append(record.name)
        }
        return children.mapValues { $0.sorted() }
    }

    /// By growing number: at most as many as the query allows, and at least one if there is one.
    func page(_ query: ZonePageQuery) -> ZonePageRead {
        var page = ZonePageRead(zone: state, lastRemoval: nil, records: [], hasMore: false)
        let isCurrent = query.after == nil || query.after?.zone == state.id
        guard isCurrent else { return page }
        var byteCount = 0
        var lookedAt = 0
        for index in firstLogIndex(after: query.after?.number ?? 0)..<log.count {
            guard let record = records[log[index].name], record.changeNumber == log[index].number else { continue }
            guard lookedAt < query.lookedAtMax else {
                (page.hasMore, page.passedTo) = (true, record.changeNumber - 1)
                break
            }
            lookedAt += 1
            if query.passesOver(record) { continue }
            guard page.records.count < query.recordsMax, byteCount < query.bytesMax else {
                page.hasMore = true
                break
            }
            page.records.append(record)
            byteCount += record.fields.byteCount
        }
        return page
    }

    func inventory(_ listing: ZoneListing?) -> ZoneInventory {
        var inventory = ZoneInventory(zone: state, recordCount: recordCount, digest: digest.bytes)
        guard let listing else { return inventory }
        let names = records.keys.filter { Self.isBefore(listing.after, $0) }.sorted(by: Self.isBefore)
        for record in names.prefix(listing.rowsMax).compactMap({ records[$0] }) where !record.isDeleted {
            inventory.versions.append(.init(name: record.name, number: record.changeNumber))
        }
        if names.count >= listing.rowsMax { inventory.next = names.prefix(listing.rowsMax).last }
        return inventory
    }

    /// By bytes, as the collation of PostgreSQL's store does.
    private static func isBefore(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    /// - Parameters:
    ///   - names: of the records that may be found; nil: all, and roots show their parents.
    ///   - roots: the names of CKShare records by those of roots.
    func look(with scan: inout QueryScan, among names: Set<String>?, naming roots: [String: String]) {
        for record in records.values where names?.contains(record.name) ?? true {
            let named = roots[record.name].map { record.covered(by: record.share, asRootOf: $0) } ?? record
            scan.look(at: names == nil ? named : named.withoutRootParent, in: state.id, named: state.key.name)
        }
    }

    private func firstLogIndex(after number: ChangeNumber) -> Int {
        var low = 0
        var high = log.count
        while low < high {
            let middle = (low + high) / 2
            if log[middle].number <= number { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The mistake in these changes; nil if there is none. A server that holds the zone's lock and decides by the rules
    /// never makes such changes.
    func complaint(about changes: ZoneChanges) -> String? {
        if state.removal != nil { return "the zone is gone" }
        let numbers = [state.changeNumber] + changes.records.map(\.changeNumber)
        if zip(numbers, numbers.dropFirst()).contains(where: { $0 >= $1 }) { return "change numbers do not grow" }
        // Records that only came under another share have separate numbers.
        let newest = max(numbers.last ?? 0, changes.shareRecords.lazy.map(\.number).max() ?? 0)
        return newest == changes.changeNumber ? nil : "the zone's number is not its newest change's"
    }

    mutating func write(_ changes: ZoneChanges, memoryEpoch: Int64) {
        for record in changes.records {
            records[record.name] = record
            log.append((record.changeNumber, record.name))
        }
        byteCount += changes.byteGrowth
        let digestChange = ZoneDigestChange(of: changes)
        digest.combine(digestChange.digest)
        recordCount += digestChange.countGrowth
        references.write(changes.references)
        state.changeNumber = changes.changeNumber
        if let hasHierarchies = changes.hasHierarchies { state.hasHierarchies = hasHierarchies }
        writeNumber += 1
        memories.keep(changes.memories, epoch: memoryEpoch)
        if log.count > 2 * records.count + 64 {
            log.removeAll { records[$0.name]?.changeNumber != $0.number }
        }
    }

    /// Forgets outcomes that were remembered in this epoch or earlier.
    mutating func clearMemories(through epoch: Int64) {
        memories.clear(through: epoch)
    }

    /// Forgets deletions: tokens from before the last one expire.
    mutating func compact() {
        let gone = records.values.filter(\.isDeleted)
        if !gone.isEmpty { writeNumber += 1 }
        for record in gone { records[record.name] = nil }
        log.removeAll { records[$0.name] == nil }
        state.oldestTokenNumber = max(state.oldestTokenNumber, gone.map(\.changeNumber).max() ?? 0)
    }

    /// Servers' cached data of the zone's keys is outdated.
    mutating func keysWereRetired() { writeNumber += 1 }

    /// Tokens from before a change expire.
    mutating func expireTokens(before number: ChangeNumber) {
        state.oldestTokenNumber = max(state.oldestTokenNumber, number)
    }

    /// the number goes on as after a restore.
    mutating func beginNextLife() {
        state.changeNumber = state.changeNumber.inNextLife
        writeNumber += 1
    }

    /// After that only the end of the incarnation can be read.
    mutating func end(_ reason: ZoneRemovalReason) {
        state.removal = reason
        records = [:]
        log = []
        memories = MemoryOfRequests()
        references = MemoryReferences()
        (byteCount, recordCount, digest) = (0, 0, VersionDigest())
    }
}
