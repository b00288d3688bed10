// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres
package import TidemarkService
package import TidemarkSockets

extension PostgresStorage {
    /// One channel for all servers of a database.
    static let channel = "tidemark"

    /// Asynchronous: a hint may be lost, so that it need not wait for the disk, nor have others wait for its lock so long.
    private static let notify = Statement(
        "notify",
        """
        SELECT set_config('synchronous_commit', 'off', true), pg_notify('\(channel)', payload)
          FROM unnest($1::text[]) AS k (payload)
        """, [.textArray])

    /// Never in the transaction that writes: NOTIFY takes a lock on the whole database when it commits.
    package func post(_ notices: [ServerNotice]) async throws(StorageError) {
        guard !notices.isEmpty else { return }
        _ = try await write([Self.notify(.textArray(NoticePayload.encode(notices)))])
    }
}

/// Hears what servers tell each other, on a connection of its own that comes back by itself.
package final class NoticeListener: Sendable {
    private let listener: PostgresListener

    /// - Parameters:
    ///   - onNotices: called on the loop.
    ///   - onListening: called on the loop when it hears, at first and after every gap: hints may have been lost before, so
    ///     look at everything (I-4).
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
