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
}
