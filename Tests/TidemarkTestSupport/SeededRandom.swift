// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Random numbers that are the same for the same seed, on every machine (SplitMix64).
///
/// A test prints its seed when it fails, and takes it from `TIDEMARK_TEST_SEED` to fail the same way again.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    package let seed: UInt64
    private var state: UInt64

    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// With the seed that the environment names, or a new one.
    package init() {
        self.init(seed: Self.environmentSeed ?? UInt64.random(in: 0...UInt64.max))
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    package mutating func bytes(count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// A number in `0..<bound`; 0 if there is none.
    package mutating func below(_ bound: Int) -> Int {
        bound <= 1 ? 0 : Int(next() % UInt64(bound))
    }

    /// True once in `count` calls, on average.
    package mutating func oneIn(_ count: Int) -> Bool {
        below(count) == 0
    }

    /// One of the values, of which there is at least one.
    package mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &self)]
    }
}

extension SeededRandom {
    fileprivate static var environmentSeed: UInt64? {
        getenv("TIDEMARK_TEST_SEED").flatMap { UInt64(String(cString: $0)) }
    }
}
