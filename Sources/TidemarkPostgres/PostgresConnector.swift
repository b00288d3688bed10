// SPDX-License-Identifier: Apache-2.0

internal import Glibc
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
        let attempt = Attempt {
            let result = Result { () throws(PostgresError) in try LibpqConnection(connecting: parameters) }
            loop.execute { completion(result) }
        }
        let context = Unmanaged.passRetained(attempt)
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Attempt>.fromOpaque(context).takeRetainedValue().work()
                return nil
            }, context.toOpaque())
        guard status == 0 else {
            context.release()
            let error = PostgresError(.connectionUnavailable, detail: "no thread to connect on")
            return loop.execute { completion(.failure(error)) }
        }
        pthread_detach(thread)
    }
}

private final class Attempt: Sendable {
    let work: @Sendable () -> Void

    init(_ work: @escaping @Sendable () -> Void) {
        self.work = work
    }
}
