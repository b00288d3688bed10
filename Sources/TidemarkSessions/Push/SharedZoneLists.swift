// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService

/// Which zones of other owners the shared databases have that are watched here: whom a change of a zone may concern. A pure
/// value.
///
/// A list grants nothing, and may be some seconds old. Devices are only told to fetch, and a fetch reads what they may see.
struct SharedZoneLists {
    /// By viewer, which is a user's shared database.
    private var zones: [DatabaseID: Set<ZoneKey>] = [:]
    /// By owner's database and name of a zone.
    private var viewers: [DatabaseID: [String: Set<DatabaseID>]] = [:]

    /// The most zones of a list (I-7). Changes of others are found by the sweep.
    static let zonesMax = 10_000

    /// Whether no list was set.
    var isEmpty: Bool { zones.isEmpty }

    /// Sets a viewer's list.
    ///
    /// - Returns: whether it has a zone that it did not have before.
    mutating func set(_ keys: [ZoneKey], of viewer: DatabaseID) -> Bool {
        let new = Set(keys.prefix(Self.zonesMax))
        let old = zones[viewer] ?? []
        for key in old.subtracting(new) { unlink(key, viewer) }
        for key in new.subtracting(old) { viewers[key.database, default: [:]][key.name, default: []].insert(viewer) }
        zones[viewer] = new
        return !new.isSubset(of: old)
    }

    mutating func remove(_ viewer: DatabaseID) {
        for key in zones.removeValue(forKey: viewer) ?? [] { unlink(key, viewer) }
    }

    private mutating func unlink(_ key: ZoneKey, _ viewer: DatabaseID) {
        viewers[key.database]?[key.name]?.remove(viewer)
        if viewers[key.database]?[key.name]?.isEmpty == true { viewers[key.database]?[key.name] = nil }
        if viewers[key.database]?.isEmpty == true { viewers[key.database] = nil }
    }

    /// The viewers whom a change may concern. If the set of zones of a database has changed, all who have one of them.
    func viewers(concernedBy notice: ZoneNotice) -> Set<DatabaseID> {
        guard let names = viewers[notice.database] else { return [] }
        guard notice.zoneName.isEmpty else { return names[notice.zoneName] ?? [] }
        return names.values.reduce(into: []) { $0.formUnion($1) }
    }

    /// How much the mark of a viewer's database grows by a commit. Nil: not known, as if a zone of the same owner has changed
    /// that is not in the list.
    func growth(of viewer: DatabaseID, by moved: ZonesMoved) -> Int64? {
        let list = zones[viewer] ?? []
        let owners = Set(list.lazy.map(\.database))
        let concerning = moved.notices.filter { owners.contains($0.database) }
        var sum: Int64 = 0
        for database in Set(concerning.lazy.map(\.database)) {
            guard let growth = moved.growth[database] else { return nil }
            sum += growth
        }
        let areListed = concerning.allSatisfy { list.contains(ZoneKey(database: $0.database, name: $0.zoneName)) }
        return areListed && !moved.notices.contains { $0.database == viewer } ? sum : nil
    }
}
