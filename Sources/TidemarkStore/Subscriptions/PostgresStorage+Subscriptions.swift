// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension PostgresStorage {
    package func subscriptions(of user: UserID) async throws(StorageError) -> [Subscription] {
        try await read(sql.subscriptions.all(user)).compactMap(\.self)
    }

    /// Locks the user's row first, so that two requests neither pass the limit together nor wait for each other's rows.
    package func saveSubscriptions(
        _ subscriptions: [Subscription], of user: UserID, atMost countMax: Int
    ) async throws(StorageError) -> [FailureReason?] {
        let zoneNames = Array(Set(subscriptions.compactMap(\.zoneName)))
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
                subscriptions, kept: kept.rows.compactMap(\.self),
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
}
