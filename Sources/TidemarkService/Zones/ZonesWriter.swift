// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling

/// Takes zone requests through their transactions, one at a time in each database.
///
/// Zones are rarely created or deleted, so nothing is grouped. A database's requests keep their order. Databases do not wait
/// for each other, and each has one owner, so that owners need no turns here. They share the room.
final class ZonesWriter: Sendable {
    typealias Outcome = Result<ZonesOutcome, FailureReason>

    private struct Entry {
        let identity: ZonesRequestIdentity
        let owner: WorkOwner
        let request: ZonesRequest
        let deadline: Duration
        /// The store's memory epoch that the server knew when the request arrived (``MemoryEpochWatch``).
        let arrivalEpoch: Int64?
        let answer: Answer<Outcome>
        var askers: Askers
    }

    private struct ZonesRequestIdentity: Hashable {
        let database: DatabaseID
        let life: DeviceID
        let counter: UInt64
        let nonce: UInt64
    }

    private struct State {
        /// The first entry of each lane is being written.
        var lanes: [DatabaseID: Deque<Entry>] = [:]
        var requests: FairAmounts
        var isStopped = false
        var stopping: [Answer<Void>] = []

        /// Makes room for one more request, or returns the reason why there is none.
        mutating func take(for owner: WorkOwner) -> FailureReason? {
            if isStopped { return .storeUnavailable }
            return requests.take(1, for: owner) == .none ? .tooManyRequests : nil
        }
    }

    private let storage: any Storage
    private let scheduler: any Scheduler
    private let limits: Limits
    private let settings: WriteSettings
    private let shared: SharedWrites
    private let onMoved: @Sendable (ZonesMoved) -> Void
    private let state: Mutex<State>

    init(
        storage: any Storage, scheduler: any Scheduler, limits: Limits, settings: WriteSettings,
        shared: SharedWrites, onMoved: @escaping @Sendable (ZonesMoved) -> Void
    ) {
        self.storage = storage
        self.scheduler = scheduler
        self.limits = limits
        self.settings = settings
        self.shared = shared
        self.onMoved = onMoved
        state = Mutex(State(requests: FairAmounts(amountMax: settings.requestsMax)))
    }

    /// Queues a request before this returns. If the same request is here already, the two share its outcome.
    ///
    /// - Parameters:
    ///   - owner: whose share of the room it takes.
    ///   - asker: who waits for its outcome.
    func submit(
        _ request: ZonesRequest, in database: DatabaseID, for owner: WorkOwner, askedBy asker: Asker
    ) -> Answer<Outcome> {
        let identity = ZonesRequestIdentity(
            database: database, life: request.id.life, counter: request.id.counter, nonce: request.id.nonce)
        let now = scheduler.now
        let deadline = now + settings.waitMax
        let (arrivalEpoch, isFull) = shared.state.withLock {
            ($0.epochs.atArrival(now: now), $0.memoryGrowth.isFull(owner, within: limits))
        }
        let (answer, startsLane) = state.withLock { state -> (Answer<Outcome>, Bool) in
            if let index = state.lanes[database]?.firstIndex(where: { $0.identity == identity }),
                let answer = state.lanes[database]?[index].answer
            {
                state.lanes[database]?[index].askers.join(asker)
                return (answer, false)
            }
            let answer = Answer<Outcome>()
            if let reason = isFull ? .tooManyRequests : state.take(for: owner) {
                answer.give(.failure(reason))
                return (answer, false)
            }
            let entry = Entry(
                identity: identity, owner: owner, request: request, deadline: deadline, arrivalEpoch: arrivalEpoch,
                answer: answer, askers: Askers(asker))
            state.lanes[database, default: []].append(entry)
            return (answer, state.lanes[database]?.count == 1)
        }
        if startsLane { scheduler.run { [self] in await runLane(database) } }
        return answer
    }

