// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization
internal import TidemarkAdmin

/// Runs asynchronous work from a command's synchronous body. The main thread has nothing else to do.
func blocking<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
    let outcome = Outcome<Value>()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        do {
            outcome.store(.success(try await work()))
        } catch {
            outcome.store(.failure(error))
        }
        done.signal()
    }
    done.wait()
    return try outcome.take()
}

/// As ``blocking(_:)``, for no longer than a time.
///
/// - Returns: nil if the work goes on.
func blocking<Value: Sendable>(
    atMost milliseconds: Int, _ work: @escaping @Sendable () async -> Value
) throws -> Value? {
    let outcome = Outcome<Value>()
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        outcome.store(.success(await work()))
        done.signal()
    }
    guard done.wait(timeout: .now() + .milliseconds(milliseconds)) == .success else { return nil }
    return try outcome.take()
}

private final class Outcome<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    func store(_ result: Result<Value, any Error>) {
        self.result.withLock { $0 = result }
    }

    func take() throws -> Value {
        guard let result = result.withLock({ $0 }) else {
            throw AdminFailure(
                .fault, "The command ended without a result. Run it again. If it happens again, report it.")
        }
        return try result.get()
    }
}
