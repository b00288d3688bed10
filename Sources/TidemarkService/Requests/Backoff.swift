// SPDX-License-Identifier: Apache-2.0

/// How long to wait before another attempt: doubling, bounded, and spread so that servers do not retry in step.
struct Backoff: Sendable {
    /// The wait after the first failure, before it is spread.
    var shortest: Duration
    var longest: Duration

    /// - Parameters:
    ///   - failureCount: 1 after the first failure.
    ///   - randomBits: they choose a time between half and all of the doubled value.
    func delay(failureCount: Int, randomBits: UInt64) -> Duration {
        let doublings = min(max(failureCount, 1) - 1, 16)
        let whole = min(longest, shortest * (1 << doublings))
        let thousandths = 500 + Int(randomBits % 501)
        return whole * thousandths / 1_000
    }
}
