// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

@Suite struct SessionTests {
    // MARK: Hello

    @Test func `R-353: Hello is answered with the user's record name, the limits and the time`() throws {
        let world = SessionWorld()
        let client = world.connect()
        guard case .hello(let answer)? = try client.ask(.hello(SessionWorld.hello("alice"))) else {
            Issue.record("no answer: \(client.inbox)")
            return
        }
        #expect(answer.userRecordName.hasPrefix("_"))
        #expect(answer.userRecordName.utf8.count == 33)
        #expect(answer.serverTime == world.scheduler.wallClockMilliseconds)
        #expect(answer.limits.itemsMax == 400)
        #expect(answer.limits.messageBytesMax > answer.limits.requestBytesMax)
        #expect(answer.serverName == "tidemark/test")
        #expect(client.closeCode == nil)
    }

    @Test func `requests before Hello are refused and the connection is closed with 4400`() throws {
        let world = SessionWorld()
        let client = world.connect()
        let id = client.post(.fetchZones(WireFetchZones()))
        world.scheduler.runUntilIdle()
        #expect(client.failures.map(\.code) == [.notAuthenticated])
        #expect(client.answer(to: id) != nil)
        #expect(client.closeCode == 4400)
        #expect(try world.hasNoSession(world.server.hub))
    }

    @Test func `requests before the answer to Hello are refused as well`() throws {
        let world = SessionWorld()
        let client = world.connect()
        client.post(.hello(SessionWorld.hello("alice")))
        client.post(.fetchZones(WireFetchZones()))
        world.scheduler.runUntilIdle()
        #expect(client.closeCode == 4400)
        #expect(client.failures.map(\.code) == [.notAuthenticated])
    }

