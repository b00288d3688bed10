// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkScheduling
import TidemarkTestSupport

/// The devices of one run: those that it began with, and copies that were made of them since.
final class SimulatedFleet: @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    /// More would only take more time.
    private static let copiesMax = 2

    private let world: SimulatedWorld
    /// For journals; nil: there are none.
    private let directory: String?
    private(set) var apps: [SimulatedApp] = []
    private var copyCount = 0

    init(_ world: SimulatedWorld, count: Int, directory: String?) {
        self.world = world
        self.directory = directory
        for _ in 0..<count { add(SimulatedApp(world, number: apps.count, journal: journal())) }
    }

    private func journal() -> URL? {
        directory.map { URL(fileURLWithPath: "\($0)/journal-\(apps.count)") }
    }

    private func add(_ app: SimulatedApp) {
        apps.append(app)
        world.mayMeet(.copy) { [unowned self] in copy(app) }
    }

    /// A backup that is restored on a second device, a folder that is copied, an image that is run twice: from now on there
    /// are two of what is on the device's disk at this very moment.
    func copy(_ original: SimulatedApp) {
        guard copyCount < Self.copiesMax else { return }
        copyCount += 1
        let copy = SimulatedApp(copyOf: original, number: apps.count, journal: journal())
        add(copy)
        let pause = world.oneIn(2) ? world.delay() : .seconds(world.below(60))
        world.scheduler.run { [world] in
            await world.scheduler.pass(pause)
            copy.start()
        }
    }
}
