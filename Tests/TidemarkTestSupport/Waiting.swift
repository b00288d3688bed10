// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Runs blocking work on a thread of its own, so that the few threads on which tasks run stay free.
package func blocking<Success: Sendable>(_ work: @escaping @Sendable () throws -> Success) async throws -> Success {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try work() }) }
    }
}

/// What ``eventually(within:_:)`` throws.
package struct NeverCame: Error {}

/// Waits until `condition` holds. It is asked every few milliseconds, so let it be cheap.
package func eventually(
    within limit: Duration = .seconds(20), _ condition: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let deadline = clock.now + limit
    while try await !condition() {
        guard clock.now < deadline else { throw NeverCame() }
        try await Task.sleep(for: .milliseconds(2))
    }
}
