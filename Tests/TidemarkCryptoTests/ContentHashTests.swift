// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkCrypto
import TidemarkTestSupport

@Suite struct ContentHashTests {
    /// As the definition says it, without anything that makes it fast.
    private static func definition(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.count > ContentHash.leafByteCount else { return SHA256.hash(bytes) }
        let starts = stride(from: 0, to: bytes.count, by: ContentHash.leafByteCount)
        return SHA256.hash(starts.flatMap { SHA256.hash(Array(bytes[$0...].prefix(ContentHash.leafByteCount))) })
    }

    /// Computed with Python's hashlib.
    @Test(arguments: [
        (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (32_768, "b217b65e6f205f41b3fb8ef90cf7c44da93f630ca03965273485bbb21a5cccf5"),
        (32_769, "ac0ad30a850d39ca41ba1888c1a33e71ea8bb9071de4baa15c1f006aadf48da3"),
        (1_000_000, "e38bc18652af83b8114b4c4c339984439aac9e0c099ac62f3a99e974bae57702"),
    ])
    func `content has the hash that others compute`(count: Int, hash: String) {
        #expect(Hex.encode(ContentHash.of([UInt8](repeating: UInt8(ascii: "a"), count: count))) == hash)
    }

    @Test(arguments: ContentHash.Lanes.allCases.filter(\.isAvailable))
    func `however many leaves are hashed at once, and however the content comes, the hash is the same`(
        lanes: ContentHash.Lanes
    ) {
        var random = SeededRandom()
        for round in 0..<60 {
            let leaves = Int.random(in: 0...40, using: &random)
            let count = max(0, leaves * ContentHash.leafByteCount + Int.random(in: -1...1, using: &random))
            var content = [UInt8](repeating: 0, count: count)
            for index in 0..<count { content[index] = UInt8(truncatingIfNeeded: index &* 167 &+ index >> 7 &+ round) }
            for _ in 0..<min(count, 5) { content[Int.random(in: 0..<count, using: &random)] ^= 0xFF }
            var hash = ContentHash(lanes: lanes)
            var offset = 0
            while offset < count {
                // Mostly whole leaves, as files come in: else little would ever be hashed at once.
                let whole = Int.random(in: 1...33, using: &random) * ContentHash.leafByteCount
                let isWhole = Int.random(in: 0..<4, using: &random) > 0
                let size = isWhole ? whole : Int.random(in: 0...whole, using: &random)
                hash.update(Array(content[offset..<min(count, offset + size)]))
                offset += size
            }
            #expect(hash.finish() == Self.definition(content), "\(count) bytes, seed \(random.seed)")
        }
    }
}
