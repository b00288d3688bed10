// SPDX-License-Identifier: Apache-2.0

/// Reads a body in the chunked coding (RFC 9112 §7.1), split in any way. Extensions and trailer fields are checked and
/// left out.
///
/// It is as strict as the head's parser. Two parsers that end a line in different places take the next bytes for
/// different requests. So lines end in CR LF only, and white space around a size is refused.
///
/// After an error or the end of the body it cannot be used any more.
package struct ChunkedReader: Sendable {
    /// A part of the body.
    package enum Event: Equatable, Sendable {
        /// Content, at these places of the bytes that were passed.
        case data(Range<Int>)
        /// The last chunk and the trailer section are complete.
        case end
    }

    private enum Place {
        /// Within a chunk's size, after so many digits.
        case size(digitCount: Int)
        case chunkExtension
        case sizeLineFeed
        case data(left: UInt64)
        case dataReturn
        case dataLineFeed
        /// At the beginning of a line after the last chunk.
        case trailer
        case trailerName
        case trailerValue
        case trailerLineFeed
        case endLineFeed
        case end
    }

    private var place = Place.size(digitCount: 0)
    private var size: UInt64 = 0
    private var contentCount: UInt64 = 0
    /// Bytes that are not content.
    private var framingCount: UInt64 = 0

    /// More digits do not fit into 64 bits, or are zeroes that nobody needs.
    private static let digitsMax = 16
    /// Bytes for sizes, extensions and trailer fields that each body may have, and again as many times its content. The smallest chunks
    /// have five framing bytes for each byte. A peer that sends more makes the server work for nothing.
    private static let framingBytesFree: UInt64 = 8_192
    private static let framingBytesPerContentByte: UInt64 = 8

    package init() {}

    /// The next event in `bytes` from `offset` on, which then stands behind it. Nil if all bytes have been read.
    package mutating func next(
        _ bytes: UnsafeRawBufferPointer, at offset: inout Int
    ) throws(HTTPError) -> Event? {
        while offset < bytes.count {
            switch place {
            case .data(let left):
                let start = offset
                offset += Int(min(left, UInt64(bytes.count - offset)))
                return take(start..<offset, of: left)
            case .end:
                return nil
            default:
                try step(bytes[offset])
                offset += 1
                if case .end = place { return .end }
            }
        }
        return nil
    }

    private mutating func take(_ data: Range<Int>, of left: UInt64) -> Event {
        let rest = left - UInt64(data.count)
        place = rest == 0 ? .dataReturn : .data(left: rest)
        contentCount += UInt64(data.count)
        return .data(data)
    }

    /// Reads a byte that is not content.
    private mutating func step(_ byte: UInt8) throws(HTTPError) {
        framingCount += 1
        let (allowed, overflow) = contentCount.multipliedReportingOverflow(by: Self.framingBytesPerContentByte)
        let counted = framingCount > Self.framingBytesFree ? framingCount - Self.framingBytesFree : 0
        guard overflow || counted <= allowed else { throw HTTPError(.malformedChunk) }
        switch place {
        case .size(let digitCount): try readSize(byte, digitCount)
        case .chunkExtension:
            if byte == Characters.carriageReturn { place = .sizeLineFeed } else { try check(byte) }
        case .sizeLineFeed:
            try expectLineFeed(byte)
            place = size == 0 ? .trailer : .data(left: size)
        case .dataReturn:
            guard byte == Characters.carriageReturn else { throw HTTPError(.malformedChunk) }
            place = .dataLineFeed
        case .dataLineFeed:
            try expectLineFeed(byte)
            (place, size) = (.size(digitCount: 0), 0)
        case .trailer, .trailerName, .trailerValue, .trailerLineFeed, .endLineFeed: try readTrailer(byte)
        case .data, .end: break
        }
    }

    private mutating func readSize(_ byte: UInt8, _ digitCount: Int) throws(HTTPError) {
        if let digit = Self.hexDigit(byte) {
            guard digitCount < Self.digitsMax else { throw HTTPError(.malformedChunk) }
            size = size << 4 | UInt64(digit)
            place = .size(digitCount: digitCount + 1)
            return
        }
        guard digitCount > 0 else { throw HTTPError(.malformedChunk) }
        switch byte {
        case Characters.carriageReturn: place = .sizeLineFeed
        case UInt8(ascii: ";"): place = .chunkExtension
        default: throw HTTPError(.malformedChunk)
        }
    }

    private mutating func readTrailer(_ byte: UInt8) throws(HTTPError) {
        switch place {
        case .trailer where byte == Characters.carriageReturn: place = .endLineFeed
        // White space would fold the line before it.
        case .trailer where Characters.isToken(byte): place = .trailerName
        case .trailerName where byte == Characters.colon: place = .trailerValue
        case .trailerName where Characters.isToken(byte): break
        case .trailerValue where byte == Characters.carriageReturn: place = .trailerLineFeed
        case .trailerValue: try check(byte)
        case .trailerLineFeed:
            try expectLineFeed(byte)
            place = .trailer
        case .endLineFeed:
            try expectLineFeed(byte)
            place = .end
        default: throw HTTPError(.malformedChunk)
        }
    }

    private func check(_ byte: UInt8) throws(HTTPError) {
        guard Characters.isFieldValue(byte) else { throw HTTPError(.malformedChunk) }
    }

    private func expectLineFeed(_ byte: UInt8) throws(HTTPError) {
        guard byte == Characters.lineFeed else { throw HTTPError(.bareLineBreak) }
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        if Characters.isDigit(byte) { return byte - UInt8(ascii: "0") }
        guard Characters.isHexDigit(byte) else { return nil }
        return Characters.lowercased(byte) - UInt8(ascii: "a") + 10
    }
}
