// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

@Suite struct RevokedAccessTests {
    @Test func `R-866: a revoked device is cut off by notice, and no other`() throws {
        let world = SessionWorld()
        let lost = try world.enter(device: 1)
        let kept = try world.enter(device: 2)
        let bobs = try world.enter("bob", device: 1)
        let revoked = try #require(world.database.revokeDevice(DeviceID(high: 0, low: 1), account: "alice"))
        world.server.hub.heard([.deviceRevoked(revoked)])
        #expect(lost.closeCode == 4401)
        #expect(kept.closeCode == nil)
        #expect(bobs.closeCode == nil)
    }

    @Test func `R-866, R-876: a revoked device is cut off within ten seconds without a notice, and does not come back`()
        throws
    {
        let world = SessionWorld()
        let lost = try world.enter(device: 1)
        let kept = try world.enter(device: 2)
        #expect(world.database.revokeDevice(DeviceID(high: 0, low: 1), account: "alice") != nil)
        world.scheduler.advance(by: .seconds(11))
        #expect(lost.closeCode == 4401)
        #expect(kept.closeCode == nil)
        let again = world.connect()
        _ = try again.ask(.hello(SessionWorld.hello("alice", device: 1)))
        #expect(again.failures.map(\.code) == [.notAuthenticated])
        #expect(again.closeCode == 4401)
    }
}
