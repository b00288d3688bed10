// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields

/// Decides which record requests go into which transaction, and when. It is a pure state machine; ``WriteCoordinator``
/// drives it.
///
/// Each zone is a lane. While requests of a lane are in a transaction, further ones wait in the lane and go together in
/// the next one. So a zone is in at most one transaction of this queue, and one device's requests to a zone keep
/// their order. Lanes that are ready at the same moment share a transaction.
///
/// Owners take turns, with their lanes and within a lane, and nobody fills the queue. Nobody holds up
/// all others with transactions that take long. A request that nobody waits for any more leaves it. One
/// that reads much waits in its lane until its owner has a place for that. Meanwhile other owners' requests go.
///
/// It may serve several event loops, each with separate workers (``addLoop()``). A lane belongs to the loop that
/// received its first request, until no request in it may start any more. So most requests never change threads.
struct WriteQueue {
    /// Identifies a request while it is in the queue; grows with time.
    typealias Ticket = UInt64

    /// A request and its progress.
    struct Entry: Sendable {
        let ticket: Ticket
        let key: ZoneKey
        let owner: WorkOwner
        let asker: Asker
        var request: RecordsRequest
        let itemCount: Int
        let byteCount: Int
        let deadline: Duration
        /// The store's memory epoch that the server knew when the request arrived (``MemoryEpochWatch``).
        let arrivalEpoch: Int64?
        /// The cause that is stored with its changes.
        var cause: ChangeCause?
        var failureCount = 0
        /// The last failure. The client gets it if the deadline passes.
        var lastFailure: FailureReason?
        /// Whether it has turned out to read more than it may without a place.
        var isLarge = false
        /// Its place, while it is in a transaction.
        var largeRead: LargeRead?

        /// NB: once it is unknown whether the request was written, "busy" would be wrong, because it means that nothing
        /// was.
        mutating func note(_ code: StorageError.Code) {
            failureCount += 1
            if lastFailure != .storeUnavailable { lastFailure = code.reason }
        }
    }

    enum Admission: Equatable {
        case queued(Ticket)
        /// The same request is here already and shares its outcome.
        case joined(Ticket)
        case refused(FailureReason)
    }

    /// A worker's next transaction.
    struct Group {
        /// Ordered by zone; empty ends the worker.
        var entries: [Entry] = []
        /// They have left the queue, because their askers had left.
        var unasked: [RefusedRequest] = []
    }

    struct RefusedRequest: Equatable {
        let ticket: Ticket
        let reason: FailureReason
    }

    /// What to do after a transaction failed.
    enum Recovery {
        /// Run these in this order, each in a separate transaction: one of them has the request that fails, or they are
        /// too large together.
        case bisect([Entry], [Entry])
        /// All undecided requests are back in their lanes, except these; then wake the lanes.
        case later(refusals: [RefusedRequest], wakes: [Wake])
    }

    struct Wake: Equatable {
        let key: ZoneKey
        let delay: Duration
    }

    private struct RecordsRequestIdentity: Hashable {
        let key: ZoneKey
        let life: DeviceID
        let counter: UInt64
        let nonce: UInt64
        let user: UserID

        init(_ request: RecordsRequest) {
            key = request.key
            life = request.id.life
            counter = request.id.counter
            nonce = request.id.nonce
            user = request.user
        }

        /// Requests of one life in one zone differ in their counters, which is enough to tell most of them apart.
        func hash(into hasher: inout Hasher) {
            hasher.combine(life.low)
            hasher.combine(counter)
        }
    }

    /// The workers of one event loop, and the lanes for them.
    private struct Workers {
        /// Lanes whose phase is `ready`, once for each owner of whose something may go. A turn may be out of date,
        /// which ``WriteLane/unlist(_:)`` tells.
        var ready = FairTurns<WorkOwner, ZoneKey>()
        var count = 0
        var hasOneStarting = false
        var places = WritePlaces()

