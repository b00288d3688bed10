// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkTelemetry

/// Finds the query subscriptions that commits fire, after the answers are given. It is the driver of
/// ``QueryWatches``.
///
/// The server that commits does it, because it alone has the versions before and after. A failure delays pushes, and never a
/// save. If a server dies before it is done, other devices hear of the change by the sweep, or when they connect.
final class QueryEvaluation: Sendable {
    private let storage: any Storage
    private let scheduler: any Scheduler
    private let limits: Limits
    private let shared: SharedWrites
    private let schemas: SchemaCache
    private let retry: StorageRetry
    private let onMoved: @Sendable (ZonesMoved) -> Void

    /// Databases of one read.
    private static let databasesMax = 200
    /// Subscriptions of one page.
    private static let pageCount = 1_000
    /// How many are added to an index in one turn.
    private static let addedInTurn = 50
    /// How many are sent together, so that no more are in memory.
    private static let firedTogether = 1_000
    /// The longest turn on the event loop.
    private static let turnMax = Duration.milliseconds(2)
    /// How long the evaluation of what was written may take, and for each record more. Whoever has many predicates that are
    /// expensive does not hold up others for longer.
    private static let evaluationMax = Duration.milliseconds(20)
    private static let evaluationPerRecord = Duration.milliseconds(2)
    private static let failurePause = Duration.seconds(1)
    private static let finishPause = Duration.milliseconds(10)

    init(
        storage: any Storage, scheduler: any Scheduler, limits: Limits, shared: SharedWrites, schemas: SchemaCache,
        retry: StorageRetry, onMoved: @escaping @Sendable (ZonesMoved) -> Void
    ) {
        self.storage = storage
        self.scheduler = scheduler
        self.limits = limits
        self.shared = shared
        self.schemas = schemas
        self.retry = retry
        self.onMoved = onMoved
    }

    /// Takes in what a commit wrote. It does not block, and returns before anything is evaluated.
    func written(_ zones: [WrittenZone]) {
        guard !zones.isEmpty else { return }
        let now = scheduler.now
        let (work, mustRead) = shared.queryWatches.withLock { $0.written(zones, now: now) }
        for part in work { scheduler.run { [self] in await carryOut(part) } }
        if mustRead { scheduler.run { [self] in await readWanted() } }
    }

    /// For a server that stops: returns when all that was written is evaluated, also by other loops. It does not wait for longer than
    /// it is told, as when the store does not answer.
    func finish(within patience: Duration) async {
        let end = scheduler.now + patience
        while !shared.queryWatches.withLock({ $0.isIdle }), scheduler.now < end {
            try? await scheduler.sleep(for: Self.finishPause)
        }
    }

    // MARK: Reading

    private func readWanted() async {
        while true {
            let wanted = shared.queryWatches.withLock { $0.takeWanted(Self.databasesMax) }
            guard !wanted.isEmpty else { return }
            guard await read(wanted) else { return }
        }
    }

    /// - Returns: false if the store does not answer. Then it is tried again later.
    private func read(_ wanted: [QueryWatches.Wanted]) async -> Bool {
        let first = await page(of: wanted.map(\.database), after: nil)
        guard case .success(let pages) = first else {
            shared.queryWatches.withLock { watches in for one in wanted { watches.failed(one.database) } }
            _ = scheduler.schedule(after: Self.failurePause) { [self] in
                scheduler.run { [self] in await readWanted() }
            }
            return false
        }
        for one in wanted {
            let page = pages[one.database]
            let isLarge = one.isLarge && page?.hasMore == true
            let known = isLarge ? .large : await known(from: page, of: one.database)
            let now = scheduler.now
            let work = shared.queryWatches.withLock {
                $0.read(one.database, known, generation: one.generation, now: now)
            }
            if let work { scheduler.run { [self] in await carryOut(work) } }
        }
        return true
    }

    private func page(
        of databases: [DatabaseID], after: SubscriberKey?
    ) async -> Result<[DatabaseID: WatchingPage], FailureReason> {
        await retry.run { () async throws(StorageError) in
            .success(
                try await storage.querySubscriptions(watching: databases, after: after, atMost: Self.pageCount))
        }
    }

    /// Reads on until there are no more, or too many for memory. If they cannot be read, they are treated as many: then they are
    /// read when they are needed.
    private func known(from first: WatchingPage?, of database: DatabaseID) async -> QueryWatches.Known {
        guard let first, !first.subscriptions.isEmpty else { return .none }
        let bytesMax = shared.queryWatches.withLock { $0.indexBytesOfOneMax }
        var index = QueryIndex()
        var page = first
        while true {
            await add(page, to: &index)
            guard page.hasMore else { return .some(index) }
            guard index.byteCount <= bytesMax,
                case .success(let pages) = await self.page(of: [database], after: page.subscriptions.last?.key),
                let next = pages[database], !next.subscriptions.isEmpty
            else { return .large }
            page = next
        }
    }

