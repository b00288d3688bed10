// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// Divides something scarce among owners: decides who begins now, who waits, who is next, and who gives way. One value
/// serves one scarce resource. It has no clock and no threads, and does not know the works themselves: its user keeps
/// them by their tickets.
///
/// - *Turns.* Owners who wait take turns, weighted by ``WorkOwner/weight`` and by what their works cost. An owner who
///   asks for little is served before those who have just been served much.
/// - *Cost.* A work is charged to its owner when it begins, by an estimate; the true cost may be told at its end.
/// - *Bounds.* ``FairBounds`` hold at any time, for each owner and for all together. When the queue is full, the owner
///   with most in it gives way.
/// - *Idle owners cost nothing.* An owner with nothing under way, nothing waiting and no debt to those who wait takes
///   no memory.
///
/// The order is that of start-time fair queueing. An owner's next work has a start tag. It is the later of the time of
/// the queue and the end of what the owner was charged so far. The least tag is next, and the time is the tag of what
/// began last. While nothing waits, a work costs two look-ups in a table.
package struct FairQueue: Sendable {
    /// The decision about a work.
    package enum Answer: Equatable, Sendable {
        /// It begins now. Tell ``FairQueue/finish(_:charge:)`` when it has ended.
        case begin(WorkTicket)
        /// It waits until it is among the results of ``FairQueue/finish(_:charge:)`` or ``FairQueue/cancel(_:)``.
        /// `gaveWay` waited until now, and is refused in its place.
        case wait(WorkTicket, gaveWay: WorkTicket?)
        case refuse(WorkRefusal)
    }

    private struct OwnerState {
        let owner: WorkOwner
        /// Room of the works under way.
        var held = 0
        /// The time of the queue when everything that was charged has passed.
        var end = 0
        var waiting: Deque<WorkTicket> = []
        var isIdleDebtor = false

        var weight: Int { owner.weight }
    }

    package let bounds: FairBounds
    private var owners: [OwnerState] = []
    /// Places in `owners` that are vacant.
    private var vacant: [Int] = []
    private(set) var places: [WorkOwner: Int] = [:]
    /// The places of owners who wait, in no order.
    private var queued: [Int] = []
    /// Owners with nothing but a debt. They are remembered while others wait.
    private var idleDebtorCount = 0
    private var time = 0
    private var lastNumber: UInt64 = 0
    /// Room of all works under way.
    package private(set) var heldRoom = 0
    private var heldCount = 0
    /// How many works wait.
    package private(set) var waitingCount = 0

    private static let idleDebtorsMax = 1_024
    /// A charge is bounded, so that sums cannot overflow.
    private static let chargeMax = 1 << 32
    private static let retryMin = Duration.seconds(1)
    private static let retryMax = Duration.seconds(30)

    package init(_ bounds: FairBounds) {
        self.bounds = bounds
    }

    /// Room of one owner's works under way.
    package func heldRoom(of owner: WorkOwner) -> Int { places[owner].map { owners[$0].held } ?? 0 }

    // MARK: Events

    /// An owner wants to begin a work.
    ///
    /// - Parameters:
    ///   - room: what the work occupies while it is under way, at least 1.
    ///   - charge: what the work is expected to cost, in the unit of ``finish(_:charge:)``.
    package mutating func ask(for owner: WorkOwner, room: Int = 1, charge: Int = 1) -> Answer {
        precondition(room > 0 && charge >= 0)
        guard room <= bounds.roomPerOwner else { return .refuse(WorkRefusal(.tooLarge, retryAfter: Self.retryMax)) }
        lastNumber += 1
        let ticket = WorkTicket(
            number: lastNumber, owner: owner, room: room, charge: min(charge, Self.chargeMax))
        let place = place(of: owner)
        if mayBegin(ticket, at: place) {
            begin(ticket, at: place)
            return .begin(ticket)
        }
        defer { forgetIfIdle(place) }
        return queue(ticket, at: place)
    }

    /// A work that began has ended.
    ///
    /// - Parameter charge: the real cost; nil: as expected.
    /// - Returns: the works that begin now, in their order.
    package mutating func finish(_ ticket: WorkTicket, charge: Int? = nil) -> [WorkTicket] {
        guard let place = places[ticket.owner], owners[place].held >= ticket.room else {
            preconditionFailure("A work ends once.")
        }
        owners[place].held -= ticket.room
        heldRoom -= ticket.room
        heldCount -= 1
        if let charge {
            let difference = min(max(charge, 0), Self.chargeMax) - ticket.charge
            owners[place].end += price(difference, for: owners[place])
        }
        defer { forgetIfIdle(place) }
        return beginWaiting()
    }

    /// A waiting work is no longer wanted.
    ///
    /// - Returns: the works that begin now, which may have waited behind it; nil if the work did not wait.
    package mutating func cancel(_ ticket: WorkTicket) -> [WorkTicket]? {
        guard let place = places[ticket.owner], let index = owners[place].waiting.firstIndex(of: ticket) else {
            return nil
        }
        removeWaiting(at: index, of: place)
        defer { forgetIfIdle(place) }
        return beginWaiting()
    }

    /// The owner who must give up something so that another can hold more: the one who holds most by its weight. Nil if
    /// all others would then hold less than the owner who asks.
    package func whoGivesWay(to owner: WorkOwner, room: Int = 1) -> WorkOwner? {
        let wanted = heldRoom(of: owner) + room
        let most = owners.indices.filter { owners[$0].held > 0 && owners[$0].owner != owner }
            .max { owners[$0].held * owners[$1].weight < owners[$1].held * owners[$0].weight }
        guard let most, owners[most].held * owner.weight > wanted * owners[most].weight else { return nil }
        return owners[most].owner
    }

    // MARK: Turns

    /// Whether a new work does not have to wait: there is room, and no work is before it.
    private func mayBegin(_ ticket: WorkTicket, at place: Int) -> Bool {
        guard fits(ticket), isAllowed(ticket, at: place), owners[place].waiting.isEmpty else { return false }
        return !queued.contains { other in
            owners[other].waiting.first.map { isAllowed($0, at: other) && comes($0, other, before: ticket, place) }
                ?? false
        }
    }

    private func fits(_ ticket: WorkTicket) -> Bool { heldRoom + ticket.room <= bounds.room }

    private func isAllowed(_ ticket: WorkTicket, at place: Int) -> Bool {
        owners[place].held + ticket.room <= bounds.roomPerOwner
    }

    private func startTag(_ place: Int) -> Int { max(owners[place].end, time) }

    /// By start tag; among equals by the amount held, and then by arrival.
    private func comes(_ one: WorkTicket, _ place: Int, before other: WorkTicket, _ otherPlace: Int) -> Bool {
        let (tag, otherTag) = (startTag(place), startTag(otherPlace))
        guard tag == otherTag else { return tag < otherTag }
        let held = owners[place].held * owners[otherPlace].weight
        let otherHeld = owners[otherPlace].held * owners[place].weight
        return held == otherHeld ? one.number < other.number : held < otherHeld
    }

    private mutating func begin(_ ticket: WorkTicket, at place: Int) {
        time = startTag(place)
        owners[place].end = time + price(ticket.charge, for: owners[place])
        owners[place].held += ticket.room
        heldRoom += ticket.room
        heldCount += 1
    }

    private func price(_ charge: Int, for owner: OwnerState) -> Int { charge * (WorkOwner.weightMax / owner.weight) }

    /// Begins the works that can begin. The next work waits for room, even if others need less.
    private mutating func beginWaiting() -> [WorkTicket] {
        guard waitingCount > 0 else { return [] }
        var begun: [WorkTicket] = []
        while let (ticket, place) = next(), fits(ticket) {
            removeWaiting(at: 0, of: place)
            begin(ticket, at: place)
            begun.append(ticket)
        }
        return begun
    }

    /// The work whose turn it is. Owners who have all that one may have are passed over.
    private func next() -> (WorkTicket, place: Int)? {
        var best: (WorkTicket, place: Int)?
        for place in queued {
            guard let ticket = owners[place].waiting.first, isAllowed(ticket, at: place) else { continue }
            if let known = best, !comes(ticket, place, before: known.0, known.place) { continue }
            best = (ticket, place)
        }
        return best
    }

    // MARK: Waiting

    private mutating func queue(_ ticket: WorkTicket, at place: Int) -> Answer {
        guard bounds.waitingMax > 0 else {
            return .refuse(refusal(isAllowed(ticket, at: place) ? .full : .ownerFull))
        }
        guard owners[place].waiting.count < bounds.waitingPerOwnerMax else { return .refuse(refusal(.ownerFull)) }
        var gaveWay: WorkTicket?
        if waitingCount >= bounds.waitingMax {
            guard let most = whoWaitsMost(besides: place) else { return .refuse(refusal(.full)) }
            let last = owners[most].waiting.count - 1
            gaveWay = owners[most].waiting[last]
            removeWaiting(at: last, of: most)
            forgetIfIdle(most)
        }
        if owners[place].waiting.isEmpty { queued.append(place) }
        owners[place].waiting.append(ticket)
        waitingCount += 1
        return .wait(ticket, gaveWay: gaveWay)
    }

    /// The owner with most waiting works by its weight, of those with more than one. Nil if that is not more than the owner who asks would
    /// have.
    ///
    /// Nobody loses the first of its works: others may wait behind that for room, and would have to begin then.
    private func whoWaitsMost(besides place: Int) -> Int? {
        func isLess(_ one: Int, _ oneCount: Int, _ other: Int) -> Bool {
            oneCount * owners[other].weight < owners[other].waiting.count * owners[one].weight
        }
        let most = queued.filter { $0 != place && owners[$0].waiting.count > 1 }
            .max { isLess($0, owners[$0].waiting.count, $1) }
        guard let most, isLess(place, owners[place].waiting.count + 1, most) else { return nil }
        return most
    }

    private mutating func removeWaiting(at index: Int, of place: Int) {
        owners[place].waiting.remove(at: index)
        waitingCount -= 1
        guard owners[place].waiting.isEmpty, let queuedIndex = queued.firstIndex(of: place) else { return }
        queued.swapAt(queuedIndex, queued.count - 1)
        queued.removeLast()
    }

    /// A refusal of one who would have to wait for all that waits now.
    package func refusal(_ reason: WorkRefusal.Reason) -> WorkRefusal {
        let wait = bounds.workTime * (waitingCount + 1) / max(1, heldCount)
        return WorkRefusal(reason, retryAfter: min(max(wait, Self.retryMin), Self.retryMax))
    }

    // MARK: Owners

    private mutating func place(of owner: WorkOwner) -> Int {
        if let place = places[owner] {
            if owners[place].isIdleDebtor {
                owners[place].isIdleDebtor = false
                idleDebtorCount -= 1
            }
            return place
        }
        let place: Int
        if let last = vacant.popLast() {
            place = last
            owners[place] = OwnerState(owner: owner)
        } else {
            place = owners.count
            owners.append(OwnerState(owner: owner))
        }
        places[owner] = place
        return place
    }

    /// Forgets an owner with nothing, unless it was served so much that those who wait come first.
    private mutating func forgetIfIdle(_ place: Int) {
        if waitingCount == 0, idleDebtorCount > 0 { forgetIdleDebtors { _ in true } }
        let state = owners[place]
        guard places[state.owner] == place, state.held == 0, state.waiting.isEmpty, !state.isIdleDebtor else { return }
        if waitingCount > 0, state.end > time {
            if idleDebtorCount >= Self.idleDebtorsMax { forgetIdleDebtors { [time] in $0.end <= time } }
            if idleDebtorCount < Self.idleDebtorsMax {
                owners[place].isIdleDebtor = true
                idleDebtorCount += 1
                return
            }
        }
        forget(place)
    }

    private mutating func forgetIdleDebtors(where isForgotten: (OwnerState) -> Bool) {
        for place in Array(places.values) where owners[place].isIdleDebtor && isForgotten(owners[place]) {
            idleDebtorCount -= 1
            forget(place)
        }
    }

    private mutating func forget(_ place: Int) {
        places[owners[place].owner] = nil
        guard places.isEmpty else { return vacant.append(place) }
        // There are no owners left: little memory is kept for the next one, and time begins at zero.
        let isLarge = owners.count > 64
        owners.removeAll(keepingCapacity: !isLarge)
        vacant.removeAll(keepingCapacity: !isLarge)
        if isLarge { places = [:] }
        time = 0
    }
}
