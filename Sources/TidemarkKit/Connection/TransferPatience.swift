// SPDX-License-Identifier: Apache-2.0

/// Decides when a failed transfer is tried again. A transfer that makes progress is never given up, however often a bad
/// network cuts it.
struct TransferPatience {
    /// Failures in a row, without any progress.
    static let failuresMax = 5

    /// Whether failures that may pass are tried again for as long as there is time.
    private let isPatient: Bool
    private var failures = 0
    /// Whether the server has been reached at all. A device that is offline or throttled from the start gets the error
    /// at once, as with calls without assets. A transfer under way waits.
    private var hasReachedServer = false
    private var furthest: Int64 = 0

    /// A server that names a longer time may be reached earlier: another one may have taken its place.
    private static let pauseSecondsMax = 60.0

    init(isPatient: Bool = false) {
        self.isPatient = isPatient
    }

    /// The server, or the file, has this many bytes.
    mutating func reached(_ byteCount: Int64) {
        reachedServer()
        guard byteCount > furthest else { return }
        furthest = byteCount
        failures = 0
    }

    /// The server has been reached, and yet no number of bytes is known.
    mutating func reachedServer() {
        hasReachedServer = true
    }

    /// An attempt failed, and the next one needs no pause.
    ///
    /// - Returns: whether there should be another attempt.
    mutating func mayTryAgain() -> Bool {
        failures += 1
        return failures < Self.failuresMax
    }

    /// An attempt failed.
    ///
    /// - Returns: how long to wait before the next attempt; nil if there should be none.
    mutating func pause(after failure: TransferFailure) -> Duration? {
        let mayTryAgain = mayTryAgain()
        let error = failure.error
        guard !failure.isOutOfTime else { return nil }
        if isPatient, error.isWorthAnotherTry {
            return error.waitBeforeRetry(failures: failures - 1, randomBits: failure.randomBits)
        }
        guard mayTryAgain else { return nil }
        let growing = Duration.seconds(1 << (failures - 1))
        let isForNow =
            switch error.code {
            case .networkUnavailable, .requestRateLimited: hasReachedServer
            // Another server has the upload open, or too many are open; both last some seconds.
            case .zoneBusy: true
            default: false
            }
        guard isForNow else { return nil }
        return max(growing, .seconds(min(error.retryAfterSeconds ?? 0, Self.pauseSecondsMax)))
    }
}

/// A failure of a transfer, with all that decides whether it is tried again.
struct TransferFailure {
    let error: CKError
    /// They spread the wait before the next attempt.
    var randomBits: UInt64 = 0
    /// Whether nothing must be begun any more.
    var isOutOfTime = false
}
