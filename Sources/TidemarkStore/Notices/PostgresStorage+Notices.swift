// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres
package import TidemarkService
package import TidemarkSockets

extension PostgresStorage {
    /// One channel for all servers of a database.
    static let channel = "tidemark"

    /// Never part of the transaction that writes: NOTIFY takes a lock on the whole database when it commits.
    package func post(_ notices: [ServerNotice]) async throws(StorageError) {
        guard !notices.isEmpty else { return }
        _ = try await write(sql.notices.notify(NoticePayload.encode(notices)))
    }
}

extension PostgresStorage {
    /// Hears what servers tell each other, on a connection of its own. See ``NoticeListener``.
    ///
    /// Operators' commands listen too, and are no servers.
    package func listen(
        onNotices: @escaping @Sendable ([ServerNotice]) -> Void, onListening: @escaping @Sendable () -> Void
    ) throws(StorageError) -> NoticeListener {
        try NoticeListener(url: url, loop: loop, onNotices: onNotices, onListening: onListening)
    }
}

/// The SQL of notices.
struct NoticeStatements: Sendable {
    /// Asynchronous commit: a hint may be lost, so it need not wait for the disk, nor hold its lock for that long.
    let notify = DeclaredStatement<[String], Void>(
        .write, "notify",
        """
        SELECT set_config('synchronous_commit', 'off', true), pg_notify('\(PostgresStorage.channel)', payload)
          FROM unnest(\(\.self)) AS k (payload)
        """)

    /// The names of servers' connections to this database, and of others whose names begin so. Every role sees them.
    let listeners = DeclaredStatement<Int, String>(
        .read, "admin_listening_servers",
        """
        SELECT application_name FROM pg_stat_activity
         WHERE datname = current_database()
           AND (starts_with(application_name, '\(ListenerName.prefix)')
                OR starts_with(application_name, '\(ListenerName.oldPrefix)'))
         ORDER BY application_name LIMIT \(\.self)
        """
    ) { row throws(PostgresError) in try row["application_name"] }

    /// How many of them there are: a notice wakes each.
    let listenerCount = DeclaredStatement<Void, Int>(
        .read, "count_listening_servers",
        """
        SELECT count(*) AS count FROM pg_stat_activity
         WHERE datname = current_database()
           AND (starts_with(application_name, '\(ListenerName.prefix)')
                OR starts_with(application_name, '\(ListenerName.oldPrefix)'))
        """
    ) { row throws(PostgresError) in try row["count"] }
}

/// Receives the notices of all servers, on a connection of its own that is reopened when it breaks.
package final class NoticeListener: Sendable {
    private let listener: PostgresListener

    /// - Parameters:
    ///   - onNotices: called on the loop.
    ///   - onListening: called on the loop when the listener is connected, at first and after every gap. Hints may have
    ///     been lost before, so check everything (I-4).
    ///   - server: the server that listens, as operators know it; empty: one that notes no devices. Nil: it is no server.
    package init(
        url: String, loop: EventLoop, server: String? = nil, onNotices: @escaping @Sendable ([ServerNotice]) -> Void,
        onListening: @escaping @Sendable () -> Void
    ) throws(StorageError) {
        do {
            listener = try PostgresListener(
                url: server.map { ListenerName.naming($0, in: url) } ?? url, loop: loop,
                channel: PostgresStorage.channel,
                onNotification: { onNotices(NoticePayload.decode($0)) }, onListening: onListening)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    package func stop() {
        listener.stop()
    }
}