        /// Whether one more worker has something to do.
        func mayStart(_ settings: WriteSettings) -> Bool {
            !hasOneStarting && places.isOneFree(in: ready, besides: count, of: settings.transactionsMax)
        }
    }

    private let settings: WriteSettings
    private var lanes: [ZoneKey: WriteLane] = [:]
    private var workers: [Workers] = []
    private var largeReads: LargeReads
    private var tickets: [RecordsRequestIdentity: Ticket] = [:]
    /// The askers of requests that several wait for.
    private var joined: [Ticket: Askers] = [:]
    private var nextTicket: Ticket = 0
    private var requests: FairAmounts
    private var bytes: FairAmounts
    private var isStopped = false

    init(settings: WriteSettings) {
        self.settings = settings
        requests = FairAmounts(amountMax: settings.requestsMax)
        bytes = FairAmounts(amountMax: settings.bytesMax)
        largeReads = LargeReads(placesMax: settings.largeReadsMax)
    }

    var requestCount: Int { requests.total }
    var byteCount: Int { bytes.total }

    /// - Returns: the number of the loop.
    mutating func addLoop() -> Int {
        workers.append(Workers())
        return workers.count - 1
    }

    // MARK: Requests come

    /// - Parameters:
    ///   - owner: whose share of the queue it takes.
    ///   - asker: who waits for its outcome.
    ///   - loop: where the request arrived.
    ///   - epoch: the store's memory epoch, as far as it is known.
    ///   - cause: how the request is named. One that joins another has that one's name in the store.
    mutating func admit(
        _ request: RecordsRequest, for owner: WorkOwner, askedBy asker: Asker, at loop: Int, now: Duration,
        epoch: Int64? = nil, cause: ChangeCause? = nil
    ) -> Admission {
        guard !isStopped else { return .refused(.storeUnavailable) }
        let key = request.key
        let identity = RecordsRequestIdentity(request)
        if let ticket = tickets[identity] {
            joined[ticket, default: Askers(asker)].join(asker)
            return .joined(ticket)
        }
        let byteCount = request.fieldsByteCount
        guard requests.take(1, for: owner) != .none else { return .refused(.tooManyRequests) }
        guard bytes.take(byteCount, for: owner) != .none else {
            requests.give(back: 1, of: owner)
            return .refused(.tooManyRequests)
        }
        let entry = Entry(
            ticket: nextTicket, key: key, owner: owner, asker: asker, request: request,
            itemCount: max(1, request.saves.count + request.deletes.count),
            byteCount: byteCount, deadline: now + settings.waitMax, arrivalEpoch: epoch, cause: cause)
        nextTicket += 1
        tickets[identity] = entry.ticket
        if let place = lanes[key, default: WriteLane(loop: loop)].add(entry, at: loop) {
            workers[place].ready.append(key, of: owner)
        }
        return .queued(entry.ticket)
    }

    /// Whether a loop's driver must start a worker. The worker then calls ``nextGroup(at:isFirst:)`` until that is nil.
    ///
    /// At most one worker is starting at a time: requests of the same moment gather until it runs.
    mutating func startsWorker(at loop: Int) -> Bool {
        guard workers[loop].mayStart(settings) else { return false }
        workers[loop].hasOneStarting = true
        workers[loop].count += 1
        return true
    }

    /// - Parameter isFirst: whether the worker has just started.
    mutating func nextGroup(at loop: Int, isFirst: Bool) -> Group {
        if isFirst { workers[loop].hasOneStarting = false }
        let group = gatherGroup(at: loop)
        if let first = group.entries.first {
            workers[loop].places.take(for: first.owner)
        } else {
            workers[loop].count -= 1
        }
        return group
    }

    // MARK: Transactions end

