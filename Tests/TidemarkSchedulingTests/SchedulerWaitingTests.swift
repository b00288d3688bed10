// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkScheduling
import TidemarkSockets

/// On an event loop, because tasks of a real scheduler race with its timers.
@Suite struct SchedulerWaitingTests {
    private func withLoop<Result>(_ body: (EventLoop) async throws -> Result) async throws -> Result {
        let loop = try EventLoop(name: "test")
        defer { loop.stop() }
        return try await body(loop)
    }

    @Test func `a sleep lasts as long as it was told to`() async throws {
        try await withLoop { loop in
            let start = loop.now
            try await loop.sleep(for: .milliseconds(20))
            #expect(loop.now - start >= .milliseconds(20))
        }
    }

    @Test func `a sleep of a cancelled task throws and waits for nothing`() async throws {
        try await withLoop { loop in
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await loop.sleep(for: .seconds(86_400))
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test func `cancellation ends a sleep at once, at whatever moment it comes`() async throws {
        try await withLoop { loop in
            for _ in 0..<200 {
                let task = Task { try await loop.sleep(for: .seconds(86_400)) }
                async let cancelling: Void = task.cancel()
                await #expect(throws: CancellationError.self) { try await task.value }
                await cancelling
            }
        }
    }

    @Test func `the timer and the cancellation together resume a sleep once`() async throws {
        try await withLoop { loop in
            for _ in 0..<200 {
                let task = Task { try await loop.sleep(for: .nanoseconds(1)) }
                async let cancelling: Void = task.cancel()
                // Either may be first. A second resumption would stop the process.
                _ = await task.result
                await cancelling
            }
        }
    }

    @Test func `permanent identities are 16 bytes, and no two are alike`() async throws {
        try await withLoop { loop in
            let identities = (0..<1_000).map { _ in loop.randomBytes16() }
            #expect(identities.allSatisfy { $0.count == 16 })
            #expect(Set(identities).count == identities.count)
        }
    }
}
