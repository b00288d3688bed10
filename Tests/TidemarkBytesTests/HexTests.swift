// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes

@Suite struct HexTests {
    @Test func `every byte and length survives`() {
        for count in 0...260 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167) }
            #expect(Hex.decode(Hex.encode(bytes)) == bytes)
        }
    }

    @Test(
        arguments: [
            ("", [UInt8]()), ("00ff10", [0, 255, 16]), ("00FF1a", [0, 255, 26]), ("0", nil), ("0g", nil), ("g0", nil),
            (" 00", nil), ("0x00", nil), ("é", nil), ("00\u{0}0", nil), ("/0", nil), (":0", nil), ("@0", nil),
            ("`0", nil),
        ] as [(String, [UInt8]?)])
    func `hexadecimal digits come in pairs`(text: String, bytes: [UInt8]?) {
        #expect(Hex.decode(text) == bytes)
    }
}
