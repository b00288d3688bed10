// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

/// One history in which an owner shares zones with guests, who come, edit and go.
///
/// It is beside ``SimulationRun``, so that the seeds of that one keep their histories. If the store is restored, access goes
/// back as well: who was let in since is out, and who was removed since is in again.
struct SharingRun: SeededRun {
    let outcome: RunOutcome

    init(seed: UInt64, planted: PlantedFault? = nil) {
        let world = SimulatedWorld(seed: seed, planted: planted, clients: .planning)
        outcome = RunOutcome(of: world, judgesRefusals: true) {
            try world.scheduler.simulate { try await Self.live(in: world) }
        }
    }

    private static func live(in world: SimulatedWorld) async throws {
        try await world.prepare(serverCount: 1 + world.below(3))
        try await world.admit(["bob", "carol"])
        // Of bob two may be about, of carol one at most.
        let guests = world.guests.enumerated().flatMap { index, guest in
            Array(repeating: guest, count: index == 0 ? 1 + world.below(2) : world.below(2))
        }
        let devices = SimulatedDevices(world, count: 1 + world.below(2), guests: guests)
        for _ in SimulatedWorld.zoneNames { await devices.all.first?.changeShare() }
        await devices.live(stepCount: 10 + world.below(20))
        await world.calmDown()
        await DigestJudge.judge(world)
        for device in devices.all { await EndJudge.judge(device, in: world) }
    }
}
