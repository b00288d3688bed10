// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import Testing
import TidemarkDomain
import TidemarkService

@testable import TidemarkSessions

@Suite struct FollowedDatabasesTests {
    @Test func `R-874: the bus is told once what is needed, and once what no longer is`() {
        var followed = FollowedDatabases()
        var needed: Set<DatabaseID> = [DatabaseID(2), DatabaseID(1)]
        func changes(touching numbers: Int64...) -> [[Int64]] {
            for number in numbers { followed.touch(DatabaseID(number)) }
            let (follow, leave) = followed.takeChanges { needed.contains($0) }
            return [follow.map(\.rawValue), leave.map(\.rawValue)]
        }
        #expect(changes() == [[], []])
        #expect(changes(touching: 1, 2, 3) == [[1, 2], []])
        #expect(changes(touching: 1, 2, 3) == [[], []])
        needed = [DatabaseID(3)]
        #expect(changes(touching: 3) == [[3], []], "nobody has said yet that 1 and 2 are not needed")
        #expect(changes(touching: 2, 1) == [[], [1, 2]])
        #expect(changes(touching: 2, 1) == [[], []])
    }

    @Test
    func `R-874: a server follows the databases of its devices as long as they are here, and posts to the bus alone`()
        throws
    {
        let bus = NotedBus()
        let world = SessionWorld { $0.bus = bus }
        let first = try world.enter(device: 1)
        guard case .success(let identity?) = try world.identity(of: "alice") else {
            Issue.record("no identity")
            return
        }
        let own: Set<BusTopic> = [.database(identity.privateDatabase), .database(identity.sharedDatabase)]
        #expect(bus.followed == own)
        let second = try world.enter(device: 2)
        #expect(bus.followed == own)
        try first.makeZone("notes")
        try first.save("a", in: "notes")
        world.scheduler.advance(by: .seconds(1))
        #expect(bus.published.contains { if case .zone(let zone) = $0 { zone.zoneName == "notes" } else { false } })
        first.disconnect()
        #expect(bus.followed == own)
        second.disconnect()
        #expect(bus.followed.isEmpty)
    }
}

/// A bus that brings nothing, and remembers what it was told.
private final class NotedBus: NoticeBus {
    private struct State {
        var counts: [BusTopic: Int] = [:]
        var published: [ServerNotice] = []
    }

    private let state = Mutex(State())

    var followed: Set<BusTopic> { state.withLock { Set($0.counts.keys) } }
    var published: [ServerNotice] { state.withLock { $0.published } }

    var pace: PostingPace { .quickest }
    var returnsOwn: Bool { false }

    func publish(_ notices: [ServerNotice]) async -> Bool {
        state.withLock { $0.published += notices }
        return true
    }

    func follow(_ topics: [BusTopic]) {
        state.withLock { for topic in topics { $0.counts[topic, default: 0] += 1 } }
    }

    func leave(_ topics: [BusTopic]) {
        state.withLock { state in
            for topic in topics {
                guard let count = state.counts[topic] else {
                    Issue.record("\(topic) was left and not followed")
                    continue
                }
                state.counts[topic] = count > 1 ? count - 1 : nil
            }
        }
    }

    func start(
        onNotices: @escaping @Sendable ([ServerNotice]) -> Void, onGap: @escaping @Sendable () -> Void
    ) {}

    func stop() {}
}
