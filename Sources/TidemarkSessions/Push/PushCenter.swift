// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling
internal import TidemarkService

/// Tells connected devices that something changed (R-248 … R-260, I-4).
///
/// A push is a hint: it may come twice or late, but must not be missing for good. Whatever changes after a session has
/// joined is pushed to it, because of a notice or by a later sweep. Joining itself is followed by a push.
///
/// What must be pushed for a database passes three stages. ``DatabaseWatch`` gathers it, ``PushLines`` keeps the order,
/// and a ``PushBatch`` is sent in steps.
final class PushCenter: Sendable {
    struct State {
        var watches: [DatabaseID: DatabaseWatch] = [:]
        var sessions: [UInt64: Session] = [:]
        var subscriptions: SubscriptionMemory
        var subscriptionReads = SubscriptionReads()
        var sharedZones = SharedZoneLists()
        /// Which lists an account has in ``sharedZones``.
        var listMemory: AccountMemory
        var listReads = SharedListReads()
        var sharedMoves = SharedMoves()
        var followed = FollowedDatabases()
        /// Whether the next step of telling viewers of changes is scheduled.
        var isSpreading = false
        /// Databases whose subscriptions are being read because something moved.
        var reading: Set<DatabaseID> = []
        var lines: PushLines
        var queries = QueryPushes()
        var unknownFirings = UnknownFirings()
        var queryAudience = QueryAudience()
        /// Whether the next group of ``queryAudience`` is scheduled.
        var isTellingQueries = false
        /// Of each user with sessions.
        var privateDatabases: [UserID: DatabaseID] = [:]
        var publicQueries = PublicQueryWatches()
        /// Whether the next step of sending pushes of queries is scheduled.
        var isSendingQueries = false
        /// Whether the next step of sending is scheduled.
        var isSending = false
        var isSweeping = false
        var sweepCount = 0
        /// Whether a check for due reminders is scheduled.
        var isReminding = false
        /// The last answer of ``moment(_:)``.
        var lastMoment = Duration.zero

        /// The time, but later than all answers before: what happens at the same time has an order as well.
        mutating func moment(_ now: Duration) -> Duration {
            lastMoment = max(now, lastMoment + .nanoseconds(1))
            return lastMoment
        }

        /// Takes in the subscriptions of the user of a database.
        ///
        /// - Returns: the user's shared database, if its list of zones is to be read from now on.
        mutating func knows(_ all: [Subscription], of database: DatabaseID, at now: Duration) -> DatabaseID? {
            guard let twin = watches[database]?.twin else {
                take(all, of: database, at: now)
                return nil
            }
            take(all, of: database, at: now)
            take(all, of: twin, at: now)
            let shared = watches[database]?.scope == .shared ? database : twin
            return needsList(of: shared) ? shared : nil
        }

        /// Takes in a database's subscriptions, and forgets others of its account if these are too many.
        private mutating func take(_ all: [Subscription], of database: DatabaseID, at now: Duration) {
            watches[database]?.knows(all, at: now)
            noteAudience(of: database)
            guard let watch = watches[database], let known = watch.subscriptions else { return }
            for other in subscriptions.keep(known, of: database, for: watch.account) {
                watches[other]?.forgetSubscriptions()
                noteAudience(of: other)
            }
        }

        private mutating func noteAudience(of database: DatabaseID) {
            guard let watch = watches[database], watch.scope == .private else { return }
            queryAudience.knows(watch.subscriptions, of: database)
        }

        /// Moves what a database's watch has gathered into its line. If there is no room, the watch goes on gathering.
        ///
        /// - Returns: whether it is first in the line.
        mutating func lineUp(_ database: DatabaseID, _ news: [ZoneNews] = []) -> Bool {
            guard let watch = watches[database], watch.isDue, lines.admits(database, of: watch.account) else {
                return false
            }
            return fillLine(of: database, news)
        }

