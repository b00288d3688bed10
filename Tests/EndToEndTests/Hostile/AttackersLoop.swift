// SPDX-License-Identifier: Apache-2.0

import TidemarkSockets

/// The threads of attackers, and nobody else's. They have as much of the processors as all others.
enum AttackersLoop {
    static func make(_ name: String) -> Result<EventLoop, any Error> {
        Result { try EventLoop(name: name) }
    }
}
