// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkTelemetry

/// Takes record requests from the queue through transactions to their outcomes. It is the driver of ``WriteQueue``.
///
/// A request's outcome is returned after the commit that holds it is durable (I-1), and is never guessed. If the answer
/// to a commit is lost, the same group begins again, and the memory answers the requests that were committed.
final class WriteCoordinator: Sendable {
    typealias Outcome = Result<RecordsOutcome, FailureReason>

    private let storage: any Storage
    private let scheduler: any Scheduler
    private let limits: Limits
    private let schemas: SchemaCache
    private let onMoved: @Sendable (ZonesMoved) -> Void
    /// Nil: changes fire no query subscriptions.
    private let queries: QueryEvaluation?
    private let shared: SharedWrites
    /// The number of this coordinator's event loop in the queue.
    private let loop: Int

    init(
        storage: any Storage, scheduler: any Scheduler, limits: Limits, shared: SharedWrites,
        schemas: SchemaCache, queries: QueryEvaluation? = nil, onMoved: @escaping @Sendable (ZonesMoved) -> Void
    ) {
        self.storage = storage
        self.scheduler = scheduler
        self.limits = limits
        self.schemas = schemas
        self.onMoved = onMoved
        self.queries = queries
        self.shared = shared
        loop = shared.state.withLock { $0.queue.addLoop() }
    }

    /// Queues a request before this returns: one device's requests to a zone keep the order of these calls.
    ///
    /// - Parameters:
    ///   - room: for the records that come with the outcome. Nil: all of them come.
    ///   - cause: the cause that is stored with the changes. The task may run for several requests.
    func submit(
        _ request: RecordsRequest, for owner: WorkOwner, askedBy asker: Asker, room: RecordsRoom? = nil,
        cause: ChangeCause?
    ) -> Answer<Outcome> {
        let now = scheduler.now
        let (answer, startsWorker) = shared.state.withLock { state in
            let isElsewhere = request.access.scope == .shared
            guard !state.memoryGrowth.isFull(owner, isElsewhere: isElsewhere, within: limits) else {
                return (Self.answered(.tooManyRequests), false)
            }
            let epoch = state.epochs.atArrival(now: now)
            let admission = state.queue.admit(
                request, for: owner, askedBy: asker, at: loop, now: now, epoch: epoch, cause: cause)
            switch admission {
            case .queued(let ticket):
                let answer = Answer<Outcome>()
                state.waiters[ticket] = OutcomeWaiters(answer, room: room)
                return (answer, state.queue.startsWorker(at: loop))
            case .joined(let ticket):
                state.waiters[ticket]?.join(room)
                return (state.waiters[ticket]?.answer ?? Self.answered(.serverFault), false)
            case .refused(let reason):
                return (Self.answered(reason), false)
            }
        }
        if startsWorker { startWorker() }
        armDeadlineTimer()
        return answer
    }

    /// Refuses waiting requests. Returns when the last transaction has ended.
    func stop() async {
        let answer = Answer<Void>()
        let refusals = shared.state.withLock { state in
            state.stopping.append(answer)
            return state.queue.stop()
        }
        refuse(refusals)
        answerIfStopped()
        await answer.value()
    }

    // MARK: Workers

    private func startWorker() {
        scheduler.run { [self] in
            var isFirst = true
            while let group = nextGroup(isFirst: isFirst) {
                isFirst = false
                await write(group)
            }
            answerIfStopped()
        }
    }

    private func nextGroup(isFirst: Bool) -> [WriteQueue.Entry]? {
        let (group, startsAnother) = shared.state.withLock { state in
            (state.queue.nextGroup(at: loop, isFirst: isFirst), state.queue.startsWorker(at: loop))
        }
        if startsAnother { startWorker() }
        refuse(group.unasked)
        guard !group.entries.isEmpty else { return nil }
        ServiceMetrics.shared.groups.observe(group.entries.count)
        return group.entries
    }

