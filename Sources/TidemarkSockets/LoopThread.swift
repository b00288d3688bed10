// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll
internal import Glibc

/// A POSIX thread that runs one closure.
package enum LoopThread {
    /// Starts a thread that nobody waits for.
    ///
    /// - Throws: `resourcesExhausted` while the process has no more threads.
    package static func detach(name: String, _ body: @escaping @Sendable () -> Void) throws(SocketError) {
        pthread_detach(try start(name: name, body))
    }

    /// Starts a thread. The caller joins or detaches it. No signal is blocked in it.
    ///
    /// - Parameter name: The name in `ps -L` and debuggers. The kernel keeps the first 15 bytes.
    static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SocketError) -> pthread_t {
        let start = Unmanaged.passRetained(ThreadStart(name: name, body: body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                let start = Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue()
                start.name.withCString { tidemark_set_thread_name($0) }
                start.body()
                return nil
            }, start.toOpaque())
        guard result == 0 else {
            start.release()
            // EAGAIN: the limit of threads, or of memory for the stack, is reached.
            throw SocketError(.resourcesExhausted, operation: "pthread_create", errorNumber: result)
        }
        return thread
    }
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = String(decoding: name.utf8.prefix(15), as: UTF8.self)
        self.body = body
    }
}
