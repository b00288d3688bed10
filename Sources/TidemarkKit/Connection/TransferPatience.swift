// SPDX-License-Identifier: Apache-2.0

/// When a transfer that came to nothing is tried again. However often a bad network cuts it, what gets on is not given up.
struct TransferPatience {
    /// In a row, without a byte more than ever before.
    static let failuresMax = 5

    private(set) var failures = 0
    /// Whether the server has been reached at all. A device that is offline from the start hears so at once, and so does one
    /// that is throttled, as with calls that have no assets. What is under way waits.
    private var hasBegun = false
    private var furthest: Int64 = 0

    /// The other side, or the file, is there.
    mutating func reached(_ byteCount: Int64) {
        hasBegun = true
        guard byteCount > furthest else { return }
        furthest = byteCount
        failures = 0
    }

    /// - Parameter error: nil if the server was only elsewhere than it was thought to be.
    /// - Returns: seconds to wait before the next attempt; nil: there is to be none.
    mutating func wait(after error: CKError?) -> Double? {
        failures += 1
        guard failures < Self.failuresMax else { return nil }
        let growing = Double(1 << (failures - 1))
        switch error?.code {
        case nil: return 0
        case .networkUnavailable where hasBegun: return growing
        case .requestRateLimited where hasBegun: return max(error?.retryAfterSeconds ?? 0, growing)
        // Another server has the upload open, or too many are open, for some seconds.
        case .zoneBusy: return max(error?.retryAfterSeconds ?? 0, growing)
        default: return nil
        }
    }
}