    /// Writes a group. One transaction is usually enough; otherwise it takes as many as are needed to find the request
    /// that fails. When its time is over, the remaining requests go back.
    private func write(_ group: [WriteQueue.Entry]) async {
        let end = scheduler.now + shared.settings.groupTurn
        var parts = [group]
        while let part = parts.first {
            parts.removeFirst()
            do {
                switch try await attempt(part) {
                case .decided(let decision):
                    var rest: [[WriteQueue.Entry]] = []
                    if !parts.isEmpty, scheduler.now >= end { swap(&rest, &parts) }
                    conclude(part, decision, puttingBack: rest, ends: parts.isEmpty ? group : nil)
                    await forgetTombstones(of: decision.fullOfTombstones)
                case .tooLarge(let storedBytes):
                    parts = divide(part, storedBytes, rest: parts, group: group)
                }
            } catch {
                note(error, of: part)
                guard let halves = recover(from: error.code, part: part, rest: parts, group: group) else { return }
                parts.insert(contentsOf: halves, at: 0)
            }
        }
    }

    /// The outcome of one transaction.
    private enum WriteAttempt {
        case decided(GroupDecision)
        /// Nothing was written, because the requests need more stored bytes or relatives than it may read.
        case tooLarge(storedBytes: [Int])
    }

    /// One transaction. It takes one round trip if the cache has the zones and the records that are named.
    private func attempt(_ part: [WriteQueue.Entry]) async throws(StorageError) -> WriteAttempt {
        let keys = WriteQueue.keys(of: part)
        var reads = GroupDecision.reads(of: part, keys: keys, limits: limits)
        let (bytesMax, kinMax) = (storedBytesMax(of: part), relativesMax(of: part))
        for index in reads.indices {
            reads[index].storedBytesMax = bytesMax
            reads[index].relativesMax = kinMax
        }
        do {
            let known = try await writeKnown(part, keys: keys, reads)
            ServiceMetrics.shared.count(known)
            switch known {
            case .success(let decision):
                return .decided(decision)
            case .failure(.zoneMoved), .failure(.outdated), .failure(.rejected):
                // The cache is wrong about one of the zones, or may be.
                _ = shared.knownZones.withLock { $0.forget(keys) }
            case .failure(.zoneUnknown), .failure(.recordsUnknown), .failure(.schemaUnknown),
                .failure(.nothingToWrite), .failure(.notPlain):
                // As far as anybody knows, the cache is right. The transaction adds to it.
                break
            }
            return try await write(part, keys: keys, reads)
        } catch {
            // A lost store may come back in an earlier state, if a standby had not received everything.
            let isLost = error.code == .unavailable || error.code == .commitUnknown
            // The server itself has split the group: the cache is as good as before.
            if error.code != .groupTooLarge {
                if isLost {
                    _ = shared.knownZones.withLock { $0.forgetAll() }
                } else {
                    _ = shared.knownZones.withLock { $0.forget(keys) }
                }
            }
            throw error
        }
    }

    /// Decides from the cache, and writes if the cache is still right.
    func writeKnown(
        _ part: [WriteQueue.Entry], keys: [ZoneKey], _ reads: [ZoneRead]
    ) async throws(StorageError) -> Result<GroupDecision, CacheMiss> {
        guard var known = shared.knownZones.withLock({ $0.knowledge(for: reads) }) else {
            return .failure(.zoneUnknown)
        }
        let bytesMax = reads.lazy.map(\.storedBytesMax).max() ?? 0
        if let miss = try await readUnknown(in: &known, for: part, keys: keys, bytesMax: bytesMax) {
            return .failure(miss)
        }
        let storedBytes = Self.storedBytes(for: reads, in: known.snapshots)
        guard storedBytes <= bytesMax else { return .failure(.recordsUnknown) }
        let schemas = self.schemas.known(for: known.snapshots)
        let decided =
            if holdsLoop(part, storedBytes: storedBytes, schemas) {
                try await elsewhere { [known] in decide(part, keys: keys, from: known, schemas) }
            } else {
                decide(part, keys: keys, from: known, schemas)
            }
        guard case .success(let decision) = decided else { return decided }
        // NB: otherwise following the decision would have to copy them.
        known.snapshots = []
        do {
            try await storage.commit(decision.changes, at: known.moments)
        } catch {
            switch error.code {
            case .outdated: return .failure(.outdated)
            case .rejected:
                note(error, of: part)
                return .failure(.rejected)
            default: throw error
            }
        }
        // NB: slow work is done without the lock, because other loops wait for the lock.
        var followed = shared.knownZones.withLock { $0.lend(keys) }
        followed.follow(decision.changes)
        _ = shared.knownZones.withLock { $0.takeBack(followed) }
        return .success(decision)
    }