    /// Removes requests that have their outcome.
    mutating func leave(_ entries: some Sequence<Entry>) {
        for entry in entries {
            tickets[RecordsRequestIdentity(entry.request)] = nil
            if !joined.isEmpty { joined[entry.ticket] = nil }
            requests.give(back: 1, of: entry.owner)
            bytes.give(back: entry.byteCount, of: entry.owner)
        }
    }

    /// The transaction of `part` failed, or it is unknown whether it did. Requests past their deadline are refused now:
    /// another attempt may take long while the store is away.
    ///
    /// - Parameters:
    ///   - rest: parts of the same group that were not tried yet, in order.
    ///   - randomBits: 64 bits for each call, which spread the back-off.
    mutating func recover(
        from code: StorageError.Code, part: [Entry], rest: [[Entry]], now: Duration, randomBits: () -> UInt64
    ) -> Recovery {
        // A container that is closed is not the fault of requests to others.
        if code == .rejected || code == .groupTooLarge || code == .containerClosed, part.count > 1 {
            return .bisect(Array(part[..<(part.count / 2)]), Array(part[(part.count / 2)...]))
        }
        var refusals: [RefusedRequest] = []
        var delays: [ZoneKey: Duration] = [:]
        var returned: [Entry] = []
        let isShared = Set(part.map(\.key)).count > 1
        for var entry in part {
            entry.largeRead = nil
            entry.note(code)
            switch settings.retry.verdict(on: code, failureCount: entry.failureCount, randomBits: randomBits()) {
            case .fail(let reason):
                refusals.append(
                    RefusedRequest(
                        ticket: entry.ticket, reason: code == .zoneBusy ? entry.lastFailure ?? reason : reason))
                leave([entry])
            case .retry(let delay):
                // One of several zones was busy. Each goes on at once and alone, so that only the busy one waits.
                let delay = code == .zoneBusy && isShared ? .zero : delay
                delays[entry.key] = max(delay, delays[entry.key] ?? .zero)
                returned.append(entry)
            }
        }
        returned += rest.joined()
        refusals += removeOverdue(from: &returned, now: now)
        let wakes = putBack(returned, isAlone: code == .zoneBusy, delays: delays)
        return .later(refusals: refusals, wakes: wakes)
    }

    /// A part of a group needs more than its transaction may read: nothing was written. Requests
    /// that are small enough go in fewer at a time. The others go back to their lanes, with all that came after them in
    /// their zones. They wait for places when the group has ended.
    ///
    /// - Parameters:
    ///   - storedBytes: what each request of the part needs.
    ///   - rest: parts of the same group that were not tried yet, in order.
    /// - Returns: the parts to run instead of all these, each in a separate transaction. If there are none, the group
    ///   ends.
    mutating func divide(
        _ part: [Entry], storedBytes: [Int], rest: [[Entry]], now: Duration
    ) -> (parts: [[Entry]], refusals: [RefusedRequest]) {
        let division = StoredDivision(part, storedBytes: storedBytes, settings: settings)
        let laterZones = Set(division.later.map(\.key))
        var later = division.later
        var parts = division.parts
        for entries in rest {
            later += entries.filter { laterZones.contains($0.key) }
            let others = entries.filter { !laterZones.contains($0.key) }
            if !others.isEmpty { parts.append(others) }
        }
        return (parts, putBack(later, now: now))
    }

    /// Requests of a group that were not tried, or not written, go back to the heads of their lanes. They are in the
    /// order of the group, which ends after that.
    ///
    /// - Returns: those that may not wait any longer.
    mutating func putBack(_ entries: [Entry], now: Duration) -> [RefusedRequest] {
        var entries = entries
        let refusals = removeOverdue(from: &entries, now: now)
        for entry in entries.reversed() { lanes[entry.key]?.waiting.prepend(entry, of: entry.owner) }
        return refusals
    }

