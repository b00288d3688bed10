// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkTestSupport
internal import TidemarkWebSocket

@Suite struct UTF8ScannerTests {
    private func isText(_ bytes: [UInt8], cuts: [Int]) -> Bool {
        var check = UTF8Scanner()
        var start = 0
        for end in cuts {
            let isFine = bytes[start..<end].withUnsafeBytes { check.take($0) }
            guard isFine else { return false }
            start = end
        }
        return check.isComplete
    }

    @Test func `RFC 3629: every sequence of up to three bytes is judged as the standard library does`() {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                for third in [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF] as [UInt8] {
                    let bytes = [first, second, third]
                    #expect(isText(bytes, cuts: [3]) == (String(validating: bytes, as: UTF8.self) != nil))
                }
            }
        }
    }

    @Test func `RFC 3629: random texts and their corruptions are judged as the standard library does, in any split`() {
        var random = SeededRandom()
        for _ in 0..<3_000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...30, using: &random) {
                let value = UInt32.random(in: 0...0x10FFFF, using: &random) >> UInt32.random(in: 0...20, using: &random)
                Unicode.Scalar(value).map { text.unicodeScalars.append($0) }
            }
            var bytes = Array(text.utf8)
            if Bool.random(using: &random), !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8(
                    1 << Int.random(in: 0..<8, using: &random))
            }
            let expected = String(validating: bytes, as: UTF8.self) != nil
            #expect(isText(bytes, cuts: [bytes.count]) == expected, "seed \(random.seed)")
            #expect(isText(bytes, cuts: Array(0...bytes.count)) == expected, "seed \(random.seed)")
            #expect(isText(bytes, cuts: Peer.randomCuts(bytes.count, &random)) == expected, "seed \(random.seed)")
        }
    }

    @Test(
        arguments: [
            [0xC0], [0xC1], [0xF5], [0xFF], [0x80], [0xE0, 0x9F], [0xED, 0xA0], [0xF0, 0x8F], [0xF4, 0x90],
            [0xE2, 0x82, 0x41], [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xF4, 0x90],
        ] as [[UInt8]])
    func `RFC 6455 8_1: the first byte that cannot be is the one that is refused`(_ bytes: [UInt8]) {
        var check = UTF8Scanner()
        let before = bytes.dropLast().withUnsafeBytes { check.take($0) }
        #expect(before)
        let last = bytes.suffix(1).withUnsafeBytes { check.take($0) }
        #expect(!last)
    }
}
