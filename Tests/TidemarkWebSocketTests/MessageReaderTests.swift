// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkTestSupport
internal import TidemarkWebSocket

@Suite struct MessageReaderTests {
    @Test func `RFC 6455 5_4: control frames may stand between the fragments of a message`() {
        let bytes =
            Peer.text("a", isFinal: false) + Peer.frame(.ping, [1]) + Peer.frame(.continuation, [], isFinal: false)
            + Peer.frame(.pong, [2, 3]) + Peer.frame(.continuation, Array("b\u{e9}".utf8))
            + Peer.frame(.binary) + Peer.frame(.text)
        for heard in Peer.hearInEverySplit(bytes) {
            #expect(heard == [.ping([1]), .pong([2, 3]), .text("ab\u{e9}"), .binary([]), .text("")])
        }
    }

    @Test func `RFC 6455 8_1: a character may be cut between fragments, and a wrong byte is refused as it comes`() {
        let euro: [UInt8] = [0xE2, 0x82, 0xAC]
        for heard in Peer.hearInEverySplit(
            Peer.frame(.text, [euro[0]], isFinal: false) + Peer.frame(.continuation, [euro[1]], isFinal: false)
                + Peer.frame(.continuation, [euro[2]]))
        {
            #expect(heard == [.text("€")])
        }
        // The frame promises 1000 bytes, of which the second is wrong: nobody waits for the rest.
        let header = Array(Peer.frame(.text, [UInt8](repeating: 0, count: 1000), key: 0).prefix(8))
        #expect(Peer.hear(header + [0x41]) == [])
        #expect(Peer.hear(header + [0x41, 0xFF]) == [.error(.invalidUTF8)])
        #expect(Peer.hear(Peer.frame(.text, [0xE2, 0x82])) == [.error(.invalidUTF8)])
        #expect(
            Peer.hear(Peer.frame(.text, [0xE2], isFinal: false) + Peer.frame(.continuation, [0x41]))
                == [.error(.invalidUTF8)])
        #expect(Peer.hear(Peer.frame(.binary, [0xFF, 0xFE])) == [.binary([0xFF, 0xFE])])
    }

    @Test(arguments: [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999])
    func `RFC 6455 7_4: a close frame may have these codes`(_ code: UInt16) {
        let payload = FrameEncoder.closePayload(CloseCode(rawValue: code), reason: "é")
        for heard in Peer.hearInEverySplit(Peer.frame(.close, payload)) { #expect(heard == [.close(code, "é")]) }
    }

    @Test(arguments: [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535])
    func `RFC 6455 7_4: and not these`(_ code: UInt16) {
        let payload = [UInt8(code >> 8), UInt8(code & 0xFF)]
        for heard in Peer.hearInEverySplit(Peer.frame(.close, payload)) { #expect(heard == [.error(.invalidClose)]) }
        #expect(FrameEncoder.closePayload(CloseCode(rawValue: code)) == [])
    }

    @Test func `RFC 6455 5_5_1: a close frame is empty or has a code, and its reason is UTF-8`() {
        #expect(Peer.hear(Peer.frame(.close)) == [.close(nil, "")])
        #expect(Peer.hear(Peer.frame(.close, [3])) == [.error(.invalidClose)])
        #expect(Peer.hear(Peer.frame(.close, [3, 0xE8, 0xFF])) == [.error(.invalidUTF8)])
        #expect(Peer.hear(Peer.frame(.close, [3, 0xE8, 0xE2, 0x82])) == [.error(.invalidUTF8)])
        let full = FrameEncoder.closePayload(.normal, reason: String(repeating: "€", count: 100))
        #expect(full.count == 2 + 41 * 3)
        #expect(Peer.hear(Peer.frame(.close, full)) == [.close(1000, String(repeating: "€", count: 41))])
    }

    @Test func `I-7: a message is bounded as a whole and by its headers alone`() {
        var limits = MessageLimits()
        limits.frameBytesMax = 100
        limits.messageBytesMax = 150
        let fits =
            Peer.frame(.binary, [UInt8](repeating: 1, count: 100), isFinal: false)
            + Peer.frame(.continuation, [UInt8](repeating: 2, count: 50))
        #expect(
            Peer.hear(fits, limits: limits)
                == [.binary([UInt8](repeating: 1, count: 100) + [UInt8](repeating: 2, count: 50))])
        let tooLong =
            Peer.frame(.binary, [UInt8](repeating: 1, count: 100), isFinal: false)
            + Peer.frame(.continuation, [UInt8](repeating: 2, count: 51)).prefix(6)
        for heard in Peer.hearInEverySplit(tooLong, limits: limits) { #expect(heard == [.error(.tooBig)]) }
        let frame = Array(Peer.frame(.binary, [UInt8](repeating: 1, count: 101)).prefix(6))
        #expect(Peer.hear(frame, limits: limits) == [.error(.tooBig)])
    }

    @Test func `I-7: many small fragments are one message, many empty ones a flood`() {
        var bytes = Peer.frame(.binary, [0], isFinal: false)
        for index in 1..<100_000 {
            bytes += Peer.frame(.continuation, [UInt8(truncatingIfNeeded: index)], isFinal: index == 99_999)
        }
        #expect(Peer.hear(bytes) == [.binary((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })])

        var limits = MessageLimits()
        limits.emptyFragmentCountMax = 5
        let empty = Peer.frame(.continuation, [], isFinal: false)
        let start = Peer.frame(.text, [], isFinal: false)
        let few = start + Array(repeatElement(empty, count: 4).joined()) + Peer.frame(.continuation)
        // The next message starts counting anew.
        #expect(Peer.hear(few + few, limits: limits) == [.text(""), .text("")])
        let many = start + Array(repeatElement(empty, count: 5).joined())
        #expect(Peer.hear(many, limits: limits) == [.error(.noProgress)])
    }

    @Test func `random conversations are heard the same in any split`() {
        var random = SeededRandom()
        for _ in 0..<300 {
            var bytes: [UInt8] = []
            var expected: [Heard] = []
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                addMessage(to: &bytes, &expected, &random)
            }
            for _ in 0..<5 {
                let cuts = Peer.randomCuts(bytes.count, &random)
                #expect(Peer.hear(bytes, cuts: cuts) == expected, "seed \(random.seed)")
            }
        }
    }

    private func addMessage(to bytes: inout [UInt8], _ expected: inout [Heard], _ random: inout SeededRandom) {
        let payload = random.bytes(count: [0, 1, 100, 130, 1000, 70_000].randomElement(using: &random) ?? 0)
        let key = { (random: inout SeededRandom) in UInt32(truncatingIfNeeded: random.next()) }
        let cuts = Bool.random(using: &random) ? [payload.count] : Peer.randomCuts(payload.count, &random)
        var start = 0
        for (index, end) in (cuts.isEmpty ? [0] : cuts).enumerated() {
            bytes += Peer.frame(
                index == 0 ? .binary : .continuation, Array(payload[start..<end]), isFinal: end == payload.count,
                key: key(&random))
            start = end
            if end < payload.count, Bool.random(using: &random) {
                let ping = random.bytes(count: Int.random(in: 0...125, using: &random))
                bytes += Peer.frame(.ping, ping, key: key(&random))
                expected.append(.ping(ping))
            }
        }
        expected.append(.binary(payload))
    }
}
