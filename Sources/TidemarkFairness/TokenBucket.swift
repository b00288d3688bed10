// SPDX-License-Identifier: Apache-2.0

/// Says whether somebody may do something once more. It fills with time, and each thing takes a token out of it.
///
/// It keeps only one moment: when it will be full again. So a bucket that is full is like one that was never used.
package struct TokenBucket: Sendable, Equatable {
    /// The speed at which a bucket fills, and its size.
    package struct Rate: Sendable, Hashable {
        /// Tokens that come in a second, evenly. At least 1.
        package let perSecond: Int
        /// Tokens that it holds. At least 1.
        package let burst: Int

        package init(perSecond: Int, burst: Int) {
            precondition(perSecond > 0 && burst > 0)
            self.perSecond = perSecond
            self.burst = burst
        }

        /// The time in which one token comes.
        var step: Duration { .seconds(1) / perSecond }
        /// The time in which an empty bucket fills.
        var capacity: Duration { step * burst }
    }

    private var fullAt: Duration

    /// A full bucket.
    package init(now: Duration) { fullAt = now }

    package func isFull(at now: Duration) -> Bool { fullAt <= now }

    /// How long it takes until there is a token. Nil: there is one.
    ///
    /// - Parameter rate: may be another one than before.
    package mutating func wait(_ rate: Rate, now: Duration) -> Duration? {
        // After a slower rate, or a larger burst, it may be more empty than empty. Then it counts as empty, and fills from now.
        fullAt = min(fullAt, now + rate.capacity)
        let wait = max(fullAt, now) - now + rate.step - rate.capacity
        return wait > .zero ? wait : nil
    }

    /// Takes a token, if there is one.
    ///
    /// - Returns: how long it takes until there is one. Nil: it was taken.
    package mutating func take(_ rate: Rate, now: Duration) -> Duration? {
        if let wait = wait(rate, now: now) { return wait }
        fullAt = max(fullAt, now) + rate.step
        return nil
    }
}
