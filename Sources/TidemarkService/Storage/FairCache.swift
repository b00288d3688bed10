// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFairness

/// A cache whose room owners share. What was used longest ago goes first.
///
/// If the room is full, the owner that has most gives way, with the value that it used longest ago. Whoever has
/// no more than a small part gives way only if nobody has more than that. Then the value goes that was used longest ago
/// of all.
///
/// Each step costs the same, however much is in the cache. It lives in this module, so that it is specialized.
struct FairCache<Key: Hashable, Value> {
    private struct Entry {
        let key: Key
        let value: Value
        let room: Int
        let owner: WorkOwner
    }

    /// What an owner has.
    private struct Holding {
        var room = 0
        var order = UseOrder()
    }

    /// How many values may go for one that comes. If there are more that should, the next ones take them along.
    static var leavingMax: Int { 256 }

    let roomMax: Int
    private(set) var room = 0
    private var places: [Key: Int] = [:]
    private var entries: [Entry?] = []
    private var vacant: [Int] = []
    private var order = UseOrder()
    private var links: [UseOrder.Links] = []
    /// The links of a place among those of its owner.
    private var ownLinks: [UseOrder.Links] = []
    private var holdings: [WorkOwner: Holding] = [:]
    /// The owners that have more than a small part. There are at most as many as there are such parts, so that it is
    /// cheap to find the one that has most.
    private var large: [WorkOwner] = []

    /// - Parameter roomMax: in any unit, such as the approximate bytes of all values. A single value that takes more is
    ///   kept until the next one comes.
    init(roomMax: Int) {
        self.roomMax = roomMax
    }

    /// The value, which counts as used now.
    mutating func use(_ key: Key) -> Value? {
        guard let place = places[key], let entry = entries[place] else { return nil }
        order.remove(place, &links)
        order.append(place, &links)
        holdings[entry.owner]?.order.remove(place, &ownLinks)
        holdings[entry.owner]?.order.append(place, &ownLinks)
        return entry.value
    }

    /// NB: it is taken out, so that it can be changed in place.
    mutating func take(_ key: Key) -> (value: Value, owner: WorkOwner)? {
        guard let place = places[key], let entry = remove(at: place) else { return nil }
        return (entry.value, entry.owner)
    }

    /// Adds a value, or replaces the one that has the key.
    ///
    /// - Parameter room: what the value takes of the room.
    /// - Returns: what gave way. Whoever holds a lock releases that first: a value may be large.
    @discardableResult
    mutating func keep(_ value: consuming Value, as key: Key, room: Int, of owner: WorkOwner) -> [Value] {
        if let place = places[key] { _ = remove(at: place) }
        let place = vacant.popLast() ?? addPlace()
        entries[place] = Entry(key: key, value: value, room: room, owner: owner)
        places[key] = place
        order.append(place, &links)
        holdings[owner, default: Holding()].order.append(place, &ownLinks)
        count(room, of: owner)
        var leaving: [Value] = []
        while self.room > roomMax, leaving.count < Self.leavingMax, let other = leastWanted(besides: place),
            let entry = remove(at: other)
        {
            leaving.append(entry.value)
        }
        return leaving
    }

    private mutating func addPlace() -> Int {
        entries.append(nil)
        links.append(UseOrder.Links())
        ownLinks.append(UseOrder.Links())
        return entries.count - 1
    }

    private mutating func remove(at place: Int) -> Entry? {
        guard let entry = entries[place] else { return nil }
        entries[place] = nil
        vacant.append(place)
        places[entry.key] = nil
        order.remove(place, &links)
        holdings[entry.owner]?.order.remove(place, &ownLinks)
        count(-entry.room, of: entry.owner)
        if holdings[entry.owner]?.order.oldest == nil { holdings[entry.owner] = nil }
        return entry
    }

    /// The place of what gives way. It is never the one that has just been taken.
    private func leastWanted(besides newest: Int) -> Int? {
        let givers = large.lazy.filter { holdings[$0]?.order.oldest != newest }
        if let giver = givers.max(by: { excess(of: $0) < excess(of: $1) }) { return holdings[giver]?.order.oldest }
        return order.oldest == newest ? nil : order.oldest
    }

    /// A part that nobody is asked to give back, as long as others have more.
    private func smallPart(of owner: WorkOwner) -> Int { owner == .nobody ? roomMax / 128 : roomMax / 32 }

    /// How often an owner has its small part.
    private func excess(of owner: WorkOwner) -> Double {
        Double(holdings[owner]?.room ?? 0) / Double(max(1, smallPart(of: owner)))
    }

    private mutating func count(_ change: Int, of owner: WorkOwner) {
        room += change
        let before = holdings[owner]?.room ?? 0
        holdings[owner]?.room = before + change
        let part = smallPart(of: owner)
        if before <= part, before + change > part { large.append(owner) }
        if before > part, before + change <= part { large.removeAll { $0 == owner } }
    }
}

/// The order in which things were used, from the oldest to the newest. It is a list through their places in an array.
private struct UseOrder {
    /// The neighbours of a place.
    struct Links {
        var older: Int?
        var newer: Int?
    }

    private(set) var oldest: Int?
    private var newest: Int?

    mutating func append(_ place: Int, _ links: inout [Links]) {
        links[place] = Links(older: newest, newer: nil)
        if let newest { links[newest].newer = place } else { oldest = place }
        newest = place
    }

    mutating func remove(_ place: Int, _ links: inout [Links]) {
        let (older, newer) = (links[place].older, links[place].newer)
        if let older { links[older].newer = newer } else { oldest = newer }
        if let newer { links[newer].older = older } else { newest = older }
    }
}
