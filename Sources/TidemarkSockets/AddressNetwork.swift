// SPDX-License-Identifier: Apache-2.0

/// Addresses with a common beginning: `10.0.0.0/8`, `2001:db8::/32`, or one address.
package struct AddressNetwork: Sendable, Hashable, CustomStringConvertible {
    /// 4 or 16 bytes, zero after the prefix.
    private let bytes: [UInt8]
    private let prefixLength: Int
    /// As it was written.
    package let description: String

    /// Nil if it is not a network. Nil too if its address has bits after the prefix, or is an IPv4 address in the form of IPv6: then
    /// somebody meant something else.
    package init?(parsing text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = SocketAddress(numericHost: String(parts[0]), port: 0),
            address.unmapped == nil
        else { return nil }
        let bytes = address.networkBytes
        guard let length = parts.count == 1 ? bytes.count * 8 : Self.length(parts[1], atMost: bytes.count * 8),
            (length..<bytes.count * 8).allSatisfy({ Self.bit($0, of: bytes) == 0 })
        else { return nil }
        self.bytes = bytes
        prefixLength = length
        description = text
    }

    private static func length(_ digits: Substring, atMost max: Int) -> Int? {
        guard (1...3).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let length = Int(digits), length <= max
        else { return nil }
        return length
    }

    /// Whether an address is one of them. An IPv4 address counts as one also in the form of IPv6, as a listener on `[::]`
    /// sees it. A Unix socket is in no network.
    package func contains(_ address: SocketAddress) -> Bool {
        guard address.family != .unix else { return false }
        let other = address.unmapped ?? address.networkBytes
        guard other.count == bytes.count else { return false }
        return (0..<prefixLength).allSatisfy { Self.bit($0, of: other) == Self.bit($0, of: bytes) }
    }

    private static func bit(_ index: Int, of bytes: [UInt8]) -> UInt8 { bytes[index / 8] >> UInt8(7 - index % 8) & 1 }
}
