// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService

/// The lists of zones of the shared databases that are watched here. They say which viewers a change of a zone may concern. A
/// pure value.
///
/// A list grants nothing, and may be some seconds old. Devices are only told to fetch, and a fetch reads what they may see.
/// ``viewers(concernedBy:)`` allocates nothing, because it is called for each notice.
///
/// Names are kept as hashes, because owners choose how long they are.
struct SharedZoneLists {
    /// A zone of an owner, with a hash of its name.
    ///
    /// If two names had one hash, a viewer of one would be told of changes of the other, which does no harm. But a zone would
    /// not be noticed to be new in a list that has the other. So the hash has 128 bits. Each process has its own keys for
    /// them, so nobody can look for two such names.
    private struct ListedZone: Hashable {
        let owner: DatabaseID
        let name: NameHash

        init(_ key: ZoneKey) {
            owner = key.database
            name = NameHash(key.name)
        }
    }

    fileprivate struct NameHash: Hashable {
        private let first: Int
        private let second: Int

        init(_ name: String) {
            func hash(_ number: UInt8) -> Int {
                var hasher = Hasher()
                hasher.combine(number)
                hasher.combine(name)
                return hasher.finalize()
            }
            (first, second) = (hash(1), hash(2))
        }
    }

    private struct List {
        var zones: Set<ListedZone>
        /// The number of the last sweep before the list was read.
        var readAfterSweep: Int
    }

    /// Those who have zones of one owner in their lists.
    fileprivate struct Audience {
        /// By name of a zone; each ascending, so that every run visits them in the same order (simulation).
        var ofZone: [NameHash: [DatabaseID]] = [:]
        /// All of them, ascending.
        var all: [DatabaseID] = []
        /// How many zones of the owner each of them has.
        var zoneCounts: [DatabaseID: Int] = [:]
    }

    /// By viewer, which is a user's shared database.
    private var lists: [DatabaseID: List] = [:]
    /// By owner's database.
    private var audiences: [DatabaseID: Audience] = [:]
    /// Owners' databases that came into lists or went out of them since they were last taken.
    private var movedOwners: Set<DatabaseID> = []

    /// The approximate memory of a list of so many zones.
    static func byteCount(zones count: Int) -> Int { count * 160 }

    /// Whether a viewer's list was set.
    func knows(_ viewer: DatabaseID) -> Bool { lists[viewer] != nil }

    /// Sets a viewer's list.
    ///
    /// - Parameter sweep: the number of the last sweep.
    /// - Returns: whether it has a zone that it did not have before.
    mutating func set(_ keys: [ZoneKey], of viewer: DatabaseID, afterSweep sweep: Int = 0) -> Bool {
        let new = Set(keys.lazy.map(ListedZone.init))
        let old = lists[viewer]?.zones ?? []
        for key in old where !new.contains(key) { unlink(key, viewer) }
        var hasNew = false
        for key in new where !old.contains(key) {
            hasNew = true
            if audiences[key.owner] == nil { movedOwners.insert(key.owner) }
            audiences[key.owner, default: Audience()].add(viewer, to: key.name)
        }
        lists[viewer] = List(zones: new, readAfterSweep: sweep)
        return hasNew
    }

    mutating func remove(_ viewer: DatabaseID) {
        for key in lists.removeValue(forKey: viewer)?.zones ?? [] { unlink(key, viewer) }
    }

    private mutating func unlink(_ key: ListedZone, _ viewer: DatabaseID) {
        audiences[key.owner]?.remove(viewer, from: key.name)
        guard audiences[key.owner]?.all.isEmpty == true else { return }
        audiences[key.owner] = nil
        movedOwners.insert(key.owner)
    }

    /// Whether zones of this database are in any list.
    func hasAudience(_ owner: DatabaseID) -> Bool { audiences[owner] != nil }

    /// The owners' databases for which ``hasAudience(_:)`` may have changed since the last call.
    mutating func takeMovedOwners() -> Set<DatabaseID> {
        guard !movedOwners.isEmpty else { return [] }
        defer { movedOwners = [] }
        return movedOwners
    }

    /// The viewers whom a change may concern, ascending. If the owner's set of zones has changed: all who have one of the
    /// owner's zones.
    func viewers(concernedBy notice: ZoneNotice) -> [DatabaseID] {
        guard !audiences.isEmpty, let audience = audiences[notice.database] else { return [] }
        return notice.zoneName.isEmpty ? audience.all : audience.ofZone[NameHash(notice.zoneName)] ?? []
    }

    /// Whether a viewer has this zone; with an empty name: any zone of the owner.
    func isListed(_ zone: ZoneKey, by viewer: DatabaseID) -> Bool {
        guard zone.name.isEmpty else { return lists[viewer]?.zones.contains(ListedZone(zone)) ?? false }
        return audiences[zone.database]?.zoneCounts[viewer] != nil
    }

    /// The lists that were read longest ago, among those that were not read since this sweep.
    func oldest(_ countMax: Int, readBefore sweep: Int) -> [DatabaseID] {
        var oldest: [(Int, DatabaseID)] = []
        // NB: one pass, because there may be very many lists.
        for (viewer, list) in lists where list.readAfterSweep < sweep {
            let one = (list.readAfterSweep, viewer)
            if oldest.count == countMax, let last = oldest.last, last < one { continue }
            oldest.insert(one, at: oldest.firstIndex { one < $0 } ?? oldest.count)
            if oldest.count > countMax { oldest.removeLast() }
        }
        return oldest.map { $0.1 }
    }
}

extension SharedZoneLists.Audience {
    fileprivate mutating func add(_ viewer: DatabaseID, to name: SharedZoneLists.NameHash) {
        ofZone[name, default: []].insertInOrder(viewer)
        zoneCounts[viewer, default: 0] += 1
        if zoneCounts[viewer] == 1 { all.insertInOrder(viewer) }
    }

    fileprivate mutating func remove(_ viewer: DatabaseID, from name: SharedZoneLists.NameHash) {
        ofZone[name]?.removeInOrder(viewer)
        if ofZone[name]?.isEmpty == true { ofZone[name] = nil }
        guard let count = zoneCounts[viewer] else { return }
        zoneCounts[viewer] = count > 1 ? count - 1 : nil
        if count == 1 { all.removeInOrder(viewer) }
    }
}

extension [DatabaseID] {
    /// The first place of an ascending list whose element is not smaller.
    private func place(of database: DatabaseID) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle] < database { low = middle + 1 } else { high = middle }
        }
        return low
    }

    fileprivate mutating func insertInOrder(_ database: DatabaseID) {
        let place = place(of: database)
        if place == count || self[place] != database { insert(database, at: place) }
    }

    fileprivate mutating func removeInOrder(_ database: DatabaseID) {
        let place = place(of: database)
        if place < count, self[place] == database { remove(at: place) }
    }
}
