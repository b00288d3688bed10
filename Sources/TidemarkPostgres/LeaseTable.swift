// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// Which caller has which connection of a pool: the state machine of a group of connections, without the connections.
///
/// Places are numbered. Each has at most one connection, which up to `capacity` callers may use at the same time.
/// Waiting callers are served in order of arrival.
struct LeaseTable {
    enum Answer: Equatable {
        case granted(place: Int)
        /// A connection comes later, unless the caller leaves first.
        case wait
        /// Too many callers wait already.
        case refused
    }

    private struct Place {
        var isOpen = false
        var useCount = 0
    }

    private var places: [Place]
    private let capacity: Int
    private let waiterCountMax: Int
    private var queue: Deque<Int> = []
    /// The callers in the queue that still wait.
    private var waiting: Set<Int> = []
    /// Open places with room. The one that was used last is at the end, because its memory is warm.
    private var free: [Int] = []

    init(placeCount: Int, capacity: Int, waiterCountMax: Int) {
        places = Array(repeating: Place(), count: placeCount)
        self.capacity = capacity
        self.waiterCountMax = waiterCountMax
    }

    var waiterCount: Int { waiting.count }
    var useCount: Int { places.reduce(0) { $0 + $1.useCount } }

    /// Whether a place has a connection, and no caller.
    func isUnused(_ place: Int) -> Bool { places[place].isOpen && places[place].useCount == 0 }

    /// A place with room. There is one only if nobody waits.
    mutating func acquireFree() -> Int? { take() }

    mutating func acquire(waiter: Int) -> Answer {
        if let place = take() { return .granted(place: place) }
        guard waiting.count < waiterCountMax else { return .refused }
        queue.append(waiter)
        waiting.insert(waiter)
        return .wait
    }

    /// A caller stops waiting. False if it has been served already.
    mutating func leave(waiter: Int) -> Bool {
        guard waiting.remove(waiter) != nil else { return false }
        // Callers that left are skipped when their turn comes. They are removed here only so that the queue cannot grow
        // without bound.
        if queue.count > 2 * waiting.count + 64 { queue.removeAll { !waiting.contains($0) } }
        return true
    }

    /// A place has a connection now. Returns the callers that get it.
    mutating func opened(_ place: Int) -> [(waiter: Int, place: Int)] {
        precondition(!places[place].isOpen)
        places[place].isOpen = true
        if places[place].useCount < capacity { free.append(place) }
        return serve()
    }

    /// The connection of a place is lost. Callers that have leased it return it nevertheless.
    mutating func closed(_ place: Int) {
        places[place].isOpen = false
        free.removeAll { $0 == place }
    }

    /// A caller returns a place. Returns the callers that get what is free now.
    mutating func release(_ place: Int) -> [(waiter: Int, place: Int)] {
        precondition(places[place].useCount > 0)
        places[place].useCount -= 1
        if places[place].isOpen, !free.contains(place) { free.append(place) }
        return serve()
    }

    /// Serves nobody any more. Returns the waiting callers.
    mutating func stop() -> [Int] {
        defer {
            queue = []
            waiting = []
        }
        return queue.filter(waiting.contains)
    }

    private mutating func serve() -> [(waiter: Int, place: Int)] {
        var served: [(waiter: Int, place: Int)] = []
        while let waiter = queue.first {
            guard waiting.contains(waiter) else {
                queue.removeFirst()
                continue
            }
            guard let place = take() else { break }
            queue.removeFirst()
            waiting.remove(waiter)
            served.append((waiter, place))
        }
        return served
    }

    /// The least used place; among equals, the one that was used last.
    private mutating func take() -> Int? {
        let least = free.indices.reversed().min { places[free[$0]].useCount < places[free[$1]].useCount }
        guard let index = least else { return nil }
        let place = free[index]
        places[place].useCount += 1
        if places[place].useCount == capacity { free.remove(at: index) }
        return place
    }
}
