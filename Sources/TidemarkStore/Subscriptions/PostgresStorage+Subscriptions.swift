// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func subscriptions(
        of user: UserID, withFired: Bool
    ) async throws(StorageError) -> [Subscription] {
        try await read(sql.subscriptions.all(user)).compactMap(\.self).filter { withFired || !$0.hasFired }
    }

    /// Locks the user's row first, so that two requests neither pass the limit together nor wait for each other's rows.
    package func saveSubscriptions(
        _ subscriptions: [Subscription], of user: UserID, atMost countMax: Int
    ) async throws(StorageError) -> [FailureReason?] {
        let zoneNames = Array(Set(subscriptions.compactMap(\.endingZoneName)))
        let saves: SubscriptionSaves
        let isClosed: Bool
        let lease = try await acquire()
        defer { release(lease) }
        do {
            let (_, _, closed, _, kept, zones) = try await lease.connection.run(
                Call.begin, sql.subscriptions.lockUser(user), sql.subscriptions.isClosed(user),
                sql.subscriptions.clearEnded(user),
                sql.subscriptions.keys(user), sql.subscriptions.zones((user, zoneNames)))
            isClosed = !closed.isEmpty
            saves = SubscriptionSaves(
                subscriptions,
                kept: Dictionary(kept.rows.compactMap(\.self).map { ($0.key, $0.publicBytes) }) { first, _ in first },
                zones: Dictionary(zones.rows.map { ($0.name, $0.id) }) { first, _ in first }, atMost: countMax)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
        guard !isClosed else { throw StorageError(.containerClosed) }
        do {
            _ = try await lease.connection.run(
                sql.subscriptions.save((user, Array(saves.stored.values))), Call.commit)
            return saves.refusals
        } catch {
            throw StorageError(error, duringCommit: error.code == .connectionLost)
        }
    }

    package func deleteSubscriptions(
        _ ids: Set<String>, scope: DatabaseScope, of user: UserID
    ) async throws(StorageError) -> Set<String> {
        let (_, deleted) = try await write(
            sql.subscriptions.lockUser(user), sql.subscriptions.delete((user, scope, Array(ids))))
        return Set(deleted.rows.filter(\.existed).map(\.id))
    }

    package func fireOnce(
        _ subscriptions: [WatchingSubscription]
    ) async throws(StorageError) -> Set<SubscriberKey> {
        let users = Set(subscriptions.map(\.user)).sorted { $0.rawValue < $1.rawValue }
        let (_, fired) = try await write(
            sql.subscriptions.lockUsers(users), sql.subscriptions.fire(subscriptions))
        return Set(fired.rows.compactMap(\.self))
    }

    /// Asks for one more than is wanted, which says whether there are more.
    package func querySubscriptions(
        watching databases: [DatabaseID], after: SubscriberKey?, atMost countMax: Int
    ) async throws(StorageError) -> [DatabaseID: WatchingPage] {
        guard !databases.isEmpty else { return [:] }
        let rows = try await read(
            sql.subscriptions.watching(
                (
                    databases, after?.user ?? UserID(.min), after?.key.scope ?? .public, after?.key.id ?? "",
                    Int64(countMax) + 1
                )))
        var pages: [DatabaseID: WatchingPage] = [:]
        for (database, all) in Dictionary(grouping: rows, by: \.database) {
            // NB: those that are left out count as well, so that the next page begins behind them.
            let page = all.prefix(countMax)
            pages[database] = WatchingPage(
                subscriptions: page.compactMap(\.watching),
                next: all.count > countMax ? page.lazy.compactMap(\.key).last : nil)
        }
        return pages
    }
}
