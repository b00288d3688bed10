// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// The state that the ``WriteCoordinator``s of one process share. It has the queue of requests, the cache of zones, the
/// store's memory epoch, and the lessons of users to schemas. Each event loop has one coordinator.
///
/// So a zone is in at most one transaction of the queue, whichever loops its devices are connected to. All loops know what one loop has
/// written in it. Changes of zones and shares have transactions beside the queue, and the cache forgets those zones.
package final class SharedWrites: Sendable {
    struct State {
        var queue: WriteQueue
        var waiters: [WriteQueue.Ticket: OutcomeWaiters] = [:]
        var hasDeadlineTimer = false
        var stopping: [Answer<Void>] = []
        var epochs = MemoryEpochWatch()
        var memoryGrowth = MemoryGrowth()
    }

    let state: Mutex<State>
    let knownZones: Mutex<KnownZones>
    let queryWatches: Mutex<QueryWatches>
    let accessLooks = AccessLooks()
    /// Users who had the right to upload, see ``CloudService/partAccess(to:by:for:)``.
    let uploadSights = Mutex(RecentSights(trust: .seconds(600), countMax: 5_000))
    let shareTurns: ShareTurns
    let addressLookups = Mutex(AddressLookups())
    /// Links to which accounts ask for access, counted in the same way.
    let accessRequests = Mutex(AddressLookups())
    /// The number of types and fields added to schemas, by teacher.
    let taught = Mutex<[SchemaTeacher: Int]>([:])
    let settings: WriteSettings
    /// Whether shares of hierarchies can be made now.
    private let servesHierarchies = Atomic(true)
    /// Decides what would hold an event loop for long. Nil: it is decided on the loop.
    let largeGroups: (any TaskExecutor)?
    /// If there are more, all are forgotten, and counting starts again.
    private static let teachersMax = 10_000

    /// - Parameter largeGroups: a thread for decisions that would hold an event loop for long. Nil: there is none.
    package init(settings: WriteSettings = WriteSettings(), largeGroups: (any TaskExecutor)? = nil) {
        self.settings = settings
        self.largeGroups = largeGroups
        state = Mutex(State(queue: WriteQueue(settings: settings)))
        shareTurns = ShareTurns(patience: settings.waitMax)
        knownZones = Mutex(KnownZones(bytesMax: settings.knownBytesMax))
        queryWatches = Mutex(QueryWatches(indexBytesMax: settings.queryIndexBytesMax))
    }

    /// Requests in the queue, with those whose transaction runs.
    package var requestCount: Int { state.withLock { $0.queue.requestCount } }

    /// Bytes of the fields of these requests, and how many there may be.
    package var bytes: (used: Int, max: Int) { (state.withLock { $0.queue.byteCount }, settings.bytesMax) }

    /// Whether shares of hierarchies are made from now on, by all loops. A server that watches for older ones says so.
    /// Without a word they are. From any thread.
    package func serveHierarchies(_ isServed: Bool) { servesHierarchies.store(isServed, ordering: .relaxed) }

    /// Limits as they are now. A decision must use the same limits from its beginning to its end.
    func limitsNow(_ limits: Limits) -> Limits {
        guard !servesHierarchies.load(ordering: .relaxed) else { return limits }
        var limits = limits
        limits.servesHierarchies = false
        return limits
    }

    func noteTaught(_ counts: [SchemaTeacher: Int]) {
        taught.withLock { taught in
            if taught.count > Self.teachersMax { taught = [:] }
            taught.merge(counts, uniquingKeysWith: +)
        }
    }

    /// Takes in a memory epoch that was read from the store.
    func learn(_ epoch: Int64, now: Duration) {
        state.withLock { state in
            state.epochs.learn(epoch, now: now)
            state.memoryGrowth.learn(epoch)
        }
    }
}
