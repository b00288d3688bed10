// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Keeps all connections of a context together from trying too often, whatever makes them try: programs that call in a loop,
/// sign in again and again, or make one engine after the other. A TLS handshake costs a server some 400 µs.
///
/// Some attempts may follow each other at once, as when a program starts with several engines; then they come as seldom as
/// those of one connection.
final class AttemptPacing: Sendable {
    /// Attempts that may follow each other at once.
    static let burst = 10

    private let burst: Int

    init(burst: Int = AttemptPacing.burst) {
        self.burst = burst
    }

    /// Until when the attempts so far are paid for, on the scheduler's clock.
    private let paidUntil = Mutex<Duration>(.zero)

    /// Takes leave for an attempt.
    ///
    /// - Returns: nil if it may begin now; else when to ask again, since others may have taken that leave by then.
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
