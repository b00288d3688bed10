// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkBytes

@Suite struct PagePlaceTests {
    private func pointer(_ address: Int) throws -> UnsafeRawPointer {
        try #require(UnsafeRawPointer(bitPattern: address))
    }

    @Test func `slow is a target up to 31 bytes further in its page, and nothing else`() throws {
        let source = try pointer(0x7F12_3456_7FF0)
        for distance in -4_096...8_192 {
            let target = try pointer(0x7F12_3456_7FF0 + distance)
            let ahead = (distance + 4_096) % 4_096
            #expect(PagePlace.isSlow(from: source, to: target) == (ahead >= 1 && ahead <= 31), "\(distance)")
        }
    }

    @Test func `a good place is never slow, to or from a pointer and what is up to 15 bytes behind it`() throws {
        for start in 0x10_0000..<0x10_2000 {
            let other = try pointer(start)
            let (before, after) = (PagePlace.good(to: other), PagePlace.good(from: other))
            for behind in 0...15 {
                #expect(!PagePlace.isSlow(from: try pointer(0x20_0000 + before), to: other + behind))
                #expect(!PagePlace.isSlow(from: other + behind, to: try pointer(0x20_0000 + after)))
            }
        }
    }

    @Test func `memory begins at its place, and all of it can be written`() {
        for place in [0, 16, 64, 2_000, 4_080] {
            for byteCount in [1, 100, 16_384] {
                PagePlace.withMemory(byteCount, at: place) { memory in
                    #expect(memory.count == byteCount)
                    #expect(Int(bitPattern: memory.baseAddress) & 4_095 == place)
                    memory.initializeMemory(as: UInt8.self, repeating: 7)
                }
            }
        }
    }
}
