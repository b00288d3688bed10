// SPDX-License-Identifier: Apache-2.0

import TidemarkScheduling
import TidemarkTestSupport

/// Computers, their clocks and their nights.
extension SimulatedWorld {
    func makeComputer() -> SimulatedComputer {
        let computer = SimulatedComputer(in: scheduler, stopsTimers: oneIn(2))
        computers.append(computer)
        if stepsPerMishap[.clockJump] != nil, oneIn(3) { setWallClock(of: computer) }
        return computer
    }

    func setWallClock(of computer: SimulatedComputer) {
        let offset: Duration =
            switch below(6) {
            case 0: .zero
            case 1: .seconds(below(120) - 60)
            case 2: .seconds((below(24) - 12) * 3_600)
            case 3: .seconds(oneOf([-25, 25]) * 3_600)
            default: .seconds(oneOf([-365, 365]) * 86_400)
            }
        note("a wall clock is \(offset) ahead")
        computer.setWallClock(ahead: offset)
    }

    /// How long somebody does not open the lid.
    func sleepLength() -> Duration {
        switch below(hasLongNights ? 8 : 5) {
        case 0...2: .milliseconds(Int64(below(60_000)))
        case 3, 4: .seconds(below(1_800))
        case 5: .seconds(below(86_400))
        default: .seconds(86_400 * (1 + below(3)) + below(86_400))
        }
    }

    /// Time passes until every computer has woken up by itself.
    func waitForSleepers() async {
        isNight = true
        while computers.contains(where: \.isAsleep) { await scheduler.pass(.seconds(60)) }
        isNight = false
    }
}
