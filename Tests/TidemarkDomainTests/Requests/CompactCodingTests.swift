// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkDomain

@Suite struct CompactCodingTests {
    @Test(arguments: [0, 1, 127, 128, 300, 16_384, UInt64(Int64.max), .max])
    func `a number comes back as it was written`(_ number: UInt64) {
        var writer = CompactWriter()
        writer.write(number)
        var reader = CompactReader(writer.bytes)
        #expect(reader.readNumber() == number)
        #expect(reader.isAtEnd)
    }

    @Test(
        arguments: [
            [0x80, 0x00], [0xFF, 0x00], [0xFF, 0x80, 0x00],
            [0x80], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02], [],
        ] as [[UInt8]])
    func `R-200: each number has one encoding, so a token has one too`(_ bytes: [UInt8]) {
        var reader = CompactReader(bytes)
        #expect(reader.readNumber() == nil)
    }
}
