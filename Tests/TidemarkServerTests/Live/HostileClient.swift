// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import TidemarkServer
import TidemarkSockets
import TidemarkTestSupport
import TidemarkTransport
import TidemarkWebSocket
import TidemarkWire

extension LiveWorld {
    /// Connected, perhaps encrypted, and free to say anything.
    func rawPeer(
        to server: Server, isEncrypted: Bool = true, _ tamper: RawPeer.Tamper = .none, sending bytes: [UInt8] = []
    ) async throws -> RawPeer {
        try await RawPeer.connect(
            to: server.addresses[0], on: loop, tls: isEncrypted ? tls : nil, tamper, sending: bytes)
    }

    /// What a client sends until it has said who it is.
    func entrance(_ credential: Credential? = nil, device: UInt64 = 100) -> [UInt8] {
        let hello = SessionWorld.hello((credential ?? alice).text, device: device)
        return Self.upgrade + RawPeer.frame(.binary, TestClient.envelope(.hello(hello), id: 1))
    }

    static var upgrade: [UInt8] { RawPeer.upgrade("/", deflate: true, subprotocol: Server.subprotocol) }

    /// Runs `attack` while a device of another account saves and fetches without a break; afterwards everything that the
    /// attackers held is free.
    ///
    /// - Parameter others: connections that stay.
    func undisturbed(
        _ server: Server, isEncrypted: Bool = true, and others: [LiveClient] = [], _ attack: () async throws -> Void
    ) async throws {
        let bystander = try await enter(bob, device: 200, server: server, isEncrypted: isEncrypted)
        try await bystander.makeZone("quiet")
        let work = Task {
            var count = 0
            while !Task.isCancelled {
                try await bystander.save(["r\(count % 10)"], in: "quiet", text: "\(count)")
                count += 1
            }
            return count
        }
        do {
            try await attack()
        } catch {
            work.cancel()
            throw error
        }
        work.cancel()
        guard try await work.value > 0 else { throw LiveError("the bystander was not served") }
        guard try await !bystander.names(in: "quiet").isEmpty else { throw LiveError("the bystander lost its records") }
        try await eventually(within: .seconds(30)) { server.connectionCount == 1 + others.count }
        bystander.disconnect()
    }
}

extension LiveClient {
    func disconnect() {
        loop.execute { [self] in connection.withLock { $0 }?.close() }
    }

    /// The codes of a page of changes that is asked for with this token; `.unspecified`: there is a page.
    func code(of zone: String, token: [UInt8]) async throws -> WireErrorCode {
        try await ask(.fetchZoneChanges(TestClient.zoneChanges(zone, token: [UInt8](token)))).failure.code
    }
}
