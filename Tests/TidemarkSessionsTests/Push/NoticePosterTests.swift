// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkSessions

@Suite struct NoticePosterTests {
    private let scheduler = ManualScheduler()

    private static func zone(_ number: Int) -> ZoneNotice {
        ZoneNotice(database: DatabaseID(1), life: .nobody, zoneName: "\(number)")
    }

    private static func query(_ number: Int) -> QueryNotice { PostedNoticesTests.query("\(number)") }

    private func poster(_ bus: ScriptedBus?, _ store: ScriptedBus) -> NoticePoster {
        NoticePoster(bus: bus, store: store, scheduler: scheduler, delay: .milliseconds(2))
    }

    /// A second in which something changes every millisecond.
    private func busySecond(_ poster: NoticePoster) {
        for number in 0..<1_000 {
            poster.post([Self.zone(number)], [Self.query(number)])
            scheduler.advance(by: .milliseconds(1))
        }
    }

    @Test(arguments: [1, 20, 100])
    func `R-873: with a bus of its own for zones a server wakes those of the store at their pace`(_ count: Int) {
        let (quick, store) = (
            ScriptedBus(scheduler, .quickest), ScriptedBus(scheduler, PostingPace(listeners: count))
        )
        busySecond(poster(quick, store))
        #expect((95...101).contains(quick.posts.count))
        let expected = Int(Duration.seconds(1) / PostingPace(listeners: count).interval)
        #expect((expected - 5...expected + 1).contains(store.posts.count), "\(store.posts.count)")
        #expect(quick.posts.joined().allSatisfy { if case .zone = $0 { true } else { false } })
        #expect(store.posts.joined().allSatisfy { if case .queryFired = $0 { true } else { false } })
    }

    @Test func `R-873: on one bus zones and queries are one post`() {
        let store = ScriptedBus(scheduler, PostingPace(listeners: 20))
        busySecond(poster(nil, store))
        #expect((24...26).contains(store.posts.count), "\(store.posts.count)")
        let told = Set(store.posts.joined())
        scheduler.advance(by: .seconds(1))
        #expect(told.count > 1_800 && Set(store.posts.joined()).count == 2_000)
    }

    @Test func `I-4: what a post that failed has fired is told when the bus is back, and meanwhile it is left alone`() {
        let store = ScriptedBus(scheduler, .quickest)
        let poster = poster(nil, store)
        store.fail(3)
        poster.post([], [Self.query(1), Self.query(2)])
        poster.postChange(ofQueriesIn: DatabaseID(9))
        scheduler.advance(by: .milliseconds(900))
        #expect(store.tryCount == 1)
        scheduler.advance(by: .milliseconds(1_500))
        #expect(store.tryCount == 3 && store.posts.isEmpty)
        scheduler.advance(by: .seconds(1))
        #expect(store.posts == [[.queriesChanged(DatabaseID(9)), .queriesLost(DatabaseID(7))]])
        // From then on it is as before.
        poster.post([Self.zone(1)], [Self.query(3)])
        scheduler.advance(by: .seconds(1))
        #expect(store.posts.last == [.zone(Self.zone(1)), .queryFired(Self.query(3))])
    }

    @Test func `R-263: that changes have fired all is said a second later, and at once by a server that stops`() throws
    {
        let store = ScriptedBus(scheduler, .quickest)
        let poster = poster(nil, store)
        for number in 1...3 {
            let changes = PostedNoticesTests.changes(ChangeNumber(number - 1), ChangeNumber(number))
            poster.post([], [Self.query(number)], evaluated: [changes])
        }
        scheduler.advance(by: .milliseconds(900))
        #expect(Array(store.posts.joined()) == (1...3).map { .queryFired(Self.query($0)) })
        scheduler.advance(by: .milliseconds(200))
        #expect(store.posts.last == [.queriesEvaluated(PostedNoticesTests.changes(0, 3))])
        poster.post([], evaluated: [PostedNoticesTests.changes(3, 4)])
        try scheduler.complete { await poster.flush() }
        #expect(store.posts.last == [.queriesEvaluated(PostedNoticesTests.changes(3, 4))])
        scheduler.advance(by: .seconds(10))
        #expect(store.posts.joined().count == 5)
    }

    @Test func `R-875: a server that stops posts what waits, in its order, whatever the pace`() throws {
        let store = ScriptedBus(scheduler, PostingPace(listeners: 100))
        let poster = poster(nil, store)
        poster.post([], [Self.query(0)])
        scheduler.advance(by: .milliseconds(5))
        #expect(store.posts.count == 1)
        // One post is under way.
        store.delay(.milliseconds(50))
        poster.post([], [Self.query(1)])
        scheduler.advance(by: .milliseconds(1_010))
        #expect(store.tryCount == 2)
        for number in 2..<2_400 { poster.post([], [Self.query(number)]) }
        let start = scheduler.now
        try scheduler.complete { await poster.flush() }
        #expect(scheduler.now - start < .milliseconds(200))
        #expect(Array(store.posts.joined()) == (0..<2_400).map { .queryFired(Self.query($0)) })
        scheduler.advance(by: .seconds(10))
        #expect(store.posts.joined().count == 2_400)
    }

    @Test func `R-875: a server that stops does not wait for a bus that fails`() throws {
        let store = ScriptedBus(scheduler, .quickest)
        let poster = poster(nil, store)
        store.fail(100)
        for number in 0..<2_000 { poster.post([Self.zone(number)], [Self.query(number)]) }
        try scheduler.complete { await poster.flush() }
        #expect(store.tryCount == 1)
        scheduler.advance(by: .seconds(10))
        #expect(store.tryCount == 1)
    }
}

/// A bus that notes what is published, fails as often as it is told, and takes its time.
private final class ScriptedBus: NoticeBus {
    private struct State {
        var posts: [[ServerNotice]] = []
        var tryCount = 0
        var failureCount = 0
        var delay = Duration.zero
    }

    let pace: PostingPace
    private let scheduler: ManualScheduler
    private let state = Mutex(State())

    init(_ scheduler: ManualScheduler, _ pace: PostingPace) {
        self.scheduler = scheduler
        self.pace = pace
    }

    /// What was published, post by post.
    var posts: [[ServerNotice]] { state.withLock { $0.posts } }
    var tryCount: Int { state.withLock { $0.tryCount } }
    var returnsOwn: Bool { true }

    func fail(_ count: Int) { state.withLock { $0.failureCount = count } }
    func delay(_ delay: Duration) { state.withLock { $0.delay = delay } }

    func publish(_ notices: [ServerNotice]) async -> Bool {
        let (delay, fails) = state.withLock { state in
            state.tryCount += 1
            defer { state.failureCount = max(0, state.failureCount - 1) }
            return (state.delay, state.failureCount > 0)
        }
        if delay > .zero { try? await scheduler.sleep(for: delay) }
        guard !fails else { return false }
        state.withLock { $0.posts.append(notices) }
        return true
    }

    func follow(_ topics: [BusTopic]) {}
    func leave(_ topics: [BusTopic]) {}
    func start(
        onNotices: @escaping @Sendable ([ServerNotice]) -> Void, onGap: @escaping @Sendable () -> Void
    ) {}
    func stop() {}
}
