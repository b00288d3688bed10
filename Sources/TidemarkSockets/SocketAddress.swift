// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll
internal import Glibc

/// The address of a socket: an IPv4 or IPv6 address with a port, or the path of a Unix socket.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
    /// The kind of an address.
    package enum Family: Sendable, Hashable {
        case ipv4, ipv6, unix
    }

    package let family: Family
    /// 4 or 16 bytes in network order; for a Unix socket the path.
    private let bytes: [UInt8]
    /// In host order. 0 asks the kernel for a free port. A Unix socket has 0.
    package let port: UInt16
    /// The interface of a link-local IPv6 address; otherwise 0.
    private let scope: UInt32

    private init(_ family: Family, _ bytes: [UInt8], port: UInt16, scope: UInt32 = 0) {
        self.family = family
        self.bytes = bytes
        self.port = port
        self.scope = scope
    }

    /// The longest path of a Unix socket, in bytes: `sun_path` holds 108 with the zero at its end.
    package static let unixPathBytesMax = 107

    /// A Unix socket in the file system.
    package static func unix(_ path: String) throws(SocketError) -> SocketAddress {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= unixPathBytesMax, !bytes.contains(0) else {
            throw SocketError(.addressInvalid, operation: "unix path")
        }
        return SocketAddress(.unix, bytes, port: 0)
    }

    /// A numeric address (`127.0.0.1`, `::1`); nil if the host is anything else, such as a name.
    package init?(numericHost host: String, port: UInt16) {
        guard !host.utf8.contains(0) else { return nil }
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, host, &bytes) == 1 {
            self.init(.ipv4, Array(bytes[..<4]), port: port)
        } else if inet_pton(AF_INET6, host, &bytes) == 1 {
            self.init(.ipv6, bytes, port: port)
        } else {
            return nil
        }
    }

    /// An address of TCP as its bytes in network order; nil if they are neither 4 nor 16.
    package init?(networkBytes bytes: [UInt8], port: UInt16) {
        switch bytes.count {
        case 4: self.init(.ipv4, bytes, port: port)
        case 16: self.init(.ipv6, bytes, port: port)
        default: return nil
        }
    }

    /// A numeric address with its port: `127.0.0.1:8443`, `[::1]:0`.
    ///
    /// - Throws: `addressInvalid`, also for a name. Names take time, see ``Resolver``.
    package init(parsing text: String) throws(SocketError) {
        let (host, port) = try Self.split(text)
        guard let address = SocketAddress(numericHost: host, port: port) else {
            throw SocketError(.addressInvalid, operation: "parse address")
        }
        self = address
    }

    /// The host and the port of `HOST:PORT`. An IPv6 host is in brackets, which are removed.
    package static func split(_ text: String) throws(SocketError) -> (host: String, port: UInt16) {
        let invalid = SocketError(.addressInvalid, operation: "parse address")
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { throw invalid }
        let digits = text[text.utf8.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let port = UInt16(digits)
        else { throw invalid }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.utf8.contains(UInt8(ascii: ":")) else { throw invalid }
        } else if host.utf8.contains(UInt8(ascii: ":")) {
            throw invalid
        }
        guard !host.isEmpty else { throw invalid }
        return (String(host), port)
    }

    /// Whether only programs on this machine can be the peer.
    package var isLoopback: Bool {
        switch family {
        case .unix: true
        case .ipv4: bytes[0] == 127
        case .ipv6:
            if let ipv4 = unmapped {
                ipv4[0] == 127
            } else {
                bytes[..<15].allSatisfy { $0 == 0 } && bytes[15] == 1
            }
        }
    }

    /// The host without port and brackets; the path of a Unix socket.
    package var host: String {
        if family == .unix { return String(decoding: bytes, as: UTF8.self) }
        var text = [CChar](repeating: 0, count: 64)
        let isKnown = inet_ntop(addressFamily, bytes, &text, socklen_t(text.count)) != nil
        precondition(isKnown, "an address of the right length can be printed")
        let digits = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return scope == 0 ? digits : "\(digits)%\(scope)"
    }

    package var description: String {
        switch family {
        case .unix: "unix:\(host)"
        case .ipv4: "\(host):\(port)"
        case .ipv6: "[\(host)]:\(port)"
        }
    }
}

