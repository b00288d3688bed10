// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// Tells other servers which zones changed. It gathers notices for a few milliseconds and posts them together, one post
/// at a time and not more often than the bus bears (``PostingPace``).
final class NoticePoster: Sendable {
    private struct State {
        var waiting = WaitingNotices(countMax: NoticePoster.waitingMax)
        var waitingQueries = WaitingLines<QueryNotice>(countMax: NoticePoster.waitingMax)
        /// Databases of which a notice found no room. Others are told once that all of their subscriptions may have fired.
        var lostQueries: Set<DatabaseID> = []
        var isPosting = false
        /// Notices that were posted and not yet received back, if the bus sends them to this server too.
        var echoes: [ZoneNotice: Int] = [:]
        var queryEchoes: [QueryNotice: Int] = [:]
    }

    /// Notices that wait while the bus cannot be reached. Further ones are dropped: the other servers' sweep finds the
    /// changes (I-4).
    private static let waitingMax = 10_000

    /// Carries hints without content.
    private let bus: any NoticeBus
    /// Carries what names records: nobody but servers of the store hears it there.
    private let store: StorageNoticeBus
    private let scheduler: any Scheduler
    private let delay: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - bus: for notices of zones. Nil: the store, which carries all others anyway.
    ///   - delay: how long the notices of the first post are gathered.
    init(bus: (any NoticeBus)?, store: StorageNoticeBus, scheduler: any Scheduler, delay: Duration) {
        self.bus = bus ?? store
        self.store = store
        self.scheduler = scheduler
        self.delay = delay
    }

    func post(_ notices: [ZoneNotice], _ queries: [QueryNotice] = []) {
        guard !notices.isEmpty || !queries.isEmpty else { return }
        let mustStart = state.withLock { state in
            for notice in notices { state.waiting.add(notice) }
            for notice in queries where !state.waitingQueries.add(notice) { state.lostQueries.insert(notice.database) }
            defer { state.isPosting = true }
            return !state.isPosting
        }
        if mustStart { next(after: delay) }
    }

    /// The received notices that are not our own.
    ///
    /// If another server's notice equals one of ours, it is taken for ours. Then ours arrives later and takes its
    /// place.
    func others(_ heard: [ZoneNotice]) -> [ZoneNotice] {
        state.withLock { Self.others(heard, &$0.echoes) }
    }

    func others(_ heard: [QueryNotice]) -> [QueryNotice] {
        state.withLock { Self.others(heard, &$0.queryEchoes) }
    }

    private static func others<Notice: Hashable>(_ heard: [Notice], _ echoes: inout [Notice: Int]) -> [Notice] {
        heard.filter { notice in
            guard let count = echoes[notice] else { return true }
            echoes[notice] = count > 1 ? count - 1 : nil
            return false
        }
    }

    /// Echoes may have been lost: stop waiting for them.
    func forgetEchoes() {
        state.withLock { ($0.echoes, $0.queryEchoes) = ([:], [:]) }
    }

    private func next(after delay: Duration) {
        _ = scheduler.schedule(after: delay) { [self] in
            scheduler.run { [self] in
                let pace = bus.pace
                let (notices, queries, lost) = take(pace.noticesMax)
                guard !notices.isEmpty || !queries.isEmpty || !lost.isEmpty else { return }
                // A failure is not repaired here: the other servers' sweep finds what they were not told (I-4).
                if !notices.isEmpty, await !bus.publish(notices.map { .zone($0) }) { _ = others(notices) }
                let named =
                    queries.map { ServerNotice.queryFired($0) } + lost.map { ServerNotice.queriesLost($0) }
                if !named.isEmpty, await !store.publish(named) { _ = others(queries) }
                next(after: pace.interval)
            }
        }
    }

    /// Ends the posting when there is nothing left.
    private func take(_ count: Int) -> (zones: [ZoneNotice], queries: [QueryNotice], lost: [DatabaseID]) {
        state.withLock { state in
            let taken = state.waiting.take(count)
            let queries = state.waitingQueries.take(count)
            let lost = state.lostQueries.sorted()
            state.lostQueries = []
            state.isPosting = !taken.isEmpty || !queries.isEmpty || !lost.isEmpty
            if state.queryEchoes.count > Self.waitingMax { state.queryEchoes = [:] }
            for notice in queries { state.queryEchoes[notice, default: 0] += 1 }
            guard bus.returnsOwn else { return (taken, queries, lost) }
            if state.echoes.count > Self.waitingMax { state.echoes = [:] }
            for notice in taken { state.echoes[notice, default: 0] += 1 }
            return (taken, queries, lost)
        }
    }
}