    /// Reads the records that the cache lacks, unless the requests say that they are new. It takes no lock: if nobody
    /// has written in the zone by the time of the commit, nobody had when the records were read.
    ///
    /// - Returns: why the cache cannot be completed; nil if it is complete.
    private func readUnknown(
        in known: inout KnownZones.Knowledge, for part: [WriteQueue.Entry], keys: [ZoneKey], bytesMax: Int
    ) async throws(StorageError) -> CacheMiss? {
        guard known.hasUnknown, !known.areUnknownNew(to: part, keys: keys) else { return nil }
        // NB: for a single record, a transaction with a lock takes no more round trips, and its statements take the
        // database less time.
        guard keys.count == 1, known.moments[0].absentNames.count > 1 else { return .recordsUnknown }
        let found = try await storage.records(
            named: known.moments[0].absentNames, in: keys[0], bytesMax: bytesMax, sharing: .nothing)
        guard found.unread.isEmpty else { return .recordsUnknown }
        guard let now = found.zone, let zone = known.snapshots[0].zone, now.id == zone.id,
            now.changeNumber == zone.changeNumber
        else { return .zoneMoved }
        known.snapshots[0].records.merge(found.records) { _, now in now }
        known.moments[0].absentNames = []
        return nil
    }

    private func decide(
        _ part: [WriteQueue.Entry], keys: [ZoneKey], from known: KnownZones.Knowledge,
        _ schemas: [ContainerID: KnownSchema]
    ) -> Result<GroupDecision, CacheMiss> {
        let check = SchemaCheck(part, snapshots: known.snapshots, schemas: schemas, limits: limits)
        guard case .checked(let part) = check else { return .failure(.schemaUnknown) }
        let decision = GroupDecision(
            part, keys: keys, snapshots: known.snapshots, store: known.moments[0].store, schemas: schemas,
            limits: shared.limitsNow(limits), now: wallClock)
        guard decision.changes.count == keys.count else { return .failure(.nothingToWrite) }
        return decision.changes.allSatisfy(\.isPlain) ? .success(decision) : .failure(.notPlain)
    }

