// SPDX-License-Identifier: Apache-2.0

/// The name of one request, which the client and the server both compute from data that they share. So it costs nothing
/// on the wire.
///
/// It is a UUID of version 8 (RFC 9562 §5.8). The first eight bytes are those of the session, and the last eight are the
/// request's number. The version takes the high four bits of byte 6, and the variant takes the high two bits of byte 8.
package struct RequestUUID: Sendable, Hashable {
    /// The first eight bytes.
    package let high: UInt64
    /// The last eight bytes.
    package let low: UInt64

    /// - Parameters:
    ///   - session: the eight random bytes that the server gave to the session, as a number in network order.
    ///   - number: the request's id. Its two high bits are lost. No client counts so far.
    package init(session: UInt64, number: UInt64) {
        high = session & ~0xF000 | 0x8000
        low = number & ~(0b11 << 62) | 0b10 << 62
    }

    /// One that was made before. Any other UUID is possible too.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new one for work that is not a request of a session, such as an operator's command.
    package static func random() -> RequestUUID {
        RequestUUID(session: .random(in: 0...UInt64.max), number: .random(in: 0...UInt64.max))
    }

    /// The bits of a session.
    ///
    /// - Parameters:
    ///   - seed: random bits of the server.
    ///   - number: of the session in that server. Different numbers give different bits.
    package static func session(seed: UInt64, number: UInt64) -> UInt64 {
        // The output function of SplitMix64 (Steele, Lea, Flood 2014). It is a bijection.
        var bits = seed &+ number &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// The bits of a session as they are on the wire.
    package static func bytes(ofSession session: UInt64) -> [UInt8] {
        withUnsafeBytes(of: session.bigEndian, Array.init)
    }

    /// Nil: the server sent none, as an older one does.
    package static func session(from bytes: [UInt8]) -> UInt64? {
        guard bytes.count == 8 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension RequestUUID: CustomStringConvertible {
    /// As Foundation writes it: 32 digits in upper case, in five groups.
    package var description: String {
        let text = [high, low].map { Self.digits($0) }.joined()
        var groups: [Substring] = []
        var rest = text[...]
        for length in Self.groupLengths {
            groups.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        return groups.joined(separator: "-")
    }

    /// From 32 digits in upper or lower case: in five groups, or in one as traces have them. Nil: it is another text.
    package init?(_ text: String) {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard groups.map(\.count) == Self.groupLengths || groups.map(\.count) == [32] else { return nil }
        var (high, low): (UInt64, UInt64) = (0, 0)
        for digit in groups.joined() {
            guard let value = Character(Unicode.Scalar(digit)).hexDigitValue else { return nil }
            high = high << 4 | low >> 60
            low = low << 4 | UInt64(value)
        }
        self.init(high: high, low: low)
    }

    private static let groupLengths = [8, 4, 4, 4, 12]

    private static func digits(_ bits: UInt64) -> String {
        let text = String(bits, radix: 16, uppercase: true)
        return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
}
