// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import Testing
import TidemarkScheduling
import TidemarkSockets
import TidemarkTestSupport

@testable import TidemarkKit

/// A process that has no file descriptor left when it first connects.
@Suite struct NetworkThreadTests {
    @Test func `R-378: without a file descriptor a request fails and says so, and a later attempt tries again`()
        async throws
    {
        let hasRoom = Mutex(false)
        let transport = SocketTransport(
            // Nothing listens there.
            configuration: TidemarkConfiguration(url: URL(string: "ws://127.0.0.1:1"), token: "tm_secret"),
            loop: { () throws(SocketError) in
                guard hasRoom.withLock({ $0 }) else {
                    throw SocketError(errorNumber: EMFILE, operation: "epoll_create1")
                }
                return try NetworkThread.loop()
            })
        let context = CloudContext(
            containerIdentifier: "iCloud.test", token: "tm_secret", transport: transport, scheduler: SpareScheduler())
        func failure() async -> CKError? {
            do throws(CKError) {
                _ = try await context.connection.identify()
                return nil
            } catch {
                return error
            }
        }
        let first = await failure()
        #expect(first?.code == .networkUnavailable)
        #expect(first?.localizedDescription.contains("Too many open files") == true, "\(String(describing: first))")
        hasRoom.withLock { $0 = true }
        try await eventually { await failure()?.localizedDescription.contains("ECONNREFUSED") == true }
    }

    @Test func `R-378: without a file descriptor timers fire in their order, unless they are cancelled`() async throws {
        let scheduler = SpareScheduler()
        let fired = Mutex<[Int]>([])
        let note: @Sendable (Int) -> @Sendable () -> Void = { number in { fired.withLock { $0.append(number) } } }
        _ = scheduler.schedule(after: .milliseconds(60), note(3))
        _ = scheduler.schedule(after: .milliseconds(10), note(1))
        scheduler.schedule(after: .milliseconds(20), note(2)).cancel()
        try await eventually { fired.withLock { $0.count } == 2 }
        #expect(fired.withLock { $0 } == [1, 3])
        // The thread has ended, or ends: another begins.
        _ = scheduler.schedule(after: .milliseconds(1), note(4))
        try await eventually { fired.withLock { $0 } == [1, 3, 4] }
    }
}
