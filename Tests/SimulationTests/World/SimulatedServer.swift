// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport

/// A server that dies and is started again. What it had in memory is lost; its answers after its death reach nobody.
final class SimulatedServer: @unchecked Sendable {
    /// NB: unchecked, as all of the simulation: one thread runs it.
    private let world: SimulatedWorld
    let computer: SimulatedComputer
    private(set) var life = 0
    private var store: MemoryStore?
    private var server: MemoryServer?
    /// Connections to be cut when it dies.
    private var links: [MemoryLink] = []

    init(_ world: SimulatedWorld) {
        self.world = world
        computer = world.makeComputer()
    }

    /// Returns when it takes connections. It has read the store's memory epoch by then, as it does for each `Hello`.
    func start() async {
        life += 1
        let life = life
        let store = MemoryStore(world.database, faults: world.faults(of: self))
        let storage: any Storage =
            world.planted.map { PlantedStorage(store, $0, scheduler: world.scheduler) } ?? store
        var settings = SessionSettings(serverName: "tidemark/simulated", limits: world.limits) { $0 }
        settings.createsContainers = true
        settings.sweepInterval = world.sweepInterval
        let new = MemoryServer(
            on: world.database, storage: storage, scheduler: computer, settings: settings)
        _ = await new.service.standing()
        // Another one may have been started meanwhile.
        guard life == self.life else { return new.stop() }
        (server, self.store) = (new, store)
    }

    func crash() {
        life += 1
        store?.crash()
        computer.wakeUp()
        server?.stop()
        server = nil
        let cut = links
        links = []
        for link in cut { link.cut() }
    }

    /// What a connection that stands now leads to; nil: nothing.
    func accept(_ link: MemoryLink) -> SessionHub? {
        guard let server else { return nil }
        links.removeAll(where: \.isClosed)
        links.append(link)
        return server.hub
    }

    var isUp: Bool { server != nil }

    /// As when the connection comes back on which notices are heard: until then some may have been lost, those among them that
    /// this server posted itself.
    func listenAgain() {
        server?.hub.noticesMissed()
    }

    /// The answer; nil if the server is down, or died meanwhile.
    func call<Value: Sendable>(_ request: @escaping @Sendable (CloudService) async -> Value) async -> Value? {
        guard let service = server?.service else { return nil }
        let life = life
        let value = await computer.run { await request(service) }.value
        return isUp && life == self.life ? value : nil
    }
}
