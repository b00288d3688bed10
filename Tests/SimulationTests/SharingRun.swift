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
        for device in devices.all { await judgeEnd(of: device, in: world) }
    }

    /// From now on nothing changes: whoever goes on from any bookmark comes to what is stored, a guest to that of the zones
    /// to which they have access.
    static func judgeEnd(of device: SimulatedDevice, in world: SimulatedWorld) async {
        let living = world.history.zones.values.filter { $0.endedAt == nil && $0.name != ZoneName.default }
        let shown = living.filter { zone in
            device.guest.map { world.sharing?.hasAccess($0.user, to: zone.id) == true } ?? true
        }
        let stored = Dictionary(uniqueKeysWithValues: shown.map { ($0.name, $0.records.compactMapValues(\.text)) })
        for (index, bookmark) in ([device.bookmark] + device.bookmarks).enumerated() {
            device.bookmark = bookmark
            guard await device.sync() else {
                world.history.accuse("in calm weather a fetch failed")
                continue
            }
            if device.bookmark.views.mapValues(\.living) != stored {
                let who = device.guest == nil ? "an owner's device" : "a guest's device"
                world.history.accuse("I-2: from bookmark \(index) \(who) does not come to what is stored")
            }
        }
    }
}
