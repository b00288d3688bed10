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
    func heard(_ notices: [QueryNotice]) async {
        let here = notices.filter { isHere($0.subscriber.user) }
        guard !here.isEmpty else { return }
        var known = subscriptions(of: Set(here.map(\.subscriber.user)))
        let unknown = Set(here.lazy.map(\.subscriber).filter { known[$0] == nil }.map(\.user))
        if !unknown.isEmpty {
            // They were saved at another server meanwhile.
            let databases = state.withLock { state in
                state.watches.filter { $0.value.scope == .private && unknown.contains($0.value.user) }.keys.sorted()
            }
            for database in databases { await renewSubscriptions(of: database, ageMax: .zero) }
            known.merge(subscriptions(of: unknown)) { $1 }
        }
        push(
            here.map { notice in
                // One that is not known here may have ended with its push. It is pushed without what the user is shown.
                let subscription =
                    known[notice.subscriber]
                    ?? Subscription(
                        id: notice.subscriber.key.id, scope: notice.subscriber.key.scope, kind: .query, recordType: nil,
                        notificationInfo: [])
                return QueryFiring(
                    user: notice.subscriber.user, subscription: subscription, reason: notice.reason,
                    record: notice.record, version: nil, maker: notice.maker)
            })
    }

    /// What is known of these users' subscriptions to queries.
    private func subscriptions(of users: Set<UserID>) -> [SubscriberKey: Subscription] {
        state.withLock { state in
            Dictionary(
                state.watches.values.lazy.filter { $0.scope == .private && users.contains($0.user) }.flatMap { watch in
                    (watch.subscriptions ?? []).lazy.filter { $0.kind == .query }
                        .map { (SubscriberKey(user: watch.user, key: $0.key), $0) }
                }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Another server could not say which subscriptions of a database it has fired: all who have some there are told that records
    /// may have changed.
    func tellOfQueries(in watched: DatabaseID) { tellOfQueries { $0.query?.database == watched } }

    /// Notices of other servers may have been lost. The sweep sees changes of private databases alone, so all who have query
    /// subscriptions in the public one are told that records may have changed (I-4).
    func tellOfPublicQueries() { tellOfQueries { $0.scope == .public } }

    private func tellOfQueries(_ isConcerned: (Subscription) -> Bool) {
        let concerned = state.withLock { state in
            state.watches.filter { _, watch in watch.subscriptions?.contains(where: isConcerned) == true }
                .map { ($0.key, $0.value.sessions.keys.sorted()) }.sorted { $0.0 < $1.0 }
        }
        for (database, numbers) in concerned { tell(numbers, of: database) }
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
            room -= Self.workPerPush + Self.workPerSession * next.sessions.count
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