    /// Locks, reads, decides, writes and commits. Begins again if the schema has something to learn first.
    private func write(
        _ part: [WriteQueue.Entry], keys: [ZoneKey], _ reads: [ZoneRead]
    ) async throws(StorageError) -> WriteAttempt {
        var isFresh = false
        // Kept here, because the cache may have no room for the schemas of all containers of the group.
        var found: [ContainerID: KnownSchema] = [:]
        for _ in 0..<Self.schemaRoundsMax {
            let transaction = try await storage.beginWrite(reads)
            let visitCount = Self.visitCount(of: part, reads, transaction.snapshots)
            if isTooMuchTogether(part, visitCount: visitCount, transaction.snapshots) {
                await transaction.rollback()
                throw StorageError(.groupTooLarge)
            }
            if let storedBytes = excess(of: part, reads, transaction.snapshots) {
                // NB: nobody waits for a place with a connection or a lock.
                await transaction.rollback()
                return .tooLarge(storedBytes: storedBytes)
            }
            if let epoch = transaction.snapshots.first?.memoryEpoch { shared.learn(epoch, now: scheduler.now) }
            let known = schemas.known(for: transaction.snapshots).merging(found) { $1 }
            let storedBytes = Self.storedBytes(for: reads, in: transaction.snapshots)
            let isMuch =
                holdsLoop(part, storedBytes: storedBytes, known)
                || part.count * transaction.snapshots.reduce(0) { $0 + $1.shareRowCount }
                    > shared.settings.visitsOnLoopMax
            let check =
                if isMuch {
                    try await elsewhere { [isFresh] in
                        SchemaCheck(
                            part, snapshots: transaction.snapshots, schemas: known, isFresh: isFresh,
                            taught: schemas.taught, limits: limits)
                    }
                } else {
                    SchemaCheck(
                        part, snapshots: transaction.snapshots, schemas: known, isFresh: isFresh,
                        taught: schemas.taught, limits: limits)
                }
            guard case .checked(let part) = check else {
                await transaction.rollback()
                found.merge(try await schemas.catchUp(with: check)) { $1 }
                if case .unknown = check { isFresh = true }
                continue
            }
            let isLong = visitCount > shared.settings.visitsOnLoopMax
            // The cache learns nothing: taking in so many records would hold up all loops.
            if isLong { _ = shared.knownZones.withLock { $0.forget(keys) } }
            let decision =
                if isLong || isMuch {
                    try await elsewhere { () async throws(StorageError) in
                        try await self.write(part, keys: keys, in: transaction, schemas: known)
                    }
                } else {
                    try await write(part, keys: keys, in: transaction, schemas: known)
                }
            if isLong { return .decided(decision) }
            let owners = WriteQueue.owners(of: part, keys: keys)
            _ = shared.knownZones.withLock {
                $0.learn(reads, transaction.snapshots, decision.changes, of: owners, in: transaction.store)
            }
            return .decided(decision)
        }
        throw StorageError(.unavailable, detail: "the schema does not come to rest")
    }

    /// One round to load the schema, one to learn, one because an operator changed it meanwhile; and the same again.
    private static let schemaRoundsMax = 6

    /// How many relatives the rules may look at for these requests.
    private static func visitCount(
        of part: [WriteQueue.Entry], _ reads: [ZoneRead], _ snapshots: [ZoneSnapshot]
    ) -> Int {
        part.count * zip(reads, snapshots).reduce(0) { $0 + $1.1.relativeCount(of: $1.0) }
    }

    /// what a request gets must not depend on the others of its group.
    private func isTooMuchTogether(
        _ part: [WriteQueue.Entry], visitCount: Int, _ snapshots: [ZoneSnapshot]
    ) -> Bool {
        guard part.count > 1 else { return false }
        return visitCount > shared.settings.groupVisitsMax || snapshots.contains(where: \.areRelativesCut)
    }

    /// How many stored bytes a transaction of these requests may read. A large one is alone, and has a place.
    private func storedBytesMax(of part: [WriteQueue.Entry]) -> Int {
        guard part[0].largeRead == nil else { return limits.storedBytesMax }
        let byteCount = part.reduce(0) { $0 + $1.byteCount }
        return min(shared.settings.storedBytesMax(bringing: byteCount), limits.storedBytesMax)
    }

    /// How many relatives a transaction of these requests may read. A large one has a place.
    private func relativesMax(of part: [WriteQueue.Entry]) -> Int {
        let relativesFree = shared.settings.relativesFree
        let most = max(limits.cascadeReferencesMax, limits.shareSubtreeMax)
        return part[0].largeRead == nil && relativesFree < most ? relativesFree : .max
    }

