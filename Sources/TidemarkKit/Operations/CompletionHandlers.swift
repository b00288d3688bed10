// SPDX-License-Identifier: Apache-2.0

/// Does `work` in a task of its own and hands its result to `handler`, once, off the main queue.
func deliver<Value: Sendable>(
    to handler: @escaping @Sendable (Result<Value, any Error>) -> Void,
    _ work: @escaping @Sendable () async throws -> Value
) {
    Task.detached {
        do {
            handler(.success(try await work()))
        } catch {
            handler(.failure(error))
        }
    }
}

/// The same for a handler of the older form: a value or an error.
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
