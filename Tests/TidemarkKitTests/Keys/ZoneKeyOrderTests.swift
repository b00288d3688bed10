// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkKit

/// Which keys of a zone a device knows to be older than others.
@Suite struct ZoneKeyOrderTests {
    private static func id(_ number: Int) -> [UInt8] {
        Array(repeating: 0, count: 8) + withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
    }

    private static func ids(_ numbers: Int...) -> [[UInt8]] { numbers.map(id) }

    @Test func `R-286: what was the newest, or was given before another key, does not become the newest again`() throws
    {
        let none = ZoneKeyOrder()
        #expect(none.going(to: Self.id(1), given: Self.ids(1, 2)) == nil, "the owner has given a newer one")
        let second = try #require(none.going(to: Self.id(2), given: Self.ids(1, 2)))
        #expect(second.going(to: Self.id(2), given: Self.ids(1, 2)) == second)
        #expect(second.going(to: Self.id(2), given: []) == second, "nothing is given any more")
        #expect(second.going(to: Self.id(1), given: Self.ids(1)) == nil)
        // An import has added an older one.
        let imported = try #require(second.going(to: Self.id(2), given: Self.ids(9, 1, 2)))
        #expect(imported.going(to: Self.id(9), given: Self.ids(9)) == nil)
        // Of a zone that was made again.
        let again = try #require(imported.going(to: Self.id(5), given: Self.ids(5)))
        for old in [1, 2, 9] { #expect(again.going(to: Self.id(old), given: Self.ids(old)) == nil) }
        #expect(again.going(to: Self.id(6), given: Self.ids(5, 6)) != nil)
    }

    @Test func `R-286: the order is read as it was written, and has a bound`() throws {
        var order = ZoneKeyOrder()
        #expect(ZoneKeyOrder(bytes: order.bytes) == nil)
        for number in 1...1_001 { order = try #require(order.going(to: Self.id(number), given: [])) }
        #expect(order.bytes.count == 16_000)
        #expect(ZoneKeyOrder(bytes: order.bytes) == order)
        #expect(ZoneKeyOrder(bytes: Array(order.bytes.dropLast())) == nil)
        #expect(order.going(to: Self.id(2), given: []) == nil)
        #expect(order.going(to: Self.id(1), given: []) != nil, "the oldest are forgotten first")
    }
}
