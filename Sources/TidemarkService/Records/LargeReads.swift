// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness

/// The place for a large read that an owner's next request in a zone has, or waits for.
struct LargeRead {
    let ticket: WorkTicket
    var hasPlace: Bool
}

/// Decides which requests may read much stored data in a write transaction. The process has few places for
/// that. An owner has one of them at a time, and owners take turns.
///
/// An owner waits once for each zone in which its next request needs a place. No transaction waits: a place is given to
/// a zone's lane, and the request's transaction begins after that.
struct LargeReads {
    private var queue: FairQueue
    /// The zones for which owners wait, by the numbers of their tickets.
    private var zones: [UInt64: ZoneKey] = [:]

    init(placesMax: Int) {
        // Nobody is refused here: what waits is bounded by the requests that a `WriteQueue` has.
        queue = FairQueue(
            FairBounds(room: placesMax, roomPerOwner: 1, waitingMax: .max, waitingPerOwnerMax: .max))
    }

    /// Asks for a place. Call ``end(_:)`` when it is not needed any more, or not wanted.
    mutating func ask(for owner: WorkOwner, in zone: ZoneKey) -> LargeRead {
        switch queue.ask(for: owner) {
        case .begin(let ticket): return LargeRead(ticket: ticket, hasPlace: true)
        case .wait(let ticket, _):
            zones[ticket.number] = zone
            return LargeRead(ticket: ticket, hasPlace: false)
        case .refuse: preconditionFailure("As many wait as want to.")
        }
    }

    /// - Returns: the large read that gets the place now.
    mutating func end(_ read: LargeRead) -> [(zone: ZoneKey, ticket: WorkTicket)] {
        zones[read.ticket.number] = nil
        let begun = read.hasPlace ? queue.finish(read.ticket) : queue.cancel(read.ticket) ?? []
        return begun.compactMap { ticket in
            zones.removeValue(forKey: ticket.number).map { (zone: $0, ticket: ticket) }
        }
    }
}

/// How requests are divided that need more stored bytes together than a transaction may read.
/// A single request may also come because of its relatives.
struct StoredDivision {
    /// As far as is known, each may go in a separate transaction. The zones that need least come first, so that a small
    /// save does not wait for a large one. Requests to one zone keep their order.
    private(set) var parts: [[WriteQueue.Entry]] = []
    /// Requests that need a place, and those that came after them in their zones; in this order.
    private(set) var later: [WriteQueue.Entry] = []

    /// - Parameter storedBytes: what each request of the part needs.
    init(_ part: [WriteQueue.Entry], storedBytes: [Int], settings: WriteSettings) {
        var zoneBytes: [ZoneKey: Int] = [:]
        for (entry, bytes) in zip(part, storedBytes) { zoneBytes[entry.key, default: 0] += bytes }
        let order = part.indices.sorted { one, other in
            (zoneBytes[part[one].key] ?? 0, one) < (zoneBytes[part[other].key] ?? 0, other)
        }
        var laterZones: Set<ZoneKey> = []
        var room = 0
        for index in order {
            var entry = part[index]
            let bytesMax = settings.storedBytesMax(bringing: entry.byteCount)
            entry.isLarge = storedBytes[index] > bytesMax || part.count == 1
            if entry.isLarge || laterZones.contains(entry.key) {
                later.append(entry)
                laterZones.insert(entry.key)
            } else if !parts.isEmpty, storedBytes[index] <= room + entry.byteCount {
                parts[parts.count - 1].append(entry)
                room += entry.byteCount - storedBytes[index]
            } else {
                parts.append([entry])
                room = bytesMax - storedBytes[index]
            }
        }
        // They have fewer bytes than the transaction found. With halves it ends, whatever they have.
        if later.isEmpty, parts.count == 1 {
            parts = [Array(parts[0][..<(part.count / 2)]), Array(parts[0][(part.count / 2)...])]
        }
    }
}
