// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

/// One history from one seed, and what the judge says of it.
struct SimulationRun: SeededRun {
    let outcome: RunOutcome

    init(seed: UInt64, planted: PlantedFault? = nil) {
        let world = SimulatedWorld(seed: seed, planted: planted, clients: .planning)
        outcome = RunOutcome(of: world) {
            try world.scheduler.simulate { try await Self.live(in: world) }
        }
    }

    private static func live(in world: SimulatedWorld) async throws {
        try await world.prepare(serverCount: 1 + world.below(3))
        let devices = SimulatedDevices(world, count: 2 + world.below(4))
        await devices.live(stepCount: 8 + world.below(20))
        await world.calmDown()
        await DigestJudge.judge(world)
        for device in devices.all { await EndJudge.judge(device, in: world) }
    }
}
