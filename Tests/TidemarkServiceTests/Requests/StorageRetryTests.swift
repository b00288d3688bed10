// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkTestSupport

@testable import TidemarkService

@Suite struct StorageRetryTests {
    private let scheduler = ManualScheduler()

    /// Three attempts, with waits of 5 to 10 and of 10 to 20 milliseconds between them.
    private var retry: StorageRetry {
        let backoff = Backoff(shortest: .milliseconds(10), longest: .milliseconds(80))
        return StorageRetry(scheduler: scheduler, policy: RetryPolicy(attemptsMax: 3, backoff: backoff))
    }

    /// Calls that fail with these errors, one after another, and then have a result.
    ///
    /// - Parameter meanwhile: happens in each call.
    /// - Returns: the result, and how many calls there were.
    private func run(
        _ codes: [StorageError.Code], then last: Result<String, FailureReason> = .success("read"),
        askedBy asker: Asker? = nil, meanwhile: @escaping @Sendable () -> Void = {}
    ) throws -> (result: Result<String, FailureReason>, callCount: Int) {
        let calls = Mutex(0)
        let result = try scheduler.complete { [retry] in
            await retry.run(askedBy: asker) { () async throws(StorageError) -> Result<String, FailureReason> in
                let index = calls.withLock { count -> Int in
                    count += 1
                    return count - 1
                }
                meanwhile()
                if index < codes.count { throw StorageError(codes[index]) }
                return last
            }
        }
        return (result, calls.withLock { $0 })
    }

    @Test func `a failure that passes is repeated, each time later`() throws {
        let once = try run([])
        #expect(once.result == .success("read") && once.callCount == 1 && scheduler.now == .zero)
        let outcome = try run([.zoneBusy, .outdated])
        #expect(outcome.result == .success("read") && outcome.callCount == 3)
        #expect(scheduler.now >= .milliseconds(15) && scheduler.now <= .milliseconds(30))
    }

    @Test func `after the last attempt its reason is told, without a further wait`() throws {
        let outcome = try run([.unavailable, .unavailable, .zoneBusy, .zoneBusy])
        #expect(outcome.result == .failure(.zoneBusy) && outcome.callCount == 3)
        #expect(scheduler.now <= .milliseconds(30))
    }

    @Test func `what would fail again, and what is no failure of the store, is told at once`() throws {
        let slow = try run([.queryTooSlow])
        #expect(slow.result == .failure(.queryTooSlow) && slow.callCount == 1)
        let refused = try run([], then: .failure(.zoneNotFound))
        #expect(refused.result == .failure(.zoneNotFound) && refused.callCount == 1)
        #expect(scheduler.now == .zero)
    }

    @Test func `R-725: nothing is repeated for somebody who has left`() throws {
        let (here, gone) = (Asker(), Asker())
        let heard = try run([.zoneBusy], askedBy: here)
        #expect(heard.result == .success("read") && heard.callCount == 2)
        let unheard = try run([.zoneBusy], askedBy: gone) { gone.leave() }
        #expect(unheard.result == .failure(.storeUnavailable) && unheard.callCount == 1)
    }
}