        /// Lines up databases of an account that waited for room.
        ///
        /// - Returns: those whose subscriptions have been forgotten meanwhile. They are to be read.
        mutating func lineUpWaiting(of account: AccountID) -> [DatabaseID] {
            var unread: [DatabaseID] = []
            while let database = lines.takeWaiting(of: account) {
                if let watch = watches[database], watch.subscriptions == nil {
                    if reading.insert(database).inserted { unread.append(database) }
                } else {
                    _ = fillLine(of: database)
                }
            }
            return unread
        }

        private mutating func fillLine(of database: DatabaseID, _ news: [ZoneNews] = []) -> Bool {
            guard let due = watches[database]?.takeDue(), let account = watches[database]?.account else { return false }
            let batches = due.map { group in
                // Only a push for one zone brings pages, because a page of the database's feed names every zone that
                // changed. A change of this zone may have waited for its push. It came before the news, so the news
                // fits only a device that has it already.
                let own = group.zoneNames.count == 1 ? ZoneKey(database: database, name: group.zoneNames[0]) : nil
                return PushBatch(group, news: news.first { $0.before.key == own })
            }
            return lines.append(batches, of: database, for: account)
        }
    }

    let service: CloudService
    let scheduler: any Scheduler
    let settings: SessionSettings
    let siblings: HubSiblings
    let gates: RequestGates
    let state: Mutex<State>

    init(
        service: CloudService, scheduler: any Scheduler, settings: SessionSettings, siblings: HubSiblings,
        gates: RequestGates
    ) {
        self.service = service
        self.scheduler = scheduler
        self.settings = settings
        self.siblings = siblings
        self.gates = gates
        state = Mutex(
            State(
                subscriptions: SubscriptionMemory(bytesPerAccountMax: settings.subscriptionBytesPerAccountMax),
                listMemory: AccountMemory(bytesPerAccountMax: settings.listBytesPerAccountMax),
                lines: PushLines(bytesPerAccountMax: settings.subscriptionBytesPerAccountMax)))
    }

    // MARK: Who is here

    /// Adds a session, which is told of changes from now on. Once its user's subscriptions are known it is told at once
    /// that something may have changed while it was away.
    func join(_ session: Session, _ member: SessionMember) {
        guard let identity = member.identity else { return }
        let (database, shared) = (identity.privateDatabase, identity.sharedDatabase)
        let now = scheduler.now
        state.withLock { state in
            state.sessions[session.number] = session
            state.queries.join(session.number, of: identity.user)
            let moment = state.moment(now)
            state.watches[
                database,
                default: DatabaseWatch(user: identity.user, account: identity.account, twin: shared, since: moment)
            ].join(session.number, member.life, tellsDefaultZone: identity.feedsEverywhere)
            state.privateDatabases[identity.user] = database
            state.queryAudience.knows(state.watches[database]?.subscriptions, of: database)
            state.watches[
                shared,
                default: DatabaseWatch(
                    user: identity.user, account: identity.account, scope: .shared, twin: database, since: moment)
            ].join(session.number, member.life)
            state.followed.touch(database)
            state.followed.touch(shared)
        }
        // First: what happens after the mark was read is heard, or found by the sweep.
        tellBus()
        scheduler.run { [self] in
            await readMark(of: database)
            await readSubscriptions(of: database, ageMax: settings.subscriptionAgeMax)
            tell([session.number], of: database, atOnce: true)
            tell([session.number], of: shared, atOnce: true)
        }
    }

    /// Read before the push that follows joining: whatever changes after that push differs from this mark. All zones of
    /// the database are read for it, in a turn of the account.
    private func readMark(of database: DatabaseID) async {
        guard let account = lacksMark(database) else { return }
        do {
            try await gates[.wholeDatabase].run(for: .account(account.rawValue)) { await readMarkNow(of: database) }
        } catch {
            state.withLock { $0.watches[database]?.startsUnknown() }
        }
    }

    private func readMarkNow(of database: DatabaseID) async {
        // Another session may have read it meanwhile, or nobody is here any more.
        guard lacksMark(database) != nil else { return }
        let read = await marks(of: [database])
        state.withLock { state in
            if let mark = read[database] {
                state.watches[database]?.starts(at: mark.value)
                state.watches[database]?.counted(zones: mark.zoneCount)
            } else {
                state.watches[database]?.startsUnknown()
            }
        }
    }

