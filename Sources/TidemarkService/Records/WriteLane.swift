// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFairness

/// A zone in a ``WriteQueue``: what waits there, and what of it may go.
struct WriteLane {
    enum Phase {
        /// Nothing may go: all that waits here waits for places.
        case idle
        case ready, writing, resting
    }

    /// The event loop whose workers write it. An idle lane goes where its next request comes or gets its place.
    private(set) var loop: Int
    var phase = Phase.idle
    var waiting = FairTurns<WorkOwner, WriteQueue.Entry>()
    /// Set after the lane was in a group that found a zone busy. Its next transaction holds no other zone.
    var isAlone = false
    /// The turns of the lane's owners among lanes that are ready: each owner who waits here, once.
    private var firstListed: WorkOwner?
    private var othersListed: [WorkOwner] = []
    /// The large reads of owners whose next request here is large, once each. Usually there are none.
    private var largeReads: [LargeRead] = []

    init(loop: Int) {
        self.loop = loop
    }

    // MARK: Turns

    /// - Parameter loop: where the entry came.
    /// - Returns: the loop where the lane must get a turn of the entry's owner; nil if it has one, or needs none now.
    mutating func add(_ entry: WriteQueue.Entry, at loop: Int) -> Int? {
        waiting.append(entry, of: entry.owner)
        return mayGo(entry.owner) ? becomeReady(for: entry.owner, at: loop) : nil
    }

    /// Something of the owner's may go.
    ///
    /// - Returns: as ``add(_:at:)``.
    private mutating func becomeReady(for owner: WorkOwner, at loop: Int) -> Int? {
        if phase == .idle {
            self.loop = loop
            phase = .ready
        }
        return phase == .ready && list(owner) ? self.loop : nil
    }

    /// An idle lane moves to a loop that will look for requests that may start.
    mutating func move(to loop: Int) {
        precondition(phase == .idle)
        self.loop = loop
    }

    /// Nothing may go. The turns that the lane has somewhere are out of date.
    mutating func becomeIdle() {
        phase = .idle
        firstListed = nil
        othersListed = []
    }

    /// - Returns: whether it had no turn of that owner.
    mutating func list(_ owner: WorkOwner) -> Bool {
        guard firstListed != owner, !othersListed.contains(owner) else { return false }
        if firstListed == nil { firstListed = owner } else { othersListed.append(owner) }
        return true
    }

    /// - Returns: whether it had a turn of that owner.
    mutating func unlist(_ owner: WorkOwner) -> Bool {
        if firstListed == owner {
            firstListed = nil
            return true
        }
        guard let index = othersListed.firstIndex(of: owner) else { return false }
        othersListed.remove(at: index)
        return true
    }

    // MARK: Requests that go together

    /// The next request that needs no place.
    var next: WriteQueue.Entry? {
        largeReads.isEmpty ? waiting.first : waiting.first(where: { !isLarge($0) })
    }

    /// Takes out ``next``.
    mutating func removeNext() {
        let large = largeReads
        _ = waiting.popFirst { owner in !large.contains { $0.ticket.owner == owner } }
    }

    private func isLarge(_ owner: WorkOwner) -> Bool { largeReads.contains { $0.ticket.owner == owner } }

    // MARK: Large requests

    /// Whether an owner's next request does not wait for a place.
    func mayGo(_ owner: WorkOwner) -> Bool {
        largeReads.allSatisfy { $0.hasPlace || $0.ticket.owner != owner }
    }

    /// Whether an owner must ask for a place.
    func needsPlace(_ owner: WorkOwner) -> Bool {
        isNextLarge(of: owner) && !isLarge(owner)
    }

    private func isNextLarge(of owner: WorkOwner) -> Bool {
        waiting.first(where: { $0 == owner })?.isLarge == true
    }

    /// An owner has asked.
    mutating func add(_ read: LargeRead) {
        largeReads.append(read)
    }

    /// An owner's turn for a place has come.
    ///
    /// - Parameter loop: one with a worker that will look for it.
    /// - Returns: as ``add(_:at:)``.
    mutating func take(_ ticket: WorkTicket, at loop: Int) -> Int? {
        guard let index = largeReads.firstIndex(where: { $0.ticket == ticket }) else {
            preconditionFailure("A lane knows for what it waits.")
        }
        largeReads[index].hasPlace = true
        return becomeReady(for: ticket.owner, at: loop)
    }

    /// Whether an owner's next request is large and has its place. Then it goes alone.
    func hasLargeTurn(_ owner: WorkOwner) -> Bool {
        !largeReads.isEmpty && isNextLarge(of: owner)
            && largeReads.contains { $0.hasPlace && $0.ticket.owner == owner }
    }

    /// Takes out the request of ``hasLargeTurn(_:)``, with its place.
    mutating func popLarge(of owner: WorkOwner) -> WriteQueue.Entry? {
        guard let index = largeReads.firstIndex(where: { $0.ticket.owner == owner }),
            var entry = waiting.popFirst(where: { $0 == owner })?.element
        else { return nil }
        entry.largeRead = largeReads.remove(at: index)
        return entry
    }

    /// Removes a large read that its owner does not need, because the large request has left. Nil: there is none.
    ///
    /// NB: one at a time. Ending it may give its place to the next one here, which must still be known.
    mutating func removeUnusedRead() -> LargeRead? {
        guard !largeReads.isEmpty else { return nil }
        return largeReads.firstIndex { !isNextLarge(of: $0.ticket.owner) }.map { largeReads.remove(at: $0) }
    }
}