    /// The transactions of a group are over that ``nextGroup(at:isFirst:)`` gave to this loop. Lanes that got nothing back
    /// go on.
    mutating func endGroup(_ group: [Entry], at loop: Int) {
        if let first = group.first { workers[loop].places.giveBack(of: first.owner) }
        for key in Self.keys(of: group) {
            guard let index = lanes.index(forKey: key), lanes.values[index].phase == .writing else { continue }
            lanes.values[index].isAlone = false
            goOn(index)
        }
        if let read = group.first?.largeRead { end(read, at: loop) }
    }

    /// A lane's back-off is over.
    mutating func wake(_ key: ZoneKey) {
        guard let index = lanes.index(forKey: key), lanes.values[index].phase == .resting else { return }
        goOn(index)
    }

    // MARK: Time and the end

    /// The earliest deadline of a waiting request; nil if none waits.
    var nextDeadline: Duration? {
        lanes.values.lazy.compactMap { lane in lane.waiting.elements.lazy.map(\.deadline).min() }.min()
    }

    /// Refuses requests that have waited too long for their transaction to begin.
    ///
    /// - Parameter loop: where somebody looks afterwards for what may go (``startsWorker(at:)``).
    mutating func expire(now: Duration, at loop: Int) -> [RefusedRequest] {
        removeWaiting(at: loop) { $0.deadline <= now }.map {
            RefusedRequest(ticket: $0.ticket, reason: refusal(ofWaiting: $0))
        }
    }

    /// Refuses requests that would be put back, but may not wait any longer.
    private mutating func removeOverdue(from entries: inout [Entry], now: Duration) -> [RefusedRequest] {
        let overdue = entries.filter { isStopped || $0.deadline <= now }
        guard !overdue.isEmpty else { return [] }
        entries.removeAll { isStopped || $0.deadline <= now }
        leave(overdue)
        return overdue.map { RefusedRequest(ticket: $0.ticket, reason: refusal(ofWaiting: $0)) }
    }

    private func refusal(ofWaiting entry: Entry) -> FailureReason {
        isStopped ? .storeUnavailable : entry.lastFailure ?? .zoneBusy
    }

    /// Refuses all waiting requests and all later ones.
    mutating func stop() -> [RefusedRequest] {
        isStopped = true
        return removeWaiting(at: 0) { _ in true }.map {
            RefusedRequest(ticket: $0.ticket, reason: refusal(ofWaiting: $0))
        }
    }

    /// Whether nothing is waiting or being written.
    var isIdle: Bool { requests.total == 0 && workers.allSatisfy { $0.count == 0 } }
}

// MARK: - Lanes

extension WriteQueue {
    /// The lane may be in a transaction again, or waits for places, or is no longer needed.
    private mutating func goOn(_ index: Dictionary<ZoneKey, WriteLane>.Index) {
        endUnusedReads(of: index)
        guard lanes.values[index].waiting.first != nil else {
            lanes.remove(at: index)
            return
        }
        lanes.values[index].phase = .idle
        for owner in lanes.values[index].waiting.owners where mayGo(owner, in: index) {
            lanes.values[index].phase = .ready
            if lanes.values[index].list(owner) {
                workers[lanes.values[index].loop].ready.append(lanes.keys[index], of: owner)
            }
        }
        if lanes.values[index].phase == .idle { lanes.values[index].becomeIdle() }
    }

    /// Whether an owner's next request in the lane may go. If it is large, it takes a place, or waits for one from now
    /// on.
    private mutating func mayGo(_ owner: WorkOwner, in index: Dictionary<ZoneKey, WriteLane>.Index) -> Bool {
        if lanes.values[index].needsPlace(owner) {
            let read = largeReads.ask(for: owner, in: lanes.keys[index])
            lanes.values[index].add(read)
        }
        return lanes.values[index].mayGo(owner)
    }

    private mutating func endUnusedReads(of index: Dictionary<ZoneKey, WriteLane>.Index) {
        while let read = lanes.values[index].removeUnusedRead() { end(read, at: lanes.values[index].loop) }
    }

