// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkBytes
import TidemarkServer
import TidemarkSockets
import TidemarkTestSupport
import TidemarkTransport
import TidemarkWebSocket
import TidemarkWire

/// I-6 at the real server, from the first byte of TLS to the rows of PostgreSQL, while somebody else is served.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HostileClientTests {
    /// Says who it is, saves a record, and closes.
    private func conversation(_ world: LiveWorld) throws -> [UInt8] {
        var stamp = WireRequestStamp()
        stamp.counter = 1
        stamp.lowestUnanswered = 1
        var save = WireRecordSave()
        save.name = "n"
        save.type = "Note"
        save.parent = "p"
        save.parentChange = .parentSet
        var request = WireModifyRecords()
        request.database = .private
        request.stamp = stamp
        request.zones = [WireZoneModifications()]
        request.zones[0].zone = TestClient.zone("notes")
        request.zones[0].saves = [save]
        let message = TestClient.envelope(.modifyRecords(request), id: 2)
        return world.entrance() + RawPeer.frame(.binary, message) + RawPeer.frame(.close, [3, 0xE8])
    }

    /// Runs a peer for each way to tamper, some at a time, each to the end of its stream.
    private func tamper(
        _ world: LiveWorld, _ server: Server, isEncrypted: Bool, _ bytes: [UInt8], _ ways: [RawPeer.Tamper]
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, way) in ways.enumerated() {
                if index >= 16 { await group.next() }
                group.addTask {
                    guard let peer = try? await world.rawPeer(to: server, isEncrypted: isEncrypted, way) else { return }
                    await peer.send(bytes)
                    await peer.shutDown()
                    await peer.receiveAll()
                    await peer.close()
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func `I-6: a conversation cut or corrupted at any byte costs its sender only`(_ isEncrypted: Bool) async throws {
        try await withLiveWorld { world in
            try await world.withServer({ if !isEncrypted { $0.certificate = nil } }) { server in
                let bytes = try conversation(world)
                // With TLS a handshake comes before, of whose bytes `TLSSessionCorruptionTests` cuts and corrupts each.
                let positions = isEncrypted ? Array(stride(from: 0, to: 1_500, by: 29)) : Array(0...bytes.count)
                let owner = try await world.enter(device: 1, server: server, isEncrypted: isEncrypted)
                try await owner.makeZone("notes")
                try await owner.save(["mine"], in: "notes")
                try await world.undisturbed(server, isEncrypted: isEncrypted, and: [owner]) {
                    let ways = positions.map(RawPeer.Tamper.cut) + positions.map(RawPeer.Tamper.flip)
                    await tamper(world, server, isEncrypted: isEncrypted, bytes, ways)
                }
                #expect(try await owner.names(in: "notes").contains("mine"))
            }
        }
    }

    @Test func `I-6: any bytes after Hello end in an answer or a close code`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                try await world.undisturbed(server) {
                    var random = SeededRandom()
                    var client = try await world.enter(server: server)
                    let whole = TestClient.envelope(.modifyRecords(try client.saving(["a"], in: "notes")), id: 1_000)
                    for round in 0..<300 {
                        if client.closeReason != nil { client = try await world.enter(server: server) }
                        var bytes = whole
                        for _ in 0...Int.random(in: 0..<4, using: &random) {
                            bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
                        }
                        client.forgetInbox()
                        client.send(.binary, round % 3 == 0 ? random.bytes(count: 50) : bytes)
                        // The next answer shows that it was dealt with, whatever its id was.
                        let next = client.post(.fetchZones(WireFetchZones()))
                        let answer = try await client.answer(to: next)
                        if let reason = client.closeReason {
                            let code = try await client.closeCode()
                            #expect([1007, 4400].contains(code), "\(reason) by \(bytes)")
                        } else {
                            #expect(answer.failure.code == .invalidArguments)
                        }
                    }
                    client.disconnect()
                }
            }
        }
    }

    struct Crime: Sendable, CustomTestStringConvertible {
        let name: String
        let frames: [UInt8]
        let code: UInt16

        var testDescription: String { name }
    }

    static let crimes: [Crime] = [
        Crime(name: "bad UTF-8", frames: RawPeer.frame(.text, [0xC0, 0xAF]), code: 1007),
        Crime(name: "text", frames: RawPeer.frame(.text, [0x41]), code: 1003),
        Crime(name: "frame over the limit", frames: [0x82, 0xFF, 0, 0, 0, 0, 0, 0x40, 0, 1], code: 1009),
        Crime(name: "frame of 2^63 bytes", frames: [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 0], code: 1002),
        Crime(
            name: "message over the limit",
            frames: RawPeer.frame(.binary, Array(repeating: 0, count: 4_194_304), isFinal: false)
                + RawPeer.frame(.continuation, [1]),
            code: 1009),
        Crime(name: "not masked", frames: [0x82, 0x01, 0x41], code: 1002),
        // The offer was not taken up, so that there is nothing to inflate.
        Crime(
            name: "a bomb though compression was not agreed on",
            frames: RawPeer.frame(.binary, Array(repeating: 0, count: 1_000), isCompressed: true), code: 1002),
        Crime(
            name: "empty fragments without an end",
            frames: RawPeer.frame(.binary, isFinal: false)
                + Array(repeatElement(RawPeer.frame(.continuation, isFinal: false), count: 100_000).joined()),
            code: 1008),
    ]

    /// Who is told that it is closed and does not answer that is not waited for.
    private static func hasty(_ configuration: inout ServerConfiguration) {
        configuration.transport.closeDeadline = .milliseconds(300)
    }

    @Test func `RFC 6455 7_4: who breaks the rules is told which, before and after Hello`() async throws {
        try await withLiveWorld { world in
            try await world.withServer(Self.hasty) { server in
                try await world.undisturbed(server) {
                    for crime in Self.crimes {
                        for start in [LiveWorld.upgrade, world.entrance()] {
                            let peer = try await world.rawPeer(to: server)
                            await peer.send(start)
                            if start.count > LiveWorld.upgrade.count {
                                await peer.receive { RawPeer.messages(in: $0).count == 1 }
                            }
                            await peer.send(crime.frames)
                            let events = await peer.receiveAllEvents()
                            #expect(events.last == "close \(crime.code)", "\(crime.name): \(events)")
                            await peer.close()
                        }
                    }
                }
            }
        }
    }

    @Test func `I-7: a request in a hundred thousand fragments is answered as any other`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                try await world.undisturbed(server) {
                    let peer = try await world.rawPeer(to: server)
                    await peer.send(world.entrance())
                    await peer.receive { RawPeer.messages(in: $0).count == 1 }
                    var request = WireFetchZones()
                    request.database = .private
                    // Names that nobody has make it long.
                    request.zones = (0..<399).map { TestClient.zone("\($0)" + String(repeating: "x", count: 250)) }
                    let message = TestClient.envelope(.fetchZones(request), id: 2)
                    #expect(message.count > 100_000)
                    var bytes = RawPeer.frame(.binary, [message[0]], isFinal: false)
                    for byte in message.dropFirst() { bytes += RawPeer.frame(.continuation, [byte], isFinal: false) }
                    await peer.send(bytes + RawPeer.frame(.continuation))
                    let received = await peer.receive { RawPeer.messages(in: $0).count == 2 }
                    let answer = try #require(RawPeer.messages(in: received).last)
                    #expect(try WireServerEnvelope(reading: answer).fetchZones.zones.count == 399)
                    await peer.close()
                }
            }
        }
    }

    @Test func `I-7: nobody holds much memory before it is known who they are`() async throws {
        try await withLiveWorld { world in
            try await world.withServer(Self.hasty) { server in
                let long = RawPeer.frame(.binary, [UInt8](repeating: 0, count: 65_537))
                let stranger = try await world.rawPeer(to: server)
                await stranger.send(LiveWorld.upgrade + long)
                #expect(await stranger.receiveAllEvents() == ["close 1009"])
                await stranger.close()
                let member = try await world.rawPeer(to: server)
                await member.send(world.entrance())
                await member.receive { RawPeer.messages(in: $0).count == 1 }
                await member.send(long)
                #expect(await member.receiveAllEvents().last == "close 1007")
                await member.close()
            }
        }
    }

    /// Runs a peer until the server ends it; a machine that is too busy for a phase's deadline gets further attempts.
    private func end(
        _ world: LiveWorld, _ server: Server, isEncrypted: Bool = true, after bytes: [UInt8], is expected: String
    ) async throws -> Bool {
        var heard: [String] = []
        for _ in 0..<3 {
            let peer = try await world.rawPeer(to: server, isEncrypted: isEncrypted, sending: bytes)
            let received = await peer.receiveAll()
            await peer.close()
            heard.append(received.isEmpty ? "nothing" : RawPeer.events(received).last ?? "")
            if heard.last == expected { return true }
        }
        Issue.record("\(expected) was to end it, not \(heard)")
        return false
    }

    @Test func `I-7: a slow-loris loses its connection in every phase`() async throws {
        try await withLiveWorld { world in
            let change = { (configuration: inout ServerConfiguration) in
                configuration.transport.handshakeDeadline = .seconds(2)
                configuration.helloTimeout = .seconds(2)
                configuration.transport.messageGrace = .seconds(2)
                configuration.transport.writeProgressDeadline = .seconds(2)
                configuration.transport.closeDeadline = .seconds(1)
            }
            try await world.withServer(change) { server in
                let writer = try await world.enter(device: 2, server: server)
                try await writer.makeZone("notes")
                for index in 0..<8 {
                    let names = (0..<20).map { "r\(index)-\($0)" }
                    try await writer.save(names, in: "notes", text: String(repeating: "x", count: 90_000))
                }
                writer.disconnect()
                try await world.undisturbed(server) {
                    let hello: [UInt8] = [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]
                    async let first = end(world, server, isEncrypted: false, after: hello, is: "nothing")
                    let head = Array("GET / HTTP/1.1\r\nHost: h".utf8)
                    async let second = end(world, server, after: head, is: "status 408")
                    async let third = end(world, server, after: LiveWorld.upgrade, is: "close 4408")
                    let part = RawPeer.frame(.binary, [0x08], isFinal: false)
                    async let fourth = end(world, server, after: world.entrance() + part, is: "close 1008")
                    let deaf = try await world.enter(device: 101, server: server)
                    deaf.pauseReading()
                    for _ in 0..<20 { _ = deaf.post(.fetchZoneChanges(TestClient.zoneChanges("notes"))) }
                    let ends = try await [first, second, third, fourth]
                    #expect(ends == [true, true, true, true])
                    // It hears nothing, so its end is seen at the server: `undisturbed` waits for it.
                }
            }
        }
    }
}
