// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkScheduling
import TidemarkSockets
import TidemarkTestSupport
import TidemarkTransport
import TidemarkWebSocket

@Suite struct TransportServerTests {
    @Test func `connections are spread evenly over a server's loops, and stop with it`() async throws {
        let loops = try (0..<3).map { try EventLoop(name: "server-\($0)") }
        let clientLoop = try EventLoop(name: "client")
        defer { for loop in loops + [clientLoop] { loop.stop() } }
        let (accepting, continuation) = AsyncStream<Int>.makeStream()
        let configuration = TransportServer.Configuration(addresses: [.loopback(port: 0)], tls: nil)
        let server = try await TransportServer.start(on: loops, configuration) { _, _ in
            continuation.yield(loops.firstIndex(where: \.isCurrent) ?? -1)
            return .webSocket(.init(), Echo())
        }
        let target = TransportClient.Target(
            host: "127.0.0.1", port: server.localAddresses[0].port, path: "/", tls: nil, deflate: nil)
        var clients: [Recorder] = []
        for _ in 0..<9 {
            let recorder = Recorder(loop: clientLoop)
            await clientLoop.run {
                recorder.connection = TransportClient.connect(
                    on: clientLoop, to: target, limits: .patient, handler: recorder)
            }.value
            clients.append(recorder)
        }
        var counts = [0, 0, 0]
        var accepted = accepting.makeAsyncIterator()
        for _ in clients {
            let loop = await accepted.next() ?? -1
            #expect(loops.indices.contains(loop))
            if loops.indices.contains(loop) { counts[loop] += 1 }
        }
        #expect(counts == [3, 3, 3])
        #expect(server.connectionCount == 9)
        await server.stop()
        #expect(server.connectionCount == 0)
    }
}
