// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkService

@Suite struct RetryPolicyTests {
    private func verdict(_ code: StorageError.Code, after failureCount: Int, _ bits: UInt64) -> RetryPolicy.Verdict {
        RetryPolicy(attemptsMax: 4, backoff: Backoff(shortest: .milliseconds(10), longest: .milliseconds(30)))
            .verdict(on: code, failureCount: failureCount, randomBits: bits)
    }

    @Test(arguments: [StorageError.Code.unavailable, .commitUnknown, .zoneBusy, .outdated])
    func `a failure that passes is tried again a few times, each time later`(_ code: StorageError.Code) {
        // 500 random bits choose the whole wait, 0 and 501 the half of it.
        let waits = [(1, 10), (2, 20), (3, 30)]
        for (failureCount, milliseconds) in waits {
            #expect(verdict(code, after: failureCount, 500) == .retry(after: .milliseconds(milliseconds)))
            #expect(verdict(code, after: failureCount, 501) == .retry(after: .milliseconds(milliseconds / 2)))
        }
        let reason: FailureReason = code == .zoneBusy || code == .outdated ? .zoneBusy : .storeUnavailable
        #expect(verdict(code, after: 4, 0) == .fail(reason))
    }

    @Test(arguments: [
        (StorageError.Code.tooSlow, FailureReason.storeUnavailable), (.queryTooSlow, .queryTooSlow),
        (.crowded, .tooManyRequests), (.rejected, .serverFault), (.groupTooLarge, .zoneBusy),
        (.containerUnknown, .containerUnknown), (.containerClosed, .containerClosed),
        (.notMarked, .fieldNotQueryable), (.stopped, .storeUnavailable),
    ])
    func `what would fail again, or take as long again, is told at once`(
        _ code: StorageError.Code, _ reason: FailureReason
    ) {
        #expect(verdict(code, after: 1, 0) == .fail(reason))
    }
}
