// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling

/// Runs calls to the store that may safely be made twice, and repeats them after temporary failures.
struct StorageRetry: Sendable {
    let scheduler: any Scheduler
    let policy: RetryPolicy
    var watch: StoreWatch?

    /// - Parameters:
    ///   - asker: who waits for the outcome. Nothing is repeated when it has left.
    ///   - call: whole reads, or writes that have the same effect when repeated.
    func run<Value: Sendable>(
        askedBy asker: Asker? = nil,
        _ call: () async throws(StorageError) -> Result<Value, FailureReason>
    ) async -> Result<Value, FailureReason> {
        let wait = watch?.begin()
        defer { wait?.end() }
        var failureCount = 0
        while true {
            do {
                return try await call()
            } catch {
                error.note()
                failureCount += 1
                let randomBits = scheduler.randomBits()
                switch policy.verdict(on: error.code, failureCount: failureCount, randomBits: randomBits) {
                case .fail(let reason): return .failure(reason)
                case .retry(let delay): try? await scheduler.sleep(for: delay)
                }
                if asker?.hasLeft == true { return .failure(.storeUnavailable) }
            }
        }
    }
}
