// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Decides what to do about a failure of the store. Only this type says which failures are tried again, and which
/// failure the client gets at the end.
struct RetryPolicy: Sendable {
    /// Attempts in all. They are bounded because a device can repeat its request better than a server can keep it.
    var attemptsMax: Int
    var backoff: Backoff

    enum Verdict: Equatable {
        case retry(after: Duration)
        case fail(FailureReason)
    }

    /// - Parameter failureCount: the failures so far, including this one.
    func verdict(on code: StorageError.Code, failureCount: Int, randomBits: UInt64) -> Verdict {
        guard code.isPassing, failureCount < attemptsMax else { return .fail(code.reason) }
        return .retry(after: backoff.delay(failureCount: failureCount, randomBits: randomBits))
    }
}

extension StorageError.Code {
    /// Whether the same call may succeed a moment later.
    var isPassing: Bool {
        switch self {
        case .unavailable, .commitUnknown, .zoneBusy, .outdated: true
        case .tooSlow, .queryTooSlow, .crowded, .rejected, .groupTooLarge, .containerUnknown, .containerClosed,
            .notMarked,
            .stopped:
            false
        }
    }

    /// The failure for the client when there is no other attempt.
    var reason: FailureReason {
        switch self {
        case .unavailable, .commitUnknown, .tooSlow, .stopped: .storeUnavailable
        case .zoneBusy, .outdated, .groupTooLarge: .zoneBusy
        case .rejected: .serverFault
        case .containerUnknown: .containerUnknown
        case .containerClosed: .containerClosed
        case .notMarked: .fieldNotQueryable
        case .queryTooSlow: .queryTooSlow
        case .crowded: .tooManyRequests
        }
    }
}