    /// What predicates that search for words need of the schema is read now. If it cannot be, all strings are searched.
    private func add(_ page: WatchingPage, to index: inout QueryIndex) async {
        var known: KnownSchema?
        if page.subscriptions.contains(where: { $0.subscription.query?.predicate.searchesWords == true }),
            let container = page.subscriptions.first?.container
        {
            known = try? await schema(of: container).get()
        }
        for start in stride(from: 0, to: page.subscriptions.count, by: Self.addedInTurn) {
            let some = page.subscriptions[start..<min(start + Self.addedInTurn, page.subscriptions.count)]
            index.add(Array(some)) { type in
                known?.schema.schema.queryType(type, in: some[start].subscription.scope)
                    .map { QueryFields($0, isFrozen: known?.schema.isFrozen ?? false) } ?? .unknown
            }
            await Task.yield()
        }
    }

    private func schema(of container: ContainerID) async -> Result<KnownSchema, FailureReason> {
        await retry.run { () async throws(StorageError) in .success(try await schemas.current(container)) }
    }

    // MARK: Evaluating

    /// Evaluates what was written in one database, and what is written there meanwhile.
    private func carryOut(_ first: QueryWatches.QueryWork) async {
        var work = first
        while true {
            await evaluate(work)
            let now = scheduler.now
            switch shared.queryWatches.withLock({ $0.done(work.database, now: now) }) {
            case .nothing: return
            case .evaluate(let more): work = more
            case .read: return await readWanted()
            }
        }
    }

    private func evaluate(_ work: QueryWatches.QueryWork) async {
        switch work.known {
        case .none: return
        case .some(let index): await fire(work, by: index)
        case .large:
            var after: SubscriberKey?
            repeat {
                guard case .success(let pages) = await page(of: [work.database], after: after) else {
                    // Those that are left are told that something has changed, when they can be read.
                    return shared.queryWatches.withLock { $0.lost(work.database) }
                }
                guard let next = pages[work.database] else { return }
                var index = QueryIndex()
                await add(next, to: &index)
                await fire(work, by: index)
                after = next.hasMore ? next.subscriptions.last?.key : nil
            } while after != nil
        }
    }

    /// - Parameter index: all of the subscriptions, or a page of them.
    private func fire(_ work: QueryWatches.QueryWork, by index: QueryIndex) async {
        let recordCount = work.written.reduce(0) { $0 + $1.records.count }
        var turns = EvaluationTurns(
            scheduler, turnMax: Self.turnMax, allMax: Self.evaluationMax + Self.evaluationPerRecord * recordCount)
        var fired: [QueryFiring] = []
        var hasLost = work.hasLost
        for zone in work.written where !hasLost {
            let before = Dictionary(zone.replaced.map { ($0.name, $0) }) { first, _ in first }
            for new in zone.records where index.watches(new.type) && !hasLost {
                let (old, isUnread) = (before[new.name], zone.unread.contains(new.name))
                for candidate in index.candidates(from: old, to: new, in: zone.key.name, isOldUnread: isUnread) {
                    fired += QueryIndex.firings(
                        of: candidate, from: old, to: new, in: zone.key.name, isOldUnread: isUnread
                    ).map { QueryFiring(of: $0, zone, old: old, new: new) }
                    hasLost = turns.isUsedUp
                    guard turns.isOver || fired.count >= Self.firedTogether else { continue }
                    turns.pause()
                    if hasLost { break }
                    if fired.count >= Self.firedTogether {
                        await send(fired, work)
                        fired = []
                    } else {
                        await Task.yield()
                    }
                    turns.begin()
                }
            }
        }
        await send(fired, work)
        guard hasLost else { return }
        // All are told to look themselves, also those that have been found.
        ServiceMetrics.shared.queryChangesLost.increment()
        for slice in index.slices {
            await send(slice.map { QueryFiring(of: $0) }, work)
            await Task.yield()
        }
    }

    private func send(_ fired: [QueryFiring], _ work: QueryWatches.QueryWork) async {
        let living = work.ended.isEmpty ? fired : fired.filter { !work.ended.contains($0.key) }
        guard !living.isEmpty else { return }
        let seen = await readable(living)
        let sent = await takingOnce(seen, in: work.database)
        guard !sent.isEmpty else { return }
        ServiceMetrics.shared.queryFirings.increment(by: sent.count)
        onMoved(ZonesMoved([], fired: sent))
    }

