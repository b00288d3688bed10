// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// What a server does with devices of a container that an operator deletes.
@Suite struct AuthenticationClosedContainerTests {
    private let key = ContainerKey(identifier: SessionWorld.container, environment: .development)

    private func elsewhere(_ world: SessionWorld) throws -> TestClient {
        let client = world.connect()
        var hello = SessionWorld.hello("alice", device: 9)
        hello.container = "iCloud.other"
        _ = try client.ask(.hello(hello))
        return client
    }

    @Test func `R-916: the sessions of a closed container are closed by a notice, and no others`() throws {
        let world = SessionWorld()
        let (alices, bobs) = (try world.enter(device: 1), try world.enter("bob", device: 2))
        let other = try elsewhere(world)
        let container = try #require(world.database.closeContainer(key))
        #expect(alices.closeCode == nil, "nobody has said it")
        world.server.hub.heard([.containerClosed(container)])
        // Not 4401: nothing is wrong with the credential.
        #expect(alices.closeCode == 1001 && bobs.closeCode == 1001)
        #expect(other.closeCode == nil)
    }

    @Test func `R-916, R-876: without a notice they are closed within ten seconds`() throws {
        let world = SessionWorld()
        let alices = try world.enter(device: 1)
        let other = try elsewhere(world)
        #expect(world.database.closeContainer(key) != nil)
        world.scheduler.advance(by: .seconds(11))
        #expect(alices.closeCode == 1001)
        #expect(other.closeCode == nil)
    }

    @Test func `R-916: Hello to a closed container is refused with what to do, also where clients create containers`()
        throws
    {
        let world = SessionWorld()
        _ = try world.enter(device: 1)
        #expect(world.database.closeContainer(key) != nil)
        let again = world.connect()
        _ = try again.ask(.hello(SessionWorld.hello("alice", device: 1)))
        #expect(again.failures.map(\.code) == [.badContainer])
        #expect(again.failures.first?.message == FailureReason.containerClosed.text)
        #expect(again.closeCode == 1001, "it may come back")
    }
}
