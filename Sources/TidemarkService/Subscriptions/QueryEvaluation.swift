// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkScheduling
internal import TidemarkTelemetry

/// Finds the query subscriptions that commits fire, after the answers are given. It is the driver of
/// ``QueryWatches``.
///
/// The server that commits does it, because it alone has the versions before and after. A failure delays pushes, and never a save. If a
/// server dies before it is done, other devices get the change by the sweep, or when they connect.
final class QueryEvaluation: Sendable {
    private let storage: any Storage
    private let scheduler: any Scheduler
    private let limits: Limits
    private let shared: SharedWrites
    private let schemas: SchemaCache
    private let retry: StorageRetry
    private let onMoved: @Sendable (ZonesMoved) -> Void

    /// Databases of one read.
    private static let databasesMax = 50
    /// Subscriptions of each of these.
    private static let firstPageCount = 50
    /// Subscriptions of one page.
    private static let pageCount = 1_000
    /// How much is added to an index in one turn: bytes of predicates, and as many as a short one has for each.
    private static let addedBytesInTurn = 25_600
    private static let addedBytesLeast = 512
    /// Subscriptions that are compared with those that were known, in one turn of the event loop.
    private static let comparedInTurn = 256
    /// How many are sent together, so that no more are in memory.
    private static let firedTogether = 1_000
    /// How many subscriptions that fire once are ended in one transaction.
    private static let endedTogether = 500
    /// The longest turn on the event loop.
    private static let turnMax = Duration.milliseconds(2)
    /// The longest time for the evaluation of a commit, with more for each record. A user with many expensive predicates does not delay
    /// others for longer.
    private static let evaluationMax = Duration.milliseconds(20)
    private static let evaluationPerRecord = Duration.milliseconds(2)
    /// how many bytes of fields are made comparable on the event loop. To find the words of so much text takes three
    /// milliseconds.
    static let textBytesOnLoopMax = 16_384
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
        let (work, mustRead, silent) = shared.queryWatches.withLock { $0.written(zones, now: now) }
        if !silent.isEmpty { onMoved(ZonesMoved([], evaluated: silent)) }
        for part in work { scheduler.run { [self] in await carryOut(part) } }
        if mustRead { scheduler.run { [self] in await readWanted() } }
    }

    /// The query subscriptions of a database have changed. Nil: those of any may have. They are read now if there may be some that have
    /// missed something, and else when they are needed.
    func changed(in database: DatabaseID?) {
        let mustRead = shared.queryWatches.withLock { watches in
            database.map { watches.changed($0) } ?? watches.changedAll()
        }
        if mustRead { scheduler.run { [self] in await readWanted() } }
    }

    /// Looks for subscriptions of which no notice came, and that may have missed something.
    func sweep() {
        let now = scheduler.now
        if shared.queryWatches.withLock({ $0.sweep(now: now) }) { scheduler.run { [self] in await readWanted() } }
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

    /// One task of the process reads, and takes what comes meanwhile together.
    private func readWanted() async {
        guard shared.queryWatches.withLock({ $0.startsReading() }) else { return }
        while true {
            let wanted = shared.queryWatches.withLock { $0.takeWanted(Self.databasesMax) }
            guard !wanted.isEmpty else { return }
            await read(wanted)
        }
    }

    private func read(_ wanted: [QueryWatches.Wanted]) async {
        // Most databases have few. That saves many statements, and no answer is large.
        let countMax = wanted.count > 1 ? Self.firstPageCount : Self.pageCount
        let first = await page(of: wanted.map(\.database), after: nil, atMost: countMax)
        guard case .success(let pages) = first else { return readLater(wanted) }
        for one in wanted {
            let page = pages[one.database] ?? WatchingPage(subscriptions: [], next: nil)
            if page.next == nil {
                known(await index(of: page), of: one)
            } else if one.isLarge {
                scheduler.run { [self] in await readTypes(of: one, isPublic: Self.isPublic(page)) }
            } else {
                // It takes several reads, for which others do not wait.
                scheduler.run { [self] in await readRest(of: one, after: page) }
            }
        }
    }

    /// One of them may be why they cannot be read. So each half is tried alone, and in the end each database.
    private func readLater(_ failed: [QueryWatches.Wanted]) {
        _ = scheduler.schedule(after: Self.failurePause) { [self] in
            scheduler.run { [self] in
                let wanted = shared.queryWatches.withLock { $0.again(failed) }
                let middle = wanted.count / 2
                for half in [wanted[..<middle], wanted[middle...]] where !half.isEmpty { await read(Array(half)) }
            }
        }
    }

    /// Reads on until there are no more, or too many for memory.
    private func readRest(of one: QueryWatches.Wanted, after first: WatchingPage) async {
        let bytesMax = shared.queryWatches.withLock { $0.indexBytesOfOneMax }
        var index = await self.index(of: first)
        var next = first.next
        while let after = next {
            guard index.byteCount <= bytesMax else { return await readTypes(of: one, isPublic: index.isPublic) }
            guard case .success(let pages) = await page(of: [one.database], after: after) else {
                return readLater([one])
            }
            next = pages[one.database]?.next
            if let page = pages[one.database] { await add(page, to: &index) }
        }
        known(index, of: one)
    }

    /// Of too many for memory only their types are known.
    private func readTypes(of one: QueryWatches.Wanted, isPublic: Bool) async {
        // One more says that they are too many.
        let read = await retry.run { () async throws(StorageError) in
            .success(try await storage.watchedTypes(in: one.database, atMost: WatchedTypes.countMax + 1))
        }
        guard case .success(let types) = read else { return readLater([one]) }
        known(.large(WatchedTypes(types, isPublic: isPublic)), of: one)
    }

    private static func isPublic(_ page: WatchingPage) -> Bool {
        page.subscriptions.contains { $0.subscription.scope == .public }
    }

    private func known(_ index: QueryIndex, of one: QueryWatches.Wanted) {
        known(index.isEmpty ? .none : .some(index), of: one)
    }

    private func known(_ known: QueryWatches.Known, of one: QueryWatches.Wanted) {
        let now = scheduler.now
        let work = shared.queryWatches.withLock { $0.read(one.database, known, generation: one.generation, now: now) }
        if let work {
            scheduler.run { [self] in await carryOut(work) }
        } else {
            scheduler.run { [self] in await readWanted() }
        }
    }

    private func page(
        of databases: [DatabaseID], after: SubscriberKey?, atMost countMax: Int = pageCount
    ) async -> Result<[DatabaseID: WatchingPage], FailureReason> {
        await retry.run { () async throws(StorageError) in
            .success(try await storage.querySubscriptions(watching: databases, after: after, atMost: countMax))
        }
    }

    private func index(of page: WatchingPage) async -> QueryIndex {
        var index = QueryIndex()
        await add(page, to: &index)
        return index
    }

    /// The schema data for predicates that search for words is read now. If that fails, all strings are searched.
    private func add(_ page: WatchingPage, to index: inout QueryIndex) async {
        var known: KnownSchema?
        if page.subscriptions.contains(where: { $0.subscription.query?.predicate.searchesWords == true }),
            let container = page.subscriptions.first?.container
        {
            known = try? await schema(of: container).get()
        }
        var steps = WorkSteps(costPerStep: Self.addedBytesInTurn)
        for one in page.subscriptions {
            index.add([one]) { type in known?.subscribedFields(of: type, in: one.subscription.scope) ?? .unknown }
            await steps.did(Self.addedBytesLeast + (one.subscription.query?.predicateBytes.count ?? 0))
        }
        await Task.yield()
    }

    private func schema(of container: ContainerID) async -> Result<KnownSchema, FailureReason> {
        await retry.run { () async throws(StorageError) in .success(try await schemas.current(container)) }
    }

    // MARK: Evaluating

    /// Evaluates the changes of one database, and those that come during it.
    private func carryOut(_ first: QueryWatches.QueryWork) async {
        var work = first
        while true {
            switch await evaluate(work) {
            // all that the changes fire has been sent.
            case true? where !work.written.isEmpty: onMoved(ZonesMoved([], evaluated: work.written.map(\.evaluated)))
            case true?: break
            case false?: break
            case nil: await lose(work)
            }
            let now = scheduler.now
            switch shared.queryWatches.withLock({ $0.done(work.database, now: now) }) {
            case .nothing: return
            case .evaluate(let more): work = more
            case .read: return await readWanted()
            }
        }
    }

    /// - Returns: whether it has found subscriptions of a public database. Nil: the store does not return the data that is needed to send.
    private func evaluate(_ work: QueryWatches.QueryWork) async -> Bool? {
        switch work.known {
        case .none: return false
        case .some(let index): return await fire(work, by: index) ? index.isPublic : nil
        case .large(let watched):
            // NB: after the commits, so that also those are found that are new.
            guard let types = work.types(of: watched) else {
                return await fireAll(work) ? watched.isPublic : nil
            }
            for type in types.sorted() {
                guard await fire(work, ofType: type) else { return nil }
            }
            return watched.isPublic
        }
    }

    /// Reads those that look at records of one type, page by page.
    private func fire(_ work: QueryWatches.QueryWork, ofType type: String) async -> Bool {
        var after: SubscriberKey?
        repeat {
            let read = await retry.run { () async throws(StorageError) in
                .success(
                    try await storage.querySubscriptions(
                        watching: work.database, ofType: type, after: after, atMost: Self.pageCount))
            }
            guard case .success(let page) = read, await fire(work, by: await index(of: page)) else { return false }
            after = page.next
        } while after != nil
        return true
    }

    /// Reads all, page by page.
    private func fireAll(_ work: QueryWatches.QueryWork) async -> Bool {
        var after: SubscriberKey?
        repeat {
            guard case .success(let pages) = await page(of: [work.database], after: after) else { return false }
            guard let next = pages[work.database] else { break }
            guard await fire(work, by: await index(of: next)) else { return false }
            after = next.next
        } while after != nil
        return true
    }

    /// The store does not return the data that is needed to send. All subscriptions fire with the news that records may
    /// have changed, once it does.
    private func lose(_ work: QueryWatches.QueryWork) async {
        try? await scheduler.sleep(for: Self.failurePause)
        shared.queryWatches.withLock { $0.lost(work.database) }
    }

    /// - Parameter index: all of the subscriptions, or a page of them.
    /// - Returns: false if the store does not return the data that is needed to send.
    private func fire(_ work: QueryWatches.QueryWork, by index: QueryIndex) async -> Bool {
        guard !work.hasLost else { return await tellMissed(index.slices(), work) }
        if let missable = work.missable, await !tellNew(of: index, missable, work) { return false }
        let recordCount = work.written.reduce(0) { $0 + $1.records.count }
        var turns = EvaluationTurns(
            turnMax: Self.turnMax, allMax: Self.evaluationMax + Self.evaluationPerRecord * recordCount)
        turns.begin(at: scheduler.now, used: scheduler.processorTime)
        var fired: [QueryFiring] = []
        for (place, zone) in work.written.enumerated() {
            let changes = zone.changes(for: index)
            for (next, (old, new)) in changes.enumerated() {
                let isUnread = zone.unread.contains(new.name)
                var texts = VersionTexts()
                let isLong = (old?.fields.byteCount ?? 0) + new.fields.byteCount >= Self.textBytesOnLoopMax
                if isLong {
                    let lookedUp = index.partsLookedUp(from: old, to: new, in: zone.key.name)
                    await make(lookedUp, from: old, to: new, &texts, &turns)
                }
                var candidates = index.candidates(
                    from: old, to: new, in: zone.key.name, isOldUnread: isUnread, texts: &texts
                ).makeIterator()
                while let candidate = candidates.next() {
                    if isLong { await make(candidate.parts, from: old, to: new, &texts, &turns) }
                    fired += QueryIndex.firings(
                        of: candidate, from: old, to: new, in: zone.key.name, isOldUnread: isUnread, texts: &texts
                    ).map { QueryFiring(of: $0, zone, old: old, new: new) }
                    guard turns.isOver(at: scheduler.now) || turns.isUsedUp || fired.count >= Self.firedTogether
                    else { continue }
                    turns.end(used: scheduler.processorTime)
                    if turns.isUsedUp {
                        // Firings that were found are sent. Subscriptions that were not reached fire with the news to
                        // look themselves.
                        var types = Set(changes[(next + 1)...].map(\.new.type))
                        for later in work.written[(place + 1)...] { types.formUnion(later.types) }
                        var missed = index.slices(of: types)
                        if !types.contains(new.type) {
                            while let candidate = candidates.next() { missed.append(candidate.members) }
                        }
                        guard await send(fired, work) else { return false }
                        return await tellMissed(missed, work)
                    }
                    if fired.count >= Self.firedTogether {
                        guard await send(fired, work) else { return false }
                        fired = []
                    } else {
                        await Task.yield()
                    }
                    turns.begin(at: scheduler.now, used: scheduler.processorTime)
                }
                // Many records may have no candidate.
                guard turns.isOver(at: scheduler.now) else { continue }
                turns.end(used: scheduler.processorTime)
                await Task.yield()
                turns.begin(at: scheduler.now, used: scheduler.processorTime)
            }
        }
        return await send(fired, work)
    }

    /// makes long texts comparable beside the event loop, before predicates compare them there.
    private func make(
        _ parts: some Sequence<RecordTexts.Part> & Sendable, from old: RecordState?, to new: RecordState,
        _ texts: inout VersionTexts, _ turns: inout EvaluationTurns
    ) async {
        guard let executor = shared.largeGroups,
            texts.bytesToMake(parts, from: old, to: new) >= Self.textBytesOnLoopMax
        else { return }
        turns.end(used: scheduler.processorTime)
        let used: Duration
        (texts, used) = await withTaskExecutorPreference(executor) { [texts, scheduler] in
            let begun = scheduler.processorTime
            var texts = texts
            texts.make(parts, from: old, to: new)
            return (texts, scheduler.processorTime - begun)
        }
        turns.charge(used)
        turns.begin(at: scheduler.now, used: scheduler.processorTime)
    }

    /// Tells subscriptions whose changes were not evaluated that records may have changed.
    private func tellMissed(
        _ slices: [ArraySlice<WatchingSubscription>], _ work: QueryWatches.QueryWork
    ) async -> Bool {
        guard !slices.isEmpty else { return true }
        ServiceMetrics.shared.queryChangesLost.increment()
        return await tellToLook(slices, work)
    }

    /// tells those that another server has saved, and that were not known when something changed.
    private func tellNew(
        of index: QueryIndex, _ missable: QueryWatches.MissableChanges, _ work: QueryWatches.QueryWork
    ) async -> Bool {
        var new: [ArraySlice<WatchingSubscription>] = []
        for slice in index.slices(where: missable.mayConcern) {
            var rest = slice
            while !rest.isEmpty {
                let some = rest.prefix(Self.comparedInTurn).filter(missable.mayBeMissed)
                if !some.isEmpty { new.append(some[...]) }
                rest = rest.dropFirst(Self.comparedInTurn)
                await Task.yield()
            }
        }
        return await tellToLook(new, work)
    }

    /// Tells subscriptions that records may have changed. So none of them ends.
    private func tellToLook(
        _ slices: [ArraySlice<WatchingSubscription>], _ work: QueryWatches.QueryWork
    ) async -> Bool {
        var missed: [QueryFiring] = []
        for slice in slices {
            missed += slice.map { QueryFiring(of: $0) }
            guard missed.count >= Self.firedTogether else { continue }
            guard await send(missed, work) else { return false }
            missed = []
            await Task.yield()
        }
        return await send(missed, work)
    }

    /// - Returns: false if the store does not say who may read the records.
    private func send(_ fired: [QueryFiring], _ work: QueryWatches.QueryWork) async -> Bool {
        let living = work.ended.isEmpty ? fired : fired.filter { !work.ended.contains($0.key) }
        guard !living.isEmpty else { return true }
        guard let seen = await readable(living) else { return false }
        tell(seen.filter { !$0.endsSubscription })
        // One change may be followed by others: only the first is sent.
        var taken: Set<SubscriberKey> = []
        let once = seen.filter { $0.endsSubscription && taken.insert($0.key).inserted }
        for start in stride(from: 0, to: once.count, by: Self.endedTogether) {
            let some = Array(once[start..<min(start + Self.endedTogether, once.count)])
            tell(await ending(some, in: work.database))
        }
        return true
    }

    private func tell(_ fired: [QueryFiring]) {
        guard !fired.isEmpty else { return }
        ServiceMetrics.shared.queryFirings.increment(by: fired.count)
        onMoved(ZonesMoved([], fired: fired))
    }

    /// Leaves out whatever its subscriber may not read (I-5). In the public database roles and grants decide, as they are now.
    ///
    /// - Returns: nil if they cannot be read.
    private func readable(_ fired: [QueryFiring]) async -> [QueryFiring]? {
        let isPublic = fired.contains { $0.subscription.scope == .public }
        guard isPublic else { return fired }
        guard let container = fired.lazy.compactMap(\.container).first else { return [] }
        let grants: [String: Grants]
        switch await schema(of: container) {
        case .success(let known): grants = known.grants
        // There is nobody to tell.
        case .failure(.containerUnknown), .failure(.containerClosed): return []
        case .failure: return nil
        }
        var roles: [UserID: Set<Role>] = [:]
        let users = Set(
            fired.lazy.filter { firing in firing.types.contains { grants[$0] != nil } }.map(\.user)
        ).sorted { $0.rawValue < $1.rawValue }
        for start in stride(from: 0, to: users.count, by: Self.pageCount) {
            let some = Array(users[start..<min(start + Self.pageCount, users.count)])
            let read = await retry.run { () async throws(StorageError) in
                .success(try await storage.roles(of: some))
            }
            guard case .success(let found) = read else { return nil }
            roles.merge(found) { $1 }
        }
        return fired.filter { firing in
            let access = RecordAccess(
                scope: .public, user: firing.user, grants: grants, roles: roles[firing.user] ?? [])
            // The news that records may have changed names no record. It goes to those who may read at least their own.
            let creator = firing.reason == nil ? firing.user : firing.creator
            return firing.types.allSatisfy { type in
                access.effectivePermission(on: RecordPlace(type: type, creator: creator)).contains(.read)
            }
        }
    }

    /// the server that ends a subscription sends its push. Of two servers only one can.
    ///
    /// - Returns: those that this server has ended, or may have ended by an attempt without an answer. If the store fails, none has ended,
    ///   and all fire with the news that records may have changed.
    private func ending(_ once: [QueryFiring], in database: DatabaseID) async -> [QueryFiring] {
        var mayBeEnded = false
        let all = once.compactMap(\.watching)
        let ended: Result<Set<SubscriberKey>, FailureReason> = await retry.run { () async throws(StorageError) in
            do throws(StorageError) {
                return .success(try await storage.fireOnce(all))
            } catch {
                if error.code == .commitUnknown { mayBeEnded = true }
                throw error
            }
        }
        guard mayBeEnded || ended.isSuccess else {
            return once.compactMap { $0.watching.map(QueryFiring.init) }
        }
        shared.queryWatches.withLock { watches in for firing in once { watches.ended(firing.key, of: database) } }
        guard !mayBeEnded, case .success(let ours) = ended else { return once }
        return once.filter { ours.contains($0.key) }
    }
}

extension QueryFiring {
    fileprivate init(of firing: QueryIndex.Firing, _ zone: WrittenZone, old: RecordState?, new: RecordState) {
        let isUnread = firing.reason == .deleted && zone.unread.contains(new.name)
        self.init(
            user: firing.watching.user, subscription: firing.watching.subscription, reason: firing.reason,
            record: QueryNotification.Record(name: new.name, zoneName: zone.key.name),
            version: firing.reason == .deleted ? (isUnread ? nil : old) : new, maker: zone.makers.maker(of: new))
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

    /// Nil at other servers than that of the change.
    fileprivate var watching: WatchingSubscription? {
        container.map { WatchingSubscription(user: user, container: $0, subscription: subscription) }
    }

    /// the news that records may have changed is not a firing.
    fileprivate var endsSubscription: Bool {
        reason != nil && subscription.query?.options.contains(.once) == true
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
