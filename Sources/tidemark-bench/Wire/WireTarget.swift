// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTLS
internal import TidemarkTransport

/// The server to which devices connect.
struct WireTarget {
    static let subprotocol = "tidemark.v1"

    private(set) var target: TransportClient.Target

    init(port: UInt16, authorityFile: String) throws {
        let tls = try TLSContext(
            client: .init(additionalRootsFile: authorityFile, trustsSystemRoots: false))
        target = TransportClient.Target(
            host: "127.0.0.1", port: port, tls: tls, subprotocols: [Self.subprotocol])
    }

    /// The same at another port, where TLS may be resumed.
    func at(_ port: UInt16) -> WireTarget {
        var other = self
        other.target.port = port
        return other
    }
}
