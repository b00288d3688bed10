// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Runs `work` in its own task and passes its result to `handler`, once, off the main queue. The handler may
/// wait for other CloudKit calls.
func deliver<Value: Sendable>(
    to handler: @escaping @Sendable (Result<Value, any Error>) -> Void,
    _ work: @escaping @Sendable () async throws -> Value
) {
    Task.detached {
        let result: Result<Value, any Error>
        do {
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
        // NB: A separate queue, because it gets its own thread if the handler blocks (see OperationExecutor).
        DispatchQueue(label: "dev.tidemark.handler").async { handler(result) }
    }
}

/// The same for a handler of the older form, which takes a value or an error.
func deliver<Value: Sendable>(
    to handler: @escaping @Sendable (Value?, (any Error)?) -> Void, _ work: @escaping @Sendable () async throws -> Value
) {
    deliver(
        to: { result in
            switch result {
            case .success(let value): handler(value, nil)
            case .failure(let error): handler(nil, error)
            }
        }, work)
}
