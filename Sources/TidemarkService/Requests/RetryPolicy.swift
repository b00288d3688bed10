// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// What to do about a failure of the store: the one place that says which are tried again, and what is told at the end.
struct RetryPolicy: Sendable {
    /// Attempts in all. Bounded, because a device can repeat its request better than a server can keep it.
    var attemptsMax: Int
    var backoff: Backoff

    enum Verdict: Equatable {
        case retry(after: Duration)
        case fail(FailureReason)
    }

    /// - Parameter failureCount: failures so far, this one included.
    func verdict(on code: StorageError.Code, failureCount: Int, dice: UInt64) -> Verdict {
        guard code.isPassing, failureCount < attemptsMax else { return .fail(code.reason) }
        return .retry(after: backoff.delay(failureCount: failureCount, dice: dice))
    }
}

extension StorageError.Code {
    /// Whether the same call may succeed a moment later.
    var isPassing: Bool {
        switch self {
        case .unavailable, .commitUnknown, .zoneBusy, .outdated: true
        case .rejected, .containerUnknown, .stopped: false
        }
    }

    /// What a client is told when it is not tried again.
    var reason: FailureReason {
        switch self {
        case .unavailable, .commitUnknown, .stopped: .storeUnavailable
        case .zoneBusy, .outdated: .zoneBusy
        case .rejected: .serverFault
        case .containerUnknown: .containerUnknown
        }
    }
}