    /// The account of a database with sessions and without a mark.
    private func lacksMark(_ database: DatabaseID) -> AccountID? {
        state.withLock { state in
            guard let watch = state.watches[database], !watch.hasMark else { return nil }
            return watch.account
        }
    }

    func leave(_ session: Session, _ member: SessionMember?) {
        state.withLock { state in
            state.sessions[session.number] = nil
            guard let identity = member?.identity else { return }
            state.queries.leave(session.number, of: identity.user)
            for database in [identity.privateDatabase, identity.sharedDatabase] {
                state.watches[database]?.leave(session.number)
                guard state.watches[database]?.isEmpty == true else { continue }
                if database == identity.privateDatabase {
                    state.privateDatabases[identity.user] = nil
                    state.queryAudience.leave(database)
                }
                state.dropList(of: database)
                state.watches[database] = nil
                state.listReads.forget(database)
                state.subscriptions.forget(database, of: identity.account)
                state.followed.touch(database)
            }
        }
        tellBus()
    }

    /// Tells the bus which databases' notices are needed here from now on, and which no longer.
    func tellBus() {
        guard let bus = settings.bus else { return }
        let (new, gone) = state.withLock { state in
            for owner in state.sharedZones.takeMovedOwners() { state.followed.touch(owner) }
            let (watches, lists) = (state.watches, state.sharedZones)
            return state.followed.takeChanges { watches[$0] != nil || lists.hasAudience($0) }
        }
        if !new.isEmpty { bus.follow(new.map { .database($0) }) }
        if !gone.isEmpty { bus.leave(gone.map { .database($0) }) }
    }

    /// The user's subscriptions of one database have changed. The session is told of changes that the old ones missed
    /// (I-4).
    ///
    /// - Parameter scope: private or shared.
    func subscriptionsChanged(in scope: DatabaseScope, of identity: Identity, by session: Session) async {
        let (database, own) = (identity.database(in: scope), identity.privateDatabase)
        let known = state.withLock { $0.watches[database]?.subscriptions }
        let isRead = await readSubscriptions(of: own, ageMax: .zero)
        if !isRead { subscriptionsUnread(of: identity) }
        tell([session.number], of: database, atOnce: true)
        tellOfEnds(of: database, since: known, by: session.number)
        siblings.each(where: { $0.pushes.watches(own) }) { hub in
            let isRead = await hub.pushes.renewSubscriptions(of: own, ageMax: .zero)
            if !isRead { hub.pushes.subscriptionsUnread(of: identity) }
        }
        // Changes of a private database make another server read its subscriptions again. In the shared and the public database
        // changes are others', and the other server may not know yet that they concern anybody.
        if scope != .private {
            siblings.post([ZoneNotice(database: identity.sharedDatabase, life: .nobody, zoneName: "")])
        }
    }

    /// sends a last push for each subscription that is gone. Devices that relied on it then fetch, find out, and
    /// create it again.
    private func tellOfEnds(of database: DatabaseID, since known: [Subscription]?, by maker: UInt64? = nil) {
        state.withLock { state in
            guard let known, let now = state.watches[database]?.subscriptions else { return }
            // A query subscription may have the ID of another kind: in the public database, or because it has replaced it.
            let kept = Set(now.lazy.filter { $0.kind != .query }.map(\.key))
            let gone = known.filter { $0.kind != .query && !kept.contains($0.key) }
            guard !gone.isEmpty else { return }
            state.watches[database]?.tellOfEnds(gone, by: maker)
            _ = state.lineUp(database)
        }
        sendRest()
    }