    /// Gives a place back, or the turn for one. A lane that waited for nothing else goes to this loop, which has a
    /// worker that will look for it. So has the loop of a lane that is ready for something else.
    ///
    /// NB: no lane is added or removed, so the caller's index stays valid.
    private mutating func end(_ read: LargeRead, at loop: Int) {
        for (key, ticket) in largeReads.end(read) {
            guard let index = lanes.index(forKey: key) else { preconditionFailure("A lane that waits is there.") }
            if let place = lanes.values[index].take(ticket, at: loop) {
                workers[place].ready.append(key, of: ticket.owner)
            }
        }
    }

    /// Takes requests from lanes in their owners' turns, within the bounds of a group.
    private mutating func gatherGroup(at loop: Int) -> Group {
        var group = Group()
        var zoneCount = 0
        var room = Room(
            items: settings.groupItemsMax, bytes: settings.groupBytesMax,
            itemsAlone: settings.groupItemsMax - settings.sharedItemsMax)
        var passedOver: [(key: ZoneKey, owner: WorkOwner)] = []
        let (places, countMax) = (workers[loop].places, settings.transactionsMax)
        while zoneCount < settings.groupZonesMax, room.isLeft, group.entries.isEmpty || room.isShared,
            let (key, owner) = workers[loop].ready.popFirst(where: {
                places.isOneFree(for: $0, besides: places.count, of: countMax)
            })
        {
            // NB: a zone that had nothing to write for a while may have come to another loop.
            guard let index = lanes.index(forKey: key), lanes.values[index].loop == loop,
                lanes.values[index].unlist(owner), lanes.values[index].phase == .ready
            else { continue }
            group.unasked += removeUnasked(at: index)
            let isLarge = lanes.values[index].hasLargeTurn(owner)
            let isAlone = isLarge || lanes.values[index].isAlone
            guard isLarge || lanes.values[index].next != nil else {
                goOn(index)
                continue
            }
            let fits = group.entries.isEmpty || lanes.values[index].next.map(room.fits) ?? false
            guard fits, canJoin(key, isAlone: isAlone, group.entries) else {
                passedOver.append((key, owner))
                continue
            }
            take(from: index, for: owner, into: &group.entries, &room)
            zoneCount += 1
            if isAlone { break }
        }
        for lane in passedOver.reversed() where lanes[lane.key]?.list(lane.owner) == true {
            workers[loop].ready.prepend(lane.key, of: lane.owner)
        }
        return group
    }

    /// A large request goes alone. All other requests of the lane go together, whoever owns them.
    private mutating func take(
        from index: Dictionary<ZoneKey, WriteLane>.Index, for owner: WorkOwner, into group: inout [Entry],
        _ room: inout Room
    ) {
        lanes.values[index].phase = .writing
        if lanes.values[index].hasLargeTurn(owner), let entry = lanes.values[index].popLarge(of: owner) {
            group.append(entry)
            return
        }
        while let entry = lanes.values[index].next, group.isEmpty || room.fits(entry) {
            lanes.values[index].removeNext()
            room.take(entry)
            group.append(entry)
        }
    }

    /// Removes the lane's requests that nobody waits for any more.
    ///
    /// NB: an asker may leave at any moment. All that it asked for leaves at once, or from some request on. So a device
    /// that comes back and sends an earlier one again finds no later one before it.
    private mutating func removeUnasked(at index: Dictionary<ZoneKey, WriteLane>.Index) -> [RefusedRequest] {
        func isUnasked(_ entry: Entry) -> Bool { entry.asker.hasLeft && joined[entry.ticket]?.haveLeft != false }
        // Usually there are none, and nothing is copied.
        guard lanes.values[index].waiting.contains(where: isUnasked) else { return [] }
        let unasked = lanes.values[index].waiting.elements.filter(isUnasked)
        let tickets = Set(unasked.map(\.ticket))
        lanes.values[index].waiting.removeAll { tickets.contains($0.ticket) }
        leave(unasked)
        endUnusedReads(of: index)
        // Whether an earlier attempt wrote it is unknown.
        return unasked.map { RefusedRequest(ticket: $0.ticket, reason: .storeUnavailable) }
    }

