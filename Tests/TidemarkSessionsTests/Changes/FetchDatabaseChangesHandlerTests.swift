// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestKit
import TidemarkWire

/// A page of a database's feed, as a session answers it.
@Suite struct FetchDatabaseChangesHandlerTests {
    private let world = SessionWorld()

    private func request(_ database: WireDatabaseScope = .private, token: [UInt8] = []) -> WireFetchDatabaseChanges {
        var request = WireFetchDatabaseChanges()
        request.database = database
        request.token = token
        return request
    }

    private func changes(
        _ client: TestClient, _ request: WireFetchDatabaseChanges
    ) throws -> WireFetchDatabaseChangesAnswer {
        let answer = try client.ask(.fetchDatabaseChanges(request))
        guard case .fetchDatabaseChanges(let changes)? = answer else { throw SessionWorld.Unexpected(answer) }
        return changes
    }

    @Test func `R-203, R-204: a page has the zones that changed or ended since its token, each once`() throws {
        let client = try world.enter()
        for name in ["a", "b", "c"] { try client.makeZone(name) }
        let first = try changes(client, request())
        #expect(Set(first.changed.map(\.name)) == ["a", "b", "c"] && first.changed.count == 3)
        #expect(first.ended.isEmpty && !first.moreComing)

        for name in ["r", "s"] { try client.save(name, in: "a") }
        try client.deleteZone("b")
        let second = try changes(client, request(token: first.token))
        #expect(second.changed.map(\.name) == ["a"])
        #expect(second.ended.map(\.zone.name) == ["b"] && second.ended.map(\.reason) == [.deleted])
        // they are the caller's own.
        #expect((first.changed + second.changed + second.ended.map(\.zone)).allSatisfy { $0.owner == "" })
        let third = try changes(client, request(token: second.token))
        #expect(third.changed.isEmpty && third.ended.isEmpty)
    }

    @Test func `R-507: the answer says if the subscription on which the client relies is gone`() throws {
        let client = try world.enter()
        try client.subscribe("all")
        var request = request()
        let unnamed = try changes(client, request)
        #expect(!unnamed.subscriptionMissing)
        for (id, isMissing) in [("all", false), ("gone", true)] {
            request.subscriptionID = id
            let answer = try changes(client, request)
            #expect(answer.subscriptionMissing == isMissing, "\(id)")
        }
    }

    @Test func `R-005, R-202: a feed needs an account, and the public database has none by default`() throws {
        let nobody = try world.enter("", device: 3)
        let client = try world.enter()
        let anonymous = try nobody.ask(.fetchDatabaseChanges(request()))?.code
        #expect(anonymous == .notAuthenticated)
        let refused = try client.ask(.fetchDatabaseChanges(request(.public)))?.code
        #expect(refused == .badDatabase)
        let container = ContainerKey(identifier: SessionWorld.container, environment: .development)
        let isSet = world.database.setFeedsEverywhere(true, in: container)
        #expect(isSet)
        let page = try changes(client, request(.public))
        #expect(page.changed.allSatisfy { $0.name == ZoneName.default } && page.ended.isEmpty)
    }
}
