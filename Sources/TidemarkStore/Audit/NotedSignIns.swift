// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// How many sign-ins of each account have been written into the audit in this hour. A device has one row in an hour,
/// but an account may connect with a device that never was here each time. Its rows would fill the disk.
struct NotedSignIns {
    /// Accounts that are remembered (I-7). Beyond, those with the fewest sign-ins are forgotten.
    static let accountsMax = 100_000

    private var hour = Int64.min
    private(set) var counts: [AccountID: Int] = [:]

    /// Whether one more may be written.
    ///
    /// - Parameter countMax: of an account in an hour.
    func admits(_ account: AccountID, in hour: Int64, atMost countMax: Int) -> Bool {
        hour != self.hour || (counts[account] ?? 0) < countMax
    }

    /// A sign-in was written that is no other's row.
    mutating func noted(_ account: AccountID, in hour: Int64) {
        if hour != self.hour { (self.hour, counts) = (hour, [:]) }
        counts[account, default: 0] += 1
        guard counts.count > Self.accountsMax else { return }
        // Half, so that it is not done again at once.
        let kept = counts.sorted { $0.value > $1.value }.prefix(Self.accountsMax / 2)
        counts = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
