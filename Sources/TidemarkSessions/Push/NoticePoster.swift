// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// Tells other servers which zones changed and which query subscriptions have fired. Each bus has a line of its own, and a pace.
final class NoticePoster: Sendable {
    /// Carries hints without content.
    private let zones: PostingLine
    /// Carries what names records: nobody but servers of the store hears it there.
    private let queries: PostingLine
    private let scheduler: any Scheduler

    /// How long it may take until others know that they missed nothing. They ask themselves with each sweep.
    private static let evaluatedDelay = Duration.seconds(1)

    /// - Parameters:
    ///   - bus: for notices of zones. Nil: the store, which carries all others anyway.
    ///   - delay: how long the notices of the first post are gathered.
    init(bus: (any NoticeBus)?, store: any NoticeBus, scheduler: any Scheduler, delay: Duration) {
        self.scheduler = scheduler
        queries = PostingLine(store, scheduler: scheduler, delay: delay)
        // One line for one bus: two would wake its listeners twice as often.
        zones = bus.map { PostingLine($0, scheduler: scheduler, delay: delay) } ?? queries
    }

    /// - Parameter evaluated: changes that have fired all that they fire. It is said once in a while for many.
    func post(_ notices: [ZoneNotice], _ fired: [QueryNotice] = [], evaluated: [EvaluatedChanges] = []) {
        if !notices.isEmpty { zones.add { line in for notice in notices { line.add(notice) } } }
        if !fired.isEmpty { queries.add { line in for notice in fired { line.add(notice) } } }
        guard !evaluated.isEmpty, queries.take({ $0.add(evaluated) }) else { return }
        _ = scheduler.schedule(after: Self.evaluatedDelay) { [self] in queries.add { $0.evaluatedIsDue() } }
    }

    /// The query subscriptions of a database have changed.
    func postChange(ofQueriesIn database: DatabaseID) { queries.add { $0.queriesChanged(in: database) } }

    /// The received notices that are not our own (``PostedNotices/others(_:)``).
    func others(_ heard: [ZoneNotice]) -> [ZoneNotice] { zones.take { $0.others(heard) } }

    func others(_ heard: [QueryNotice]) -> [QueryNotice] { queries.take { $0.others(heard) } }

    func others(ofLost heard: [DatabaseID]) -> [DatabaseID] { queries.take { $0.others(ofLost: heard) } }

    /// Echoes on the store's bus may have been lost: stop waiting for them.
    func forgetEchoes() { queries.take { $0.forgetEchoes() } }

    /// The same of the bus of zones.
    func forgetZoneEchoes() { zones.take { $0.forgetEchoes() } }

    /// Posts all that waits, at once. For a server that stops.
    func flush() async {
        queries.take { $0.evaluatedIsDue() }
        await queries.flush()
        if zones !== queries { await zones.flush() }
    }
}
