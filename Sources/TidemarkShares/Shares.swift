// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// Divides something scarce among owners: says who begins now, who waits, who is next, and who gives way. One value
/// serves one scarce thing. It has no clock and no threads, and does not know what the works are: its user keeps them
/// by their tickets.
///
/// - *Turns.* Owners who wait take turns, weighted by ``ShareOwner/weight`` and by what their works cost. An owner who
///   asks for little is served before those who have just been served much.
/// - *Cost.* A work is charged to its owner when it begins, by an estimate; the true cost may be told at its end.
/// - *Bounds.* ``ShareBounds`` hold at any time, for each owner and for all together. When the queue is full, whoever
///   has most in it gives way.
/// - *Nothing for nobody.* An owner with nothing under way, nothing waiting and no debt to those who wait takes no
///   memory.
///
/// The order is that of start-time fair queueing. An owner's next work has a start tag. It is the later of the time of
/// the shares and the end of what the owner was charged so far. The least tag is next, and the time is the tag of what
/// began last. While nothing waits, a work costs two look-ups in a table.
package struct Shares: Sendable {
    /// What becomes of a work.
    package enum Answer: Equatable, Sendable {
        /// It begins now. Tell ``Shares/finish(_:charge:)`` when it has ended.
        case begin(ShareTicket)
        /// It waits until it is among the results of ``Shares/finish(_:charge:)`` or ``Shares/cancel(_:)``. `gaveWay`
        /// waited until now, and is refused in its place.
        case wait(ShareTicket, gaveWay: ShareTicket?)
        case refuse(ShareRefusal)
    }

    /// What is known of one owner.
    private struct Share {
        let owner: ShareOwner
        /// Room of the works under way.
        var held = 0
        /// The time of the shares when everything that was charged has passed.
        var end = 0
        var waiting: Deque<ShareTicket> = []
        var isIdleDebtor = false

        var weight: Int { owner.weight }
    }

    package let bounds: ShareBounds
    private var shares: [Share] = []
    /// Places in `shares` that are vacant.
    private var vacant: [Int] = []
    private(set) var places: [ShareOwner: Int] = [:]
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

    package init(_ bounds: ShareBounds) {
        self.bounds = bounds
    }

    /// Room of one owner's works under way.
    package func heldRoom(of owner: ShareOwner) -> Int { places[owner].map { shares[$0].held } ?? 0 }

    /// How many works of one owner wait.
    package func waitingCount(of owner: ShareOwner) -> Int { places[owner].map { shares[$0].waiting.count } ?? 0 }

    // MARK: Events

    /// An owner wants to begin a work.
    ///
    /// - Parameters:
    ///   - room: what the work occupies while it is under way, at least 1.
    ///   - charge: what the work is expected to cost, in the unit of ``finish(_:charge:)``.
    package mutating func ask(for owner: ShareOwner, room: Int = 1, charge: Int = 1) -> Answer {
        precondition(room > 0 && charge >= 0)
        guard room <= bounds.roomPerOwner else { return .refuse(ShareRefusal(.tooLarge, retryAfter: Self.retryMax)) }
        lastNumber += 1
        let ticket = ShareTicket(
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
    /// - Parameter charge: what it really cost; nil: as expected.
    /// - Returns: the works that begin now, in their order.
    package mutating func finish(_ ticket: ShareTicket, charge: Int? = nil) -> [ShareTicket] {
        guard let place = places[ticket.owner], shares[place].held >= ticket.room else {
            preconditionFailure("A work ends once.")
        }
        shares[place].held -= ticket.room
        heldRoom -= ticket.room
        heldCount -= 1
        if let charge {
            let difference = min(max(charge, 0), Self.chargeMax) - ticket.charge
            shares[place].end += price(difference, for: shares[place])
        }
        defer { forgetIfIdle(place) }
        return beginWaiting()
    }

    /// A work that waits is no longer wanted.
    ///
    /// - Returns: the works that begin now, which may have waited behind it; nil if the work did not wait.
    package mutating func cancel(_ ticket: ShareTicket) -> [ShareTicket]? {
        guard let place = places[ticket.owner], let index = shares[place].waiting.firstIndex(of: ticket) else {
            return nil
        }
        removeWaiting(at: index, of: place)
        defer { forgetIfIdle(place) }
        return beginWaiting()
    }

    /// Who must give up something that is held, so that another can hold more: the owner who holds most by its weight.
    /// Nil if all others would then hold less than the one who asks.
    package func whoGivesWay(to owner: ShareOwner, room: Int = 1) -> ShareOwner? {
        let wanted = heldRoom(of: owner) + room
        let most = shares.indices.filter { shares[$0].held > 0 && shares[$0].owner != owner }
            .max { shares[$0].held * shares[$1].weight < shares[$1].held * shares[$0].weight }
        guard let most, shares[most].held * owner.weight > wanted * shares[most].weight else { return nil }
        return shares[most].owner
    }

    // MARK: Turns

    /// Whether a new work need not wait: there is room, and nobody is before it.
    private func mayBegin(_ ticket: ShareTicket, at place: Int) -> Bool {
        guard fits(ticket), isAllowed(ticket, at: place), shares[place].waiting.isEmpty else { return false }
        return !queued.contains { other in
            shares[other].waiting.first.map { isAllowed($0, at: other) && comes($0, other, before: ticket, place) }
                ?? false
        }
    }

    private func fits(_ ticket: ShareTicket) -> Bool { heldRoom + ticket.room <= bounds.room }

    private func isAllowed(_ ticket: ShareTicket, at place: Int) -> Bool {
        shares[place].held + ticket.room <= bounds.roomPerOwner
    }

    private func startTag(_ place: Int) -> Int { max(shares[place].end, time) }

    /// By start tag; among equals by what is held, and then by arrival.
    private func comes(_ one: ShareTicket, _ place: Int, before other: ShareTicket, _ otherPlace: Int) -> Bool {
        let (tag, otherTag) = (startTag(place), startTag(otherPlace))
        guard tag == otherTag else { return tag < otherTag }
        let held = shares[place].held * shares[otherPlace].weight
        let otherHeld = shares[otherPlace].held * shares[place].weight
        return held == otherHeld ? one.number < other.number : held < otherHeld
    }

    private mutating func begin(_ ticket: ShareTicket, at place: Int) {
        time = startTag(place)
        shares[place].end = time + price(ticket.charge, for: shares[place])
        shares[place].held += ticket.room
        heldRoom += ticket.room
        heldCount += 1
    }

    private func price(_ charge: Int, for share: Share) -> Int { charge * (ShareOwner.weightMax / share.weight) }

    /// Begins what can begin. Whoever is next waits for room, however little the others need.
    private mutating func beginWaiting() -> [ShareTicket] {
        guard waitingCount > 0 else { return [] }
        var begun: [ShareTicket] = []
        while let (ticket, place) = next(), fits(ticket) {
            removeWaiting(at: 0, of: place)
            begin(ticket, at: place)
            begun.append(ticket)
        }
        return begun
    }

    /// The work whose turn it is. Owners who have all that one may have are passed over.
    private func next() -> (ShareTicket, place: Int)? {
        var best: (ShareTicket, place: Int)?
        for place in queued {
            guard let ticket = shares[place].waiting.first, isAllowed(ticket, at: place) else { continue }
            if let known = best, !comes(ticket, place, before: known.0, known.place) { continue }
            best = (ticket, place)
        }
        return best
    }

    // MARK: Waiting

    private mutating func queue(_ ticket: ShareTicket, at place: Int) -> Answer {
        guard bounds.waitingMax > 0 else {
            return .refuse(refusal(isAllowed(ticket, at: place) ? .full : .ownerFull))
        }
        guard shares[place].waiting.count < bounds.waitingPerOwnerMax else { return .refuse(refusal(.ownerFull)) }
        var gaveWay: ShareTicket?
        if waitingCount >= bounds.waitingMax {
            guard let most = whoWaitsMost(besides: place) else { return .refuse(refusal(.full)) }
            let last = shares[most].waiting.count - 1
            gaveWay = shares[most].waiting[last]
            removeWaiting(at: last, of: most)
            forgetIfIdle(most)
        }
        if shares[place].waiting.isEmpty { queued.append(place) }
        shares[place].waiting.append(ticket)
        waitingCount += 1
        return .wait(ticket, gaveWay: gaveWay)
    }

    /// The owner with most waiting works by its weight, of those with more than one. Nil if that is not more than the one
    /// who asks would have.
    ///
    /// Nobody loses the first of its works: others may wait behind that for room, and would have to begin then.
    private func whoWaitsMost(besides place: Int) -> Int? {
        func isLess(_ one: Int, _ oneCount: Int, _ other: Int) -> Bool {
            oneCount * shares[other].weight < shares[other].waiting.count * shares[one].weight
        }
        let most = queued.filter { $0 != place && shares[$0].waiting.count > 1 }
            .max { isLess($0, shares[$0].waiting.count, $1) }
        guard let most, isLess(place, shares[place].waiting.count + 1, most) else { return nil }
        return most
    }

    private mutating func removeWaiting(at index: Int, of place: Int) {
        shares[place].waiting.remove(at: index)
        waitingCount -= 1
        guard shares[place].waiting.isEmpty, let queuedIndex = queued.firstIndex(of: place) else { return }
        queued.swapAt(queuedIndex, queued.count - 1)
        queued.removeLast()
    }

    /// A refusal of one who would have to wait for all that waits now.
    package func refusal(_ reason: ShareRefusal.Reason) -> ShareRefusal {
        let wait = bounds.workTime * (waitingCount + 1) / max(1, heldCount)
        return ShareRefusal(reason, retryAfter: min(max(wait, Self.retryMin), Self.retryMax))
    }

    // MARK: Owners

    private mutating func place(of owner: ShareOwner) -> Int {
        if let place = places[owner] {
            if shares[place].isIdleDebtor {
                shares[place].isIdleDebtor = false
                idleDebtorCount -= 1
            }
            return place
        }
        let place: Int
        if let last = vacant.popLast() {
            place = last
            shares[place] = Share(owner: owner)
        } else {
            place = shares.count
            shares.append(Share(owner: owner))
        }
        places[owner] = place
        return place
    }

    /// Forgets an owner with nothing, unless it was served so much that those who wait come first.
    private mutating func forgetIfIdle(_ place: Int) {
        if waitingCount == 0, idleDebtorCount > 0 { forgetIdleDebtors { _ in true } }
        let share = shares[place]
        guard places[share.owner] == place, share.held == 0, share.waiting.isEmpty, !share.isIdleDebtor else { return }
        if waitingCount > 0, share.end > time {
            if idleDebtorCount >= Self.idleDebtorsMax { forgetIdleDebtors { [time] in $0.end <= time } }
            if idleDebtorCount < Self.idleDebtorsMax {
                shares[place].isIdleDebtor = true
                idleDebtorCount += 1
                return
            }
        }
        forget(place)
    }

    private mutating func forgetIdleDebtors(where isForgotten: (Share) -> Bool) {
        for place in Array(places.values) where shares[place].isIdleDebtor && isForgotten(shares[place]) {
            idleDebtorCount -= 1
            forget(place)
        }
    }

    private mutating func forget(_ place: Int) {
        places[shares[place].owner] = nil
        guard places.isEmpty else { return vacant.append(place) }
        // Nobody is left: little is kept for the next owner, and time begins anew.
        let isLarge = shares.count > 64
        shares.removeAll(keepingCapacity: !isLarge)
        vacant.removeAll(keepingCapacity: !isLarge)
        if isLarge { places = [:] }
        time = 0
    }
}
