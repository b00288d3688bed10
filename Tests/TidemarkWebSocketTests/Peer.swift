// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTestSupport
internal import TidemarkWebSocket

/// What a reader makes of bytes, in a form that can be compared.
enum Heard: Equatable, Sendable {
    case text(String)
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(UInt16?, String)
    case error(WebSocketError.Code)
}

/// Writes what peers send, and feeds it to a reader in the ways in which a network does.
enum Peer {
    /// A client's frame with a key, or a server's without.
    static func frame(
        _ opcode: Opcode, _ payload: [UInt8] = [], isFinal: Bool = true, isCompressed: Bool = false,
        key: UInt32? = 0x8765_4321
    ) -> [UInt8] {
        var output: [UInt8] = []
        payload.withUnsafeBytes {
            FrameEncoder.append(
                opcode, isFinal: isFinal, isCompressed: isCompressed, payload: $0, maskKey: key, to: &output)
        }
        return output
    }

    static func text(_ text: String, isFinal: Bool = true) -> [UInt8] {
        frame(.text, Array(text.utf8), isFinal: isFinal)
    }

    /// What a reader hears of `bytes`, cut at the given ends.
    static func hear(
        _ bytes: [UInt8], cuts: [Int]? = nil, role: WebSocketRole = .server, limits: MessageLimits = MessageLimits(),
        deflate: DeflateParameters? = nil
    ) -> [Heard] {
        var reader = MessageReader(role: role, limits: limits, deflate: deflate)
        var heard: [Heard] = []
        var start = 0
        for end in cuts ?? [bytes.count] {
            // Memory of exactly this size, so that an over-read reads what is not ours.
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: end - start, alignment: 1)
            defer { copy.deallocate() }
            copy.copyBytes(from: bytes[start..<end])
            start = end
            var offset = 0
            do throws(WebSocketError) {
                while let event = try reader.next(in: copy, at: &offset) { heard.append(Heard(event)) }
            } catch {
                return heard + [.error(error.code)]
            }
            precondition(offset == copy.count, "all bytes are taken")
        }
        return heard
    }

    /// As ``hear(_:cuts:role:limits:deflate:)`` for every way to cut once, and byte by byte.
    static func hearInEverySplit(
        _ bytes: [UInt8], role: WebSocketRole = .server, limits: MessageLimits = MessageLimits(),
        deflate: DeflateParameters? = nil
    ) -> [[Heard]] {
        let splits = [[bytes.count], Array(0...bytes.count)] + (0..<bytes.count).map { [$0, bytes.count] }
        return splits.map { hear(bytes, cuts: $0, role: role, limits: limits, deflate: deflate) }
    }

    /// Ends of pieces of random sizes.
    static func randomCuts(_ count: Int, _ random: inout SeededRandom) -> [Int] {
        var cuts: [Int] = []
        var end = 0
        while end < count {
            end = min(count, end + Int.random(in: 1...max(1, count / 4 + 1), using: &random))
            cuts.append(end)
        }
        return cuts
    }
}

extension Heard {
    init(_ event: MessageEvent) {
        switch event {
        case .message(.text, let payload): self = .text(String(decoding: payload.bytes, as: UTF8.self))
        case .message(.binary, let payload): self = .binary(payload.bytes)
        case .ping(let payload): self = .ping(payload.bytes)
        case .pong(let payload): self = .pong(payload.bytes)
        case .close(let code, let reason): self = .close(code?.rawValue, reason)
        }
    }
}
