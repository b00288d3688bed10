// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
package import TidemarkScheduling

/// Everything that a server can be asked for, over one ``Storage``: what sessions call, one file a request.
///
/// Holds no state that matters: any number of services, in any number of processes, may work on the same store. Every
/// call is bounded in time, and answers with a reason instead of throwing. Callable from any thread; tasks of its own run
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
    let directory = Directory()
    /// Nil: this server keeps no assets.
    let assets: (any AssetStore)?
    /// Nil: this server keeps no account keys.
    let escrow: (any KeyEscrow)?
    /// For what is removed when it is old.
    let clockWatch: Mutex<ClockWatch>

    /// - Parameters:
    ///   - sharedWrites: of all services of the process, if there are several; nil: it is the only one.
    ///   - onMoved: called after each commit that changed something, once it is durable: for pushes to the devices that
    ///     are connected here, and notices to other servers. Must not block.
    package init(
        storage: any Storage, assets: (any AssetStore)? = nil, escrow: (any KeyEscrow)? = nil,
        scheduler: any Scheduler, limits: Limits, writeSettings: WriteSettings = WriteSettings(),
        sharedWrites: SharedWrites? = nil, onMoved: @escaping @Sendable (ZonesMoved) -> Void
    ) {
        self.storage = storage
        self.assets = assets
        self.escrow = escrow
        self.scheduler = scheduler
        self.limits = limits
        clockWatch = Mutex(ClockWatch(wallClock: scheduler.wallClockMilliseconds, steady: scheduler.now))
        schemas = SchemaCache(storage: storage)
        self.sharedWrites = sharedWrites ?? SharedWrites(settings: writeSettings)
        writeCoordinator = WriteCoordinator(
            storage: storage, scheduler: scheduler, limits: limits, shared: self.sharedWrites, schemas: schemas,
            onMoved: onMoved)
        zonesWriter = ZonesWriter(
            storage: storage, scheduler: scheduler, limits: limits, settings: writeSettings,
            shared: self.sharedWrites, onMoved: onMoved)
        retry = StorageRetry(scheduler: scheduler, policy: writeSettings.retry)
        let feedReader = FeedReader(storage: storage, limits: limits, retry: retry)
        self.feedReader = feedReader
        pagesAhead = PagesAhead(scheduler: scheduler) { await feedReader.zonePage($0) }
    }

    /// Refuses requests that change data from now on, and returns when those that are being written have ended.
    package func stop() async {
        await writeCoordinator.stop()
        await zonesWriter.stop()
    }
}
