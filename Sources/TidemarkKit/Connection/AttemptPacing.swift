// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Keeps the connections of a context together from connecting too often, whatever the cause. Programs may call in a
/// loop, sign in again and again, or make one engine after the other. A TLS handshake costs a server some 400 µs.
///
/// Some attempts may follow each other at once, as when a program starts with several engines. After that they are as
/// rare as those of one connection.
final class AttemptPacing: Sendable {
    /// Attempts that may follow each other at once.
    static let burst = 10

    private let burst: Int

    init(burst: Int = AttemptPacing.burst) {
        self.burst = burst
    }

    /// The time until which the attempts so far count, on the scheduler's clock.
    private let paidUntil = Mutex<Duration>(.zero)

    /// Asks for permission for an attempt.
    ///
    /// - Returns: nil if it may begin now. Otherwise when to ask again, because other connections may have taken the
    ///   permission by then.
    func wait(at now: Duration) -> Duration? {
        paidUntil.withLock { paidUntil in
            let ahead = ConnectionMachine.attemptSpacing * (burst - 1)
            let wait = paidUntil - ahead - now
            guard wait <= .zero else { return wait }
            paidUntil = max(paidUntil, now) + ConnectionMachine.attemptSpacing
            return nil
        }
    }
}
