// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkScheduling
package import TidemarkService

extension PostgresStorage {
    package func subscriptions(
        of user: UserID, withFired: Bool
    ) async throws(StorageError) -> [Subscription] {
        try await read(sql.subscriptions.all(user), bytesPerTurn: Self.queryBytesPerStep).compactMap(\.self)
            .filter { withFired || !$0.hasFired }
    }

    /// bytes of stored queries that are decoded or encoded in one turn of the event loop. With a predicate of the longest
    /// kind a query has 16 KiB, and takes a tenth of a millisecond.
    private static let queryBytesPerStep = 131_072
    /// What a subscription with a short query counts.
    private static let queryBytesLeast = 256

    /// What is stored of their queries. Others have their turn in between.
    private func queryBytes(of subscriptions: some Sequence<Subscription>) async -> [[UInt8]?] {
        var steps = WorkSteps(costPerStep: Self.queryBytesPerStep)
        var encoded: [[UInt8]?] = []
        for subscription in subscriptions {
            encoded.append(subscription.queryBytes)
            await steps.did(Self.queryBytesLeast + (subscription.query?.predicateBytes.count ?? 0) * 2)
        }
        return encoded
    }

    /// Locks the user's row first, so that two requests neither pass the limit together nor wait for each other's rows.
    package func saveSubscriptions(
        _ subscriptions: [Subscription], of user: UserID, atMost countMax: Int
    ) async throws(StorageError) -> [FailureReason?] {
        let zoneNames = Array(Set(subscriptions.compactMap(\.endingZoneName)))
        let encoded = await queryBytes(of: subscriptions)
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
                subscriptions, encoded: encoded,
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
        let encoded = await queryBytes(of: subscriptions.lazy.map(\.subscription))
        let rows = zip(subscriptions, encoded).map { FiringRow(watching: $0, queryBytes: $1) }
        let (_, fired) = try await write(sql.subscriptions.lockUsers(users), sql.subscriptions.fire(rows))
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
                )), bytesPerTurn: Self.queryBytesPerStep)
        return Dictionary(grouping: rows, by: \.database).mapValues { Self.page(of: $0, atMost: countMax) }
    }

    package func querySubscriptions(
        watching database: DatabaseID, ofType recordType: String, after: SubscriberKey?, atMost countMax: Int
    ) async throws(StorageError) -> WatchingPage {
        let rows = try await read(
            sql.subscriptions.watchingType(
                (
                    database, recordType, after?.user ?? UserID(.min), after?.key.scope ?? .public, after?.key.id ?? "",
                    Int64(countMax) + 1
                )), bytesPerTurn: Self.queryBytesPerStep)
        return Self.page(of: rows, atMost: countMax)
    }

    /// NB: those that are left out count as well, so that the next page begins behind them.
    private static func page(of rows: [WatchingRow], atMost countMax: Int) -> WatchingPage {
        let page = rows.prefix(countMax)
        return WatchingPage(
            subscriptions: page.compactMap(\.watching),
            next: rows.count > countMax ? page.lazy.compactMap(\.key).last : nil)
    }

    package func watchedTypes(
        in database: DatabaseID, atMost countMax: Int
    ) async throws(StorageError) -> Set<String> {
        Set(try await read(sql.subscriptions.watchedTypes((database, Int64(countMax)))))
    }
}
