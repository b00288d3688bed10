// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkSessions
import TidemarkTestKit

/// A server that dies and is started again. What it had in memory is lost; its answers after its death reach nobody.
final class SimulatedServer: @unchecked Sendable {
    /// NB: unchecked, as all of the simulation: one thread runs it.
    private let world: SimulatedWorld
    private(set) var life = 0
    private var store: MemoryStore?
    private var service: CloudService?
    private(set) var hub: SessionHub?
    private var listener: Int?
    /// Connections to be cut when it dies.
    private var links: [SimulatedLink] = []

    init(_ world: SimulatedWorld) {
        self.world = world
    }

    func start() {
        life += 1
        let store = MemoryStore(world.database, faults: world.faults(of: self))
        let storage: any Storage =
            world.planted.map { PlantedStorage(store, $0, scheduler: world.scheduler) } ?? store
        let outlet = MovedOutlet()
        let service = CloudService(
            storage: storage, scheduler: world.scheduler, limits: world.limits, onMoved: outlet.moved)
        var settings = SessionSettings(serverName: "tidemark/simulated") { $0 }
        settings.createsContainers = true
        let hub = SessionHub(service: service, scheduler: world.scheduler, settings: settings)
        outlet.connect { hub.committed($0) }
        listener = world.database.listen { hub.heard($0) }
        self.store = store
        self.service = service
        self.hub = hub
    }

    func crash() {
        store?.crash()
        service = nil
        hub = nil
        if let listener { world.database.stopListening(listener) }
        listener = nil
        let cut = links
        links = []
        for link in cut { link.cut() }
    }

    func keep(_ link: SimulatedLink) {
        links.removeAll(where: \.isClosed)
        links.append(link)
    }

    var isUp: Bool { service != nil }

    /// The answer; nil if the server is down, or died meanwhile.
    func call<Value: Sendable>(_ request: (CloudService) async -> Value) async -> Value? {
        guard let service else { return nil }
        let life = life
        let value = await request(service)
        return isUp && life == self.life ? value : nil
    }
}