/// The addresses that one peer is taken to have: an IPv4 address, or the 2^64 of an IPv6 network.
package struct AddressBlock: Hashable, Comparable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let kind: UInt8

    /// Tells blocks apart; not an address that could be written elsewhere.
    package var description: String { "\(kind)/\(String(high, radix: 16))" }

    fileprivate init(_ family: SocketAddress.Family, _ bytes: [UInt8]) {
        switch family {
        case .unix: (kind, high) = (0, 0)
        case .ipv4: (kind, high) = (4, Self.number(bytes[...]))
        case .ipv6:
            let isIPv4 = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            (kind, high) = isIPv4 ? (4, Self.number(bytes[12...])) : (6, Self.number(bytes[..<8]))
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    package static func < (left: AddressBlock, right: AddressBlock) -> Bool {
        (left.kind, left.high) < (right.kind, right.high)
    }
}

extension SocketAddress {
    /// Peers in one block count as one.
    package var block: AddressBlock { AddressBlock(family, bytes) }

    /// The address in network order; for a Unix socket the path.
    var networkBytes: [UInt8] { bytes }

    /// The IPv4 address of one in the form of IPv6 (`::ffff:192.0.2.1`); nil for all others.
    var unmapped: [UInt8]? {
        let isMapped = family == .ipv6 && bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? Array(bytes[12...]) : nil
    }
}

// MARK: The kernel's form

extension SocketAddress {
    var addressFamily: Int32 {
        switch family {
        case .unix: AF_UNIX
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        }
    }

    init?(_ storage: sockaddr_storage) {
        self = withUnsafeBytes(of: storage) { Self.read($0) } ?? SocketAddress(.unix, [], port: 0)
        if family == .unix, storage.ss_family != sa_family_t(AF_UNIX) { return nil }
    }

    init?(_ address: UnsafePointer<sockaddr>, length: socklen_t) {
        var storage = sockaddr_storage()
        guard Int(length) <= MemoryLayout<sockaddr_storage>.size else { return nil }
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length)))
        }
        self.init(storage)
    }

    private static func read(_ raw: UnsafeRawBufferPointer) -> SocketAddress? {
        switch Int32(raw.load(as: sa_family_t.self)) {
        case AF_INET:
            let address = raw.load(as: sockaddr_in.self)
            let bytes = withUnsafeBytes(of: address.sin_addr) { Array($0) }
            return SocketAddress(.ipv4, bytes, port: UInt16(bigEndian: address.sin_port))
        case AF_INET6:
            let address = raw.load(as: sockaddr_in6.self)
            let bytes = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
            let port = UInt16(bigEndian: address.sin6_port)
            return SocketAddress(.ipv6, bytes, port: port, scope: address.sin6_scope_id)
        case AF_UNIX:
            // A Unix client that did not bind has no path.
            let path = raw[MemoryLayout<sa_family_t>.size...].prefix(unixPathBytesMax).prefix { $0 != 0 }
            return SocketAddress(.unix, Array(path), port: 0)
        default:
            return nil
        }
    }

    /// Passes the address to `body` in the form of system calls.
    func withKernelForm<Result>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(SocketError) -> Result
    ) throws(SocketError) -> Result {
        var storage = sockaddr_storage()
        let length = withUnsafeMutableBytes(of: &storage) { write(to: $0) }
        return try withUnsafePointer(to: &storage) { pointer throws(SocketError) in
            try UnsafeRawPointer(pointer).withMemoryRebound(to: sockaddr.self, capacity: 1) {
                (address) throws(SocketError) in try body(address, length)
            }
        }
    }

    private func write(to raw: UnsafeMutableRawBufferPointer) -> socklen_t {
        switch family {
        case .ipv4:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
            raw.storeBytes(of: address, as: sockaddr_in.self)
            return socklen_t(MemoryLayout<sockaddr_in>.size)
        case .ipv6:
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
            raw.storeBytes(of: address, as: sockaddr_in6.self)
            return socklen_t(MemoryLayout<sockaddr_in6>.size)
        case .unix:
            let familySize = MemoryLayout<sa_family_t>.size
            raw.storeBytes(of: sa_family_t(AF_UNIX), as: sa_family_t.self)
            UnsafeMutableRawBufferPointer(rebasing: raw[familySize...]).copyBytes(from: bytes)
            return socklen_t(familySize + bytes.count + 1)
        }
    }
}
