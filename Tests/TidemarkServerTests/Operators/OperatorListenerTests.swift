// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkServer
import TidemarkSockets
import TidemarkStore
import TidemarkTelemetry
import TidemarkTestSupport
import TidemarkWire

/// The channel of operators over real sockets and TLS.
@Suite(.serialized) struct OperatorListenerTests {
    /// Runs `body` with a server that takes commands, and an operator's credential.
    private func with(
        checkInterval: Duration = .seconds(5), patienceStep: Duration = .seconds(60),
        _ body: (LiveWorld, Server, TestCommands, String) async throws -> Void
    ) async throws {
        try await withLiveWorld { world in
            let commands = TestCommands()
            let credential = Credential.make()
            let olga = try #require(try await world.admin.createOperator("olga", .viewer))
            _ = try await world.admin.issueOperatorCredential(
                hash: credential.hash, label: "", expiresAt: nil, for: olga)
            try await world.withServer({ configuration in
                configuration.operators.addresses = [.loopback(port: 0)]
                configuration.operators.commands = commands
                configuration.operators.checkInterval = checkInterval
                configuration.operators.patienceStep = patienceStep
                // By that alone no command ends.
                configuration.operators.patienceStepsMax = .max
            }) { server in try await body(world, server, commands, credential.text) }
        }
    }

