// SPDX-License-Identifier: Apache-2.0

package import Foundation

extension Process {
    private static let starting = NSLock()

    /// Runs it, as `run()` does, one at a time: Foundation keeps what it knows of processes in one place without a lock. Every
    /// test that starts a process does so here.
    ///
    /// Foundation copies 280 bytes of each entry of `/proc/self/fd`, also of the last ones in the 32 KiB that `readdir` fills. With
    /// more than 1,350 open descriptors that is memory beyond the buffer, and sometimes none is there. So a block is left free
    /// for the buffer, with another one behind it.
    package func start() throws {
        try Self.starting.withLock {
            let block = malloc(120_000)
            let fence = malloc(1_024)
            free(block)
            defer { free(fence) }
            try run()
        }
    }
}
