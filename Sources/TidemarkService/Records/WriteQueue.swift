// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields

/// Decides which record requests go into which transaction, and when. It is a pure state machine; ``WriteCoordinator``
/// drives it.
///
/// Each zone is a lane. While requests of a lane are in a transaction, further ones wait in the lane and go together in
/// the next one. So a zone is in at most one transaction of this process, and one device's requests to a zone keep
/// their order. Lanes that are ready at the same moment share a transaction.
///
/// Owners take turns, with their lanes and within a lane, and nobody fills the queue. Nobody holds up
/// all others with transactions that take long. A request that nobody waits for any more leaves it.
///
/// It may serve several event loops, each with workers of its own (``addLoop()``). A lane belongs to the loop that
/// received its first request until nothing waits in it any more, so most requests never change threads.
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
        var failureCount = 0
        /// What went wrong last. The client is told if the deadline passes.
        var lastFailure: FailureReason?

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
        /// Run these in this order, each in a transaction of its own: one of them has the request that fails, or they
        /// are too much together.
        case bisect([Entry], [Entry])
        /// All undecided requests are back in their lanes, except these; then wake the lanes.
        case later(refusals: [RefusedRequest], wakes: [Wake])
    }

    struct Wake: Equatable {
        let key: ZoneKey
        let delay: Duration
    }

    private struct Lane {
        enum Phase { case idle, ready, writing, resting }

        let loop: Int
        var phase = Phase.idle
        var waiting = FairTurns<WorkOwner, Entry>()
        /// Whose turns the lane has among those that are ready: of each owner who waits here, once.
        private var firstListed: WorkOwner?
        private var othersListed: [WorkOwner] = []
        /// Set after the lane was in a group that found a zone busy. Its next transaction holds no other zone.
        var isAlone = false

        init(loop: Int) {
            self.loop = loop
        }

        /// - Returns: the loop where it must get a turn of the entry's owner; nil if it has one, or needs none now.
        mutating func add(_ entry: Entry) -> Int? {
            waiting.append(entry, of: entry.owner)
            if phase == .idle { phase = .ready }
            return phase == .ready && list(entry.owner) ? loop : nil
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
        /// Lanes whose phase is `ready`, once for each owner who waits there. A turn may be out of date, which
        /// ``Lane/unlist(_:)`` tells.
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
    private var lanes: [ZoneKey: Lane] = [:]
    private var workers: [Workers] = []
    private var tickets: [RecordsRequestIdentity: Ticket] = [:]
    /// Of requests that several wait for.
    private var joined: [Ticket: Askers] = [:]
    private var nextTicket: Ticket = 0
    private var requests: FairAmounts
    private var bytes: FairAmounts
    private var isStopped = false

    init(settings: WriteSettings) {
        self.settings = settings
        requests = FairAmounts(amountMax: settings.requestsMax)
        bytes = FairAmounts(amountMax: settings.bytesMax)
    }

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
    mutating func admit(
        _ request: RecordsRequest, for owner: WorkOwner, askedBy asker: Asker, at loop: Int, now: Duration,
        epoch: Int64? = nil
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
            byteCount: byteCount, deadline: now + settings.waitMax, arrivalEpoch: epoch)
        nextTicket += 1
        tickets[identity] = entry.ticket
        if let place = lanes[key, default: Lane(loop: loop)].add(entry) {
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
        if code == .rejected || code == .groupTooLarge, part.count > 1 {
            return .bisect(Array(part[..<(part.count / 2)]), Array(part[(part.count / 2)...]))
        }
        var refusals: [RefusedRequest] = []
        var delays: [ZoneKey: Duration] = [:]
        var returned: [Entry] = []
        let isShared = Set(part.map(\.key)).count > 1
        for var entry in part {
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
        let overdue = returned.filter { isStopped || $0.deadline <= now }
        if !overdue.isEmpty {
            returned.removeAll { isStopped || $0.deadline <= now }
            refusals += overdue.map { RefusedRequest(ticket: $0.ticket, reason: refusal(ofWaiting: $0)) }
            leave(overdue)
        }
        let wakes = putBack(returned, isAlone: code == .zoneBusy, delays: delays)
        return .later(refusals: refusals, wakes: wakes)
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
    mutating func expire(now: Duration) -> [RefusedRequest] {
        removeWaiting { $0.deadline <= now }.map { RefusedRequest(ticket: $0.ticket, reason: refusal(ofWaiting: $0)) }
    }

    private func refusal(ofWaiting entry: Entry) -> FailureReason {
        isStopped ? .storeUnavailable : entry.lastFailure ?? .zoneBusy
    }

    /// Refuses all waiting requests and all later ones.
    mutating func stop() -> [RefusedRequest] {
        isStopped = true
        return removeWaiting { _ in true }.map { RefusedRequest(ticket: $0.ticket, reason: refusal(ofWaiting: $0)) }
    }

    /// Whether nothing is waiting or being written.
    var isIdle: Bool { requests.total == 0 && workers.allSatisfy { $0.count == 0 } }
}

// MARK: - Lanes

extension WriteQueue {
    /// The lane may be in a transaction again, or is no longer needed.
    private mutating func goOn(_ index: Dictionary<ZoneKey, Lane>.Index) {
        guard lanes.values[index].waiting.first != nil else {
            lanes.remove(at: index)
            return
        }
        lanes.values[index].phase = .ready
        for owner in lanes.values[index].waiting.owners where lanes.values[index].list(owner) {
            workers[lanes.values[index].loop].ready.append(lanes.keys[index], of: owner)
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
            guard let first = lanes.values[index].waiting.first else {
                lanes.remove(at: index)
                continue
            }
            let isAlone = lanes.values[index].isAlone
            guard canJoin(key, isAlone: isAlone, group.entries), group.entries.isEmpty || room.fits(first) else {
                passedOver.append((key, owner))
                continue
            }
            take(from: index, into: &group.entries, &room)
            zoneCount += 1
            if isAlone { break }
        }
        for lane in passedOver.reversed() where lanes[lane.key]?.list(lane.owner) == true {
            workers[loop].ready.prepend(lane.key, of: lane.owner)
        }
        return group
    }

    private mutating func take(
        from index: Dictionary<ZoneKey, Lane>.Index, into group: inout [Entry], _ room: inout Room
    ) {
        lanes.values[index].phase = .writing
        while let entry = lanes.values[index].waiting.first, group.isEmpty || room.fits(entry) {
            _ = lanes.values[index].waiting.popFirst()
            room.take(entry)
            group.append(entry)
        }
    }

    /// Removes the lane's requests that nobody waits for any more.
    ///
    /// NB: an asker may leave at any moment. All that it asked for leaves at once, or from some request on: a device that
    /// comes back and sends an earlier one again finds no later one before it.
    private mutating func removeUnasked(at index: Dictionary<ZoneKey, Lane>.Index) -> [RefusedRequest] {
        func isUnasked(_ entry: Entry) -> Bool { entry.asker.hasLeft && joined[entry.ticket]?.haveLeft != false }
        // As a rule there are none, and nothing is copied.
        guard lanes.values[index].waiting.contains(where: isUnasked) else { return [] }
        let unasked = lanes.values[index].waiting.elements.filter(isUnasked)
        let tickets = Set(unasked.map(\.ticket))
        lanes.values[index].waiting.removeAll { tickets.contains($0.ticket) }
        leave(unasked)
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
    private mutating func removeWaiting(where isGone: (Entry) -> Bool) -> [Entry] {
        var removed: [Entry] = []
        for (key, lane) in lanes {
            let gone = lane.waiting.elements.filter(isGone)
            guard !gone.isEmpty else { continue }
            lanes[key]?.waiting.removeAll(where: isGone)
            removed += gone
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
