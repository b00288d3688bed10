// SPDX-License-Identifier: Apache-2.0

import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

/// What the judge says of one history.
struct RunOutcome {
    let violations: [String]
    /// Equal for equal histories.
    let digest: String

    /// - Parameters:
    ///   - judgesRefusals: whether nothing that was refused may be written in the end.
    ///   - live: lives the history.
    init(of world: SimulatedWorld, judgesRefusals: Bool = false, _ live: () throws -> Void) {
        do {
            try live()
        } catch {
            world.history.accuse("\(error)")
        }
        let written = judgesRefusals ? world.sharing?.writtenThoughRefused(in: world.history) : nil
        violations =
            world.history.violations + (written ?? []) + world.database.complaints.map { "the store refused: \($0)" }
        digest = "\(world.history.length) commits, at \(world.scheduler.now), then \(world.scheduler.randomBits())"
    }
}

/// One history from one seed.
protocol SeededRun {
    var outcome: RunOutcome { get }
}

extension SeededRun {
    var violations: [String] { outcome.violations }
    var digest: String { outcome.digest }
}
