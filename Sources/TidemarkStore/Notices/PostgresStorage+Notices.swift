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
}

/// Receives the notices of all servers, on a connection of its own that is reopened when it breaks.
package final class NoticeListener: Sendable {
    private let listener: PostgresListener

    /// - Parameters:
    ///   - onNotices: called on the loop.
    ///   - onListening: called on the loop when the listener is connected, at first and after every gap. Hints may have
    ///     been lost before, so check everything (I-4).
    package init(
        url: String, loop: EventLoop, onNotices: @escaping @Sendable ([ServerNotice]) -> Void,
        onListening: @escaping @Sendable () -> Void
    ) throws(StorageError) {
        do {
            listener = try PostgresListener(
                url: url, loop: loop, channel: PostgresStorage.channel,
                onNotification: { onNotices(NoticePayload.decode($0)) }, onListening: onListening)
        } catch {
            throw StorageError(error, duringCommit: false)
        }
    }

    package func stop() {
        listener.stop()
    }
}
