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
        for device in devices.all { await judgeEnd(of: device, in: world) }
    }

    /// From now on nothing changes: whoever goes on from any bookmark comes to what is stored.
    private static func judgeEnd(of device: SimulatedDevice, in world: SimulatedWorld) async {
        let stored = Dictionary(
            uniqueKeysWithValues: world.history.zones.values.filter { $0.endedAt == nil }
                .filter { $0.name != ZoneName.default }.map { ($0.name, $0.records.compactMapValues(\.text)) })
        for (index, bookmark) in ([device.bookmark] + device.bookmarks).enumerated() {
            device.bookmark = bookmark
            guard await device.sync() else {
                world.history.accuse("in calm weather a fetch failed")
                continue
            }
            if device.bookmark.views.mapValues(\.living) != stored {
                world.history.accuse("I-2: from bookmark \(index) a device does not come to what is stored")
            }
        }
    }
}
