// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Synchronization
import TidemarkTestKit

extension TestCloud {
    /// A device that was cut often waits before it connects again, and time stands still while a test waits.
    func passingTime<Value: Sendable>(
        _ request: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let isDone = Mutex(false)
        let task = start {
            defer { isDone.withLock { $0 = true } }
            return try await request()
        }
        try await settle()
        for _ in 0..<10_000 where !isDone.withLock({ $0 }) { try await clock.advanceToNext() }
        guard isDone.withLock({ $0 }) else { throw NeverHappened(description: "the answer to a request") }
        return try await task.value
    }

    private static let cuts: [CKError.Code] = [.networkUnavailable, .networkFailure, .serverResponseLost]

    /// As an app does: a request that a cut or a restart has ended is made again. It must be one that may be carried out twice.
    ///
    /// - Parameter failed: called before it is made again.
    func insisting<Value: Sendable>(
        afterFailure failed: () -> Void = {}, _ request: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        for _ in 0..<20 {
            do {
                return try await passingTime(request)
            } catch let error as CKError where Self.cuts.contains(error.code) {
                failed()
            }
        }
        throw NeverHappened(description: "a request that is not cut")
    }
}
