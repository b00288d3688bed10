// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWebSocket

extension Fuzzer {
    /// Compressed payloads: whatever they contain, the output is bounded, and does not depend on how the message was
    /// split into frames and pieces. And what our compressor writes is inflated to the same bytes.
    static let inflate = Fuzzer(name: "inflate", seeds: { Inflation.seeds }) { input throws(Finding) in
        var script = FuzzInput(input)
        // A client with compression. The input sets the bits for the context, the limits and the window.
        let setting = ReaderSetting(flags: script.byte() & 0b1_1100 | 0b10)
        let payload = script.remainder()
        var random = FuzzRandom(input)
        let whole = setting.read([Inflation.message([payload[...]])[...]])
        let pieces = random.split(payload)
        let fragments = pieces.isEmpty ? [payload[...]] : pieces
        let split = setting.read(random.split(Inflation.message(fragments)))
        try whole.check(setting.limits)
        try split.check(setting.limits)
        // A single frame may exceed the limit of a frame where several do not. And if a peer refers back beyond its
        // agreed window, zlib notices only if a piece ends in between. So one of the two may be refused.
        let isComparable = !setting.hasSmallWindow || whole.error == nil && split.error == nil
        if payload.count <= setting.limits.frameBytesMax, isComparable {
            try Finding.unless(whole.events == split.events, "whole \(whole), split \(split)")
        }
        try Inflation.checkRoundTrip(payload, setting, &random)
        return whole.error == nil
    }
}

private enum Inflation {
    /// A compressed binary message in these fragments, as a server sends it.
    static func message(_ fragments: [ArraySlice<UInt8>]) -> [UInt8] {
        var output: [UInt8] = []
        for (index, fragment) in fragments.enumerated() {
            fragment.withUnsafeBytes {
                FrameEncoder.append(
                    index == 0 ? .binary : .continuation, isFinal: index == fragments.count - 1,
                    isCompressed: index == 0, payload: $0, to: &output)
            }
        }
        return output
    }

    static func checkRoundTrip(
        _ content: [UInt8], _ setting: ReaderSetting, _ random: inout FuzzRandom
    ) throws(Finding) {
        guard let parameters = setting.deflate, content.count <= setting.limits.messageBytesMax,
            let deflater = Deflater(role: .server, parameters: parameters, level: 1 + random.next(below: 9))
        else { return }
        var stream: [UInt8] = []
        for _ in 0..<2 {
            guard let payload = content.withUnsafeBytes({ deflater.compress($0) }) else { return }
            guard payload.count <= setting.limits.frameBytesMax else { return }
            stream += message([payload[...]])
        }
        let log = setting.read(random.split(stream))
        try Finding.unless(
            log.error == nil && log.events == [.binary(content), .binary(content)], "compressed and read: \(log)")
    }

    private static func compressed(_ content: [UInt8]) -> [UInt8] {
        let deflater = Deflater(role: .server, parameters: DeflateParameters(), level: 9)
        return content.withUnsafeBytes { deflater?.compress($0) } ?? [0]
    }

    static let seeds: [[UInt8]] = [
        [0, 0], [4, 0],
        seed(0, Array("to be or not to be, to be or not to be".utf8)),
        seed(8, [UInt8](repeating: 7, count: 200)),
        seed(0, [UInt8](repeating: 0, count: 60_000)),
        seed(16, Array(0...255)),
        // Refers back by 300 bytes, beyond the window of 256.
        seed(16, repeated((0..<300).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) })),
        // A stored block, and a final block with another after it.
        [0, 0x00, 0x02, 0x00, 0xFD, 0xFF, 0x41, 0x42, 0x00],
        [0, 0x73, 0x04, 0x00, 0x72, 0x02, 0x00],
    ]

    private static func repeated(_ content: [UInt8]) -> [UInt8] { content + content }

    private static func seed(_ flags: UInt8, _ content: [UInt8]) -> [UInt8] {
        var seed = compressed(content)
        seed.insert(flags, at: 0)
        return seed
    }
}
