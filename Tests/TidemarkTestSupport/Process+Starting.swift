// SPDX-License-Identifier: Apache-2.0

package import Foundation

extension Process {
    private static let starting = NSLock()

    /// Runs it, as `run()` does, one at a time: Foundation keeps what it knows of processes in one place without a lock. Every
    /// test that starts a process does so here.
    package func start() throws {
        try Self.starting.withLock { try run() }
    }
}
