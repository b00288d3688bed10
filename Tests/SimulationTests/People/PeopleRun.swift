// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

/// One history in which people come to a share in each way that there is: by name, by an address, by a one-time link, by the
/// URL, or by asking first. The owner and administrators invite, answer, block and remove them.
///
/// Each step is one operation by somebody, or two at once who want the same place. Its verdict, and what everybody sees
/// afterwards, is compared with ``PeopleModel``. Meanwhile three devices of each user edit and fetch at random moments, in
/// pages of all sizes up to 20. The weather is good: ``SharingRun`` is about bad weather.
struct PeopleRun: SeededRun {
    static let guestNames = ["bob", "carol", "dave", "erin"]
    static let addresses = ["b@x": "bob", "c@x": "carol", "c@y": "carol", "d@x": "dave"]
    private static let devicesOfUser = 3
    private static let pageRecordsMax = 21

    let outcome: RunOutcome

    init(seed: UInt64, planted: PlantedFault? = nil) {
        let world = SimulatedWorld(seed: seed, planted: planted, clients: .planning, isRestored: false)
        outcome = RunOutcome(of: world, judgesRefusals: true) {
            try world.scheduler.simulate { try await Self.live(in: world) }
        }
    }

    private static func live(in world: SimulatedWorld) async throws {
        try await world.prepare(serverCount: 1 + world.below(3))
        try await world.admit(guestNames)
        for (address, account) in addresses.sorted(by: { $0.key < $1.key }) {
            world.database.addAddress(address, account: account)
        }
        await world.calmDown()
        guard let owner = world.identity else { return }
        var devices: [SimulatedDevice] = []
        for guest in [nil] + world.guests.map(Optional.some) {
            for _ in 0..<devicesOfUser {
                devices.append(SimulatedDevice(world, number: devices.count, guest: guest))
                devices.last?.pageRecordsMax = pageRecordsMax
            }
        }
        let people = PeopleHistory(world, owner: owner, devices)
        for _ in 0..<(25 + world.below(30)) where !world.isFaultSeen { await people.step() }
        await DigestJudge.judge(world)
        for device in devices where !world.isFaultSeen { await EndJudge.judge(device, in: world) }
    }
}
