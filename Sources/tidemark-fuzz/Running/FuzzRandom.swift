// SPDX-License-Identifier: Apache-2.0

/// Random numbers that follow from a seed (SplitMix64), or from an input, so that the input alone repeats a finding.
struct FuzzRandom {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// FNV-1a of the input is the seed.
    init(_ input: [UInt8]) {
        state = input.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    /// A number in `0..<bound`; `bound` is positive.
    mutating func next(below bound: Int) -> Int {
        Int(next() % UInt64(bound))
    }

    /// `bytes` in pieces of random lengths: mostly short ones, so that every boundary is met.
    mutating func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var start = 0
        let longest = 1 << next(below: 9)
        while start < bytes.count {
            let end = min(bytes.count, start + 1 + next(below: longest))
            pieces.append(bytes[start..<end])
            start = end
        }
        return pieces
    }
}
