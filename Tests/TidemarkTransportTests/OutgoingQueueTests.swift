// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkTransport

@Suite struct OutgoingQueueTests {
    private func bytes(_ count: Int, _ seed: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &+ seed) }
    }

    /// Takes what is next, at most so many bytes.
    private func take(_ queue: inout OutgoingQueue, _ count: Int) -> [UInt8] {
        let taken = queue.withBytes(atMost: count) { Array($0) }
        queue.withBytes(atMost: count, maskedAt: 144) { #expect(Array($0) == taken) }
        queue.discard(taken.count)
        return taken
    }

    @Test func `small and large, shared and written, leave in the order in which they came`() {
        var queue = OutgoingQueue()
        var expected: [UInt8] = []
        var taken: [UInt8] = []
        let sizes = [1, 10, 65_536, 3, 65_537, 200_000, 2, 0, 40_000, 40_000, 100, 65_536, 7]
        for round in 0..<4 {
            for (index, size) in sizes.enumerated() {
                let bytes = bytes(size, index)
                expected += bytes
                if (index + round).isMultiple(of: 2) {
                    queue.append(shared: bytes)
                } else {
                    queue.append(about: size) { $0 += bytes }
                }
                #expect(queue.count == expected.count - taken.count)
                if round > 1 { taken += take(&queue, 30_000) }
            }
        }
        while !queue.isEmpty {
            let next = take(&queue, 30_000)
            guard !next.isEmpty else { break }
            taken += next
        }
        #expect(taken == expected)
        #expect(queue.isEmpty && queue.count == 0)
    }

    @Test func `what is large is not copied, and what is shared is not changed`() {
        var queue = OutgoingQueue()
        let large = bytes(100_000, 1)
        let small = bytes(10, 2)
        let start = large.withUnsafeBytes { $0.baseAddress }
        queue.append(shared: small)
        queue.append(about: 5) { $0 += [1, 2, 3, 4, 5] }
        queue.append(shared: large)
        #expect(small == bytes(10, 2))
        #expect(take(&queue, 1_000) == small + [1, 2, 3, 4, 5])
        #expect(queue.withBytes(atMost: 1) { $0.baseAddress } == start)
        queue.clear()
        #expect(queue.isEmpty)
        queue.append(shared: small)
        #expect(take(&queue, 100) == small)
    }

    @Test(arguments: [1, 7, 4_096, 65_536])
    func `what is masked leaves masked, and is not changed where it lies`(_ step: Int) {
        var queue = OutgoingQueue()
        let large = bytes(100_003, 1)
        let key: UInt32 = 0x8124_57A3
        queue.append(masked: large, key: key)
        queue.append(about: 3) { $0 += [1, 2, 3] }
        queue.append(masked: large, key: ~key)
        #expect(queue.count == 2 * large.count + 3)
        func masked(_ key: UInt32) -> [UInt8] {
            large.enumerated().map { $1 ^ UInt8(truncatingIfNeeded: key >> (UInt32($0 & 3) * 8)) }
        }
        var taken: [UInt8] = []
        while !queue.isEmpty {
            let next = take(&queue, step)
            guard !next.isEmpty else { break }
            taken += next
        }
        #expect(taken == masked(key) + [1, 2, 3] + masked(~key))
        #expect(large == bytes(100_003, 1))
    }

    @Test func `R-722: bytes that were sent take memory until their array ends`() {
        var queue = OutgoingQueue()
        queue.append(shared: bytes(100_000, 1))
        queue.append(shared: bytes(70_000, 2))
        #expect(queue.memory == 170_000)
        queue.discard(99_999)
        #expect(queue.count == 70_001)
        #expect(queue.memory == 170_000)
        queue.discard(1)
        #expect(queue.memory == 70_000)
        queue.discard(70_000)
        #expect(queue.memory == 0)
    }
}
