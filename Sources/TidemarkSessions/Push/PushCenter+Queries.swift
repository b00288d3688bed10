// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkTranslation
internal import TidemarkWire

// Pushes of query subscriptions (R-244 … R-258): one for each record that fires one, to each device of the user but the one
// that made the change.
extension PushCenter {
    /// Work for each push, and for each session that gets it, in units of about a microsecond.
    private static let workPerPush = 20
    private static let workPerSession = 8
    /// Of what the user is shown so many bytes are read and written in a microsecond: there may be thousands of empty texts.
    private static let shownBytesPerWork = 8

    /// Whether a device of the user is connected here. From any thread.
    func isHere(_ user: UserID) -> Bool { state.withLock { $0.queries.isHere(user) } }

    /// Sends them in steps, and between two steps the loop does everything else.
    func push(_ fired: [QueryFiring]) {
        guard !fired.isEmpty else { return }
        state.withLock { state in for firing in fired { state.queries.add(firing) } }
        sendQueries()
    }

    /// Query subscriptions of a database have changed: this server and the others read them again. Others that do not hear of it look
    /// when what they know is old (I-4).
    func queriesChanged(in database: DatabaseID) {
        service.forgetQueries(of: database)
        siblings.postChange(ofQueriesIn: database)
    }

    /// Takes in what another server's changes have fired. That server has decided who may read the record. What a push brings of
    /// the record is not known here.
    func heard(_ notices: [QueryNotice]) {
        let readerCount = state.withLock { state in
            var known: [UserID: [SubscriberKey: Subscription]] = [:]
            for notice in notices where state.queries.isHere(notice.subscriber.user) {
                let user = notice.subscriber.user
                let all = known[user] ?? state.querySubscriptions(of: user)
                known[user] = all
                if let subscription = all[notice.subscriber], !state.unknownFirings.isWaiting(user) {
                    state.queries.add(QueryFiring(notice, subscription))
                } else {
                    state.unknownFirings.add(notice)
                }
            }
            var count = 0
            while state.unknownFirings.addReader() { count += 1 }
            return count
        }
        sendQueries()
        for _ in 0..<readerCount { scheduler.run { [self] in await readUnknown() } }
    }

    /// Reads subscriptions that were saved at another server meanwhile.
    private func readUnknown() async {
        var isFirst = true
        while let user = state.withLock({ $0.unknownFirings.takeUser(isFirst: isFirst) }) {
            isFirst = false
            if let database = state.withLock({ $0.privateDatabases[user] }) {
                await renewSubscriptions(of: database, ageMax: .zero)
            }
            let lost = state.withLock { state -> DatabaseID? in
                let known = state.querySubscriptions(of: user)
                let (ready, hasLost) = state.unknownFirings.areRead(of: user) { known[$0] != nil }
                for notice in ready { state.queries.add(QueryFiring(notice, known[notice.subscriber])) }
                return hasLost ? state.privateDatabases[user] : nil
            }
            sendQueries()
            if let lost { tellOfQueries([lost]) }
        }
    }

    /// Another server could not say which subscriptions of a database it has fired: all who have some there are told that records
    /// may have changed.
    func tellOfQueries(in watched: DatabaseID) {
        tellOfQueries(
            state.withLock { state in
                // A private database is only of its user's devices.
                guard let watch = state.watches[watched] else { return state.queryAudience.watchers(of: watched) }
                return watch.mayQuery(watched) ? [watched] : []
            })
    }

    /// Notices of other servers may have been lost: all who have query subscriptions in the public database are told that records may
    /// have changed (I-4).
    func tellOfPublicQueries() { tellOfQueries(state.withLock { $0.queryAudience.watchers(of: nil) }) }

    /// Users who are told together, and how long it is until the next are.
    private static let toldTogether = 100
    private static let tellingPause = Duration.milliseconds(50)

    /// - Parameter databases: private ones of users.
    private func tellOfQueries(_ databases: [DatabaseID]) {
        if state.withLock({ $0.queryAudience.add(databases) && !$0.isTellingQueries }) { stepOfTelling() }
    }

    private func stepOfTelling() {
        let group = state.withLock { state in
            let group = state.queryAudience.take(Self.toldTogether)
            state.isTellingQueries = !group.isEmpty
            return group.compactMap { database in
                state.watches[database].map { (database, $0.sessions.keys.sorted()) }
            }
        }
        for (database, numbers) in group { tell(numbers, of: database, .queries) }
        // Also whoever comes next waits for this pause.
        guard state.withLock({ $0.isTellingQueries }) else { return }
        _ = scheduler.schedule(after: Self.tellingPause) { [weak self] in self?.stepOfTelling() }
    }

    private func sendQueries() {
        let starts = state.withLock { state in
            guard !state.isSendingQueries, !state.queries.isEmpty else { return false }
            state.isSendingQueries = true
            return true
        }
        guard starts else { return }
        _ = scheduler.schedule(after: .zero) { [weak self] in self?.stepOfQueries() }
    }

    private func stepOfQueries() {
        state.withLock { $0.isSendingQueries = false }
        var room = PushLines.stepWork
        while room > 0 {
            let next = state.withLock { state -> (firing: QueryFiring, sessions: [Session])? in
                guard let (firing, numbers) = state.queries.take() else { return nil }
                return (firing, numbers.compactMap { state.sessions[$0] })
            }
            guard let next else { return }
            let shown = next.firing.subscription.notificationInfo.count / Self.shownBytesPerWork
            room -= Self.workPerPush + shown + Self.workPerSession * next.sessions.count
            send(next.firing, to: next.sessions)
        }
        sendQueries()
    }

    private func send(_ firing: QueryFiring, to sessions: [Session]) {
        // also of two copies of a device each is told what the other did.
        let access = RecordAccess(scope: firing.subscription.scope, user: firing.user)
        let others = sessions.filter { session in
            session.member.map { access.marking($0.life) != firing.maker } ?? false
        }
        guard !others.isEmpty else { return }
        let push = WirePush(
            firing.subscription, reason: firing.reason, of: firing.record, version: firing.version)
        let message = SharedMessage(ServerMessage.push(push))
        for session in others { session.push(message) }
    }
}

extension PushCenter.State {
    /// What is known of a user's subscriptions to queries.
    fileprivate func querySubscriptions(of user: UserID) -> [SubscriberKey: Subscription] {
        let all = privateDatabases[user].flatMap { watches[$0]?.subscriptions } ?? []
        return Dictionary(
            all.lazy.filter { $0.kind == .query }.map { (SubscriberKey(user: user, key: $0.key), $0) },
            uniquingKeysWith: { first, _ in first })
    }
}

extension QueryFiring {
    /// - Parameter subscription: nil: it is not known here. It may have ended with its push. It is pushed without what the
    ///   user is shown.
    fileprivate init(_ notice: QueryNotice, _ subscription: Subscription?) {
        let (user, key) = (notice.subscriber.user, notice.subscriber.key)
        self.init(
            user: user,
            subscription: subscription
                ?? Subscription(id: key.id, scope: key.scope, kind: .query, recordType: nil, notificationInfo: []),
            reason: notice.reason, record: notice.record, version: nil, maker: notice.maker)
    }
}
