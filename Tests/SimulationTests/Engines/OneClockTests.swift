// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

/// One wall clock is wrong, and all others are right: a device's, or the server's. Nothing else goes wrong but connections
/// that are cut and programs that are started again.
@Suite struct OneClockTests {
    enum Owner: CaseIterable { case device, server }

    private static let hours = [25, -25, 8_760, -8_760]

    @Test(arguments: Owner.allCases, hours)
    func `R-157: one clock alone that is set wrong, and right again, refuses no save`(_ owner: Owner, _ hours: Int)
        throws
    {
        for seed in 1...3 as ClosedRange<UInt64> {
            let world = SimulatedWorld(seed: seed, planted: nil, clients: .uniting)
            try world.scheduler.simulate(stepsMax: 3_000_000) { try await Self.live(in: world, owner, hours) }
            #expect(world.history.violations == [], "seed \(seed)")
            #expect(world.database.complaints == [], "seed \(seed)")
        }
    }

    private static func live(in world: SimulatedWorld, _ owner: Owner, _ hours: Int) async throws {
        world.database.issueCredential(hash: Array("alice".utf8), account: "alice")
        try await world.prepare(serverCount: 1, zones: [])
        await world.calmDown()
        let fleet = SimulatedFleet(world, count: 2, directory: nil)
        for computer in world.computers { computer.setWallClock(ahead: .zero) }
        for app in fleet.apps { app.start() }
        await world.scheduler.pass(.seconds(30))
        let computer = owner == .device ? fleet.apps[0].computer : world.servers[0].computer
        for (step, ahead) in [hours, 0, hours, 0].enumerated() {
            // While a save is under way: its request is sent, and perhaps repeated, under another time.
            edit(fleet, "\(step).during")
            await world.scheduler.pass(world.shortDelay())
            computer.setWallClock(ahead: .seconds(ahead * 3_600))
            for app in fleet.apps { app.process?.cutLinks() }
            await world.scheduler.pass(.seconds(60))
            edit(fleet, "\(step).after")
            await world.scheduler.pass(.seconds(60))
            try await restart(owner, world, fleet)
            edit(fleet, "\(step).restarted")
            await world.scheduler.pass(.seconds(60))
        }
        await EngineJudge.judgePushes(world, fleet.apps)
        await EngineJudge(world, fleet.apps).judge()
    }

    private static func edit(_ fleet: SimulatedFleet, _ text: String) {
        for app in fleet.apps { app.edit("\(app.number).\(text)") }
    }

    /// The program whose computer's clock was set.
    private static func restart(_ owner: Owner, _ world: SimulatedWorld, _ fleet: SimulatedFleet) async throws {
        switch owner {
        case .device:
            fleet.apps[0].die()
            await world.scheduler.pass(world.delay())
            fleet.apps[0].start()
        case .server:
            world.servers[0].crash()
            await world.servers[0].start()
        }
        await world.scheduler.pass(.seconds(60))
    }
}
