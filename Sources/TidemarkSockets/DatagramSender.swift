// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll
internal import Glibc

/// Sends datagrams to one Unix socket of this machine, as supervisors have one. From any thread.
package final class DatagramSender: Sendable {
    private let descriptor: FileDescriptor
    /// In the form of `sun_path`: a path with a zero at its end, or a name that begins with a zero.
    private let name: [UInt8]

    /// How long a datagram may wait for room in the receiver's queue.
    private static let patienceSeconds = 5

    /// - Parameter place: a path that begins with `/`, or a name of the abstract namespace after `@`.
    /// - Throws: `addressInvalid`, also for a longer one than the kernel takes; `resourcesExhausted`.
    package init(to place: String) throws(SocketError) {
        var name = Array(place.utf8)
        let isAbstract = name.first == UInt8(ascii: "@")
        guard isAbstract || name.first == UInt8(ascii: "/"), !name.contains(0), name.count > 1 else {
            throw SocketError(.addressInvalid, operation: "unix path")
        }
        if isAbstract { name[0] = 0 } else { name.append(0) }
        // unix(7): an abstract name is as long as the address says, and has no zero at its end.
        guard name.count <= SocketAddress.unixPathBytesMax + 1 else {
            throw SocketError(.addressInvalid, operation: "unix path")
        }
        self.name = name
        descriptor = FileDescriptor(owning: try SystemCalls.createDatagramSocket(patienceSeconds: Self.patienceSeconds))
    }

    /// Sends one datagram. It may wait for some seconds if the receiver's queue is full.
    package func send(_ text: String) throws(SocketError) {
        let bytes = Array(text.utf8)
        let result: Result<Void, SocketError> = bytes.withUnsafeBytes { bytes in
            withAddress { address, length in
                do throws(SocketError) {
                    return .success(try SystemCalls.sendDatagram(descriptor.rawValue, bytes, to: address, length))
                } catch {
                    return .failure(error)
                }
            }
        }
        try result.get()
    }

    private func withAddress<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        return withUnsafePointer(to: &address) { pointer in
            UnsafeRawPointer(pointer).withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
