// SPDX-License-Identifier: Apache-2.0

import TidemarkSockets
import TidemarkTestSupport

/// Asks the admin listener of a program on this machine.
enum AdminPeer {
    /// - Returns: the answer with its head; empty if nobody answers.
    static func ask(_ target: String, port: UInt16) async throws -> String {
        let loop = try EventLoop(name: "operator")
        let request = Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
        let peer = try await RawPeer.connect(
            to: .loopback(port: port), on: loop, tls: nil, .none, sending: request)
        let text = await peer.receiveAllText()
        await peer.close()
        loop.stop()
        return text
    }
}