    /// - Returns: how many stored bytes each request needs. Nil if all is there, or as much as there ever is. Fields may
    ///   be left out that can be read for fewer requests at once, or with a place. So may relatives be
    ///
    private func excess(
        of part: [WriteQueue.Entry], _ reads: [ZoneRead], _ snapshots: [ZoneSnapshot]
    ) -> [Int]? {
        let mayHaveFields = part.count > 1 || reads[0].storedBytesMax < limits.storedBytesMax
        let lacksFields = mayHaveFields && zip(reads, snapshots).contains { $1.lacksFields(for: $0) }
        let lacksRelatives = reads[0].relativesMax < .max && snapshots.contains(where: \.areRelativesCut)
        guard lacksFields || lacksRelatives else { return nil }
        let snapshots = Dictionary(snapshots.map { ($0.key, $0) }) { first, _ in first }
        return part.map { snapshots[$0.key]?.storedBytes(for: $0.request) ?? 0 }
    }

    private func write(
        _ part: [WriteQueue.Entry], keys: [ZoneKey], in transaction: any WriteTransaction,
        schemas: [ContainerID: KnownSchema]
    ) async throws(StorageError) -> GroupDecision {
        let decision = GroupDecision(
            part, keys: keys, snapshots: transaction.snapshots, store: transaction.store, schemas: schemas,
            limits: shared.limitsNow(limits), now: wallClock)
        if decision.changes.isEmpty {
            await transaction.rollback()
        } else {
            try await transaction.commit(decision.changes)
        }
        return decision
    }

    /// Whether checking and merging the fields of a group, or making their index values, may hold an event
    /// loop for long.
    private func holdsLoop(
        _ part: [WriteQueue.Entry], storedBytes: Int, _ schemas: [ContainerID: KnownSchema]
    ) -> Bool {
        let byteCount = part.reduce(storedBytes) { $0 + $1.byteCount }
        if byteCount > shared.settings.fieldBytesOnLoopMax { return true }
        return byteCount > shared.settings.indexedBytesOnLoopMax && schemas.values.contains(where: \.hasIndexes)
    }

    /// NB: a snapshot from the cache may have all records of its zone. Records that no request names cost nothing.
    private static func storedBytes(for reads: [ZoneRead], in snapshots: [ZoneSnapshot]) -> Int {
        zip(reads, snapshots).reduce(0) { $0 + $1.1.storedBytes(for: $1.0) }
    }

    /// Runs work that would hold the event loop for long.
    private func elsewhere<Success>(
        _ work: () async throws(StorageError) -> Success
    ) async throws(StorageError) -> Success {
        guard let executor = shared.largeGroups else { return try await work() }
        return try await withTaskExecutorPreference(executor, operation: work)
    }

    /// A request that writes where deletions have left very many tombstones starts the work of forgetting some.
    /// No answer waits for that. If that fails, the next request tries it again.
    private func forgetTombstones(of databases: Set<DatabaseID>) async {
        for database in databases.sorted() {
            do {
                try await storage.forgetTombstones(of: database)
            } catch {
                error.note()
            }
        }
    }

    private var wallClock: Timestamp { Timestamp(milliseconds: scheduler.wallClockMilliseconds) }

    private func conclude(
        _ part: [WriteQueue.Entry], _ decision: GroupDecision, puttingBack rest: [[WriteQueue.Entry]],
        ends group: [WriteQueue.Entry]?
    ) {
        // First, because pushes still have a way to go.
        if !decision.moved.notices.isEmpty { onMoved(decision.moved) }
        // NB: before the zone is free. Another loop may write its next group at once, and changes are evaluated in this order.
        queries?.written(decision.written)
        let now = scheduler.now
        let (waiters, refusals) = shared.state.withLock { state in
            state.queue.leave(part)
            state.memoryGrowth.add(decision.memoryGrowth, elsewhere: decision.memoryElsewhere)
            let refusals = rest.isEmpty ? [] : state.queue.putBack(Array(rest.joined()), now: now)
            if let group { state.queue.endGroup(group, at: loop) }
            return (part.map { state.waiters.removeValue(forKey: $0.ticket) }, refusals)
        }
        for (waiters, outcome) in zip(waiters, decision.outcomes) { waiters?.give(outcome) }
        guard !rest.isEmpty else { return }
        refuse(refusals)
        armDeadlineTimer()
    }