    /// Whether the user no longer has a database subscription of this name. The answer may be
    /// `SessionSettings.subscriptionAgeMax` old; if nothing is known, it is no.
    func lacksSubscription(_ id: String, of database: DatabaseID) async -> Bool {
        let (now, ageMax) = (scheduler.now, settings.subscriptionAgeMax)
        let (isKnown, isOld) = state.withLock { state in
            let watch = state.watches[database]
            return (
                watch?.subscriptions != nil, watch?.needsSubscriptions(now: now, ageMax: ageMax) ?? false
            )
        }
        if isOld {
            if isKnown {
                await renewSubscriptions(of: database, ageMax: ageMax)
            } else {
                await readSubscriptions(of: database, ageMax: ageMax)
            }
        }
        return state.withLock { state in
            guard let known = state.watches[database]?.subscriptions else { return false }
            return !known.contains { $0.id == id && $0.kind == .database }
        }
    }

    /// Whether a device of the database's user is connected here, and is told of its changes. From any thread.
    func watches(_ database: DatabaseID) -> Bool { state.withLock { $0.watches[database] != nil } }

    /// Whether it may matter to devices that are connected here. From any thread.
    func isConcerned(by moved: ZonesMoved) -> Bool {
        state.withLock { state in
            moved.notices.contains {
                state.watches[$0.database] != nil || !state.sharedZones.viewers(concernedBy: $0).isEmpty
            } || moved.fired.contains { state.queries.isHere($0.user) }
                || moved.evaluated.contains { state.publicQueries.watches($0.database) }
        }
    }

    /// A session is about to be told that these are its user's subscriptions, and relies on them from then on (I-4). A
    /// device at another server may have created them since this server last read them.
    ///
    /// - Parameters:
    ///   - all: of one database.
    ///   - scope: private or shared.
    func subscriptionsRead(_ all: [Subscription], in scope: DatabaseScope, of identity: Identity) async {
        let database = identity.database(in: scope)
        let areNews = state.withLock { $0.watches[database]?.differs(from: all, in: scope) ?? false }
        guard areNews else { return }
        let isRead = await readSubscriptions(of: identity.privateDatabase, ageMax: .zero)
        if !isRead { subscriptionsUnread(of: identity) }
        tell(state.withLock { $0.watches[database]?.sessions.keys.sorted() ?? [] }, of: database)
    }

    // MARK: Notices

    /// Pushes at once, with one push for all notices of a database. If it is not known whether anybody wants the push,
    /// the subscriptions are read first.
    func zonesMoved(_ zones: ZonesMoved) {
        push(zones.fired)
        takeIn(zones.evaluated)
        guard !zones.notices.isEmpty else { return }
        let now = scheduler.now
        let (known, old, unknown, listed) = state.withLock { state in
            var moved: Set<DatabaseID> = []
            var listed: Set<DatabaseID> = []
            for notice in zones.notices {
                state.takeForViewers(notice, of: zones)
                guard let scope = state.watches[notice.database]?.scope else { continue }
                if scope == .shared {
                    state.listChanged(of: notice.database, at: now)
                    listed.insert(notice.database)
                } else {
                    let types = zones.types(of: notice)
                    state.watches[notice.database]?.moved(notice.zoneName, by: notice.life, types: types)
                    moved.insert(notice.database)
                }
            }
            for database in moved { state.watches[database]?.grew(by: zones.growth[database]) }
            let old = moved.filter {
                state.watches[$0]?.needsSubscriptions(now: now, ageMax: settings.subscriptionAgeMax) ?? false
            }
            let unknown = old.filter { state.watches[$0]?.subscriptions?.isEmpty ?? true }
            return (
                moved.subtracting(unknown).sorted(), old.subtracting(unknown).sorted(), unknown.sorted(),
                listed.sorted()
            )
        }
        for viewer in listed { renewList(of: viewer) }
        pushMoved(in: known, zones.news)
        spreadRest()
        for database in old {
            scheduler.run { [self] in await renewSubscriptions(of: database, ageMax: settings.subscriptionAgeMax) }
        }
        for database in unknown where state.withLock({ $0.reading.insert(database).inserted }) {
            scheduler.run { [self] in await pushMovedOnceKnown(in: database, ageMax: settings.subscriptionAgeMax) }
        }
    }

    /// Reads the subscriptions of a database first. What moves meanwhile is pushed with the rest.
    ///
    /// NB: whoever calls it has added the database to `reading`.
    func pushMovedOnceKnown(in database: DatabaseID, ageMax: Duration?) async {
        await readSubscriptions(of: database, ageMax: ageMax)
        state.withLock { _ = $0.reading.remove(database) }
        pushMoved(in: [database])
    }

