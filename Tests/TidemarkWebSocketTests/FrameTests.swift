// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkTestSupport
internal import TidemarkWebSocket

@Suite struct FrameTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let error: WebSocketError.Code
        let role: WebSocketRole

        init(_ name: String, _ bytes: [UInt8], _ error: WebSocketError.Code, role: WebSocketRole = .server) {
            self.name = name
            self.bytes = bytes
            self.error = error
            self.role = role
        }

        var testDescription: String { name }
    }

    /// The last byte of each is the one that gives it away.
    static let wrong: [Case] = [
        Case("RSV1 without extension", [0xC1], .reservedBit),
        Case("RSV2", [0xA1], .reservedBit),
        Case("RSV3", [0x91], .reservedBit),
        Case("all of RSV", [0xF2], .reservedBit),
        Case("opcode 3", [0x83], .unknownOpcode),
        Case("opcode 7", [0x07], .unknownOpcode),
        Case("opcode 11", [0x8B], .unknownOpcode),
        Case("opcode 15", [0x8F], .unknownOpcode),
        Case("continuation of nothing", [0x80], .fragmentSequence),
        Case("unfinished continuation of nothing", [0x00], .fragmentSequence),
        Case("ping in fragments", [0x09], .invalidControlFrame),
        Case("close in fragments", [0x08], .invalidControlFrame),
        Case("ping of 126 bytes", [0x89, 0xFE], .invalidControlFrame),
        Case("pong with a length of 64 bits", [0x8A, 0xFF], .invalidControlFrame),
        Case("client's frame without a mask", [0x81, 0x05], .wrongMask),
        Case("server's frame with a mask", [0x81, 0x85], .wrongMask, role: .client),
        Case("16 bits for 125", [0x82, 0xFE, 0x00, 0x7D], .lengthEncoding),
        Case("64 bits for 65 535", [0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], .lengthEncoding),
        Case("highest bit of 64", [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], .lengthEncoding),
        Case("all of 64 bits", [0x82, 0xFF] + [UInt8](repeating: 0xFF, count: 8), .lengthEncoding),
        Case("2^62 bytes", [0x82, 0xFF, 0x40, 0, 0, 0, 0, 0, 0, 0], .tooBig),
        Case("one byte past the limit", [0x82, 0xFF, 0, 0, 0, 0, 1, 0, 0, 1], .tooBig),
        Case("two first frames", [0x01, 0x80, 1, 2, 3, 4, 0x81], .fragmentSequence),
        Case("binary within text", [0x01, 0x80, 1, 2, 3, 4, 0x02], .fragmentSequence),
    ]

    @Test(arguments: wrong)
    func `RFC 6455 5: a wrong frame is refused at the byte that shows it, in any split`(_ example: Case) {
        let before = example.bytes.count - 1
        #expect(Peer.hear(Array(example.bytes[..<before]), role: example.role) == [])
        for heard in Peer.hearInEverySplit(example.bytes, role: example.role) {
            #expect(heard == [.error(example.error)], "\(example.name)")
        }
    }

    @Test func `what came before a wrong frame is heard first`() {
        let bytes = Peer.text("one") + Peer.frame(.ping, [7]) + [0x83, 0x80]
        for heard in Peer.hearInEverySplit(bytes) {
            #expect(heard == [.text("one"), .ping([7]), .error(.unknownOpcode)])
        }
    }

    @Test(arguments: [0, 1, 2, 124, 125, 126, 127, 65_534, 65_535, 65_536, 65_537, 200_000])
    func `RFC 6455 5_2: every length is written in its shortest form and read back`(_ count: Int) {
        var random = SeededRandom()
        let payload = random.bytes(count: count)
        let headerCount = count <= 125 ? 2 : count <= 65_535 ? 4 : 10
        for key: UInt32? in [nil, 0, 0x0102_0304] {
            let bytes = Peer.frame(.binary, payload, key: key)
            #expect(bytes.count == headerCount + (key == nil ? 0 : 4) + count)
            let role = key == nil ? WebSocketRole.client : .server
            #expect(Peer.hear(bytes, role: role) == [.binary(payload)])
            for _ in 0..<10 {
                let cuts = Peer.randomCuts(bytes.count, &random)
                #expect(Peer.hear(bytes, cuts: cuts, role: role) == [.binary(payload)], "seed \(random.seed)")
            }
        }
    }

    @Test func `RFC 6455 5_7: the examples of the standard`() {
        #expect(Peer.frame(.text, Array("Hello".utf8), key: nil) == [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f])
        let masked: [UInt8] = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]
        #expect(Peer.frame(.text, Array("Hello".utf8), key: 0x3d21_fa37) == masked)
        let fragments: [UInt8] = [0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f]
        for heard in Peer.hearInEverySplit(fragments, role: .client) { #expect(heard == [.text("Hello")]) }
    }

    @Test func `RFC 6455 5_3: masking is the same eight bytes at a time as one by one, from any offset`() {
        var random = SeededRandom()
        for count in Array(0..<70) + [127, 128, 129, 1_000] {
            for offset in 0..<9 {
                let key = UInt32(truncatingIfNeeded: random.next())
                let bytes = random.bytes(count: count)
                let expected = bytes.enumerated().map { index, byte in
                    byte ^ UInt8(truncatingIfNeeded: key >> (8 * UInt32((index + offset) & 3)))
                }
                var masked = bytes
                masked.withUnsafeMutableBytes { Masking.apply(key: key, offset: offset, to: $0) }
                #expect(masked == expected, "seed \(random.seed)")
                var copied = [UInt8](repeating: 0, count: count)
                copied.withUnsafeMutableBytes { place in
                    bytes.withUnsafeBytes { Masking.copy(key: key, offset: offset, from: $0, to: place) }
                }
                #expect(copied == expected, "seed \(random.seed)")
            }
        }
    }

    @Test func `I-6: no corruption of any byte breaks the reader`() {
        let bytes =
            Peer.text("h\u{e9}", isFinal: false) + Peer.frame(.ping, [1, 2]) + Peer.frame(.continuation, [0x41])
            + Peer.frame(.binary, [UInt8](repeating: 9, count: 130)) + Peer.frame(.close, [3, 0xE8])
        for position in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[position] ^= 1 << UInt8(bit)
                let whole = Peer.hear(changed)
                #expect(Peer.hear(changed, cuts: Array(0...changed.count)) == whole)
            }
        }
    }

    @Test func `I-6: random bytes are judged the same in any split`() {
        var random = SeededRandom()
        for _ in 0..<2_000 {
            let bytes = random.bytes(count: Int.random(in: 1...60, using: &random))
            let cuts = Peer.randomCuts(bytes.count, &random)
            #expect(Peer.hear(bytes) == Peer.hear(bytes, cuts: cuts), "seed \(random.seed)")
        }
    }
}
