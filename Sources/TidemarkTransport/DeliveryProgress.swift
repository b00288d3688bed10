// SPDX-License-Identifier: Apache-2.0

/// Whether sent bytes arrive at the peer, as the kernel says.
///
/// The kernel takes megabytes at once. On a slow network they are under way for minutes, and the peer can answer nothing
/// before it has them.
struct DeliveryProgress {
    private var sentCount = 0
    private var deliveredCount = 0
    /// When bytes were last seen to arrive, or to be under way for the first time; nil: never.
    private(set) var last: Duration?
    private var isUnderWay = false

    /// The kernel has accepted this many bytes.
    mutating func sent(_ count: Int) {
        sentCount += count
    }

    /// Whether all sent bytes are known to have arrived.
    var isComplete: Bool { sentCount == deliveredCount }

    /// Records the progress.
    ///
    /// - Parameters:
    ///   - unacknowledged: the sent bytes that the peer's kernel has not acknowledged.
    ///   - bytesPerSecondMin: a peer that takes fewer does not count as taking anything.
    /// - Returns: whether bytes have arrived since the last look.
    mutating func look(unacknowledged: Int, bytesPerSecondMin: Int, now: Duration) -> Bool {
        let delivered = sentCount - unacknowledged
        guard isUnderWay, let last else {
            (isUnderWay, deliveredCount) = (unacknowledged > 0, delivered)
            if isUnderWay { last = now }
            return false
        }
        let gained = delivered - deliveredCount
        let least = unacknowledged == 0 ? 1 : max(1, bytesPerSecondMin * Int((now - last).components.seconds))
        guard gained >= least else { return false }
        (isUnderWay, deliveredCount, self.last) = (unacknowledged > 0, delivered, now)
        return true
    }
}
