// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkTestSupport
internal import TidemarkWebSocket

@Suite struct DeflaterTests {
    private func parameters(bits: Int = 15, keepsContext: Bool = true) -> DeflateParameters {
        var parameters = DeflateParameters()
        parameters.clientWindowBits = bits
        parameters.serverWindowBits = bits
        parameters.clientKeepsContext = keepsContext
        parameters.serverKeepsContext = keepsContext
        return parameters
    }

    private func compress(_ deflater: Deflater?, _ payload: [UInt8]) -> [UInt8] {
        payload.withUnsafeBytes { deflater?.compress($0) } ?? []
    }

    /// Neither random nor constant.
    private func compressible(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
        let words = (0..<20).map { _ in random.bytes(count: Int.random(in: 1...30, using: &random)) }
        var bytes: [UInt8] = []
        while bytes.count < count { bytes += words.randomElement(using: &random) ?? [] }
        return Array(bytes.prefix(count))
    }

    @Test(arguments: [9, 10, 12, 15], [true, false])
    func `RFC 7692 7_2: what one side compresses the other inflates, in any split`(_ bits: Int, _ keeps: Bool) {
        var random = SeededRandom()
        let parameters = parameters(bits: bits, keepsContext: keeps)
        let deflater = Deflater(role: .client, parameters: parameters, level: 6)
        var bytes: [UInt8] = []
        var expected: [Heard] = []
        for count in [0, 1, 5, 1000, 0, 40_000, 300_000, 3] {
            let payload = compressible(count, &random)
            let compressed = compress(deflater, payload)
            #expect(count < 1000 || compressed.count < count)
            // In three fragments, with a ping between.
            let (one, two) = (compressed.count / 3, compressed.count / 2)
            bytes += Peer.frame(.binary, Array(compressed[..<one]), isFinal: false, isCompressed: true)
            bytes += Peer.frame(.continuation, Array(compressed[one..<two]), isFinal: false)
            bytes += Peer.frame(.ping, [9]) + Peer.frame(.continuation, Array(compressed[two...]))
            expected += [.ping([9]), .binary(payload)]
        }
        #expect(Peer.hear(bytes, deflate: parameters) == expected, "seed \(random.seed)")
        for _ in 0..<5 {
            let cuts = Peer.randomCuts(bytes.count, &random)
            #expect(Peer.hear(bytes, cuts: cuts, deflate: parameters) == expected, "seed \(random.seed)")
        }
    }