    private func note(_ error: StorageError, of part: [WriteQueue.Entry]) {
        let requests = shared.state.withLock { state in part.map { state.waiters[$0.ticket]?.answer.request } }
        let request = requests.lazy.compactMap(\.self).first
        error.note(request: request, requestCount: part.count)
    }

    /// - Returns: what to run instead; nil if the group is finished for now.
    private func recover(
        from code: StorageError.Code, part: [WriteQueue.Entry], rest: [[WriteQueue.Entry]], group: [WriteQueue.Entry]
    ) -> [[WriteQueue.Entry]]? {
        let now = scheduler.now
        let recovery = shared.state.withLock { state in
            let recovery = state.queue.recover(
                from: code, part: part, rest: rest, now: now, randomBits: scheduler.randomBits)
            // NB: under the same lock, before another worker can take a lane that was put back.
            if case .later = recovery { state.queue.endGroup(group, at: loop) }
            return recovery
        }
        switch recovery {
        case .bisect(let first, let second):
            return [first, second]
        case .later(let refusals, let wakes):
            refuse(refusals)
            for wake in wakes { arm(wake) }
            // Deadlines of requests in a transaction are not watched, so the timer may have to be set for them again.
            armDeadlineTimer()
            return nil
        }
    }

    /// - Returns: what to run instead of all parts that are left. If it is nothing, the group has ended.
    private func divide(
        _ part: [WriteQueue.Entry], _ storedBytes: [Int], rest: [[WriteQueue.Entry]], group: [WriteQueue.Entry]
    ) -> [[WriteQueue.Entry]] {
        let now = scheduler.now
        let (parts, refusals) = shared.state.withLock { state in
            let division = state.queue.divide(part, storedBytes: storedBytes, rest: rest, now: now)
            if division.parts.isEmpty { state.queue.endGroup(group, at: loop) }
            return division
        }
        refuse(refusals)
        armDeadlineTimer()
        return parts
    }

    private func arm(_ wake: WriteQueue.Wake) {
        _ = scheduler.schedule(after: wake.delay) { [self] in
            let startsWorker = shared.state.withLock { state in
                state.queue.wake(wake.key)
                return state.queue.startsWorker(at: loop)
            }
            if startsWorker { startWorker() }
        }
    }

    // MARK: Deadlines and refusals

    /// Looking for requests that have waited too long takes a millisecond if very many wait, and all loops wait for it.
    private static let expiryPause = Duration.milliseconds(50)

    private func armDeadlineTimer() {
        let now = scheduler.now
        let delay: Duration? = shared.state.withLock { state in
            guard !state.hasDeadlineTimer, let deadline = state.queue.nextDeadline else { return nil }
            state.hasDeadlineTimer = true
            return max(deadline - now, Self.expiryPause)
        }
        guard let delay else { return }
        _ = scheduler.schedule(after: delay) { [self] in
            let now = scheduler.now
            let (refusals, startsWorker) = shared.state.withLock { state in
                state.hasDeadlineTimer = false
                return (state.queue.expire(now: now, at: loop), state.queue.startsWorker(at: loop))
            }
            refuse(refusals)
            if startsWorker { startWorker() }
            answerIfStopped()
            armDeadlineTimer()
        }
    }

    private func refuse(_ refusals: [WriteQueue.RefusedRequest]) {
        for refusal in refusals {
            let waiters = shared.state.withLock { $0.waiters.removeValue(forKey: refusal.ticket) }
            waiters?.give(.failure(refusal.reason))
        }
    }

    private func answerIfStopped() {
        let answers = shared.state.withLock { state -> [Answer<Void>] in
            guard state.queue.isIdle else { return [] }
            defer { state.stopping = [] }
            return state.stopping
        }
        for answer in answers { answer.give(()) }
    }

    private static func answered(_ reason: FailureReason) -> Answer<Outcome> {
        let answer = Answer<Outcome>()
        answer.give(.failure(reason))
        return answer
    }
}