    @Test func `a second Hello closes with 4400`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        client.post(.hello(SessionWorld.hello("alice")))
        #expect(client.closeCode == 4400)
    }

    @Test func `an id that is under way is not used again`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        var request = WireFetchZones()
        request.database = .private
        client.post(.fetchZones(request), id: 7)
        client.post(.fetchZones(request), id: 7)
        #expect(client.closeCode == 4400)
    }

    @Test func `a connection that does not say Hello in time is closed with 4408`() throws {
        let world = SessionWorld()
        let client = world.connect()
        world.scheduler.advance(by: .seconds(9))
        #expect(client.closeCode == nil)
        world.scheduler.advance(by: .seconds(2))
        #expect(client.closeCode == 4408)
    }

    @Test func `R-354: unknown, revoked and expired credentials are refused with 4401`() throws {
        let world = SessionWorld()
        world.database.revokeCredential(world.issue("revoked"))
        world.issue("expired", expiresAt: Timestamp(milliseconds: world.scheduler.wallClockMilliseconds))
        for name in ["nobody", "revoked", "expired", "alice\0", String(repeating: "a", count: 5_000)] {
            let client = world.connect()
            _ = try client.ask(.hello(SessionWorld.hello(name)))
            #expect(client.failures.map(\.code) == [.notAuthenticated], "\(name.prefix(20))")
            #expect(client.closeCode == 4401, "\(name.prefix(20))")
        }
    }

    @Test func `R-014: an unknown container is refused, unless the server makes containers`() throws {
        let world = SessionWorld { $0.createsContainers = false }
        let client = world.connect()
        _ = try client.ask(.hello(SessionWorld.hello("alice")))
        #expect(client.failures.map(\.code) == [.badContainer])
        #expect(client.closeCode == 4400)
        #expect(
            client.failures.first?.message
                == "Unknown container \(SessionWorld.container). An operator creates one: "
                + "tidemark admin containers create \(SessionWorld.container).")
    }

    @Test func `R-746: an account makes so many containers in development, and none in production`() throws {
        let world = SessionWorld { $0.limits.containersMax = 2 }
        func said(_ name: String, _ environment: WireEnvironment = .development) throws -> String? {
            var hello = SessionWorld.hello("alice")
            hello.container = name
            hello.environment = environment
            let client = world.connect()
            _ = try client.ask(.hello(hello))
            guard let failure = client.failures.first else { return nil }
            #expect(failure.code == .badContainer && client.closeCode == 4400)
            return failure.message
        }
        #expect(try said("a", .production)?.hasSuffix("containers create a --environment production.") == true)
        for name in ["a", "b", "a"] { #expect(try said(name) == nil) }
        let more = try said("c")
        #expect(
            more?.contains("The account has 2 containers, and the server creates no more for it.") == true,
            "\(more ?? "")")
        #expect(more?.hasSuffix("An operator can: tidemark admin containers create c.") == true)
        #expect(try said("b") == nil)
        _ = try world.enter("bob", device: 2)
    }

    @Test func `R-014: who mistypes a container is told of the nearest of their own, and nobody of anybody else's`()
        throws
    {
        let world = SessionWorld()
        let strict = world.anotherServer { $0.createsContainers = false }
        func hello(_ account: String, _ container: String, _ environment: WireEnvironment = .development) -> WireHello {
            var hello = SessionWorld.hello(account)
            hello.container = container
            hello.environment = environment
            return hello
        }
        func warnings(_ hello: WireHello) throws -> [String] {
            guard case .hello(let answer)? = try world.connect().ask(.hello(hello)) else { return ["no hello"] }
            return answer.warnings
        }
        func refusal(_ hello: WireHello) throws -> String? {
            let client = world.connect(to: strict)
            _ = try client.ask(.hello(hello))
            return client.failures.first?.message
        }
        #expect(try warnings(hello("alice", "iCloud.org.example.notes")) == [], "their first: nothing can be missed")
        #expect(try warnings(hello("alice", "iCloud.org.example.notes")) == [], "it is there")
        let mistyped = hello("alice", "iCloud.org.exmaple.notes")
        #expect(
            try refusal(mistyped)?.hasPrefix(
                "Unknown container iCloud.org.exmaple.notes. Did you mean iCloud.org.example.notes? An operator")
                == true)
        #expect(try refusal(hello("bob", "iCloud.org.exmaple.notes"))?.contains("example") == false)
        #expect(try refusal(hello("alice", "iCloud.org.exmaple.notes", .production))?.contains("mean") == false)
        #expect(
            try warnings(mistyped) == [
                "The container iCloud.org.exmaple.notes is new: this server has just created it, because it was named. "
                    + "Did you mean iCloud.org.example.notes?"
            ])
        #expect(
            try warnings(hello("alice", "other")).first?.hasSuffix(
                "The account's containers here are iCloud.org.exmaple.notes, iCloud.org.example.notes.") == true)
    }

    @Test func `a store that cannot be reached closes with 1013 and says when to try again`() throws {
        let world = SessionWorld()
        world.server.faults.always(.callSent, .disconnect)
        let client = world.connect()
        client.post(.hello(SessionWorld.hello("alice")))
        world.scheduler.advance(by: .seconds(9))
        #expect(client.failures.map(\.code) == [.serviceUnavailable])
        #expect(client.failures.allSatisfy { $0.retryAfterSeconds > 0 })
        #expect(client.closeCode == 1013)
    }

    // MARK: Who may do what

    @Test func `R-005, R-006: nobody may use the private database or write`() throws {
        let world = SessionWorld()
        let client = try world.enter("")
        var zones = WireModifyZones()
        zones.stamp = client.stamp()
        zones.saves = [TestClient.zone("notes")]
        for scope in [WireDatabaseScope.public, .private, .shared] {
            zones.database = scope
            #expect(try client.ask(.modifyZones(zones))?.code == .notAuthenticated)
        }
        var fetch = WireFetchZones()
        fetch.database = .private
        #expect(try client.ask(.fetchZones(fetch))?.code == .notAuthenticated)
        #expect(client.closeCode == nil)
    }

    @Test func `R-015, R-023: public and shared databases have no custom zones`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        var zones = WireModifyZones()
        zones.stamp = client.stamp()
        zones.saves = [TestClient.zone("notes")]
        for scope in [WireDatabaseScope.public, .shared] {
            zones.database = scope
            #expect(try client.ask(.modifyZones(zones))?.code == .badDatabase)
        }
        zones.database = .unspecified
        #expect(try client.ask(.modifyZones(zones))?.code == .invalidArguments)
        zones.database = .unrecognized(9)
        #expect(try client.ask(.modifyZones(zones))?.code == .invalidArguments)
    }

    @Test func `R-009: two accounts with the same device id share nothing`() throws {
        let world = SessionWorld()
        let alice = try world.enter("alice", device: 5)
        let bob = try world.enter("bob", device: 5)
        try alice.makeZone("notes")
        try alice.save("a", in: "notes")
        var fetch = WireFetchZones()
        fetch.database = .private
        guard case .fetchZones(let zones)? = try bob.ask(.fetchZones(fetch)) else {
            Issue.record("no answer")
            return
        }
        #expect(zones.zones.map(\.zone.id.name) == ["_defaultZone"])
        #expect(try bob.ask(.fetchZoneChanges(TestClient.zoneChanges("notes")))?.code == .zoneNotFound)
        // R-157: the same device and counter of another account is another request.
        try bob.makeZone("notes")
        try bob.save("b", in: "notes")
    }

    @Test func `R-200: a token of another account is refused`() throws {
        let world = SessionWorld()
        let alice = try world.enter("alice")
        let bob = try world.enter("bob", device: 2)
        for client in [alice, bob] { try client.makeZone("notes") }
        guard case .fetchZoneChanges(let page)? = try alice.ask(.fetchZoneChanges(TestClient.zoneChanges("notes")))
        else {
            Issue.record("no page")
            return
        }
        #expect(
            try bob.ask(.fetchZoneChanges(TestClient.zoneChanges("notes", token: page.token)))?.code
                == .invalidArguments)
    }

    // MARK: Requests

    @Test func `unknown requests are refused politely`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        let id = client.post(nil)
        #expect(client.answer(to: id)?.code == .invalidArguments)
        try client.makeZone("still here")
    }

    @Test func `bytes that are no envelope, and id 0, close with 1007`() throws {
        for bytes: [UInt8] in [[0xFF], [], TestClient.envelope(.fetchZones(WireFetchZones()), id: 0)] {
            let world = SessionWorld()
            let client = try world.enter()
            client.post(bytes)
            #expect(client.closeCode == 1007)
        }
    }

    @Test func `R-212: what is saved is in the zone's feed`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        try client.makeZone("notes")
        for index in 0..<5 { try client.save("r\(index)", in: "notes") }
        var names: [String] = []
        var token: [UInt8] = []
        for _ in 0..<10 {
            let answer = try client.ask(.fetchZoneChanges(TestClient.zoneChanges("notes", token: token, limit: 2)))
            guard case .fetchZoneChanges(let page)? = answer else {
                Issue.record("no page: \(String(describing: answer))")
                return
            }
            names += page.changes.map(\.record.name)
            token = page.token
            if !page.moreComing { break }
        }
        #expect(names == (0..<5).map { "r\($0)" })
    }

    @Test func `R-157: the same bytes twice give the first answer twice`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        try client.makeZone("notes")
        var request = try client.saving("a", in: "notes")
        request.policy = .ifServerRecordUnchanged
        let first = try client.ask(.modifyRecords(request))
        let second = try client.ask(.modifyRecords(request))
        #expect(first == second)
        guard case .modifyRecords(let answer)? = second, case .saved? = answer.zones.first?.saves.first?.result else {
            Issue.record("not saved: \(String(describing: second))")
            return
        }
    }

    @Test func `I-6: envelopes cut at every byte and with every bit wrong never stop the server`() throws {
        let world = SessionWorld()
        let other = try world.enter("bob", device: 9)
        let whole = TestClient.envelope(.modifyRecords(try other.saving("a", in: "notes")), id: 3)
        var client = try world.enter()
        func attack(_ bytes: [UInt8]) throws {
            if client.closeCode != nil { client = try world.enter() }
            client.post(bytes)
            world.scheduler.runUntilIdle()
            #expect(client.closeCode == nil || [1007, 4400].contains(client.closeCode))
        }
        for count in 0..<whole.count { try attack(Array(whole[..<count])) }
        for position in whole.indices {
            for bit in 0..<8 {
                var wrong = whole
                wrong[position] ^= 1 << UInt8(bit)
                try attack(wrong)
            }
        }
        try other.makeZone("unharmed")
    }
}

extension WireServerEnvelope.OneOfAnswer {
    /// The code, if the request failed as a whole.
    var code: WireErrorCode? {
        if case .failure(let failure) = self { failure.code } else { nil }
    }
}
