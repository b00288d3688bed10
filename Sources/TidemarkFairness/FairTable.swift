// SPDX-License-Identifier: Apache-2.0

/// Things of owners that can be taken back, such as open files, in a table with a fixed number of places. If an owner
/// has its limit, or if the table is full, the thing that was used longest ago gives way. It is one of that owner, or
/// of the owner that has most.
package struct FairTable<Key: Hashable, Value> {
    private struct Entry {
        let value: Value
        let ticket: WorkTicket
        var lastUse: UInt64
    }

    /// Nobody waits in it.
    private var queue: FairQueue
    private var entries: [Key: Entry] = [:]
    private var useCount: UInt64 = 0

    /// - Parameters:
    ///   - count: of all owners together.
    ///   - perOwner: of one of them.
    package init(count: Int, perOwner: Int) {
        queue = FairQueue(FairBounds(room: count, roomPerOwner: perOwner, waitingMax: 0, waitingPerOwnerMax: 0))
    }

    package var count: Int { entries.count }
    package var values: [Value] { entries.values.map(\.value) }

    package func contains(_ key: Key) -> Bool { entries[key] != nil }

    /// The thing, which counts as used now.
    package mutating func use(_ key: Key) -> Value? {
        useCount += 1
        entries[key]?.lastUse = useCount
        return entries[key]?.value
    }

    /// Adds a thing whose key is not in the table.
    ///
    /// - Returns: the values that gave way. Nil if there is no place, because owners who have no more than this one would have use all of
    ///   them.
    package mutating func insert(_ value: Value, for key: Key, of owner: WorkOwner) -> [(key: Key, value: Value)]? {
        precondition(entries[key] == nil)
        var gaveWay: [(key: Key, value: Value)] = []
        while true {
            switch queue.ask(for: owner) {
            case .begin(let ticket):
                useCount += 1
                entries[key] = Entry(value: value, ticket: ticket, lastUse: useCount)
                return gaveWay
            case .refuse(let refusal):
                let giver = refusal.reason == .ownerFull ? owner : queue.whoGivesWay(to: owner) ?? owner
                guard let oldest = oldest(of: giver), let taken = remove(oldest) else { return nil }
                gaveWay.append((oldest, taken))
            case .wait: preconditionFailure("Nobody waits.")
            }
        }
    }

    @discardableResult
    package mutating func remove(_ key: Key) -> Value? {
        guard let entry = entries.removeValue(forKey: key) else { return nil }
        _ = queue.finish(entry.ticket)
        return entry.value
    }

    /// Removes what the closure picks.
    package mutating func removeAll(where isRemoved: (Value) -> Bool) -> [(key: Key, value: Value)] {
        let picked = entries.filter { isRemoved($0.value.value) }
        for key in picked.keys { remove(key) }
        return picked.map { ($0.key, $0.value.value) }
    }

    private func oldest(of owner: WorkOwner) -> Key? {
        entries.filter { $0.value.ticket.owner == owner }.min { $0.value.lastUse < $1.value.lastUse }?.key
    }
}
