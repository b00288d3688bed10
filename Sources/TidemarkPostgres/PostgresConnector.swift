// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets

/// Opens connections without blocking a loop.
///
/// NB: libpq looks up host names synchronously, even in `PQconnectPoll` when it tries the next of several hosts. So
/// each attempt runs from start to end on its own thread, bounded by `connect_timeout`. Attempts are rare.
enum PostgresConnector {
    /// Connects in the background and calls `completion` on the loop.
    static func connect(
        _ parameters: ConnectionParameters, loop: EventLoop,
        completion: @escaping @Sendable (Result<LibpqConnection, PostgresError>) -> Void
    ) {
        let isStarted = onThread {
            let result = Result { () throws(PostgresError) in try LibpqConnection(connecting: parameters) }
            loop.execute { completion(result) }
        }
        guard !isStarted else { return }
        let error = PostgresError(.connectionUnavailable, detail: "no thread to connect on")
        loop.execute { completion(.failure(error)) }
    }

    /// Asks PostgreSQL in the background to end a statement. It is a hint: nobody waits for it, and PostgreSQL's answer is the
    /// statement's error.
    static func send(_ cancel: StatementCancel) { _ = onThread { cancel.send() } }

    /// - Returns: false if there is no thread left.
    private static func onThread(_ work: @escaping @Sendable () -> Void) -> Bool {
        (try? LoopThread.detach(name: "postgres", work)) != nil
    }
}
