// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A file descriptor that is closed exactly once: by ``close()``, or when nobody holds it any more.
///
/// Take it out of its event loop (``Registration/cancel()``) before it is closed: its number may be reused at once.
package final class FileDescriptor: Sendable {
    private let number: Atomic<Int32>

    package init(owning number: Int32) {
        precondition(number >= 0)
        self.number = Atomic(number)
    }

    deinit { close() }

    /// The number for system calls. -1 after ``close()``; then every call fails with EBADF.
    package var rawValue: Int32 { number.load(ordering: .relaxed) }

    /// Passes the number to the caller, who closes it.
    func release() -> Int32 {
        number.exchange(-1, ordering: .acquiringAndReleasing)
    }

    /// From any thread. A second call does nothing.
    package func close() {
        let number = number.exchange(-1, ordering: .acquiringAndReleasing)
        if number >= 0 { SystemCalls.close(number) }
    }
}
