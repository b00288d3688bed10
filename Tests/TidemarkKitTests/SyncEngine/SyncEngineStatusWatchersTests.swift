// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkScheduling
import TidemarkTestSupport

@testable import TidemarkKit

/// Who follows an engine's status.
@Suite struct SyncEngineStatusWatchersTests {
    private final class Seen: @unchecked Sendable {
        var statuses: [TidemarkSyncStatus] = []
        var hasEnded = false
    }

    private let scheduler = ManualScheduler()
    private let server = FakeServer()
    private let cloud: FakeCloud
    private let delegate = RecordingDelegate()

    init() {
        cloud = FakeCloud(server, scheduler)
        server.save(zone: zone("A"))
    }

    /// - Parameter pause: after each status.
    private func follow(_ statuses: TidemarkSyncStatuses, pause: Duration = .zero) -> Seen {
        let seen = Seen()
        scheduler.run { [scheduler] in
            for await status in statuses {
                seen.statuses.append(status)
                if pause > .zero { try? await scheduler.sleep(for: pause) }
            }
            seen.hasEnded = true
        }
        return seen
    }

    @Test func `R-841: who follows the status sees each change, and the end of the engine`() throws {
        var engine: CKSyncEngine? = CKSyncEngine(.on(cloud, delegate))
        let seen = follow(try #require(engine).statuses)
        scheduler.advance(by: .seconds(1))
        #expect(seen.statuses.first?.isUpToDate == true)
        delegate.save("A/1", in: try #require(engine))
        scheduler.runUntilIdle()
        #expect(seen.statuses.last?.pendingSaveCount == 1)
        try scheduler.complete { [engine] in try await engine?.sendChanges() }
        scheduler.runUntilIdle()
        #expect(seen.statuses.contains { if case .sending = $0.activity { true } else { false } })
        #expect(seen.statuses.last?.pendingSaveCount == 0 && seen.statuses.last?.lastSent != nil)
        #expect(zip(seen.statuses, seen.statuses.dropFirst()).allSatisfy { $0 != $1 }, "each differs from the last one")
        #expect(!seen.hasEnded)
        engine = nil
        scheduler.runUntilIdle()
        #expect(seen.hasEnded && cloud.isClosed)
    }

    @Test func `R-841: who is slow gets the newest status, and nothing piles up`() {
        let engine = CKSyncEngine(.on(cloud, delegate))
        let seen = follow(engine.statuses, pause: .seconds(100))
        scheduler.advance(by: .seconds(1))
        for number in 0..<500 {
            delegate.save("A/\(number)", in: engine)
            scheduler.runUntilIdle()
        }
        scheduler.advance(by: .seconds(1_000))
        #expect(seen.statuses.last?.pendingSaveCount == 500)
        #expect(seen.statuses.count <= 3, "\(seen.statuses.map(\.pendingSaveCount))")
    }

    @Test func `R-841: a sequence that is begun when the engine is gone ends, and one that was left is forgotten`() {
        var engine: CKSyncEngine? = CKSyncEngine(.on(cloud, delegate))
        let statuses = engine?.statuses
        engine = nil
        scheduler.runUntilIdle()
        let late = statuses.map { follow($0) }
        scheduler.runUntilIdle()
        #expect(late?.hasEnded == true)

        let watchers = SyncEngineStatusWatchers()
        var stream: AsyncStream<Void>? = watchers.watch()
        #expect(watchers.watcherCount == 1 && stream != nil)
        stream = nil
        #expect(watchers.watcherCount == 0)
    }

    @Test func `R-840: dates are the wall clock's, and stay as they are`() throws {
        let engine = CKSyncEngine(.on(cloud, delegate))
        try scheduler.complete { try await engine.fetchChanges() }
        let fetched = try #require(engine.status.lastFetched)
        let now = Date(timeIntervalSince1970: Double(scheduler.wallClockMilliseconds) / 1_000)
        #expect(abs(fetched.timeIntervalSince(now)) < 1)
        scheduler.advance(by: .seconds(3_600))
        #expect(engine.status.lastFetched == fetched)
    }
}