    private func connect(
        _ world: LiveWorld, _ server: Server, _ greeting: [[UInt8]],
        as subprotocols: [String] = ["tidemark.operator.v1"], answer: @escaping OperatorPeer.Answer = { _ in nil }
    ) throws -> OperatorPeer {
        let peer = OperatorPeer(world.loop, greeting: greeting, answer: answer)
        peer.connect(
            port: try #require(server.operatorAddresses.first).port, tls: world.tls, subprotocols: subprotocols)
        return peer
    }

    @Test func `R-881: a command is carried out, and its end closes the channel`() async throws {
        try await with { world, server, commands, credential in
            let peer = try connect(
                world, server, [OperatorPeer.hello(credential), OperatorPeer.command(["greet"])])
            let (messages, code) = await peer.untilClosed()
            #expect(code == 1000)
            #expect(messages.map(\.output.stream).first == .message)
            #expect(messages.first?.output.content == Array("hello olga".utf8))
            #expect(messages.dropFirst().first?.output.content == Array("at your service\n".utf8))
            #expect(messages.last?.message == .end(WireOperatorEnd()))
            #expect(commands.ended == 1)
        }
    }

    @Test func `R-881: without a valid credential nothing runs, and neither does what is too long or no message`()
        async throws
    {
        try await with { world, server, commands, credential in
            let hello = OperatorPeer.hello(credential)
            for (greeting, code) in [
                ([OperatorPeer.hello("tidemark_wrong"), OperatorPeer.command(["greet"])], 4401),
                ([OperatorPeer.command(["greet"])], 4400), ([hello, hello], 4400), ([[0xFF, 0xFF]], 4400),
                ([hello, [UInt8](repeating: 0, count: 200_000)], 1009),
            ] as [([[UInt8]], UInt16)] {
                let ended = await (try connect(world, server, greeting)).untilClosed()
                #expect(ended.code == code, "\(greeting.map(\.count))")
                #expect(ended.messages.isEmpty)
            }
            #expect(commands.begun == 0)
        }
    }

    @Test func `R-881: web pages, other paths and other protocols get no channel`() async throws {
        try await with { world, server, _, _ in
            let port = try #require(server.operatorAddresses.first).port
            let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            let key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            let channel = "Sec-WebSocket-Protocol: tidemark.operator.v1\r\n"
            for (target, fields, status) in [
                ("/", upgrade + key + channel, "404"), ("/healthz", "", "404"),
                ("/admin", upgrade + key + channel + "Origin: https://evil.example\r\n", "403"),
                ("/admin", upgrade + key, "400"),
                ("/admin", upgrade + key + "Sec-WebSocket-Protocol: tidemark.v1\r\n", "400"),
            ] {
                let request = "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n"
                let peer = try await RawPeer.connect(
                    to: .loopback(port: port), on: world.loop, tls: world.tls, .none, sending: Array(request.utf8))
                let text = await peer.receiveAllText()
                await peer.close()
                #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(target) \(fields): \(text)")
            }
        }
    }

    @Test func `R-885: questions and files go to the client and back`() async throws {
        try await with { world, server, _, credential in
            let hello = OperatorPeer.hello(credential)
            let asked = try connect(world, server, [hello, OperatorPeer.command(["ask"])]) { message in
                guard case .question? = message.message else { return nil }
                var answer = WireOperatorClientMessage()
                answer.answer.text = "y"
                return answer
            }
            #expect(await asked.untilClosed().messages.last?.message == .end(WireOperatorEnd()))
            let parts = SharedParts(count: 40)
            let read = try connect(world, server, [hello, OperatorPeer.command(["read"])]) { message in
                var answer = WireOperatorClientMessage()
                switch message.message {
                case .openFile?: answer.fileOpened.byteCount = 40_000
                case .readFile?: answer.filePart.content = [UInt8](repeating: 7, count: parts.take() ? 1_000 : 0)
                default: return nil
                }
                return answer
            }
            #expect(await read.untilClosed().messages.last?.message == .end(WireOperatorEnd()))
        }
    }

    @Test(arguments: ["flood", "ask", "read"])
    func `R-886: a command ends when its client is gone, whatever it waits for`(_ name: String) async throws {
        try await with { world, server, commands, credential in
            let peer = try connect(
                world, server, [OperatorPeer.hello(credential), OperatorPeer.command([name])])
            try await eventually { commands.begun == 1 }
            peer.close()
            try await eventually { commands.ended == 1 }
            #expect(commands.cancelled == 1)
        }
    }

    @Test func `R-884: a flood stops at the credit`() async throws {
        try await with { world, server, commands, credential in
            let peer = try connect(
                world, server, [OperatorPeer.hello(credential), OperatorPeer.command(["flood"], credit: 300_000)])
            try await eventually { commands.begun == 1 }
            // The server has the last word: it stops, so all that it would send has come.
            await server.stop(patience: .seconds(5))
            let (messages, code) = await peer.untilClosed()
            #expect(code == 1001)
            #expect(messages.reduce(0) { $0 + $1.output.content.count } <= 300_000)
            #expect(commands.ended == 1)
        }
    }

    @Test func `R-882: a command keeps its place until its operator has taken what it said, or is gone`() async throws {
        try await with { world, server, commands, credential in
            let hello = OperatorPeer.hello(credential)
            func greet() async throws -> Int32? {
                let peer = try connect(world, server, [hello, OperatorPeer.command(["greet"])])
                return await peer.untilClosed().messages.last?.end.status
            }
            var silent: [OperatorPeer] = []
            for _ in 0..<4 {
                silent.append(try connect(world, server, [hello, OperatorPeer.command(["shout"], credit: 65_536)]))
            }
            try await eventually { commands.ended == 4 }
            #expect(try await greet() == 5)
            let metrics = try MetricsScrape(Measurements.text)
            #expect((metrics.value("tidemark_connections_open", ["listener": "admin"]) ?? 0) >= 4)
            for peer in silent { peer.close() }
            try await eventually { try await greet() == 0 }
            #expect(commands.turnCount == 1)
        }
    }

    @Test func `R-883: a channel ends if for long nobody can say whether its credential is valid`() async throws {
        try await with(checkInterval: .milliseconds(5)) { world, server, commands, credential in
            let peer = try connect(world, server, [OperatorPeer.hello(credential), OperatorPeer.command(["ask"])])
            try await eventually { commands.begun == 1 }
            try PostgresAdministration.execute(
                ["ALTER TABLE operator_credential RENAME TO operator_credential_away"], url: world.database.url)
            #expect(await peer.untilClosed().code == 1013)
            try await eventually { commands.ended == 1 }
            #expect(commands.cancelled == 1)
        }
    }

    @Test func `R-881: an operator has sixteen channels at most`() async throws {
        try await with { world, server, _, credential in
            var peers: [OperatorPeer] = []
            for _ in 0..<17 { peers.append(try connect(world, server, [OperatorPeer.hello(credential)])) }
            let first = await withTaskGroup(of: UInt16?.self) { [peers] group in
                for peer in peers { group.addTask { await peer.untilClosed().code } }
                let first = await group.next()
                for peer in peers { peer.close() }
                return first ?? nil
            }
            #expect(first == 1_013)
        }
    }

    @Test func `R-860: who tries credentials of operators is in the audit, three times a minute`() async throws {
        try await with { world, server, _, _ in
            for _ in 0..<4 {
                let peer = try connect(world, server, [OperatorPeer.hello("tidemark_wrong")])
                #expect(await peer.untilClosed().code == 4401)
            }
            try await eventually {
                let entries = try await world.admin.audit(AuditFilter(), before: nil, countMax: 10).entries
                return entries.map(\.action) == Array(repeating: "operators sign-in", count: 3)
                    && entries.allSatisfy { $0.result == .refused && $0.address == "127.0.0.1" && $0.who.isEmpty }
            }
        }
    }

    @Test func `R-881: without TLS a server takes no commands beyond loopback`() async throws {
        try await withLiveWorld { world in
            var configuration = world.configuration
            configuration.certificate = nil
            configuration.operators.addresses = SocketAddress(numericHost: "0.0.0.0", port: 0).map { [$0] } ?? []
            configuration.operators.commands = TestCommands()
            let error = await #expect(throws: ServerError.self) { try await Server.start(configuration) }
            #expect(error?.code == .plainBeyondLoopback)
        }
    }

    // MARK: Users

    private static let user = ["tidemark.user.v1"]

    @Test func `R-899: a credential opens its own kind of channel, and no other`() async throws {
        try await with { world, server, commands, credential in
            let operatorHello = OperatorPeer.hello(credential)
            let userHello = OperatorPeer.hello(world.alice.text)
            let greet = OperatorPeer.command(["greet"])
            let account = try #require(try await world.admin.account(named: "alice"))
            for (greeting, subprotocols, expected) in [
                ([userHello, greet], Self.user, "hello account \(account.rawValue)"),
                ([operatorHello, greet], ["tidemark.operator.v1"], "hello olga"),
                ([userHello, greet], ["tidemark.operator.v1"], nil), ([operatorHello, greet], Self.user, nil),
                // Whoever asks for both gets the lesser.
                ([operatorHello, greet], ["tidemark.operator.v1", "tidemark.user.v1"], nil),
            ] as [([[UInt8]], [String], String?)] {
                let before = commands.begun
                let ended = await (try connect(world, server, greeting, as: subprotocols)).untilClosed()
                let said = ended.messages.first.map { String(decoding: $0.output.content, as: UTF8.self) }
                #expect(said == expected, "\(subprotocols)")
                #expect(ended.code == (expected == nil ? 4401 : 1000))
                #expect(commands.begun == before + (expected == nil ? 0 : 1))
            }
            try await eventually {
                let entries = try await world.admin.audit(AuditFilter(), before: nil, countMax: 10).entries
                return Set(entries.map(\.action)) == ["operators sign-in", "cktool sign-in"]
            }
        }
    }

    @Test func `R-899: a user's channel ends when the credential is void, and when the account is disabled`()
        async throws
    {
        try await with(checkInterval: .milliseconds(5)) { world, server, commands, _ in
            let (id, carol) = try await LiveWorld.issue("carol", world.admin)
            let ask = OperatorPeer.command(["ask"])
            let revoked = try connect(world, server, [OperatorPeer.hello(carol.text), ask], as: Self.user)
            let disabled = try connect(world, server, [OperatorPeer.hello(world.bob.text), ask], as: Self.user)
            try await eventually { commands.begun == 2 }
            #expect(try await world.admin.revokeCredential(id))
            #expect(await revoked.untilClosed().code == 4403)
            try await eventually { commands.ended == 1 }
            let bob = try #require(try await world.admin.account(named: "bob"))
            _ = try await world.admin.setDisabled(true, bob)
            #expect(await disabled.untilClosed().code == 4403)
            try await eventually { commands.ended == 2 }
            #expect(commands.cancelled == 2)
        }
    }

    @Test func `R-899: users who fill their places keep no operator out`() async throws {
        try await with { world, server, commands, credential in
            let ask = OperatorPeer.command(["ask"])
            var peers: [OperatorPeer] = []
            let (_, carol) = try await LiveWorld.issue("carol", world.admin)
            for token in [world.alice.text, world.alice.text, world.bob.text, carol.text] {
                peers.append(try connect(world, server, [OperatorPeer.hello(token), ask], as: Self.user))
                // In this order: alice has two places only while nobody else has one.
                try await eventually { [count = peers.count] in commands.begun == count }
            }
            let (_, dave) = try await LiveWorld.issue("dave", world.admin)
            let greet = OperatorPeer.command(["greet"])
            let late = try connect(world, server, [OperatorPeer.hello(dave.text), greet], as: Self.user)
            #expect(await late.untilClosed().messages.last?.end.status == 5)
            let olga = try connect(world, server, [OperatorPeer.hello(credential), greet])
            #expect(await olga.untilClosed().messages.last?.end.status == 0)
            for peer in peers { peer.close() }
            try await eventually { commands.ended == 5 }
        }
    }

    /// Without that, three accounts could have all places for as long as they like.
    @Test func `R-899: if all places of users are taken, one who lets a command wait makes room for another account`()
        async throws
    {
        try await with(patienceStep: .milliseconds(5)) { world, server, commands, credential in
            let (_, carol) = try await LiveWorld.issue("carol", world.admin)
            let flood = OperatorPeer.command(["flood"], credit: 65_536)
            var peers: [OperatorPeer] = []
            for token in [world.alice.text, world.alice.text, world.bob.text, carol.text] {
                peers.append(try connect(world, server, [OperatorPeer.hello(token), flood], as: Self.user))
                // In this order: alice has two places only while nobody else has one.
                try await eventually { [count = peers.count] in commands.begun == count }
            }
            func greet(_ token: String) async throws -> Int32? {
                let greeting = [OperatorPeer.hello(token), OperatorPeer.command(["greet"])]
                let peer = try connect(world, server, greeting, as: Self.user)
                return await peer.untilClosed().messages.last?.end.status
            }
            // Who has a place makes nobody give way.
            #expect(try await greet(world.bob.text) == 5)
            #expect(commands.ended == 0)
            let (_, dave) = try await LiveWorld.issue("dave", world.admin)
            try await eventually { try await greet(dave.text) == 0 }
            // One command has made room, and dave's has ended.
            #expect(commands.begun == 5 && commands.ended == 2 && commands.cancelled == 1)
            let first = await withTaskGroup(of: UInt16?.self) { [peers] group in
                for peer in peers { group.addTask { await peer.untilClosed().code } }
                let first = await group.next()
                for peer in peers { peer.close() }
                return first ?? nil
            }
            #expect(first == 4408)
        }
    }
}

/// Parts of a file that are left.
private final class SharedParts: Sendable {
    private let left: Mutex<Int>

    init(count: Int) { left = Mutex(count) }

    func take() -> Bool {
        left.withLock { left in
            guard left > 0 else { return false }
            left -= 1
            return true
        }
    }
}
