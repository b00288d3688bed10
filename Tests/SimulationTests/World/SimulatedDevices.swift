// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkScheduling
import TidemarkTestSupport

/// The simple devices of one run: those that it began with, and copies that were made of them since.
final class SimulatedDevices: @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    /// More would only take more time.
    private static let copiesMax = 3

    private let world: SimulatedWorld
    private(set) var all: [SimulatedDevice] = []
    private var lives: [Task<Void, Never>] = []
    private var copyCount = 0

    /// - Parameter guests: of whom there are devices beside the owner's, one for each entry.
    init(_ world: SimulatedWorld, count: Int, guests: [Identity] = []) {
        self.world = world
        for number in 0..<count { all.append(SimulatedDevice(world, number: number)) }
        for guest in guests { all.append(SimulatedDevice(world, number: all.count, guest: guest)) }
    }

    /// Returns when all have done so many steps, copies too.
    func live(stepCount: Int) async {
        for device in all { begin(device, stepCount) }
        world.mayMeet(.copy) { [unowned self] in
            guard copyCount < Self.copiesMax else { return }
            copyCount += 1
            let copy = SimulatedDevice(copyOf: world.oneOf(all), number: all.count, isRunning: world.oneIn(2))
            world.note("device \(all.count) is a copy")
            all.append(copy)
            begin(copy, stepCount / 2)
        }
        while !lives.isEmpty { await lives.removeFirst().value }
    }

    private func begin(_ device: SimulatedDevice, _ stepCount: Int) {
        lives.append(world.scheduler.run { await device.live(stepCount: stepCount) })
    }
}