    /// Refuses further requests. Returns when the last one has its outcome.
    func stop() async {
        let answer = Answer<Void>()
        let isIdle = state.withLock { state in
            state.isStopped = true
            state.stopping.append(answer)
            return state.requests.total == 0
        }
        if isIdle { answer.give(()) }
        await answer.value()
    }

    private func runLane(_ database: DatabaseID) async {
        while let entry = state.withLock({ $0.lanes[database]?.first }) {
            let outcome = await write(entry, in: database)
            let stopping = state.withLock { state -> [Answer<Void>] in
                state.lanes[database]?.removeFirst()
                if state.lanes[database]?.isEmpty == true { state.lanes[database] = nil }
                state.requests.give(back: 1, of: entry.owner)
                return state.requests.total == 0 ? state.stopping : []
            }
            entry.answer.give(outcome)
            for answer in stopping { answer.give(()) }
        }
    }

    /// Tries until the request is decided, or until trying on makes no sense.
    private func write(_ entry: Entry, in database: DatabaseID) async -> Outcome {
        var failureCount = 0
        var isUndecided = false
        while true {
            if scheduler.now >= entry.deadline, failureCount == 0 { return .failure(.zoneBusy) }
            // whether an earlier attempt wrote it is unknown.
            if state.withLock({ $0.lanes[database]?.first?.askers.haveLeft == true }) {
                return .failure(.storeUnavailable)
            }
            do {
                return try await attempt(entry, in: database)
            } catch {
                error.note(request: entry.answer.request)
                failureCount += 1
                isUndecided = isUndecided || error.code == .commitUnknown
                let randomBits = scheduler.randomBits()
                switch settings.retry.verdict(on: error.code, failureCount: failureCount, randomBits: randomBits) {
                case .fail(let reason): return .failure(isUndecided ? .storeUnavailable : reason)
                case .retry(let delay): try? await scheduler.sleep(for: delay)
                }
            }
        }
    }

    private func attempt(_ entry: Entry, in database: DatabaseID) async throws(StorageError) -> Outcome {
        let request = entry.request
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        let transaction = try await storage.beginZonesWrite(
            in: database, names: request.namesToRead(within: limits), life: request.id.life)
        shared.learn(transaction.snapshot.memoryEpoch, now: scheduler.now)
        let (outcome, changes) = request.decide(
            on: transaction.snapshot, arrivalEpoch: entry.arrivalEpoch, limits: limits)
        guard let changes else {
            await transaction.rollback()
            return outcome
        }
        try await transaction.commit(changes, now: now)
        let memoryGrowth = changes.memory.growth(since: transaction.snapshot.memory)
        shared.state.withLock { $0.memoryGrowth.add([entry.owner: memoryGrowth]) }
        let hasForgotten = await forgetEndedZones(of: database, found: transaction.snapshot)
        if hasForgotten || !changes.created.isEmpty || !changes.removed.isEmpty {
            // A new zone counts one in the database's mark, and one that has ended counts one more. Forgotten zones no
            // longer count, and their number is unknown.
            let growth = Int64(changes.created.count + changes.removed.count)
            // a new zone has no records, and of those that went with a zone nobody knows the types.
            let isOnlyNew = !hasForgotten && changes.removed.isEmpty
            onMoved(
                ZonesMoved(
                    [ZoneNotice(database: database, life: request.id.life, zoneName: "")],
                    growth: hasForgotten ? [:] : [database: growth],
                    types: isOnlyNew ? [ZoneKey(database: database, name: ""): .none] : [:]))
        }
        return outcome
    }

    /// A request that ends very many zones also does the work of forgetting them. If that fails, the next request tries it again.
    ///
    /// - Returns: whether zones may have been forgotten.
    private func forgetEndedZones(of database: DatabaseID, found snapshot: ZonesSnapshot) async -> Bool {
        guard let countMax = ZonesRequest.endedZonesKept(by: snapshot, limits: limits) else { return false }
        do {
            try await storage.forgetEndedZones(of: database, keeping: countMax)
        } catch {
            error.note()
        }
        return true
    }
}
