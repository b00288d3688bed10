// SPDX-License-Identifier: Apache-2.0

/// A proxy's data about the connection that it passes on (PROXY protocol, version 2).
package enum ProxyHeader: Equatable, Sendable {
    /// The proxy connects for itself, as for a health check, or it does not tell an address that TCP has.
    case own
    /// It connects for the client at this address: 4 or 16 bytes in network order.
    case client(address: [UInt8], port: UInt16)
}

/// Why bytes are not the header of a proxy.
package enum ProxyHeaderError: String, Error, Equatable, Sendable, CaseIterable {
    /// The stream does not begin with the signature. Version 1, which is text, does not either.
    case noSignature
    /// The version or the command is unknown.
    case unknownCommand
    /// The family of addresses or the protocol is unknown.
    case unknownFamily
    /// The header has more bytes than ``ProxyHeaderParser/bytesMax``.
    case tooLong
    /// The header is too short for the addresses that it promises.
    case tooShort
}

/// Reads the header that a proxy sends before everything else, split in any way.
///
/// https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, §2.2. It never asks for a byte after the header, so the following bytes
/// stay where they are. It does not look at the TLVs, and so not at the checksum that may be among them: TCP has one.
package struct ProxyHeaderParser {
    /// The longest header. The specification lets a receiver assume that this many bytes arrive in one segment (§2).
    package static let bytesMax = 536

    private static let signature: [UInt8] = [
        0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
    ]
    private static let fixedCount = 16

    private var received: [UInt8] = []

    package init() {}

    /// How many bytes are missing, as far as that is known; at least one until the header is complete.
    package var missingCount: Int { neededCount - received.count }

    /// As far as is known, how many bytes the header has.
    private var neededCount: Int {
        guard received.count >= Self.fixedCount else { return Self.fixedCount }
        return Self.fixedCount + Int(received[14]) << 8 + Int(received[15])
    }

    /// - Parameter bytes: the next ones: at most ``missingCount``.
    /// - Returns: nil if more must come.
    package mutating func take(_ bytes: UnsafeRawBufferPointer) throws(ProxyHeaderError) -> ProxyHeader? {
        precondition(bytes.count <= missingCount, "what follows the header is not taken")
        received.append(contentsOf: bytes)
        try checkStart()
        guard missingCount == 0 else { return nil }
        return header()
    }

    /// Refuses at the first byte that is wrong: there is no need to wait for a peer that speaks another protocol.
    private func checkStart() throws(ProxyHeaderError) {
        guard zip(received, Self.signature).allSatisfy(==) else { throw .noSignature }
        if received.count > 12 {
            guard received[12] == 0x20 || received[12] == 0x21 else { throw .unknownCommand }
        }
        if received.count > 13 {
            guard isLocal || addressCount != nil else { throw .unknownFamily }
        }
        guard received.count >= Self.fixedCount else { return }
        guard neededCount <= Self.bytesMax else { throw .tooLong }
        guard isLocal || neededCount - Self.fixedCount >= addressCount ?? 0 else { throw .tooShort }
    }

    /// §2.2: then everything else is ignored.
    private var isLocal: Bool { received[12] == 0x20 }

    /// The bytes of both addresses and ports; nil if the specification has no such pair of family and protocol.
    private var addressCount: Int? {
        switch received[13] {
        case 0x00: 0
        case 0x11, 0x12: 12
        case 0x21, 0x22: 36
        case 0x31, 0x32: 216
        default: nil
        }
    }

    private func header() -> ProxyHeader {
        guard !isLocal else { return .own }
        // Source address, destination address, source port, destination port.
        switch received[13] {
        case 0x11: return .client(address: Array(received[16..<20]), port: port(at: 24))
        case 0x21: return .client(address: Array(received[16..<32]), port: port(at: 48))
        default: return .own
        }
    }

    private func port(at index: Int) -> UInt16 { UInt16(received[index]) << 8 | UInt16(received[index + 1]) }
}