    /// A user may have subscribed at another server. Then all sessions are told that they may have missed something.
    ///
    /// - Returns: false if the subscriptions cannot be read now.
    @discardableResult
    func renewSubscriptions(of database: DatabaseID, ageMax: Duration) async -> Bool {
        let before = state.withLock { state in
            [database, state.watches[database]?.twin].compactMap(\.self).map { ($0, state.watches[$0]?.subscriptions) }
        }
        guard await readSubscriptions(of: database, ageMax: ageMax) else { return false }
        for (database, known) in before {
            let everyone = state.withLock { state -> [UInt64] in
                guard let watch = state.watches[database], watch.subscriptions != known else { return [] }
                return watch.sessions.keys.sorted()
            }
            tell(everyone, of: database)
            tellOfEnds(of: database, since: known)
        }
        return true
    }

    private func pushMoved(in databases: [DatabaseID], _ news: [ZoneNews] = []) {
        send(
            state.withLock { state in
                databases.filter { database in
                    state.watches[database]?.movedIsDue()
                    return state.lineUp(database, news)
                }
            })
    }

    // MARK: The sweep

    /// Compares the databases of connected devices with the store. If some cannot be read now, the others still are.
    func sweep() async {
        let sharedZonesMax = settings.limits.sharedZonesMax
        let begun = state.withLock { state -> (plan: SweepPlan, number: Int)? in
            guard !state.isSweeping else { return nil }
            state.isSweeping = true
            state.sweepCount += 1
            let candidates = state.watches.lazy.filter { $0.value.wantsPushes }.map { database, watch in
                SweepPlan.Candidate(
                    database: database, account: watch.account,
                    zoneCount: watch.zoneCount ?? (watch.scope == .shared ? sharedZonesMax : nil),
                    lastSweep: watch.lastSweep)
            }
            return (SweepPlan(Array(candidates)), state.sweepCount)
        }
        guard let (plan, number) = begun else { return }
        for databases in plan.steps {
            let marks = await marks(of: databases)
            for database in databases {
                guard let mark = marks[database] else { continue }
                state.withLock { state in
                    state.watches[database]?.counted(zones: mark.zoneCount, bySweep: number)
                    state.looksForOtherList(of: database, at: mark.value)
                }
                let (numbers, isSure) = await sessionsToTell(of: database, at: mark.value)
                tell(numbers, of: database, isSure ? .changes : .all)
            }
        }
        state.withLock { state in
            state.isSweeping = false
            state.wantsOldestLists()
        }
        readListsLater()
    }

    /// NB: if subscriptions could not be read when a session joined, nobody else may read them, and what is due waits for
    /// them. So does what is due of a database whose subscriptions were forgotten.
    ///
    /// - Returns: also whether no push of a query can be missing.
    private func sessionsToTell(of database: DatabaseID, at mark: Int64) async -> ([UInt64], isSure: Bool) {
        let (numbers, isDue, isSure) = state.withLock { state in
            let sessions = state.sessions
            let isPrivate = state.watches[database]?.scope == .private
            // Devices fetch the changes of their shared database at each push.
            let numbers =
                state.watches[database]?.swept(mark) { isPrivate && sessions[$0]?.reliesOnPushes ?? false } ?? []
            let watch = state.watches[database]
            return (numbers, watch?.isDue ?? false, watch?.wasSureOfQueries ?? false)
        }
        if !numbers.isEmpty || isDue { await readSubscriptions(of: database, ageMax: nil) }
        return (numbers, isSure)
    }

    // MARK: Reminders

    /// A push was sent that must be acknowledged.
    func remindLater() {
        let starts = state.withLock { state in
            defer { state.isReminding = true }
            return !state.isReminding
        }
        guard starts else { return }
        _ = scheduler.schedule(after: settings.pushPatience / 2) { [weak self, scheduler] in
            scheduler.run { [weak self] in await self?.remind() }
        }
    }

