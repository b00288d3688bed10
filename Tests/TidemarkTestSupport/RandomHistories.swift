// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The random histories that a test compares with a naive model. Environment:
/// - `TIDEMARK_STEPS`: how many steps all histories of a test have together, at least. `make model` sets it.
/// - `TIDEMARK_SEEDS`: how many histories. Unless either is set there are as many as take some seconds.
/// - `TIDEMARK_TEST_SEED`: the seed of the only one.
///
/// The first seed is printed, and the others follow it.
package struct RandomHistories: Sendable {
    /// The steps of each history.
    package let stepCount: Int
    package let seeds: [UInt64]

    /// - Parameters:
    ///   - what: is printed with the seed.
    ///   - count: how many, if the environment says nothing.
    package init(of what: String, stepCount: Int, count: Int) {
        let first = SeededRandom().seed
        let isReplay = getenv("TIDEMARK_TEST_SEED") != nil
        let enough = Self.number("TIDEMARK_STEPS").map { ($0 - 1) / stepCount + 1 }
        let count = isReplay ? 1 : enough ?? Self.number("TIDEMARK_SEEDS") ?? count
        self.stepCount = stepCount
        seeds = (0..<UInt64(count)).map { first &+ $0 }
        print("\(what): TIDEMARK_TEST_SEED=\(first), histories: \(count), steps of each: \(stepCount)")
    }

    /// Whether there are so many that each kind of step must have come.
    package var areMany: Bool { seeds.count >= 100 }

    /// A positive number of the environment.
    private static func number(_ name: String) -> Int? {
        guard let text = getenv(name), let number = Int(String(cString: text)), number > 0 else { return nil }
        return number
    }
}
