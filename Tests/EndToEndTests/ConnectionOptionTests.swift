// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkKit
import TidemarkSockets
import TidemarkTestSupport

/// What an operator says about who may connect.
@Suite(.timeLimit(.minutes(10))) struct ConnectionOptionTests {
    @Test func `R-721: a server that requires a credential refuses nobody else, and says how many may connect`()
        async throws
    {
        let flags = ["--create-containers", "--require-credential", "--health-listen", "127.0.0.1:0"]
        try await OperatorPlace.with(flags) { place in
            #expect(place.server.output.contains("room for connections"))
            let match = place.server.output.firstMatch(of: /answering \/healthz address=(127\.0\.0\.1:\d+)/)
            let health = try #require(match).1
            let loop = try EventLoop(name: "health")
            defer { loop.stop() }
            let request = Array("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
            let peer = try await RawPeer.connect(
                to: SocketAddress(parsing: String(health)), on: loop, tls: nil, .none, sending: request)
            #expect(await peer.receiveAll().starts(with: "HTTP/1.1 200 ".utf8))
            await peer.close()
            try await place.database().save(CKRecordZone(zoneName: "Notes"))
            let nobody = place.database(.public, token: "")
            do {
                _ = try await nobody.record(for: CKRecord.ID(recordName: "n"))
                Issue.record("somebody without a credential was served")
            } catch let error as CKError {
                #expect(error.code == .notAuthenticated)
            }
        }
    }

    @Test func `R-721: an option without a meaning is refused with its bounds`() async throws {
        let place = try TestDirectory()
        defer { place.remove() }
        for (flag, value, text) in [
            ("--connections", "3", "--connections must be between 16 and 1000000"),
            ("--connections-per-account", "0", "--connections-per-account must be between 1 and 1000000"),
            ("--requests-per-second", "1000001", "--requests-per-second must be between 0 and 1000000"),
            ("--request-burst", "9", "--request-burst is for --requests-per-second"),
            ("--long-queries", "0", "--long-queries must be between 1 and 64"),
            ("--anonymous-idle-seconds", "0", "--anonymous-idle-seconds must be between 1 and 86400"),
            ("--drain-seconds", "3601", "--drain-seconds must be between 0 and 3600"),
            ("--audit-days", "36501", "--audit-days must be between 0 and 36500"),
            ("--device-days", "36501", "--device-days must be between 0 and 36500"),
            ("--device-seconds", "86401", "--device-seconds must be between 0 and 86400"),
            ("--address-lookups", "maybe", "--address-lookups must be one of on, off, not maybe"),
            ("--notice-bus-url", "redis://127.0.0.1", "--notice-bus-url knows nats:// and tls://"),
            ("--notice-bus-url", "nats://10.0.0.7", "10.0.0.7 is not on this machine. Use tls://"),
            ("--notice-bus-url", "tls://a:secret@b", "Put them into the file of --notice-bus-credentials"),
            ("--notice-bus-credentials", "f", "are for --notice-bus-url"),
            ("--health-listen", "localhost", "--health-listen takes a numeric address and a port"),
        ] {
            let arguments = ["serve", "--listen", "127.0.0.1:0", "--database-url", "x", "--plain", flag, value]
            let (status, output) = try await Program.run(
                "tidemark", arguments, environment: [:], directory: place.path, within: .seconds(30))
            #expect(status != 0 && output.contains(text), "\(output)")
        }
    }
}