    private func remind() async {
        let numbers = state.withLock { state in
            state.isReminding = false
            return state.sessions.keys.sorted()
        }
        var isOwed = false
        await scheduler.visit(numbers) { number in
            if state.withLock({ $0.sessions[number] })?.remind() == true { isOwed = true }
        }
        if isOwed { remindLater() }
    }

    // MARK: Reading

    /// Those who come while they are being read share the next read.
    ///
    /// - Returns: false if they cannot be read now.
    @discardableResult
    private func readSubscriptions(of database: DatabaseID, ageMax: Duration?) async -> Bool {
        let now = scheduler.now
        let wanted = state.withLock { state -> (read: SubscriptionReads.Read, isMine: Bool)? in
            guard state.watches[database]?.needsSubscriptions(now: now, ageMax: ageMax) == true else { return nil }
            return state.subscriptionReads.want(database, ageMax: ageMax)
        }
        guard let (read, isMine) = wanted else { return true }
        guard isMine else { return await read.isRead.value() }
        let isRead = await readSubscriptionsNow(of: database, ageMax: await read.begin.value())
        let next = state.withLock { $0.subscriptionReads.ended(of: database) }
        read.isRead.give(isRead)
        if let (read, ageMax) = next { read.begin.give(ageMax) }
        return isRead
    }

    private func readSubscriptionsNow(of database: DatabaseID, ageMax: Duration?) async -> Bool {
        let now = scheduler.now
        let read = state.withLock { state -> (user: UserID, begunAt: Duration)? in
            guard let watch = state.watches[database], watch.needsSubscriptions(now: now, ageMax: ageMax) else {
                return nil
            }
            return (watch.user, state.moment(now))
        }
        guard let read else { return true }
        guard case .success(let all) = await service.subscriptions(of: read.user) else { return false }
        if let viewer = state.withLock({ $0.knows(all, of: database, at: read.begunAt) }) { renewList(of: viewer) }
        await startPublicQueries(of: database)
        tellBus()
        return true
    }

    // MARK: Sending

    /// Tells sessions that anything may have changed, with whatever else is due.
    ///
    /// - Parameters:
    ///   - atOnce: whether it does not wait for the next step. Only for few sessions.
    ///   - what: what they may have missed.
    func tell(_ numbers: [UInt64], of database: DatabaseID, _ what: MissedPushes = .all, atOnce: Bool = false) {
        let isFirst = state.withLock { state in
            state.watches[database]?.tell(numbers, what)
            return state.lineUp(database)
        }
        send(isFirst && atOnce ? [database] : [])
    }

    /// Sends from the lines of these databases, as much as one step does. The rest follows in later steps.
    private func send(_ databases: [DatabaseID]) {
        var room = PushLines.stepWork
        for database in databases where room > 0 { send(database, &room) }
        sendRest()
    }

    private func send(_ database: DatabaseID, _ room: inout Int) {
        while true {
            let next = state.withLock { state -> (batch: PushBatch, sessions: [Session], unread: [DatabaseID])? in
                guard let next = state.lines.take(of: database, room: &room) else { return nil }
                // Whoever waited comes before this database's next ones.
                let unread = state.lineUpWaiting(of: next.account)
                _ = state.lineUp(database)
                return (next.batch, next.sessions.compactMap { state.sessions[$0] }, unread)
            }
            guard let next else { return }
            for session in next.sessions { next.batch.send(to: session, of: database) }
            for unread in next.unread { scheduler.run { [self] in await pushMovedOnceKnown(in: unread, ageMax: nil) } }
        }
    }

    /// One step for each turn of the loop: everything else goes between.
    func sendRest() {
        let starts = state.withLock { state in
            guard !state.isSending, !state.lines.isEmpty else { return false }
            state.isSending = true
            return true
        }
        guard starts else { return }
        _ = scheduler.schedule(after: .zero) { [weak self] in self?.step() }
    }

    private func step() {
        state.withLock { $0.isSending = false }
        var room = PushLines.stepWork
        while room > 0, let database = state.withLock({ $0.lines.takeTurn() }) { send(database, &room) }
        sendRest()
    }
}
