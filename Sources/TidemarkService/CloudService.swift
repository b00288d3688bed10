// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
package import TidemarkScheduling

/// Every request that a server answers, over one ``Storage``. Sessions call it; each request has a separate file.
///
/// It holds no state that matters: any number of services, in any number of processes, may work on the same store.
/// Every call is bounded in time, and returns a reason instead of throwing. Callable from any thread; its own tasks run
/// on the scheduler that it was given.
package final class CloudService: Sendable {
    let storage: any Storage
    let scheduler: any Scheduler
    let limits: Limits
    let schemas: SchemaCache
    let sharedWrites: SharedWrites
    let writeCoordinator: WriteCoordinator
    let zonesWriter: ZonesWriter
    let feedReader: FeedReader
    let pagesAhead: PagesAhead
    let retry: StorageRetry
    /// Nil: no request is traced.
    let storeWatch: StoreWatch?
    /// The gate for changes of shares that are not saves.
    let shareChanges: FairGate
    let directory = ContainerDirectory()
    /// Called with changes that are written beside the two writers.
    let onMoved: @Sendable (ZonesMoved) -> Void
    /// Nil: changes of this service fire no query subscriptions, as those of operators.
    let queries: QueryEvaluation?
    /// Nil: this server stores no assets.
    let assets: (any AssetStore)?
    /// Nil: this server stores no account keys.
    let escrow: (any KeyEscrow)?
    /// Notices jumps of the clock, for everything that is removed when it is old.
    let clockWatch: Mutex<ClockWatch>

    /// - Parameters:
    ///   - isTraced: whether requests may be traced.
    ///   - firesQueries: whether its changes fire query subscriptions.
    ///   - sharedWrites: what all services of the process share; nil if this is the only one.
    ///   - onMoved: called after each commit that changed something, once it is durable. It pushes to the devices that
    ///     are connected here and sends notices to other servers. It must not block.
    package init(
        storage: any Storage, assets: (any AssetStore)? = nil, escrow: (any KeyEscrow)? = nil,
        scheduler: any Scheduler, limits: Limits, writeSettings: WriteSettings = WriteSettings(),
        sharedWrites: SharedWrites? = nil, isTraced: Bool = false, firesQueries: Bool = false,
        onMoved: @escaping @Sendable (ZonesMoved) -> Void
    ) {
        self.storage = storage
        self.assets = assets
        self.escrow = escrow
        self.scheduler = scheduler
        self.limits = limits
        self.onMoved = onMoved
        clockWatch = Mutex(ClockWatch(wallClock: scheduler.wallClockMilliseconds, steady: scheduler.now))
        self.sharedWrites = sharedWrites ?? SharedWrites(settings: writeSettings)
        schemas = SchemaCache(storage: storage, shared: self.sharedWrites)
        // NB: no request waits for its reads, so they are not traced.
        queries =
            firesQueries
            ? QueryEvaluation(
                storage: storage, scheduler: scheduler, limits: limits, shared: self.sharedWrites, schemas: schemas,
                retry: StorageRetry(scheduler: scheduler, policy: writeSettings.retry), onMoved: onMoved)
            : nil
        writeCoordinator = WriteCoordinator(
            storage: storage, scheduler: scheduler, limits: limits, shared: self.sharedWrites, schemas: schemas,
            queries: queries, onMoved: onMoved)
        zonesWriter = ZonesWriter(
            storage: storage, scheduler: scheduler, limits: limits, settings: writeSettings,
            shared: self.sharedWrites, onMoved: onMoved)
        storeWatch = isTraced ? StoreWatch(scheduler: scheduler) : nil
        retry = StorageRetry(scheduler: scheduler, policy: writeSettings.retry, watch: storeWatch)
        shareChanges = FairGate(
            writeSettings.shareChanges, patience: writeSettings.waitMax, scheduler: scheduler)
        let feedReader = FeedReader(storage: storage, limits: limits, retry: retry)
        self.feedReader = feedReader
        pagesAhead = PagesAhead(
            scheduler: scheduler, read: { await feedReader.zonePage($0, isAhead: $1) },
            mayRead: { await feedReader.mayRead($0, of: $1) })
    }

    /// How long a server that stops goes on to find the subscriptions that its last changes have fired. Nobody else does it.
    private static let evaluationPatience = Duration.seconds(2)

    /// Refuses further requests that change data. Returns when those under way have ended, and their pushes and notices are on
    /// their way.
    package func stop() async {
        await writeCoordinator.stop()
        await zonesWriter.stop()
        await queries?.finish(within: Self.evaluationPatience)
    }
}
