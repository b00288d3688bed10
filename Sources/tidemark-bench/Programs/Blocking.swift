// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Blocks the main thread until `work` has ended.
func blocking<Value: Sendable>(for work: @escaping @Sendable () async throws -> Value) throws -> Value {
    let semaphore = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<Value, any Error>?>(nil)
    Task {
        let result: Result<Value, any Error>
        do {
            result = .success(try await work())
        } catch {
            result = .failure(error)
        }
        outcome.withLock { $0 = result }
        semaphore.signal()
    }
    semaphore.wait()
    guard let result = outcome.withLock({ $0 }) else { throw BenchError("No outcome.") }
    return try result.get()
}
