// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A value that several threads change, one at a time: a `pthread_mutex`.
///
/// NB: like `Synchronization.Mutex`, but visible to the thread sanitizer. Mutex waits in the runtime library, which is
/// not instrumented, so every contended lock is falsely reported as a race.
final class Lock<State>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var state: State

    init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let status = pthread_mutex_init(mutex, nil)
        precondition(status == 0)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }
}
