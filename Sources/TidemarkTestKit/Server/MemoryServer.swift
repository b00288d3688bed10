// SPDX-License-Identifier: Apache-2.0

package import TidemarkScheduling
package import TidemarkService
package import TidemarkSessions

/// A server in memory: the real sessions and service over a ``MemoryDatabase``, which it may share with others.
package final class MemoryServer: Sendable {
    package let service: CloudService
    package let hub: SessionHub
    private let database: MemoryDatabase
    private let listener: Int

    /// - Parameters:
    ///   - storage: nil for a ``MemoryStore`` without faults.
    ///   - settings: what sessions allow; their limits are the service's too.
    ///   - firesQueries: whether changes fire query subscriptions.
    package init(
        on database: MemoryDatabase, storage: (any Storage)? = nil, assets: (any AssetStore)? = nil,
        escrow: (any KeyEscrow)? = nil, scheduler: any Scheduler, settings: SessionSettings,
        firesQueries: Bool = false
    ) {
        let outlet = MovedOutlet()
        service = CloudService(
            storage: storage ?? MemoryStore(database), assets: assets, escrow: escrow, scheduler: scheduler,
            limits: settings.limits, firesQueries: firesQueries, onMoved: outlet.moved)
        let hub = SessionHub(service: service, scheduler: scheduler, settings: settings)
        outlet.connect { [weak hub] in hub?.committed($0) }
        listener = database.listen { [weak hub] in hub?.heard($0) }
        self.hub = hub
        self.database = database
    }

    /// Receives no more notices. The owner of its connections cuts them.
    package func stop() {
        database.stopListening(listener)
    }
}
