// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

@Suite struct SessionHubClosingTests {
    @Test func `R-887: an operator closes the connections of one device or of an account, and they may come back`()
        throws
    {
        let world = SessionWorld()
        let first = try world.enter(device: 1)
        let second = try world.enter(device: 2)
        let bobs = try world.enter("bob", device: 1)
        let device = DeviceID(high: 0, low: 1)
        // The number of alice's account.
        let alice = try #require(world.database.revokeDevice(DeviceID(high: 9, low: 9), account: "alice")).account
        world.server.hub.heard([.connectionsClosed(alice, device)])
        #expect(first.closeCode == 1001)
        #expect(second.closeCode == nil && bobs.closeCode == nil)
        let again = try world.enter(device: 1)
        #expect(again.closeCode == nil)
        world.server.hub.heard([.connectionsClosed(alice, nil)])
        #expect(again.closeCode == 1001 && second.closeCode == 1001)
        #expect(bobs.closeCode == nil)
    }

    @Test func `R-887: a server that missed the notice closes connections that are older than the operator's wish`()
        throws
    {
        let world = SessionWorld()
        let first = try world.enter(device: 1)
        let second = try world.enter(device: 2)
        let bobs = try world.enter("bob", device: 1)
        world.server.hub.noticesMissed()
        world.scheduler.runUntilIdle()
        #expect(first.closeCode == nil, "nobody has closed anything")
        world.scheduler.advance(by: .seconds(1))
        #expect(world.database.noteClosing(DeviceID(high: 0, low: 1), account: "alice") != nil)
        world.scheduler.advance(by: .seconds(1))
        let later = try world.enter(device: 1)
        world.server.hub.noticesMissed()
        world.scheduler.runUntilIdle()
        #expect(first.closeCode == 1001)
        #expect(later.closeCode == nil && second.closeCode == nil && bobs.closeCode == nil)
        world.scheduler.advance(by: .seconds(1))
        #expect(world.database.noteClosing(nil, account: "alice") != nil)
        world.server.hub.noticesMissed()
        world.scheduler.runUntilIdle()
        #expect(later.closeCode == 1001 && second.closeCode == 1001 && bobs.closeCode == nil)
    }
}
