// SPDX-License-Identifier: Apache-2.0

import Glibc
import TidemarkSockets

/// The threads of attackers, and nobody else's.
///
/// Attackers have machines of their own. Here they have one with the server and with the neighbour's client. On a full machine
/// what they do themselves must not be what the neighbour waits for: so their threads give way. They have every processor that
/// nobody else wants, so they attack as fast as the server can be attacked.
enum AttackersLoop {
    /// Of a thread beside others that have 0. It has a third of their time (`setpriority(2)`).
    private static let niceness: Int32 = 5

    static func make(_ name: String) -> Result<EventLoop, any Error> {
        Result {
            let loop = try EventLoop(name: name)
            // On Linux, 0 is the thread that asks.
            loop.execute { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, niceness) }
            return loop
        }
    }
}
