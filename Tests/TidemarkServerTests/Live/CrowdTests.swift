// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkServer
import TidemarkTestSupport
import TidemarkTransport
import TidemarkWebSocket
import TidemarkWire

/// Those without a credential, at the real server.
@Suite(.serialized, .timeLimit(.minutes(10))) struct CrowdTests {
    private static var nobody: [UInt8] {
        LiveWorld.upgrade
            + RawPeer.frame(.binary, TestClient.envelope(.hello(SessionWorld.hello("", device: 9)), id: 1))
    }

    private static func small(_ configuration: inout ServerConfiguration) {
        configuration.transport.closeDeadline = .milliseconds(300)
        configuration.transport.connectionsMax = 64
        configuration.anonymousConnectionsMax = 12
        configuration.anonymousConnectionsPerAddressMax = 10
    }

    @Test func `R-720: whoever has no credential keeps 64 KiB for a message after Hello`() async throws {
        try await withLiveWorld { world in
            try await world.withServer(Self.small) { server in
                // As long as may be, and no envelope; then one byte more.
                for (count, end) in [(65_536, "close 1007"), (65_537, "close 1009")] {
                    let peer = try await world.rawPeer(to: server)
                    await peer.send(Self.nobody)
                    await peer.receive { RawPeer.messages(in: $0).count == 1 }
                    await peer.send(RawPeer.frame(.binary, [UInt8](repeating: 0, count: count)))
                    #expect(await peer.receiveAllEvents().last == end)
                    await peer.close()
                }
            }
        }
    }

    @Test func `R-721: connections without a credential are bounded by address, and leave the others theirs`()
        async throws
    {
        try await withLiveWorld { world in
            try await world.withServer(Self.small) { server in
                try await world.undisturbed(server) {
                    var crowd: [LiveClient] = []
                    for _ in 0..<10 { crowd.append(try await world.enterAsNobody(server: server)) }
                    #expect(crowd.allSatisfy { $0.closeReason == nil })
                    let refused = try await world.enterAsNobody(server: server)
                    let failure = try #require(refused.answers.first?.failure)
                    #expect(failure.code == .requestRateLimited && failure.retryAfterSeconds > 0)
                    #expect(failure.message.contains("without a credential"))
                    #expect(try await refused.closeCode() == 4429)
                    let member = try await world.enter(device: 1, server: server)
                    try await member.makeZone("notes")
                    crowd[0].disconnect()
                    try await eventually {
                        let next = try await world.enterAsNobody(server: server)
                        crowd.append(next)
                        guard case .hello? = next.answers.first?.answer else { return false }
                        return true
                    }
                    for client in crowd + [member] { client.disconnect() }
                }
            }
        }
    }

    @Test func `R-721: an account has as many connections as the operator wants, and others have theirs`() async throws
    {
        try await withLiveWorld { world in
            let two = { (configuration: inout ServerConfiguration) in
                configuration.connectionsPerAccountMax = 2
                configuration.loopCount = 2
            }
            try await world.withServer(two) { server in
                let own = [
                    try await world.enter(device: 1, server: server), try await world.enter(device: 2, server: server),
                ]
                func another() async throws -> LiveClient {
                    let hello = SessionWorld.hello(world.alice.text, device: 3)
                    return try await world.connect(to: server, greeting: .hello(hello))
                }
                let refused = try await another()
                guard case .failure(let failure)? = try await refused.answer(to: 1).answer else {
                    throw LiveError("the third connection was not refused")
                }
                #expect(failure.code == .requestRateLimited && failure.retryAfterSeconds > 0)
                #expect(failure.message.contains("2 of one account (--connections-per-account)"), "\(failure.message)")
                #expect(try await refused.closeCode() == 4429)
                // Those that have a place keep it, and another account gets one.
                try await own[0].makeZone("notes")
                try await world.enter(world.bob, device: 4, server: server).makeZone("notes")
                own[1].disconnect()
                var next: LiveClient?
                // The server hears of the end a moment later.
                try await eventually(within: .seconds(60)) {
                    next = try await another()
                    guard case .hello? = try await next?.answer(to: 1).answer else { return false }
                    return true
                }
                #expect(own[0].closeReason == nil && next?.closeReason == nil)
            }
        }
    }

    @Test func `R-721: in all there are as many without a credential as the operator wants`() async throws {
        try await withLiveWorld { world in
            let few = { (configuration: inout ServerConfiguration) in
                Self.small(&configuration)
                configuration.anonymousConnectionsMax = 2
            }
            try await world.withServer(few) { server in
                let crowd = [
                    try await world.enterAsNobody(server: server), try await world.enterAsNobody(server: server),
                ]
                let refused = try await world.enterAsNobody(server: server)
                #expect(refused.answers.first?.failure.code == .requestRateLimited)
                #expect(try await refused.closeCode() == 1013)
                _ = try await world.enter(device: 1, server: server)
                #expect(crowd.allSatisfy { $0.closeReason == nil })
            }
        }
    }

    @Test func `R-721: who connects and says nothing gives way to who says who it is`() async throws {
        try await withLiveWorld { world in
            try await world.withServer(Self.small) { server in
                // 64 connections: two newcomers of one address.
                var silent: [RawPeer] = []
                for _ in 0..<2 {
                    let peer = try await world.rawPeer(to: server)
                    await peer.send(LiveWorld.upgrade)
                    await peer.receive { $0.starts(with: "HTTP/1.1 101 ".utf8) }
                    silent.append(peer)
                }
                try await eventually {
                    let peer = try await world.rawPeer(to: server)
                    await peer.send(LiveWorld.upgrade)
                    let head = await peer.receive { $0.count > 13 }
                    if head.starts(with: "HTTP/1.1 101 ".utf8) {
                        silent.append(peer)
                        return true
                    }
                    let text = String(decoding: head + (await peer.receiveAll()), as: UTF8.self)
                    #expect(text.hasPrefix("HTTP/1.1 429 ") && text.contains("Retry-After: 30\r\n"), "\(text)")
                    await peer.close()
                    return false
                }
                // The first of those that were silent lost its place, and was told why.
                #expect(await silent[0].receiveAllEvents().last == "close 1013")
                var member: LiveClient?
                try await eventually {
                    member = try? await world.enter(device: 1, server: server)
                    return member != nil
                }
                try await member?.makeZone("notes")
                for peer in silent { await peer.close() }
            }
        }
    }
}