    private func canJoin(_ key: ZoneKey, isAlone: Bool, _ group: [Entry]) -> Bool {
        guard let first = group.first else { return true }
        return !isAlone && (settings.groupSpansDatabases || first.key.database == key.database)
    }

    /// Returns undecided requests to the heads of their lanes, in order.
    private mutating func putBack(_ entries: [Entry], isAlone: Bool, delays: [ZoneKey: Duration]) -> [Wake] {
        let keys = Self.keys(of: entries)
        for entry in entries.reversed() { lanes[entry.key]?.waiting.prepend(entry, of: entry.owner) }
        var wakes: [Wake] = []
        for key in keys {
            lanes[key]?.isAlone = isAlone
            let delay = delays[key] ?? .zero
            if delay > .zero {
                lanes[key]?.phase = .resting
                wakes.append(Wake(key: key, delay: delay))
            } else {
                if let index = lanes.index(forKey: key) { goOn(index) }
            }
        }
        return wakes
    }

    /// In the order of their tickets, so that the result does not depend on hashing.
    private mutating func removeWaiting(at loop: Int, where isGone: (Entry) -> Bool) -> [Entry] {
        var removed: [Entry] = []
        for (key, lane) in lanes {
            let gone = lane.waiting.elements.filter(isGone)
            guard !gone.isEmpty else { continue }
            lanes[key]?.waiting.removeAll(where: isGone)
            removed += gone
            // A lane that only waited for places has no other user. Requests behind a large request may start now.
            if let index = lanes.index(forKey: key), lanes.values[index].phase == .idle {
                lanes.values[index].move(to: loop)
                goOn(index)
            }
        }
        leave(removed)
        return removed.sorted { $0.ticket < $1.ticket }
    }

    /// Each zone once, in the order of their first requests.
    static func keys(of entries: [Entry]) -> [ZoneKey] {
        let zones = entries.zones
        if zones.count == 1 { return [entries[0].key] }
        var seen: Set<ZoneKey> = []
        return zones.compactMap(\.first?.key).filter { seen.insert($0).inserted }
    }

    /// The owner of the first request in each of these zones.
    static func owners(of entries: [Entry], keys: [ZoneKey]) -> [WorkOwner] {
        if keys.count == 1, let first = entries.first { return [first.owner] }
        let firsts = entries.zones.compactMap(\.first).map { ($0.key, $0.owner) }
        let owners = Dictionary(firsts) { first, _ in first }
        return keys.map { owners[$0] ?? .nobody }
    }
}

extension [WriteQueue.Entry] {
    /// Split where the zone changes. A group has the entries of a zone one after the other, unless some were put back.
    var zones: [ArraySlice<WriteQueue.Entry>] {
        var zones: [ArraySlice<WriteQueue.Entry>] = []
        var start = 0
        for index in indices.dropFirst() where self[index].key != self[start].key {
            zones.append(self[start..<index])
            start = index
        }
        if !isEmpty { zones.append(self[start...]) }
        return zones
    }
}

/// How much more a group may take.
private struct Room {
    var items: Int
    var bytes: Int
    /// Once no more than this many items are left, no further zone joins the group.
    let itemsAlone: Int

    var isShared: Bool { items > itemsAlone }
    var isLeft: Bool { items > 0 && bytes > 0 }

    func fits(_ entry: WriteQueue.Entry) -> Bool {
        entry.itemCount <= items && entry.byteCount <= bytes
    }

    mutating func take(_ entry: WriteQueue.Entry) {
        items -= entry.itemCount
        bytes -= entry.byteCount
    }
}
