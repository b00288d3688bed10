// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkStore
internal import TidemarkTelemetry

/// Looks whether servers are connected to the database that do not know shared hierarchies. Meanwhile this server, with all its
/// loops, makes no share of one. It looks until ``OlderServersRule`` says that no more come, and then does nothing.
final class OlderServersWatch: Sendable {
    private struct State {
        var rule: OlderServersRule
        /// Whether a look is under way, or will be.
        var isLooking = true
        var isStopped = false
        /// The servers that the log has.
        var told: Set<ListeningServer> = []
    }

    private static let log = Log("operations")
    /// Names in a line of the log.
    private static let namesMax = 20

    private let storage: PostgresStorage
    private let scheduler: any Scheduler
    private let interval: Duration
    private let sharedWrites: SharedWrites
    private let state: Mutex<State>

    init(
        storage: PostgresStorage, scheduler: any Scheduler, times: ServerConfiguration.OlderServersTimes,
        sharedWrites: SharedWrites
    ) {
        self.storage = storage
        self.scheduler = scheduler
        self.sharedWrites = sharedWrites
        interval = times.interval
        state = Mutex(State(rule: OlderServersRule(quiet: times.quiet)))
        sharedWrites.serveHierarchies(false)
    }

    /// Looks, and then at every interval until nothing need be looked at any more. Before the first look has returned, no
    /// device should come.
    func start() async {
        do {
            let sight = try await storage.olderServers()
            let now = scheduler.now
            let (isAllowed, news) = state.withLock { state in
                state.rule.saw(sight, at: now)
                let isNews = !state.told.isSuperset(of: sight.servers) || sight.servers.isEmpty && !state.told.isEmpty
                if isNews { state.told = Set(sight.servers) }
                return (state.rule.isAllowed, isNews)
            }
            sharedWrites.serveHierarchies(isAllowed)
            if news { Self.tell(sight.servers) }
        } catch {
            // The result of the last look counts.
            error.note()
        }
        let goesOn = state.withLock { state in
            state.isLooking = !state.isStopped && !state.rule.isDone
            return state.isLooking
        }
        guard goesOn else { return }
        _ = scheduler.schedule(after: interval) { [weak self] in
            guard let self, !state.withLock({ $0.isStopped }) else { return }
            scheduler.run { await self.start() }
        }
    }

    /// The connection to the database was interrupted, and is there again.
    func beginAgain() {
        let begins = state.withLock { state in
            state.rule.beginAgain()
            guard !state.isLooking, !state.isStopped else { return false }
            state.isLooking = true
            return true
        }
        if begins { scheduler.run { [self] in await start() } }
    }

    func stop() { state.withLock { $0.isStopped = true } }

    private static func tell(_ servers: [ListeningServer]) {
        guard !servers.isEmpty else {
            log.info("no older server is connected to the database any more")
            return
        }
        let names = servers.prefix(namesMax).map { $0.name.isEmpty ? "?" : $0.name }.joined(separator: ",")
        log.warning(
            "older servers use the database: no part of a zone can be shared until they are replaced or stopped",
            ["servers": names, "count": "\(servers.count)"])
    }
}
