// SPDX-License-Identifier: Apache-2.0

import TidemarkKit
import TidemarkTestKit
import TidemarkTestSupport

/// Somebody who comes back with what an app had stored long ago, and fetches from there (I-2).
final class BookmarkReader: TidemarkSyncEngineDelegate, CloudTransport, @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    private let world: SimulatedWorld
    private(set) var fetched: FetchedView

    init(_ world: SimulatedWorld, _ bookmark: AppDisk.Bookmark) {
        self.world = world
        fetched = bookmark.fetched
    }

    /// - Throws: what the fetch throws.
    func fetch(from bookmark: AppDisk.Bookmark) async throws {
        let context = CloudContext(
            containerIdentifier: "iCloud.test", token: "alice", transport: self, scheduler: world.scheduler,
            engineScheduler: world.scheduler)
        var configuration = CKSyncEngine.Configuration(
            database: CKContainer(context: context).privateCloudDatabase, stateSerialization: bookmark.state,
            delegate: self)
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        try await engine.fetchChanges()
    }

    func open(observer: any CloudChannelObserver) -> any CloudChannel {
        let server = world.oneOf(world.servers)
        return MemoryLink.open(over: world, observer: observer, to: server.accept).channel
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        fetched.take(event)
    }

    func handleStoreEvent(_ event: TidemarkStoreEvent, syncEngine: CKSyncEngine) async {
        fetched.take(event)
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}
