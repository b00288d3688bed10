// SPDX-License-Identifier: Apache-2.0

package import TidemarkSockets

extension SocketAddress {
    /// A port of this machine; 0 asks the kernel for a free one.
    package static func loopback(port: UInt16) -> SocketAddress {
        guard let address = SocketAddress(numericHost: "127.0.0.1", port: port) else {
            preconditionFailure("127.0.0.1 is an address")
        }
        return address
    }
}