    @Test func `RFC 7692 7_2_3: the examples of the standard`() {
        let parameters = parameters()
        let hello: [UInt8] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]
        let again: [UInt8] = [0xf2, 0x00, 0x11, 0x00, 0x00]
        let stored: [UInt8] = [0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00]
        let final: [UInt8] = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00]
        let twoBlocks: [UInt8] = [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00]
        let deflater = Deflater(role: .client, parameters: parameters, level: 6)
        #expect(compress(deflater, Array("Hello".utf8)) == hello)
        #expect(compress(deflater, Array("Hello".utf8)) == again)
        for message in [[hello, again], [stored, stored], [final, final], [twoBlocks, again]] {
            let bytes = message.flatMap { Peer.frame(.text, $0, isCompressed: true) }
            for heard in Peer.hearInEverySplit(bytes, deflate: parameters) {
                #expect(heard == [.text("Hello"), .text("Hello")])
            }
        }
    }

    @Test func `RFC 7692 7_2_3_4: what follows a final block may refer to what stood before it`() {
        let final: [UInt8] = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00]
        let again: [UInt8] = [0xf2, 0x00, 0x11, 0x00, 0x00]
        let bytes = Peer.frame(.text, final, isCompressed: true) + Peer.frame(.text, again, isCompressed: true)
        #expect(Peer.hear(bytes, deflate: parameters()) == [.text("Hello"), .text("Hello")])
    }

    @Test func `RFC 7692 7_1_1: without context takeover nothing refers to an earlier message`() {
        let again: [UInt8] = [0xf2, 0x00, 0x11, 0x00, 0x00]
        let hello: [UInt8] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]
        let bytes = Peer.frame(.text, hello, isCompressed: true) + Peer.frame(.text, again, isCompressed: true)
        #expect(
            Peer.hear(bytes, deflate: parameters(keepsContext: false)) == [.text("Hello"), .error(.invalidDeflate)])
    }

    @Test func `RFC 7692 6: RSV1 stands on a message's first frame only, and messages need not be compressed`() {
        let parameters = parameters()
        #expect(Peer.hear(Peer.text("plain"), deflate: parameters) == [.text("plain")])
        #expect(Peer.hear([0xC9], deflate: parameters) == [.error(.reservedBit)])
        #expect(Peer.hear(Peer.text("a", isFinal: false) + [0xC0], deflate: parameters) == [.error(.reservedBit)])
        #expect(Peer.hear([0xE1], deflate: parameters) == [.error(.reservedBit)])
    }

    @Test func `I-7: a message that inflates past the limit is refused while it inflates`() {
        let parameters = parameters()
        let deflater = Deflater(role: .client, parameters: parameters, level: 9)
        var limits = MessageLimits()
        limits.messageBytesMax = 100_000
        let bomb = compress(deflater, [UInt8](repeating: 0, count: 50_000_000))
        #expect(bomb.count < 100_000)
        #expect(
            Peer.hear(Peer.frame(.binary, bomb, isCompressed: true), limits: limits, deflate: parameters)
                == [.error(.tooBig)])
        let fits = compress(
            Deflater(role: .client, parameters: parameters, level: 9), [UInt8](repeating: 0, count: 100_000))
        #expect(
            Peer.hear(Peer.frame(.binary, fits, isCompressed: true), limits: limits, deflate: parameters)
                == [.binary([UInt8](repeating: 0, count: 100_000))])
    }

    @Test func `I-7: blocks that bring nothing are bounded`() {
        var limits = MessageLimits()
        limits.messageBytesMax = 10_000
        let empty: [UInt8] = [0x00, 0x00, 0x00, 0xFF, 0xFF]
        let many = Array(repeatElement(empty, count: 5_000).joined())
        #expect(
            Peer.hear(Peer.frame(.binary, many, isCompressed: true), limits: limits, deflate: parameters())
                == [.error(.tooBig)])
        let finals = Array(repeatElement([0x03, 0x00] as [UInt8], count: 20).joined())
        #expect(
            Peer.hear(Peer.frame(.binary, finals, isCompressed: true), deflate: parameters())
                == [.error(.noProgress)])
    }

    @Test func `RFC 6455 8_1: inflated text is checked too`() {
        let parameters = parameters()
        let deflater = Deflater(role: .client, parameters: parameters, level: 6)
        let bytes = Peer.frame(.text, compress(deflater, [0x41, 0xFF, 0x41]), isCompressed: true)
        #expect(Peer.hear(bytes, deflate: parameters) == [.error(.invalidUTF8)])
        let cut = Peer.frame(.text, compress(deflater, [0xE2, 0x82]), isCompressed: true)
        #expect(Peer.hear(cut, deflate: parameters).last == .error(.invalidUTF8))
    }

    @Test func `I-6: no corruption of compressed bytes breaks the reader`() {
        var random = SeededRandom()
        let parameters = parameters()
        let payload = compressible(3_000, &random)
        let compressed = compress(Deflater(role: .client, parameters: parameters, level: 6), payload)
        for position in compressed.indices {
            var changed = compressed
            changed[position] ^= UInt8(1 << Int.random(in: 0..<8, using: &random))
            let heard = Peer.hear(Peer.frame(.binary, changed, isCompressed: true), deflate: parameters)
            #expect(heard.count <= 1, "seed \(random.seed)")
        }
    }

    @Test func `a window that zlib cannot write means sending uncompressed`() {
        #expect(Deflater(role: .server, parameters: parameters(bits: 8), level: 1) == nil)
        #expect(Deflater(role: .server, parameters: parameters(bits: 9), level: 1) != nil)
    }
}
