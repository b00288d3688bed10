// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// Which caller has which connection of a pool: the state machine of a group of connections, without the connections.
///
/// Places are numbered. Each has at most one connection, which up to `capacity` callers may use at the same time.
/// Waiting callers are served in order of arrival.
///
/// On demand, one connection is always open or being opened. Another one is opened only if more callers wait than connections
/// are being opened. It then serves whoever waits longest. If nobody waits any more, it is free for the next caller.
///
/// The last places are spares. A caller gets one only if each of the others has work that takes long, or has no room. So as
/// few processes of PostgreSQL as possible are woken, and no caller waits behind long work without need.
struct LeaseTable {
    enum Answer: Equatable {
        case granted(place: Int)
        /// A connection comes later, unless the caller leaves first.
        case wait
        /// Too many callers wait already.
        case refused
    }

    private enum Link {
        case none, opening, open
    }

    private struct Place {
        var link = Link.none
        var useCount = 0
        /// Callers whose work takes long.
        var longCount = 0
    }

    private var places: [Place]
    private let capacity: Int
    private let waiterCountMax: Int
    private let opensOnDemand: Bool
    private var queue: Deque<Int> = []
    /// The callers in the queue that still wait, and whether their work takes long.
    private var waiting: [Int: Bool] = [:]
    /// The first spare.
    private let firstSpare: Int
    /// Open places with room. The one that was used last is at the end, because its memory is warm.
    private var free: [Int] = []

    /// - Parameters:
    ///   - spareCount: fewer than there are places.
    ///   - opensOnDemand: whether a connection is opened only when a caller needs it. Otherwise all are opened.
    init(
        placeCount: Int, capacity: Int, waiterCountMax: Int, spareCount: Int = 0, opensOnDemand: Bool = false
    ) {
        firstSpare = placeCount - spareCount
        places = Array(repeating: Place(), count: placeCount)
        self.capacity = capacity
        self.waiterCountMax = waiterCountMax
        self.opensOnDemand = opensOnDemand
    }

    var waiterCount: Int { waiting.count }
    var useCount: Int { places.reduce(0) { $0 + $1.useCount } }

    /// Whether a place has a connection, and no caller.
    func isUnused(_ place: Int) -> Bool { places[place].link == .open && places[place].useCount == 0 }

    /// A place with room. There is one only if nobody waits.
    mutating func acquireFree(isLong: Bool = false) -> Int? { take(isLong: isLong) }

    /// - Parameter isLong: whether the caller's work takes long. The same must be said when the place is released.
    mutating func acquire(waiter: Int, isLong: Bool = false) -> Answer {
        if let place = take(isLong: isLong) { return .granted(place: place) }
        guard waiting.count < waiterCountMax else { return .refused }
        queue.append(waiter)
        waiting[waiter] = isLong
        return .wait
    }

    /// A caller stops waiting. False if it has been served already.
    mutating func leave(waiter: Int) -> Bool {
        guard waiting.removeValue(forKey: waiter) != nil else { return false }
        // Callers that left are skipped when their turn comes. They are removed here only so that the queue cannot grow
        // without bound.
        if queue.count > 2 * waiting.count + 64 { queue.removeAll { waiting[$0] == nil } }
        return true
    }

    /// The places for which a connection must be opened now. To ask after the start, after a caller has begun to wait, and after
    /// a place was opened.
    mutating func placesToOpen() -> [Int] {
        var chosen: [Int] = []
        while mustOpen, let place = nextToOpen {
            places[place].link = .opening
            chosen.append(place)
        }
        return chosen
    }

    /// The pause is over after an attempt to connect that failed, or after a lost connection. Returns whether to try (again).
    /// Otherwise enough others are being opened, and the place stays without a connection until a caller needs it.
    mutating func reopens(_ place: Int) -> Bool {
        precondition(places[place].link == .opening)
        let opening = count(.opening)
        if !opensOnDemand || opening <= waiting.count || opening + count(.open) == 1 { return true }
        places[place].link = .none
        return false
    }

    /// A place has a connection now. Returns the callers that get it.
    mutating func opened(_ place: Int) -> [(waiter: Int, place: Int)] {
        precondition(places[place].link != .open)
        places[place].link = .open
        if places[place].useCount < capacity { free.append(place) }
        return serve()
    }

    /// The connection of a place is lost. Callers that have leased it return it nevertheless. The place counts as being opened,
    /// until ``reopens(_:)`` decides.
    mutating func closed(_ place: Int) {
        places[place].link = .opening
        free.removeAll { $0 == place }
    }

    /// A caller returns a place. Returns the callers that get what is free now.
    mutating func release(_ place: Int, isLong: Bool = false) -> [(waiter: Int, place: Int)] {
        precondition(places[place].useCount > 0 && (!isLong || places[place].longCount > 0))
        places[place].useCount -= 1
        if isLong { places[place].longCount -= 1 }
        if places[place].link == .open, !free.contains(place) { free.append(place) }
        return serve()
    }

    /// Serves nobody any more. Returns the waiting callers.
    mutating func stop() -> [Int] {
        defer {
            queue = []
            waiting = [:]
        }
        return queue.filter { waiting[$0] != nil }
    }

    private func count(_ link: Link) -> Int { places.count { $0.link == link } }

    private var mustOpen: Bool {
        let opening = count(.opening)
        return !opensOnDemand || opening < waiting.count || opening + count(.open) == 0
    }

    /// Rather one that nobody has: what is opened for a lost connection serves nobody before the caller returns that one.
    private var nextToOpen: Int? {
        let closed = places.indices.filter { places[$0].link == .none }
        return closed.first { places[$0].useCount == 0 } ?? closed.first
    }

    private mutating func serve() -> [(waiter: Int, place: Int)] {
        var served: [(waiter: Int, place: Int)] = []
        while let waiter = queue.first {
            guard let isLong = waiting[waiter] else {
                queue.removeFirst()
                continue
            }
            guard let place = take(isLong: isLong) else { break }
            queue.removeFirst()
            waiting[waiter] = nil
            served.append((waiter, place))
        }
        return served
    }

    /// The best place; among equals, the one that was used last.
    private mutating func take(isLong: Bool) -> Int? {
        var best: (index: Int, rank: (Int, Int))?
        for index in free.indices.reversed() {
            let rank = rank(of: free[index], isLong: isLong)
            if let found = best, found.rank <= rank { continue }
            best = (index, rank)
        }
        guard let index = best?.index else { return nil }
        let place = free[index]
        places[place].useCount += 1
        if isLong { places[place].longCount += 1 }
        if places[place].useCount == capacity { free.remove(at: index) }
        return place
    }

    /// The least is the best place for a caller. Long works are spread, and leave the spares to the others.
    private func rank(of place: Int, isLong: Bool) -> (Int, Int) {
        let isSpare = place >= firstSpare
        let state = places[place]
        if isLong { return (isSpare ? .max : state.longCount, state.useCount) }
        return (state.longCount > 0 ? 2 : isSpare ? 1 : 0, state.useCount)
    }
}
