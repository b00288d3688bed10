// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkScheduling
package import TidemarkService

extension MemoryStore {
    package func subscriptions(
        of user: UserID, withFired: Bool
    ) async throws(StorageError) -> [Subscription] {
        let now = Timestamp(milliseconds: database.scheduler.wallClockMilliseconds)
        return try await call { tables in
            let living = tables.livingSubscriptions(of: user)
            let fired = withFired ? tables.fired(by: user, now: now) : []
            return (living + fired).sorted(by: MemoryTables.isBefore).map(\.subscription)
        }
    }

    package func fireOnce(
        _ subscriptions: [WatchingSubscription]
    ) async throws(StorageError) -> Set<SubscriberKey> {
        let now = Timestamp(milliseconds: database.scheduler.wallClockMilliseconds)
        return try await call { tables in
            Set(subscriptions.filter { tables.fire($0, now: now) }.map(\.key))
        }
    }

    package func querySubscriptions(
        watching databases: [DatabaseID], after: SubscriberKey?, atMost countMax: Int
    ) async throws(StorageError) -> [DatabaseID: WatchingPage] {
        try await call { tables in
            var pages: [DatabaseID: WatchingPage] = [:]
            for database in Set(databases) {
                let rest = tables.watching(database).filter { watching in after.map { watching.key > $0 } ?? true }
                guard !rest.isEmpty else { continue }
                let page = rest.prefix(countMax)
                pages[database] = WatchingPage(
                    subscriptions: Array(page), next: rest.count > countMax ? page.last?.key : nil)
            }
            return pages
        }
    }

    package func querySubscriptions(
        watching database: DatabaseID, ofType recordType: String, after: SubscriberKey?, atMost countMax: Int
    ) async throws(StorageError) -> WatchingPage {
        try await call { tables in
            let rest = tables.watching(database).filter { watching in
                watching.subscription.recordType == recordType && after.map { watching.key > $0 } ?? true
            }
            let page = rest.prefix(countMax)
            return WatchingPage(subscriptions: Array(page), next: rest.count > countMax ? page.last?.key : nil)
        }
    }

    package func watchedTypes(
        in database: DatabaseID, atMost countMax: Int
    ) async throws(StorageError) -> Set<String> {
        try await call { tables in
            let types = Set(tables.watching(database).compactMap(\.subscription.recordType))
            return Set(types.sorted().prefix(countMax))
        }
    }
}

extension MemoryTables {
    /// - Returns: whether there is the same one.
    fileprivate mutating func fire(_ watching: WatchingSubscription, now: Timestamp) -> Bool {
        guard let key = userKeys[watching.user],
            let index = users[key]?.subscriptions.firstIndex(where: { $0.subscription.key == watching.subscription.key }
            ),
            let kept = users[key]?.subscriptions[index], kept.subscription.query == watching.subscription.query,
            kept.subscription.zoneName == watching.subscription.zoneName, isLiving(kept)
        else { return false }
        users[key]?.subscriptions.remove(at: index)
        let fired = kept.subscription.fired
        users[key]?.fired.append((KeptSubscription(subscription: fired, zone: kept.zone), now))
        return true
    }

    fileprivate func fired(by user: UserID, now: Timestamp) -> [KeptSubscription] {
        let oldest = now.milliseconds - Int64(Subscription.firedDaysMax) * 86_400_000
        let fired = userKeys[user].flatMap { users[$0] }?.fired ?? []
        return fired.filter { $0.at.milliseconds >= oldest && isLiving($0.kept) }.map(\.kept)
    }

    /// They were saved again, or deleted.
    mutating func forgetFired(of key: UserKey, named names: Set<Subscription.Key>) {
        users[key]?.fired.removeAll { names.contains($0.kept.subscription.key) }
        let count = users[key]?.fired.count ?? 0
        users[key]?.fired.removeFirst(max(0, count - Subscription.firedCountMax))
    }

    /// The living query subscriptions that look at a database, in order.
    fileprivate func watching(_ database: DatabaseID) -> [WatchingSubscription] {
        userKeys.flatMap { user, key in
            livingSubscriptions(of: user).map(\.subscription).filter { $0.query?.database == database }
                .map { WatchingSubscription(user: user, container: key.container, subscription: $0) }
        }.sorted { $0.key < $1.key }
    }
}
