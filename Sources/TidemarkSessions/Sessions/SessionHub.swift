// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
package import TidemarkScheduling
package import TidemarkService
internal import TidemarkTelemetry

/// All sessions of one scheduler over one ``CloudService``: creates them, pushes to them, ends them.
///
/// It holds no state that matters: another hub, in this process or another, may serve the same store. Hubs of one
/// process tell each other directly what they commit (``unite(_:)``); hubs of several processes do so through the
/// store.
package final class SessionHub: Sendable {
    private struct State {
        /// By number, so that every run visits them in the same order (simulation).
        var sessions: [UInt64: Session] = [:]
        var lastNumber: UInt64 = 0
        var accounts = AccountSessions()
        var presence: PresenceHall
        /// Whether no connection is taken any more. Those that there are go on until their turn comes.
        var isClosing = false
        var hasTimers = false
        var onEmpty: [CheckedContinuation<Void, Never>] = []
    }

    let service: CloudService
    let scheduler: any Scheduler
    let settings: SessionSettings
    /// The part of them that each session needs.
    let bounds: SessionBounds
    let router: RequestRouter
    let authentication: Authentication
    let pushes: PushCenter
    /// Whose request is next.
    let gates: RequestGates
    /// Whose work the scheduler does next.
    let lanes: OwnerLanes
    let reports: RequestReports
    private let poster: NoticePoster
    private let siblings: HubSiblings
    private let start: ServerStart
    /// Carries news of presence to the sessions here.
    let presenceOutlet = PresenceOutlet()
    private let state: Mutex<State>

    package init(service: CloudService, scheduler: any Scheduler, settings: SessionSettings) {
        self.service = service
        self.scheduler = scheduler
        self.settings = settings
        start = ServerStart(on: scheduler)
        let storeBus = settings.storeBus ?? StorageNoticeBus(service)
        let presence = PresenceHall(settings.presence, scheduler, bus: storeBus, changesBus: settings.bus)
        state = Mutex(State(presence: presence))
        bounds = SessionBounds(settings)
        gates = RequestGates(settings, scheduler)
        lanes = OwnerLanes(scheduler)
        reports = RequestReports(slowTime: settings.slowRequestTime, traces: settings.traces)
        poster = NoticePoster(
            bus: settings.bus, store: storeBus, scheduler: scheduler, delay: settings.noticeDelay)
        siblings = HubSiblings(poster)
        pushes = PushCenter(
            service: service, scheduler: scheduler, settings: settings, siblings: siblings, gates: gates)
        router = RequestRouter(
            service: service, limits: settings.limits, pushes: pushes, gates: gates,
            requestBudget: settings.requestBudget, tellsAccounts: settings.tellsAccounts)
        authentication = Authentication(service: service, settings: settings, scheduler: scheduler)
    }

    /// Makes the hubs of one process look like one. Only the first posts to other servers, and only it must be told
    /// what they post (``heard(_:)``, ``noticesMissed()``). Call it before the first session.
    package static func unite(_ hubs: [SessionHub]) {
        let accounts = AccountSessions()
        let presence = hubs[0].presence
        for hub in hubs {
            hub.siblings.become(hubs.filter { $0 !== hub }, speaker: hubs[0].poster)
            hub.state.withLock { ($0.accounts, $0.presence) = (accounts, presence) }
        }
    }

    /// Who is present where, at all hubs of this process.
    var presence: PresenceHall { state.withLock { $0.presence } }

    /// Nil: it has ended.
    func session(numbered number: UInt64) -> Session? { state.withLock { $0.sessions[number] } }

    var now: Timestamp { Timestamp(milliseconds: scheduler.wallClockMilliseconds) }

    /// A session for a new connection. The caller passes it what arrives, and tells it when the connection has ended
    /// (``Session/closed()``).
    package func makeSession(peer: any SessionPeer) -> Session {
        let (session, isClosing, isFirst) = state.withLock { state in
            state.lastNumber += 1
            let session = Session(number: state.lastNumber, hub: self, peer: peer)
            if !state.isClosing {
                state.sessions[session.number] = session
                SessionMetrics.shared.sessions.add(1, .newcomer)
            }
            defer { state.hasTimers = true }
            return (session, state.isClosing, !state.hasTimers)
        }
        session.start()
        if isClosing { session.end(.goingAway) } else if isFirst { startTimers() }
        return session
    }

    /// Zones that a commit of this hub's own service changed (its `onMoved`). The devices here and other servers are
    /// told.
    package func committed(_ moved: ZonesMoved) {
        tell(moved)
        siblings.post(moved.notices, moved.fired.map(\.notice), evaluated: moved.evaluated)
    }

    /// Siblings first: they begin while this hub is still busy.
    private func tell(_ moved: ZonesMoved) {
        presence.zonesMoved(moved.notices, heardBy: self)
        siblings.each(where: { $0.pushes.isConcerned(by: moved) }) { $0.pushes.zonesMoved(moved) }
        pushes.zonesMoved(moved)
    }

    /// Takes in what servers that share the store have posted, including this one.
    package func heard(_ notices: [ServerNotice]) {
        var moved: [ZoneNotice] = []
        var fired: [QueryNotice] = []
        var evaluated: [EvaluatedChanges] = []
        var revoked = RevokedAccess()
        var closed: [(AccountID, DeviceID?)] = []
        var limited: Set<AccountID?> = []
        var lost: [DatabaseID] = []
        var present: [PresenceNotice] = []
        for notice in notices {
            switch notice {
            case .zone(let notice): moved.append(notice)
            case .queryFired(let notice): fired.append(notice)
            case .queriesChanged(let database): service.forgetQueries(of: database)
            case .queriesLost(let database): lost.append(database)
            case .queriesEvaluated(let changes): evaluated.append(changes)
            case .credentialRevoked(let credential): revoked.credentials.insert(credential)
            case .deviceRevoked(let device): revoked.devices.insert(device)
            case .connectionsClosed(let account, let device): closed.append((account, device))
            case .containerClosed(let container): revoked.containers.insert(container)
            case .limitsChanged(let account): limited.insert(account)
            case .devicesAsked(let question):
                settings.devices?.heard(question, by: service, on: scheduler, since: start.earliest(on: scheduler))
            case .devicesWritten: break
            case .presence(let notice): present.append(notice)
            }
        }
        if !present.isEmpty { presence.heard(present, by: self) }
        for database in poster.others(ofLost: lost) {
            pushes.tellOfQueries(in: database)
            siblings.each { $0.pushes.tellOfQueries(in: database) }
        }
        if !limited.isEmpty {
            scheduler.runAtOnce { [self, limited] in await renewLimits(of: limited) }
            siblings.each { [limited] in await $0.renewLimits(of: limited) }
        }
        for (account, device) in closed {
            scheduler.runAtOnce { [self] in await sendAway(account, device) }
            siblings.each { await $0.sendAway(account, device) }
        }
        if !revoked.isEmpty {
            scheduler.runAtOnce { [self, revoked] in await cutOff(revoked) }
            siblings.each { [revoked] in await $0.cutOff(revoked) }
        }
        tell(ZonesMoved(poster.others(moved), evaluated: evaluated))
        let others = poster.others(fired)
        guard !others.isEmpty else { return }
        siblings.each(where: { hub in others.contains { hub.pushes.isHere($0.subscriber.user) } }) { hub in
            hub.pushes.heard(others)
        }
        pushes.heard(others)
    }

    /// Tells other servers all that they have not been told yet, whatever the pace. For a server that stops, after its last change.
    package func postRest() async { await poster.flush() }

    /// Notices may have been lost (the listener was disconnected): compares everything with the store now.
    package func noticesMissed() {
        poster.forgetEchoes()
        presence.noticesMissed()
        service.forgetAllQueries()
        scheduler.run { [self] in await lookAtEverything() }
        siblings.each { await $0.lookAtEverything() }
    }

    /// Notices of zones may have been lost, and no others: they go by a bus of their own.
    package func zoneNoticesMissed() {
        poster.forgetZoneEchoes()
        scheduler.run { [self] in await lookAtZones() }
        siblings.each { await $0.lookAtZones() }
    }

    private func lookAtZones() async {
        await pushes.sweep()
        await presence.sweep(by: self, atOnce: true)
    }

    private func lookAtEverything() async {
        await pushes.sweepPublicQueries(isAfterGap: true)
        await lookAtZones()
        await checkCredentials()
        await checkClosings()
        await renewLimits(of: [nil])
    }

    /// Closes the connections that an operator has closed, and that are older than that.
    private func checkClosings() async {
        guard case .success(let closings) = await service.connectionClosings() else { return }
        let now = scheduler.now
        for closing in closings { await sendAway(closing.account, closing.device, olderThan: now - closing.age) }
    }

    private func cutOff(_ revoked: RevokedAccess) async {
        await visitAll { session in
            guard let member = session.member else { return }
            if let end = revoked.end(of: member, in: container(of: member)) { session.end(end) }
        }
    }

    /// Nil for a client without an account that has asked for nothing through this server. It gets an answer when it asks.
    private func container(of member: SessionMember) -> ContainerID? {
        member.identity?.container ?? service.knownContainer(member.container)
    }

    /// Closes connections as a server does that stops: the devices connect again, and send again what was not answered.
    ///
    /// - Parameter moment: nil: all.
    private func sendAway(_ account: AccountID, _ device: DeviceID?, olderThan moment: Duration? = nil) async {
        await visitAll { session in
            guard let member = session.member, member.identity?.account == account else { return }
            if let moment, member.since >= moment { return }
            if device == nil || member.device == device { session.end(.goingAway) }
        }
    }

    /// The most credentials that are checked at once.
    private static let credentialsMax = 1_000

    /// Checks whether every credential and device in use may still sign in, and every container in use is still there, and
    /// closes the connections of those that may not. If the store cannot be reached, no connection is closed.
    private func checkCredentials() async {
        var inUse: Set<CredentialID> = []
        var present: Set<AccountID> = []
        var used: Set<ContainerID> = []
        await visitAll { session in
            guard let member = session.member else { return }
            if let container = container(of: member) { used.insert(container) }
            guard let identity = member.identity else { return }
            inUse.insert(identity.credential)
            present.insert(identity.account)
        }
        let credentials = inUse.sorted { $0.rawValue < $1.rawValue }
        for start in stride(from: 0, to: credentials.count, by: Self.credentialsMax) {
            let some = Array(credentials[start..<min(start + Self.credentialsMax, credentials.count)])
            guard case .success(let void) = await service.voidCredentials(among: some) else { return }
            if !void.isEmpty { await cutOff(RevokedAccess(credentials: Set(void))) }
        }
        let accounts = present.sorted { $0.rawValue < $1.rawValue }
        for start in stride(from: 0, to: accounts.count, by: Self.credentialsMax) {
            let some = Array(accounts[start..<min(start + Self.credentialsMax, accounts.count)])
            guard case .success(let devices) = await service.revokedDevices(of: some) else { return }
            if !devices.isEmpty { await cutOff(RevokedAccess(devices: Set(devices))) }
        }
        let containers = used.sorted { $0.rawValue < $1.rawValue }
        for start in stride(from: 0, to: containers.count, by: Self.credentialsMax) {
            let some = Array(containers[start..<min(start + Self.credentialsMax, containers.count)])
            guard case .success(let closed) = await service.closedContainers(among: some) else { return }
            if !closed.isEmpty { await cutOff(RevokedAccess(containers: Set(closed))) }
        }
    }

    /// Reads what operators chose for connected accounts. If the store cannot be reached, what is known stays.
    ///
    /// - Parameter accounts: with nil: all.
    private func renewLimits(of accounts: Set<AccountID?>) async {
        var present: Set<UserID> = []
        await visitAll { session in
            guard let identity = session.member?.identity else { return }
            if accounts.contains(nil) || accounts.contains(identity.account) { present.insert(identity.user) }
        }
        let users = present.sorted { $0.rawValue < $1.rawValue }
        var found: [UserID: AccountLimits] = [:]
        for start in stride(from: 0, to: users.count, by: Self.credentialsMax) {
            let some = Array(users[start..<min(start + Self.credentialsMax, users.count)])
            guard case .success(let limits) = await service.limits(of: some) else { break }
            found.merge(limits) { $1 }
        }
        guard !found.isEmpty else { return }
        await visitAll { [found] session in
            if let user = session.member?.identity?.user, let limits = found[user] { session.renew(limits) }
        }
    }

    /// Accepts no more connections and lets every session answer its requests. Returns when no session is left.
    ///
    /// - Parameters:
    ///   - patience: those that remain so long after the last one's turn are closed.
    ///   - spread: over which time the sessions end at the most, one after another (``ClosingPace``). Until its turn comes, a
    ///     session goes on as before. Zero: all at once.
    package func stop(patience: Duration, spread: Duration = .zero) async {
        let numbers = state.withLock { state in
            state.isClosing = true
            return state.sessions.keys.sorted()
        }
        let why: SessionClose = spread > .zero ? .restarting : .goingAway
        let pace = ClosingPace(sessionCount: numbers.count, within: spread)
        let timer = scheduler.schedule(after: pace.interval * numbers.count + patience) { [self] in
            scheduler.run { [self] in
                await visitAll { session in
                    session.end(why)
                    remove(session)
                }
            }
        }
        if spread > .zero {
            let start = scheduler.now
            var count = 0
            for number in numbers {
                guard let session = state.withLock({ $0.sessions[number] }) else { continue }
                let wait = start + pace.interval * count - scheduler.now
                if wait > .zero { try? await scheduler.sleep(for: wait) }
                session.stop(why)
                count += 1
            }
        } else {
            await visitAll { $0.stop(why) }
        }
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                if !state.sessions.isEmpty { state.onEmpty.append(continuation) }
                return state.sessions.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
        timer.cancel()
        await settings.devices?.write(by: service, at: scheduler.now, isLast: true)
    }

    // MARK: For sessions

    enum Admission {
        case admitted
        /// Admitted with an identity that another device uses as well.
        case deviceTaken
        /// The account has too many sessions.
        case refused
    }

    /// Counts a session of an account.
    func admit(_ session: Session, _ member: SessionMember) -> Admission {
        guard let identity = member.identity else { return .admitted }
        let account = identity.account
        return state.withLock { state in
            guard state.sessions[session.number] != nil else { return .admitted }
            let (count, isDeviceTaken) = state.accounts.add(account, device: member.device, life: member.life)
            guard count <= identity.limits.connectionsMax(standard: settings.sessionsPerAccountMax) else {
                return .refused
            }
            return isDeviceTaken ? .deviceTaken : .admitted
        }
    }

    /// Forgets a session. Doing so again does nothing.
    func remove(_ session: Session) {
        let member = session.member
        let waiting = state.withLock { state in
            guard state.sessions.removeValue(forKey: session.number) != nil else {
                return [CheckedContinuation<Void, Never>]()
            }
            SessionMetrics.shared.sessions.add(-1, .init(member))
            if let member, let account = member.identity?.account {
                state.accounts.remove(account, device: member.device, life: member.life)
            }
            defer { if state.sessions.isEmpty { state.onEmpty = [] } }
            return state.sessions.isEmpty ? state.onEmpty : []
        }
        pushes.leave(session, member)
        presence.leave(session)
        for continuation in waiting { continuation.resume() }
    }

    /// In the order of their numbers, in steps.
    private func visitAll(_ visit: (Session) -> Void) async {
        await scheduler.visit(state.withLock { $0.sessions.keys.sorted() }) { number in
            if let session = state.withLock({ $0.sessions[number] }) { visit(session) }
        }
    }

    // MARK: Timers

    /// Starts with the first session: a hub without sessions sends the store nothing.
    private func startTimers() {
        every(settings.sweepInterval) { hub in await hub.pushes.sweep() }
        every(settings.sweepInterval) { hub in
            hub.service.sweepQueries()
            await hub.pushes.sweepPublicQueries()
        }
        every(settings.sweepInterval) { hub in await hub.presence.sweep(by: hub) }
        every(settings.credentialCheckInterval) { hub in await hub.checkCredentials() }
        every(settings.limitsCheckInterval) { hub in
            // A notice of other limits may have been lost.
            await hub.renewLimits(of: [nil])
            // On connections that last for days, first sendings carry old epochs. Then only this server's own epoch
            // counts.
            _ = await hub.service.standing()
        }
        guard let book = settings.devices else { return }
        every(book.interval) { hub in await book.write(by: hub.service, at: hub.scheduler.now) }
    }

    private func every(_ interval: Duration, _ work: @escaping @Sendable (SessionHub) async -> Void) {
        _ = scheduler.schedule(after: interval) { [weak self] in
            guard let self, !state.withLock({ $0.isClosing && $0.sessions.isEmpty }) else { return }
            scheduler.run { [self] in
                await work(self)
                every(interval, work)
            }
        }
    }
}
