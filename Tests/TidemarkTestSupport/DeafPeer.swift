// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import TidemarkSockets

/// An address of this machine that answers no attempt to connect: a listener whose queue is full, so that its kernel drops
/// what comes.
package struct DeafPeer: Sendable {
    package let address: SocketAddress
    private let descriptors: [Int32]

    package init() throws {
        let listener = Self.socket()
        address = try Self.bound(listener)
        guard listen(listener, 0) == 0 else { throw SocketError(.systemCallFailed, operation: "listen") }
        // The queue has room for one.
        let filler = Self.socket()
        descriptors = [listener, filler]
        var wanted = Self.loopback(port: address.port)
        guard Self.call({ Glibc.connect(filler, $0, $1) }, &wanted) == 0 else {
            throw SocketError(.systemCallFailed, operation: "connect")
        }
    }

    package func close() {
        for descriptor in descriptors { _ = Glibc.close(descriptor) }
    }

    /// Where nobody listens.
    package static func unusedAddress() throws -> SocketAddress {
        let descriptor = socket()
        defer { _ = Glibc.close(descriptor) }
        return try bound(descriptor)
    }

    private static func socket() -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func bound(_ descriptor: Int32) throws -> SocketAddress {
        var address = loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        guard call({ bind(descriptor, $0, $1) }, &address) == 0 else {
            throw SocketError(.systemCallFailed, operation: "bind")
        }
        let named = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard named == 0 else { throw SocketError(.systemCallFailed, operation: "getsockname") }
        return .loopback(port: UInt16(bigEndian: address.sin_port))
    }

    private static func call(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32, _ address: inout sockaddr_in
    ) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
