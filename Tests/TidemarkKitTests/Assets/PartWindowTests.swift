// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// Which parts of a content are under way.
@Suite struct PartWindowTests {
    @Test func `parts follow each other, the last one is shorter, and the oldest is answered first`() {
        var window = PartWindow(end: 10)
        #expect(window.isEmpty && window.hasMore)
        #expect([4, 4, 4].map { window.add(byteCountMax: $0) } == [0..<4, 4..<8, 8..<10])
        #expect(!window.isEmpty && !window.hasMore)
        #expect(window.removeOldest() == 0..<4 && window.removeOldest() == 4..<8 && window.removeOldest() == 8..<10)
        #expect(window.removeOldest() == nil && window.isEmpty)
    }

    @Test func `a content without bytes has one part, which is empty`() {
        var window = PartWindow(end: 0)
        #expect(!window.hasMore)
        #expect(window.add(byteCountMax: 4) == 0..<0)
        #expect(!window.isEmpty)
        #expect(window.removeOldest() == 0..<0)
    }

    @Test func `what is under way is forgotten when it begins anew, at a place within the content`() {
        var window = PartWindow(end: 10)
        for (offset, next) in [(6, 6), (-1, 0), (11, 10), (10, 10), (0, 0)] as [(Int64, Int64)] {
            _ = window.add(byteCountMax: 3)
            window.restart(at: offset)
            #expect(window.isEmpty && window.next == next && window.hasMore == (next < 10))
        }
    }

    @Test func `in any history parts are in order, and none is missing or double`() {
        var random = SeededRandom()
        for _ in 0..<300 {
            var window = PartWindow(end: Int64.random(in: 0...100, using: &random))
            var answered: Int64 = 0
            while answered < window.end {
                switch Int.random(in: 0..<6, using: &random) {
                case 0: window.restart(at: answered)
                case 1...3: if window.hasMore { _ = window.add(byteCountMax: Int.random(in: 1...30, using: &random)) }
                default:
                    guard let part = window.removeOldest() else { continue }
                    #expect(part.lowerBound == answered && !part.isEmpty, "seed \(random.seed)")
                    answered = part.upperBound
                }
            }
            #expect(window.isEmpty || window.next == window.end, "seed \(random.seed)")
        }
    }
}
