// SPDX-License-Identifier: Apache-2.0

import Foundation
import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport
import TidemarkTransport
import TidemarkWebSocket
import TidemarkWire

@testable import TidemarkServer

/// Tokens of a provider, whole servers and their database.
@Suite(.timeLimit(.minutes(20))) struct SignInTests {
    private let provider = TokenSigner()

    /// A provider as an operator describes it, with its keys in a file.
    private func makeIssuers(_ world: LiveWorld, _ members: String...) throws -> [Issuer] {
        let path = "\(world.directory.path)/keys.json"
        try Data(provider.keys).write(to: URL(fileURLWithPath: path))
        let all =
            [
                #""issuer":"\#(provider.issuer)""#, #""audience":"\#(provider.audience)""#, #""jwks-file":"\#(path)""#,
            ] + members
        return try IssuersFile.read(Array("[{\(all.joined(separator: ","))}]".utf8))
    }

    private func say(_ token: String, device: UInt64 = 1, _ world: LiveWorld, _ server: Server) async throws
        -> (LiveClient, WireServerEnvelope)
    {
        var hello = SessionWorld.hello(token, device: device)
        hello.clientName = "test/1"
        let client = try await world.connect(to: server, greeting: .hello(hello))
        return (client, try await client.answer(to: 1))
    }

    private func problem(_ envelope: WireServerEnvelope) -> WireSignInProblem? {
        guard case .failure(let failure)? = envelope.answer else { return nil }
        return failure.signInProblem
    }

    @Test func `R-923: whoever signs in first gets an account, on two servers the same one`() async throws {
        let world = try await LiveWorld()
        let issuers = try makeIssuers(
            world, #""create-accounts":true"#, #""account-prefix":"p:""#, #""trust-email":true"#)
        try await world.withServer({ $0.issuers = issuers }) { (first: Server) async throws in
            try await world.withServer({ $0.issuers = issuers }) { (second: Server) async throws in
                let token = provider.token("42", #""email":"Ann@Example.org""#, #""email_verified":true"#)
                async let here = say(token, device: 1, world, first)
                async let there = say(token, device: 2, world, second)
                let answers = [try await here.1, try await there.1]
                let names = answers.map { answer -> String? in
                    guard case .hello(let hello)? = answer.answer else { return nil }
                    return hello.userRecordName
                }
                #expect(names[0] != nil && names[0] == names[1])
                let account = try #require(try await world.admin.account(named: "p:42"))
                #expect(try await world.admin.addresses(of: account).map(\.text) == ["ann@example.org"])
                #expect(try await world.admin.identities(of: account).map(\.subject) == ["42"])
            }
        }
        await world.close()
    }

    @Test func `R-861: a disabled account is cut off on all servers, and told why when it comes again`() async throws {
        let world = try await LiveWorld()
        let issuers = try makeIssuers(world, #""create-accounts":true"#)
        try await world.withServer({ $0.issuers = issuers }) { (first: Server) async throws in
            try await world.withServer({ $0.issuers = issuers }) { (second: Server) async throws in
                let token = provider.token("42")
                let here = try await say(token, device: 1, world, first).0
                let there = try await say(token, device: 2, world, second).0
                let account = try #require(try await world.admin.account(named: "42"))
                #expect(try await world.admin.setDisabled(true, account) == .done)
                for client in [here, there] { #expect(try await closeCode(client) == 4401) }
                #expect(problem(try await say(token, world, first).1) == .accountDisabled)
                #expect(try await world.admin.setDisabled(false, account) == .done)
                #expect(problem(try await say(token, world, second).1) == nil)
            }
        }
        await world.close()
    }

    /// 0: it ended without one.
    private func closeCode(_ client: LiveClient) async throws -> Int {
        try await client.wait(for: "the end") { state -> Int? in
            guard let closed = state.closed else { return nil }
            guard case .peer(let code, _) = closed else { return 0 }
            return code.map { Int($0.rawValue) } ?? 0
        }
    }

    @Test func `R-920: what does not count opens nothing, and says why`() async throws {
        let world = try await LiveWorld()
        let issuers = try makeIssuers(world)
        try await world.withServer({ $0.issuers = issuers }) { (server: Server) async throws in
            let stranger = TokenSigner()
            for (token, expected) in [
                (provider.token("42"), WireSignInProblem.identityUnknown),
                (provider.token("42", lifetime: -61), .credentialExpired),
                (stranger.token("42"), .tokenInvalid),
                (TokenSigner(issuer: "https://evil.example.org").token("42"), .tokenInvalid),
                ("a.b.c", .tokenInvalid), ("..", .tokenInvalid), ("nobody", .credentialUnknown),
            ] {
                let (client, answer) = try await say(token, world, server)
                #expect(problem(answer) == expected, "\(token.prefix(20))")
                #expect(try await closeCode(client) == 4401)
            }
            _ = try await world.enter(server: server)
        }
        await world.close()
    }

    @Test func `R-929: a session ends with its token, and another token goes on`() async throws {
        let world = try await LiveWorld()
        let issuers = try makeIssuers(world, #""create-accounts":true"#)
        try await world.withServer({ $0.issuers = issuers }) { (server: Server) async throws in
            // It has expired, and counts for the few seconds that clocks may differ.
            let client = try await say(provider.token("42", lifetime: -45), world, server).0
            #expect(try await closeCode(client) == 4401)
            #expect(problem(try await say(provider.token("42"), world, server).1) == nil)
        }
        await world.close()
    }

    @Test func `R-925: a claim gives roles and takes them away, in the containers that the operator names`()
        async throws
    {
        let world = try await LiveWorld()
        let roles =
            #""roles":{"claim":["realm","groups"],"values":{"editors":"Editor","chiefs":"Chief"},"containers":["\#(LiveWorld.container)"]}"#
        let issuers = try makeIssuers(world, #""create-accounts":true"#, roles)
        try await world.withServer({ $0.issuers = issuers }) { (server: Server) async throws in
            func members(_ claim: String) async throws -> [String] {
                let (_, answer) = try await say(provider.token("42", #""realm":{"groups":\#(claim)}"#), world, server)
                #expect(problem(answer) == nil)
                let key = ContainerKey(identifier: LiveWorld.container, environment: .development)
                return try await world.admin.roleMembers(in: key).filter { $0.account != nil }.map(\.role)
            }
            #expect(try await members(#"["editors"]"#) == [], "the container has no roles yet")
            try PostgresAdministration.execute(
                [
                    """
                    INSERT INTO record_role (container_id, name)
                    SELECT id, n FROM container, unnest(ARRAY['Editor', 'Chief']) n
                     WHERE identifier = '\(LiveWorld.container)'
                    """
                ], url: world.database.url)
            #expect(try await members(#"["editors","others"]"#) == ["Editor"])
            #expect(try await members(#""chiefs""#) == ["Chief"])
            #expect(try await members("[]") == [])
        }
        await world.close()
    }
}
