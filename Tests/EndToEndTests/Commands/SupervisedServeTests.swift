// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkSockets
import TidemarkTestSupport

/// What a supervisor such as systemd hears of `tidemark serve`, with the real program.
@Suite struct SupervisedServeTests {
    /// What an address answers to a question that each of a server's listeners understands.
    private func answer(of port: UInt16, _ loop: EventLoop) async throws -> String {
        let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        let peer = try await RawPeer.connect(
            to: .loopback(port: port), on: loop, tls: nil, .none, sending: Array(request.utf8))
        let text = await peer.receiveAllText()
        await peer.close()
        return text
    }

    private func next(_ ear: SupervisorEar, from server: Program) async throws -> String {
        var heard: String?
        try await eventually("the supervisor hears something", within: .seconds(60)) {
            heard = ear.hearAtOnce()
            guard heard != nil || server.isRunning else { throw NeverHappened(description: server.output) }
            return heard != nil
        }
        return heard ?? ""
    }

    @Test func `R-940: READY=1 comes once, when each address takes connections, and the stop is told with its time`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let database = try await TestPostgres.database(OperatorPlace.template)
        let loop = try EventLoop(name: "peers")
        defer { loop.stop() }
        let ear = try SupervisorEar(at: "\(directory.path)/notify")
        let free = "127.0.0.1:0"
        let server = try Program(
            "tidemark",
            [
                "serve", "--listen", free, "--plain", "--health-listen", free, "--admin-listen", free, "--admin-listen",
                free, "--operators-listen", free, "--drain-seconds", "0",
            ],
            environment: ["TIDEMARK_DATABASE_URL": database.url, "NOTIFY_SOCKET": ear.place],
            directory: directory.path)
        let ready = try await next(ear, from: server)
        #expect(ready.hasPrefix("READY=1\nSTATUS=Serving 127.0.0.1:"), "\(ready)")
        // Without a wait: whoever is told that a server serves connects at once.
        let ports = server.output.matches(of: /address=127\.0\.0\.1:(\d+)/).compactMap { UInt16($0.1) }
        #expect(ports.count == 5 && Set(ports).count == 5, "\(server.output)")
        for port in ports { #expect(try await answer(of: port, loop).hasPrefix("HTTP/1.1 "), "\(port)") }
        server.signal(SIGHUP)
        #expect(try await next(ear, from: server).hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(try await next(ear, from: server) == "READY=1")
        server.signal(SIGTERM)
        #expect(try await next(ear, from: server) == "STOPPING=1\nEXTEND_TIMEOUT_USEC=60000000\nSTATUS=Stopping.")
        #expect(try await server.exit(within: .seconds(60)) == 0)
        #expect(ear.hearAtOnce() == nil)
    }

    @Test func `R-940: a server that cannot listen at each of its addresses never says that it is ready`() async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let database = try await TestPostgres.database(OperatorPlace.template)
        let (first, _) = try await OperatorPlace.serve(
            ["--plain", "--admin-listen", "127.0.0.1:0"], on: database.url, in: directory)
        let taken = try #require(first.output.firstMatch(of: /answering operators address=(127[^ ]+)/)?.1)
        let ear = try SupervisorEar(at: "\(directory.path)/notify")
        let (status, output) = try await Program.run(
            "tidemark",
            ["serve", "--listen", "127.0.0.1:0", "--plain", "--admin-listen", String(taken)],
            environment: ["TIDEMARK_DATABASE_URL": database.url, "NOTIFY_SOCKET": ear.place],
            directory: directory.path, within: .seconds(60))
        #expect(status != 0 && output.contains(taken), "\(output)")
        #expect(ear.hearAtOnce() == nil)
        #expect(try await first.stop() == 0)
    }
}
