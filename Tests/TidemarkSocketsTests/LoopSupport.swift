// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TidemarkSockets

/// Runs `body` with a loop of its own, which is stopped afterwards.
func withLoop(_ body: @Sendable (EventLoop) async throws -> Void) async throws {
    let loop = try EventLoop(name: "test")
    defer { loop.stop() }
    try await body(loop)
}

extension EventLoop {
    /// Runs `work` on the loop and waits for what it returns.
    func onLoop<Success: Sendable>(_ work: @escaping @Sendable () -> Success) async -> Success {
        await withCheckedContinuation { continuation in
            execute { continuation.resume(returning: work()) }
        }
    }

    /// As ``onLoop(_:)``, for work that throws.
    func tryOnLoop<Success: Sendable>(
        _ work: @escaping @Sendable () throws(SocketError) -> Success
    ) async throws -> Success {
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<_, Never>) in
            execute { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }
}

/// A value that many threads change, as an object that closures can share.
final class Locked<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }

    var value: Value { mutex.withLock { $0 } }

    func update(_ change: (inout Value) -> Void) {
        mutex.withLock { change(&$0) }
    }
}
