// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The ``RefusalAllowance`` of a process: all its event loops share one.
package final class SharedRefusals: Sendable {
    private let allowance = Mutex(RefusalAllowance())

    package init() {}

    /// As ``RefusalAllowance/take(_:now:)``.
    package func take(_ address: String, now: Duration) -> Bool { allowance.withLock { $0.take(address, now: now) } }
}

/// Which refused sign-ins are written down. Whoever tries credentials at random must not fill the store.
struct RefusalAllowance: Sendable {
    /// In a minute: in all, and of one address. What is beyond is not written.
    static let countMax = 30
    static let countOfAddressMax = 3
    private static let period = Duration.seconds(60)

    private var began = Duration.zero
    private var count = 0
    /// At most ``countMax`` addresses.
    private var counts: [String: Int] = [:]

    /// Takes a place of this minute.
    ///
    /// - Parameter now: never goes back.
    /// - Returns: whether there was one.
    mutating func take(_ address: String, now: Duration) -> Bool {
        if now - began >= Self.period { (began, count, counts) = (now, 0, [:]) }
        guard count < Self.countMax, counts[address, default: 0] < Self.countOfAddressMax else { return false }
        count += 1
        counts[address, default: 0] += 1
        return true
    }
}
