// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkScheduling
import TidemarkSockets
import TidemarkTelemetry
import TidemarkTestSupport
import TidemarkWebSocket

@testable import TidemarkTransport

/// What is counted of connections. Other tests count, too: so what is expected is the least.
@Suite struct TransportMetricsTests {
    @Test func `R-810: connections count by their listener, from the accept to the end`() async throws {
        let serverLoop = try EventLoop(name: "server")
        let clientLoop = try EventLoop(name: "client")
        defer { for loop in [serverLoop, clientLoop] { loop.stop() } }
        let metrics = TransportMetrics.shared
        let accepted = metrics.accepted.value(.admin)
        var configuration = TransportServer.Configuration(addresses: [.loopback(port: 0)], tls: nil)
        configuration.listener = .admin
        let server = try await TransportServer.start(on: [serverLoop], configuration) { _, _ in
            .webSocket(.init(), Echo())
        }
        let open = metrics.open.value(.admin)
        let target = TransportClient.Target(
            host: "127.0.0.1", port: server.localAddresses[0].port, path: "/", tls: nil, deflate: nil)
        let clients = (0..<3).map { _ in Recorder(loop: clientLoop) }
        for client in clients {
            await clientLoop.run {
                client.connection = TransportClient.connect(
                    on: clientLoop, to: target, limits: .patient, handler: client)
            }.value
        }
        try await eventually { metrics.open.value(.admin) >= open + 3 }
        #expect(metrics.accepted.value(.admin) >= accepted + 3)
        await server.stop()
        try await eventually { metrics.open.value(.admin) <= open }
    }

    @Test func `R-810: handshakes of the HTTP server count, and those that fail`() async throws {
        let metrics = TransportMetrics.shared
        try await HTTPScene.run(.tls) { scene in
            let failed = metrics.handshakes.value(.failed)
            let done = metrics.handshakes.value(.full) + metrics.handshakes.value(.resumed)
            let (times, cut) = (metrics.handshakeTime.count, metrics.failed.value)
            try await scene.expectService()
            #expect(metrics.handshakes.value(.full) + metrics.handshakes.value(.resumed) > done)
            #expect(metrics.handshakeTime.count > times)
            let stranger = try await scene.peer(isEncrypted: false, sending: HTTPScene.get("/hello"))
            await stranger.receiveAll()
            try await eventually { metrics.handshakes.value(.failed) > failed && metrics.failed.value > cut }
        }
    }
}
