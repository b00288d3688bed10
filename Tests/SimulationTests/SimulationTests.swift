// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Servers and devices in virtual time, with every fault that we could think of (I-1 … I-3).
///
/// `TIDEMARK_SEED` and `TIDEMARK_SEEDS` say where to begin and how many to try.
@Suite struct SimulationTests {
    private static func setting(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test func `I-1, I-2, I-3: no fresh seed breaks a promise`() {
        let first = Self.setting("TIDEMARK_SEED") ?? UInt64.random(in: 0...(.max / 2))
        let count = Self.setting("TIDEMARK_SEEDS") ?? 500
        print("simulation: \(count) seeds from \(first)")
        for seed in first..<(first + count) {
            let violations = SimulationRun(seed: seed).violations
            #expect(violations.isEmpty, "seed \(seed): \(violations.prefix(3))")
            if !violations.isEmpty { return }
        }
    }

    @Test func `I-1, I-2, I-4: real engines end equal, whatever the seed`() {
        let first = Self.setting("TIDEMARK_SEED") ?? UInt64.random(in: 0...(.max / 2))
        let count = (Self.setting("TIDEMARK_SEEDS") ?? 500) / 5
        print("simulation of engines: \(count) seeds from \(first)")
        for seed in first..<(first + count) {
            let violations = EngineRun(seed: seed).violations
            #expect(violations.isEmpty, "seed \(seed): \(violations.prefix(3))")
            if !violations.isEmpty { return }
        }
    }

    @Test(arguments: RecordedSeeds.found) func `seeds that once found something find nothing any more`(_ seed: UInt64) {
        #expect(SimulationRun(seed: seed).violations == [])
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64]) func `a seed replays exactly`(_ seed: UInt64) {
        let first = SimulationRun(seed: seed)
        #expect(SimulationRun(seed: seed).digest == first.digest)
        #expect(SimulationRun(seed: seed + 1_000).digest != first.digest)
        #expect(EngineRun(seed: seed).digest == EngineRun(seed: seed).digest)
    }

    /// From a seed that showed it when it was written down; a change of the program changes histories, so a few more.
    @Test(arguments: PlantedFault.allCases) func `the judge sees a planted fault`(_ fault: PlantedFault) {
        let first = RecordedSeeds.showing[fault] ?? 0
        for seed in first..<(first + 3_000) where !SimulationRun(seed: seed, planted: fault).violations.isEmpty {
            if seed != first { print("simulation: \(fault) shows with seed \(seed)") }
            return
        }
        Issue.record("\(fault) was not seen")
    }
}
