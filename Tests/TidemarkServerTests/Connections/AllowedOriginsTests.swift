// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkBytes
import TidemarkServer
import TidemarkTestSupport
import TidemarkTransport
import TidemarkWebSocket
import TidemarkWire

/// Which web pages may connect without a credential.
@Suite(.timeLimit(.minutes(10))) struct AllowedOriginsTests {
    @Test func `R-767: an origin is what a browser says, in lower case and without the usual port`() throws {
        let origins = try #require(AllowedOrigins(["https://App.example.org:443", "http://localhost:3000"]))
        for origin in ["https://app.example.org", "HTTPS://APP.EXAMPLE.ORG", "http://localhost:3000"] {
            #expect(origins.allow(origin), "\(origin)")
        }
        for origin in [
            "http://app.example.org", "https://app.example.org:8443", "https://app.example.org.evil.example",
            "https://evil.example", "https://app.example.org/", "https://app.example.org,https://app.example.org",
            "http://localhost", "null", "", "https://", "file://", "https://evil.example@app.example.org",
        ] {
            #expect(!origins.allow(origin), "\(origin)")
        }
        #expect(origins.allow(nil), "no browser")
        #expect(AllowedOrigins([])?.allow("https://app.example.org") == false)
        for bad in ["app.example.org", "https://app.example.org/path", "https://", "*", "ftp://app.example.org", ""] {
            #expect(AllowedOrigins(["https://good.example", bad]) == nil, "\(bad)")
        }
    }

    /// What the server says to a page that connects and says Hello.
    private func events(
        _ world: LiveWorld, _ server: Server, origins: [String], credential: String
    ) async throws -> [String] {
        var upgrade = String(decoding: LiveWorld.upgrade, as: UTF8.self)
        // The empty line, which is one character.
        upgrade.removeLast()
        for origin in origins { upgrade += "Origin: \(origin)\r\n" }
        let hello = TestClient.envelope(.hello(SessionWorld.hello(credential)), id: 1)
        let peer = try await world.rawPeer(to: server)
        await peer.send(Array((upgrade + "\r\n").utf8) + RawPeer.frame(.binary, hello))
        let received = await peer.receive { RawPeer.messages(in: $0).count == 1 }
        let answer = try #require(RawPeer.messages(in: received).first)
        let code = try WireServerEnvelope(reading: answer).failure.code
        if code == .unspecified { await peer.send(RawPeer.frame(.close, [3, 0xE8])) }
        let last = await peer.receiveAllEvents().last
        await peer.close()
        return ["\(code)", last ?? ""]
    }

    @Test func `R-767: a page that the operator does not know needs a credential, and nobody else does`() async throws {
        try await withLiveWorld { world in
            let page = "https://app.example.org"
            try await world.withServer({ $0.allowedOrigins = AllowedOrigins([page]) }) { server in
                let alice = world.alice.text
                let refused = ["notAuthenticated", "close 4401"]
                func events(_ origins: [String], _ credential: String) async throws -> [String] {
                    try await self.events(world, server, origins: origins, credential: credential)
                }
                #expect(try await events(["https://evil.example"], "") == refused)
                #expect(try await events(["null"], "") == refused)
                #expect(try await events([page, "https://evil.example"], "") == refused)
                for (origins, credential) in [
                    ([page], ""), ([], ""), (["https://evil.example"], alice), ([page], alice),
                ] {
                    let code = try await events(origins, credential)[0]
                    #expect(code == "unspecified", "\(origins) \(credential.isEmpty)")
                }
            }
            // Without the option all pages may.
            try await world.withServer { server in
                let events = try await events(world, server, origins: ["https://evil.example"], credential: "")
                #expect(events[0] == "unspecified")
            }
        }
    }
}
