// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkSessions
import TidemarkTestSupport
import TidemarkWire

/// What a session without a credential may, and what it may not.
@Suite struct SessionAnonymousTests {
    private func hello(_ client: TestClient, _ account: String) throws -> WireHelloAnswer? {
        guard case .hello(let answer)? = try client.ask(.hello(SessionWorld.hello(account))) else { return nil }
        return answer
    }

    @Test func `R-720: the answer to Hello says how long messages may be, to whom`() throws {
        let world = SessionWorld()
        #expect(try hello(world.connect(), "")?.limits.messageBytesMax == 65_536)
        #expect(try hello(world.connect(), "alice")?.limits.messageBytesMax == 4_194_304)
    }

    @Test func `R-721: a server may refuse everybody who has no credential`() throws {
        let world = SessionWorld { $0.requiresCredential = true }
        let nobody = world.connect()
        #expect(try hello(nobody, "") == nil)
        #expect(nobody.failures.map(\.code) == [.notAuthenticated] && nobody.closeCode == 4401)
        #expect(try hello(world.connect(), "alice") != nil)
    }

    @Test func `R-721: a session without a credential that asks for nothing ends, and no other`() throws {
        let world = SessionWorld { $0.anonymousIdleTimeout = .seconds(100) }
        let (idle, busy, member) = (world.connect(), world.connect(), try world.enter())
        for client in [idle, busy] { #expect(try hello(client, "") != nil) }
        for _ in 0..<6 {
            world.scheduler.advance(by: .seconds(40))
            _ = try busy.ask(.fetchZones(WireFetchZones()))
        }
        #expect(idle.closeCode == 4408)
        #expect(busy.closeCode == nil && member.closeCode == nil)
        world.scheduler.advance(by: .seconds(99))
        #expect(busy.closeCode == nil)
        world.scheduler.advance(by: .seconds(60))
        #expect(busy.closeCode == 4408 && member.closeCode == nil)
    }
}
