// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkService

extension MemoryStore {
    package func querySubscriptions(
        watching databases: [DatabaseID], after: SubscriberKey?, atMost countMax: Int
    ) async throws(StorageError) -> [DatabaseID: WatchingPage] {
        try await call { tables in
            var pages: [DatabaseID: WatchingPage] = [:]
            for database in Set(databases) {
                let rest = tables.watching(database).filter { watching in after.map { watching.key > $0 } ?? true }
                guard !rest.isEmpty else { continue }
                pages[database] = WatchingPage(
                    subscriptions: Array(rest.prefix(countMax)), hasMore: rest.count > countMax)
            }
            return pages
        }
    }
}

extension MemoryTables {
    /// The living query subscriptions that look at a database, in order.
    fileprivate func watching(_ database: DatabaseID) -> [WatchingSubscription] {
        userKeys.flatMap { user, key in
            livingSubscriptions(of: user).map(\.subscription).filter { $0.query?.database == database }
                .map { WatchingSubscription(user: user, container: key.container, subscription: $0) }
        }.sorted { $0.key < $1.key }
    }
}
