// SPDX-License-Identifier: Apache-2.0

/// Decides when a failed transfer is tried again. A transfer that makes progress is never given up, however often a bad
/// network cuts it.
struct TransferPatience {
    /// Failures in a row, without any progress.
    static let failuresMax = 5

    /// Whether failures that may pass are tried again for as long as there is time.
    private let isPatient: Bool
    private(set) var failures = 0
    /// Whether the server has been reached at all. A device that is offline from the start is told at once, and so is
    /// one that is throttled, as with calls without assets. A transfer under way waits.
    private var hasBegun = false
    private var furthest: Int64 = 0

    /// A server that names a longer time may be reached earlier: another one may have taken its place.
    private static let pauseMax: Duration = .seconds(60)

    init(isPatient: Bool = false) {
        self.isPatient = isPatient
    }

    /// The server, or the file, has this many bytes.
    mutating func reached(_ byteCount: Int64) {
        hasBegun = true
        guard byteCount > furthest else { return }
        furthest = byteCount
        failures = 0
    }

    /// - Parameter error: nil if the server was only at another offset than expected.
    /// - Returns: seconds to wait before the next attempt; nil if there should be none.
    mutating func wait(after error: CKError?) -> Double? {
        failures += 1
        guard failures < Self.failuresMax else { return nil }
        let growing = Double(1 << (failures - 1))
        switch error?.code {
        case nil: return 0
        case .networkUnavailable where hasBegun: return growing
        case .requestRateLimited where hasBegun: return max(error?.retryAfterSeconds ?? 0, growing)
        // Another server has the upload open, or too many are open; both last some seconds.
        case .zoneBusy: return max(error?.retryAfterSeconds ?? 0, growing)
        default: return nil
        }
    }

    /// - Returns: how long to wait before the next attempt; nil if there should be none.
    mutating func pause(after failure: TransferFailure) -> Duration? {
        let error = failure.error
        var pause = wait(after: error).map { min(.seconds($0), Self.pauseMax) }
        if isPatient, error.isWorthAnotherTry {
            pause = error.waitBeforeRetry(failures: failures - 1, randomBits: failure.randomBits)
        }
        return failure.isOutOfTime ? nil : pause
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