    /// Leaves out whatever its subscriber may not read (I-5). In the public database roles and grants decide, as they are now.
    /// If they cannot be read, nothing is left that depends on them.
    private func readable(_ fired: [QueryFiring]) async -> [QueryFiring] {
        let isPublic = fired.contains { $0.subscription.scope == .public }
        guard isPublic else { return fired }
        guard let container = fired.lazy.compactMap(\.container).first,
            case .success(let known) = await schema(of: container)
        else { return [] }
        let grants = known.grants
        var roles: [UserID: Set<Role>] = [:]
        let users = Set(
            fired.lazy.filter { firing in firing.types.contains { grants[$0] != nil } }.map(\.user)
        ).sorted { $0.rawValue < $1.rawValue }
        for start in stride(from: 0, to: users.count, by: Self.pageCount) {
            let some = Array(users[start..<min(start + Self.pageCount, users.count)])
            let read = await retry.run { () async throws(StorageError) in
                .success(try await storage.roles(of: some))
            }
            if case .success(let found) = read { roles.merge(found) { $1 } }
        }
        return fired.filter { firing in
            let access = RecordAccess(
                scope: .public, user: firing.user, grants: grants, roles: roles[firing.user] ?? [])
            // What is not known to be a record of somebody is judged as one of anybody.
            return firing.types.allSatisfy { type in
                access.effectivePermission(on: RecordPlace(type: type, creator: firing.creator)).contains(.read)
            }
        }
    }

    /// who deletes a subscription sends its push. Of two servers only one can.
    private func takingOnce(_ fired: [QueryFiring], in database: DatabaseID) async -> [QueryFiring] {
        guard fired.contains(where: \.endsSubscription) else { return fired }
        var taken: Set<SubscriberKey> = []
        var sent: [QueryFiring] = []
        for firing in fired {
            guard firing.endsSubscription else {
                sent.append(firing)
                continue
            }
            // One change may be followed by others: only the first is sent.
            guard taken.insert(firing.key).inserted else { continue }
            if await end(firing.key) { sent.append(firing) }
            shared.queryWatches.withLock { $0.ended(firing.key, of: database) }
        }
        return sent
    }

    /// - Returns: whether the subscription was there, or may have been deleted by an attempt without an answer.
    private func end(_ key: SubscriberKey) async -> Bool {
        var mayBeDeleted = false
        let ended: Result<Bool, FailureReason> = await retry.run { () async throws(StorageError) in
            do throws(StorageError) {
                let gone = try await storage.deleteSubscriptions([key.key.id], scope: key.key.scope, of: key.user)
                return .success(!gone.isEmpty || mayBeDeleted)
            } catch {
                if error.code == .commitUnknown { mayBeDeleted = true }
                throw error
            }
        }
        switch ended {
        case .success(let isOurs): return isOurs
        // The next change tries again.
        case .failure: return mayBeDeleted
        }
    }
}

extension QueryFiring {
    fileprivate init(of firing: QueryIndex.Firing, _ zone: WrittenZone, old: RecordState?, new: RecordState) {
        let isUnread = firing.reason == .deleted && zone.unread.contains(new.name)
        self.init(
            user: firing.watching.user, subscription: firing.watching.subscription, reason: firing.reason,
            record: QueryNotification.Record(name: new.name, zoneName: zone.key.name),
            version: firing.reason == .deleted ? (isUnread ? nil : old) : new, maker: zone.life)
        container = firing.watching.container
        creator = new.createdBy
        types = Set([new.type, old?.type].compactMap(\.self))
    }

    /// Records of the query may have changed.
    fileprivate init(of watching: WatchingSubscription) {
        self.init(
            user: watching.user, subscription: watching.subscription, reason: nil, record: nil, version: nil,
            maker: .nobody)
        container = watching.container
        types = Set([watching.subscription.recordType].compactMap(\.self))
    }

    /// that records may have changed is no firing.
    fileprivate var endsSubscription: Bool {
        reason != nil && subscription.query?.options.contains(.once) == true
    }
}

/// How long an evaluation has worked, in turns.
private struct EvaluationTurns {
    private let scheduler: any Scheduler
    private let turnMax: Duration
    private var left: Duration
    private var begun: Duration

    init(_ scheduler: any Scheduler, turnMax: Duration, allMax: Duration) {
        self.scheduler = scheduler
        self.turnMax = turnMax
        left = allMax
        begun = scheduler.now
    }

    /// Whether others must have their turn.
    var isOver: Bool { scheduler.now - begun >= turnMax }

    /// Whether it has worked for as long as it may.
    var isUsedUp: Bool { scheduler.now - begun > left }

    /// Ends a turn. The time until the next one is others'.
    mutating func pause() { left -= scheduler.now - begun }

    mutating func begin() { begun = scheduler.now }
}
