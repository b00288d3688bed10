// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

@Suite struct RequestRatesTests {
    private static let container = ContainerKey(identifier: SessionWorld.container, environment: .development)

    private static func rate(_ perSecond: Int, burst: Int? = nil) throws -> RequestRate {
        try #require(RequestRate(perSecond: perSecond, burst: burst))
    }

    private let fetch = TestClient.zonesRequest

    /// The refusal of a request; nil: it was answered.
    private func refusal(_ client: TestClient, _ request: WireClientEnvelope.OneOfRequest? = nil) throws -> WireFailure?
    {
        let answer = try client.ask(request ?? fetch)
        if case .failure(let failure)? = answer { return failure }
        guard answer != nil else { throw SessionWorld.Unexpected(answer) }
        return nil
    }

    /// A world in which each account may send so much, and nobody has chosen anything for one of them.
    private func world(
        _ perSecond: Int, burst: Int, loopCount: Int = 1, _ change: (inout SessionSettings) -> Void = { _ in }
    ) -> SessionWorld {
        let rates = RequestRates()
        return SessionWorld(loopCount: loopCount) { settings in
            settings.requestRates = rates
            settings.limits.requestsPerSecond = perSecond
            settings.limits.requestBurst = burst
            change(&settings)
        }
    }

    @Test func `R-934: all connections of an account share what it may send to a server, and others have their own`()
        throws
    {
        let world = world(2, burst: 3, loopCount: 2)
        let (first, second) = (try world.enter(device: 1), try world.enter(device: 2, server: world.loops[1]))
        let bob = try world.enter("bob", device: 3)
        #expect(try refusal(first) == nil && refusal(second) == nil && refusal(first) == nil)
        for client in [first, second] {
            let failure = try #require(try refusal(client))
            #expect(failure.code == .requestRateLimited)
            #expect(failure.retryAfterSeconds == 1)
            #expect(
                failure.message.contains("may send 2 requests a second (at once: 3) to this server"),
                "\(failure.message)")
        }
        #expect(try refusal(bob) == nil)
        world.scheduler.advance(by: .milliseconds(500))
        #expect(try refusal(second) == nil)
        #expect(try refusal(first)?.code == .requestRateLimited)
        // Another server counts by itself.
        let elsewhere = try world.enter(device: 4, server: world.anotherServer { $0.limits.requestsPerSecond = 1 })
        #expect(try refusal(elsewhere) == nil)
    }

    @Test func `R-934: without a limit nothing is counted, and who has none is not refused`() throws {
        let rates = RequestRates()
        let world = SessionWorld { $0.requestRates = rates }
        let client = try world.enter()
        for _ in 0..<2_000 { #expect(try refusal(client) == nil) }
        #expect(rates.count == 0)
        // Whoever has no credential has turns and bounds of their own.
        let strict = self.world(1, burst: 1)
        let nobody = try strict.enter("")
        var request = WireFetchZones()
        request.database = .public
        for _ in 0..<10 { #expect(try refusal(nobody, .fetchZones(request))?.code != .requestRateLimited) }
    }

    @Test func `R-934: what is refused changes nothing, and the same request is carried out later`() throws {
        let world = world(1, burst: 2)
        let client = try world.enter()
        try client.makeZone("a")
        #expect(try refusal(client) == nil)
        let request = try client.saving("r", in: "a")
        #expect(try refusal(client, .modifyRecords(request))?.code == .requestRateLimited)
        world.scheduler.advance(by: .seconds(1))
        guard case .modifyRecords(let saved)? = try client.ask(.modifyRecords(request)) else {
            throw SessionWorld.Unexpected(nil)
        }
        guard case .saved? = saved.zones.first?.saves.first?.result else { throw SessionWorld.Unexpected(nil) }
    }

    @Test func `R-934: parts of files do not count`() throws {
        let world = world(1, burst: 1) { $0.keepsAssets = true }
        let client = try world.enter()
        for _ in 0..<5 {
            let failure = try refusal(client, .fetchAssetChunk(WireFetchAssetChunk()))
            #expect(failure?.code != .requestRateLimited)
        }
        #expect(try refusal(client) == nil)
        #expect(try refusal(client)?.code == .requestRateLimited)
    }

    @Test func `R-935: an operator's choice for an account takes the place of the server's, at once`() throws {
        let world = world(1, burst: 1)
        let (alice, bob) = (try world.enter(), try world.enter("bob", device: 2))
        #expect(try refusal(alice) == nil && refusal(alice) != nil)
        #expect(world.database.setRequestRate(.unlimited, account: "alice"))
        world.scheduler.runUntilIdle()
        for _ in 0..<100 { #expect(try refusal(alice) == nil) }
        #expect(try refusal(bob) == nil && refusal(bob) != nil)

        // What was taken before still counts, until it has come back.
        world.scheduler.advance(by: .seconds(2))
        #expect(world.database.setRequestRate(.atMost(try Self.rate(5, burst: 7)), account: "alice"))
        world.scheduler.runUntilIdle()
        for _ in 0..<7 { #expect(try refusal(alice) == nil) }
        #expect(try refusal(alice)?.message.contains("5 requests a second (at once: 7)") == true)
        // Who connects later has the same.
        let later = try world.enter(device: 5)
        #expect(try refusal(later)?.code == .requestRateLimited)

        #expect(world.database.setRequestRate(.standard, account: "alice"))
        world.scheduler.runUntilIdle()
        #expect(try refusal(alice)?.message.contains("1 requests a second") == true)
        #expect(!world.database.setRequestRate(.standard, account: "nobody"))
    }

    @Test func `R-963: a container's choice takes the place of the server's default there, at once`() throws {
        let world = world(1, burst: 1)
        let alice = try world.enter()
        #expect(try refusal(alice) == nil && refusal(alice) != nil)
        #expect(world.database.setRequestRate(.atMost(try Self.rate(5, burst: 7)), in: Self.container))
        world.scheduler.runUntilIdle()
        for _ in 0..<7 { #expect(try refusal(alice) == nil) }
        #expect(try refusal(alice)?.message.contains("5 requests a second (at once: 7)") == true)
        #expect(world.database.setRequestRate(.unlimited, in: Self.container))
        world.scheduler.runUntilIdle()
        for _ in 0..<100 { #expect(try refusal(alice) == nil) }
        // What was chosen for the account holds as well, once what it took of the default has come back.
        world.scheduler.advance(by: .seconds(2))
        #expect(world.database.setRequestRate(.atMost(try Self.rate(2, burst: 3)), account: "alice"))
        world.scheduler.runUntilIdle()
        for _ in 0..<3 { #expect(try refusal(alice) == nil) }
        #expect(try refusal(alice)?.message.contains("2 requests a second (at once: 3)") == true)
        // Without any choice the default holds again.
        #expect(world.database.setRequestRate(.standard, in: Self.container))
        #expect(world.database.setRequestRate(.standard, account: "alice"))
        world.scheduler.runUntilIdle()
        world.scheduler.advance(by: .seconds(60))
        #expect(try refusal(alice) == nil && refusal(alice) != nil)
    }

    @Test func `R-935: a container's limit is of each account in it, beside that of the account`() throws {
        let world = world(10, burst: 10)
        let (alice, bob) = (try world.enter(), try world.enter("bob", device: 2))
        #expect(world.database.setRequestRate(.atMost(try Self.rate(1, burst: 2)), in: Self.container))
        world.scheduler.runUntilIdle()
        for client in [alice, bob] {
            #expect(try refusal(client) == nil && refusal(client) == nil)
            let failure = try #require(try refusal(client))
            #expect(
                failure.message.contains("An account may send 1 requests a second (at once: 2) to this server in this"))
        }
    }

    @Test func `R-935: a lost notice of other limits is made up for within a minute`() throws {
        let world = world(1, burst: 1)
        let alice = try world.enter()
        world.database.stopListening(world.server.listener)
        #expect(world.database.setRequestRate(.unlimited, account: "alice"))
        world.scheduler.advance(by: .seconds(61))
        for _ in 0..<10 { #expect(try refusal(alice) == nil) }
    }

    @Test func `R-936: a client is told the tighter limit, and its quota`() throws {
        let world = world(10, burst: 0)
        func limits(_ account: String = "alice") throws -> WireServerLimits {
            let answer = try world.connect().ask(.hello(SessionWorld.hello(account)))
            guard case .hello(let hello)? = answer else { throw SessionWorld.Unexpected(answer) }
            return hello.limits
        }
        #expect(try limits().requestsPerSecond == 10)
        #expect(try limits().requestBurst == 100)
        #expect(try limits().quotaBytes == nil && limits().quotaUsedBytes == nil)
        #expect(world.database.setRequestRate(.atMost(try Self.rate(3)), in: Self.container))
        #expect(world.database.setQuota(StorageQuota(privateBytes: 0), of: Self.container))
        #expect(try limits().requestsPerSecond == 3)
        #expect(try limits().requestBurst == 30)
        #expect(try limits().quotaBytes == 0)
        #expect(try limits().quotaUsedBytes == 0)
        #expect(world.database.setRequestRate(.atMost(try Self.rate(2)), account: "alice"))
        #expect(try limits().requestsPerSecond == 2)
        #expect(world.database.setRequestRate(.standard, account: "alice"))
        #expect(world.database.setRequestRate(.atMost(try Self.rate(500)), in: Self.container))
        #expect(try limits().requestsPerSecond == 500, "in place of the server's")
        #expect(world.database.setRequestRate(.unlimited, in: Self.container))
        #expect(try limits().requestsPerSecond == 0 && limits().requestBurst == 0)
        #expect(try limits("").requestsPerSecond == 0)
        #expect(try limits().connectionsMax == 4_096 && limits("").connectionsMax == 0)
        #expect(try limits("").quotaBytes == nil && limits("").quotaUsedBytes == nil)
    }

    @Test func `R-934: a client that goes on however often it is refused is cut off`() throws {
        let world = world(1, burst: 1) { $0.limits.requestsInFlightMax = 10 }
        let client = try world.enter()
        #expect(try refusal(client) == nil)
        for _ in 0..<40 { #expect(try refusal(client)?.code == .requestRateLimited) }
        #expect(client.closeCode == nil)
        client.post(fetch)
        #expect(client.closeCode == 4429)
    }
}
