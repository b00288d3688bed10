// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@Suite struct AuthenticationTests {
    /// Tokens are the texts with two dots. The first part says what becomes of them, the second one whose they are.
    private final class Judge: TokenJudge {
        let world = Mutex<MemoryDatabase?>(nil)
        let end = Mutex(Timestamp(milliseconds: .max))
        let settled = Mutex<[String]>([])
        let judgedCount = Mutex(0)
        /// Who has an identity, revoked or not: the store makes none anew.
        let known = Mutex<Set<String>>([])
        /// Whether the store fails when it should make an account, or store roles.
        let failsAccounts = Mutex(false)
        let failsRoles = Mutex(false)

        func judge(_ credential: [UInt8], now: Timestamp) async -> TokenVerdict {
            let parts = String(decoding: credential, as: UTF8.self).split(separator: ".").map(String.init)
            guard parts.count == 3 else { return .noToken }
            judgedCount.withLock { $0 += 1 }
            switch parts[0] {
            case "expired": return .refused(.credentialExpired, "The token has expired.")
            case "bad": return .refused(.tokenInvalid, "The token's signature is wrong.")
            case "down": return .unavailable("The keys cannot be fetched.")
            case "unsigned": return .undecided("No key that is known has signed it.")
            default: return .accepted(Holder(judge: self, name: parts[1], creates: parts[0] == "creates"))
            }
        }
    }

    private struct Holder: TokenHolder {
        let judge: Judge
        let name: String
        let creates: Bool

        /// Longer than a hash, as those of real identities.
        var key: [UInt8] { [1] + Array(name.utf8) + [UInt8](repeating: 0, count: 33) }
        var end: Timestamp { judge.end.withLock { $0 } }

        func makeAccount() async -> Bool? {
            guard creates else { return false }
            guard !judge.failsAccounts.withLock({ $0 }) else { return nil }
            guard judge.known.withLock({ $0.insert(name).inserted }) else { return true }
            judge.world.withLock { _ = $0?.issueCredential(hash: key, account: name, expiresAt: nil) }
            return true
        }

        func settle(as identity: Identity, in container: ContainerKey) async -> Bool {
            guard !judge.failsRoles.withLock({ $0 }) else { return false }
            judge.settled.withLock { $0.append("\(name) \(identity.account.rawValue) \(container.identifier)") }
            return true
        }
    }

    private func makeWorld(_ change: (inout SessionSettings) -> Void = { _ in }) -> (SessionWorld, Judge) {
        let judge = Judge()
        let world = SessionWorld {
            $0.tokens = judge
            change(&$0)
        }
        judge.world.withLock { $0 = world.database }
        return (world, judge)
    }

    private func say(_ credential: String, _ world: SessionWorld, device: UInt64 = 1) throws -> TestClient {
        let client = world.connect()
        _ = try client.ask(.hello(SessionWorld.hello(credential, device: device)))
        return client
    }

    @Test func `R-920: a token of somebody with an account opens a session, and credentials go on as before`() throws {
        let (world, judge) = makeWorld()
        _ = world.database.issueCredential(
            hash: Holder(judge: judge, name: "alice", creates: false).key, account: "alice", expiresAt: nil)
        let byToken = try world.enter("good.alice.x")
        let byCredential = try world.enter("alice", device: 2)
        #expect(byToken.closeCode == nil && byCredential.closeCode == nil)
        try byToken.makeZone("Notes")
        #expect(judge.settled.withLock { $0.count } == 1, "what a token says is stored for tokens alone")
        #expect(judge.judgedCount.withLock { $0 } == 1)
    }

    @Test func `R-923: an account is made only where the operator wants it, and once`() throws {
        let (world, judge) = makeWorld()
        let stranger = try say("good.carol.x", world)
        #expect(stranger.failures.map(\.signInProblem) == [.identityUnknown] && stranger.closeCode == 4401)
        let first = try world.enter("creates.carol.x")
        let second = try world.enter("creates.carol.y", device: 2)
        #expect(first.closeCode == nil && second.closeCode == nil)
        #expect(Set(judge.settled.withLock { $0 }).count == 1, "both are one account")
        _ = try world.enter("good.carol.z", device: 3)
    }

    @Test func `R-923, R-925: a store that fails tells a token's holder to come again, and nothing else`() throws {
        let (world, judge) = makeWorld()
        judge.failsAccounts.withLock { $0 = true }
        let early = try say("creates.carol.x", world)
        judge.failsAccounts.withLock { $0 = false }
        judge.failsRoles.withLock { $0 = true }
        let late = try say("creates.carol.x", world)
        for client in [early, late] {
            #expect(client.failures.map(\.code) == [.serviceUnavailable])
            #expect(client.failures.map(\.signInProblem) == [.unspecified], "the person is not at fault")
            #expect(client.closeCode == 1013)
        }
        judge.failsRoles.withLock { $0 = false }
        #expect(try world.enter("creates.carol.x").closeCode == nil)
    }

    @Test func `R-929: a session ends when its token does, and no sooner`() throws {
        let (world, judge) = makeWorld()
        judge.end.withLock { $0 = Timestamp(milliseconds: world.scheduler.wallClockMilliseconds + 7_200_000) }
        let client = try world.enter("creates.carol.x")
        world.scheduler.advance(by: .seconds(7_199))
        #expect(client.closeCode == nil)
        world.scheduler.advance(by: .seconds(2))
        #expect(client.closeCode == 4401)
    }

    @Test func `R-929: whoever is revoked is cut off, also with a token that lasts`() throws {
        let (world, judge) = makeWorld()
        let key = Holder(judge: judge, name: "carol", creates: false).key
        let credential = world.database.issueCredential(hash: key, account: "carol", expiresAt: nil)
        judge.known.withLock { _ = $0.insert("carol") }
        let client = try world.enter("good.carol.x")
        world.database.revokeCredential(credential)
        world.server.hub.heard([.credentialRevoked(credential)])
        #expect(client.closeCode == 4401)
        let again = try say("creates.carol.x", world)
        #expect(again.failures.map(\.signInProblem) == [.credentialRevoked], "and no new account is made")
    }

    @Test func `R-927: why a credential is refused is told to whoever has it`() throws {
        let (world, _) = makeWorld()
        world.database.revokeCredential(world.issue("revoked"))
        world.issue("old", expiresAt: Timestamp(milliseconds: world.scheduler.wallClockMilliseconds))
        for (credential, problem) in [
            ("nobody", WireSignInProblem.credentialUnknown), ("revoked", .credentialRevoked),
            ("old", .credentialExpired), ("expired.a.x", .credentialExpired), ("bad.a.x", .tokenInvalid),
            ("good.nobody.x", .identityUnknown), (String(repeating: "a", count: 16_385), .tokenInvalid),
        ] {
            let client = try say(credential, world)
            #expect(client.failures.map(\.code) == [.notAuthenticated], "\(credential.prefix(20))")
            #expect(client.failures.map(\.signInProblem) == [problem], "\(credential.prefix(20))")
            #expect(client.closeCode == 4401 && client.failures.first?.message.isEmpty == false)
        }
    }

    @Test func `R-922: while a provider's keys cannot be had, a device is told to come again`() throws {
        let (world, _) = makeWorld()
        let client = try say("down.a.x", world)
        #expect(client.failures.map(\.code) == [.serviceUnavailable] && client.closeCode == 1013)
        #expect(client.failures.first?.retryAfterSeconds == 5)
    }

    @Test func `R-922, R-926: a token that no known key signed is a failed try, a silent provider is not`() throws {
        let (world, judge) = makeWorld()
        func ask(_ credential: String) throws -> WireFailure? {
            let client = TestClient(world.server.hub, world.scheduler, network: "203.0.113.7")
            _ = try client.ask(.hello(SessionWorld.hello(credential)))
            return client.failures.first
        }
        for _ in 0..<200 { #expect(try ask("down.a.x")?.code == .serviceUnavailable) }
        var triedCount = 0
        while try ask("unsigned.a.x")?.code == .serviceUnavailable { triedCount += 1 }
        #expect(triedCount == 120)
        #expect(try ask("unsigned.a.x")?.code == .requestRateLimited)
        #expect(judge.judgedCount.withLock { $0 } == 320, "beyond the limit nobody looks at signatures")
        _ = try world.enter("bob", device: 2)
    }

    @Test func `R-926: whoever fails again and again must wait, and others need not`() throws {
        let (world, judge) = makeWorld()
        var refused = 0
        while try say("nobody", world).failures.map(\.code) == [.notAuthenticated] { refused += 1 }
        #expect(refused == 30)
        let client = try say("nobody", world)
        #expect(client.failures.map(\.code) == [.requestRateLimited] && client.closeCode == 1013)
        #expect(client.failures.first?.retryAfterSeconds == 2)
        _ = try world.enter("bob", device: 2)
        world.scheduler.advance(by: .seconds(3))
        #expect(try say("nobody", world).failures.map(\.code) == [.notAuthenticated])
        #expect(judge.judgedCount.withLock { $0 } == 0)
    }

    @Test func `R-926: a revoked device takes nothing from the others of its account`() throws {
        let (world, _) = makeWorld()
        _ = try #require(world.database.revokeDevice(DeviceID(high: 0, low: 9), account: "alice"))
        for _ in 0..<40 {
            let client = try say("alice", world, device: 9)
            #expect(client.failures.map(\.signInProblem) == [.deviceRevoked])
        }
        _ = try world.enter("alice")
    }
}
