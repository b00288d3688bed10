// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestKit
import TidemarkWire

/// A page of a zone's feed, as a session answers it.
@Suite struct FetchZoneChangesHandlerTests {
    private let world = SessionWorld()

    private func changes(
        _ client: TestClient, _ request: WireFetchZoneChanges
    ) throws -> WireFetchZoneChangesAnswer {
        let answer = try client.ask(.fetchZoneChanges(request))
        guard case .fetchZoneChanges(let changes)? = answer else { throw SessionWorld.Unexpected(answer) }
        return changes
    }

    private func code(_ client: TestClient, _ request: WireFetchZoneChanges) throws -> WireErrorCode? {
        try client.ask(.fetchZoneChanges(request))?.code
    }

    @Test func `R-208, R-215: a page has what changed since its token, with the fields that are wanted`() throws {
        let client = try world.enter()
        try client.makeZone("notes")
        try client.save("a", in: "notes")
        let first = try changes(client, TestClient.zoneChanges("notes"))
        #expect(first.changes.map(\.record.name) == ["a"] && !first.moreComing)
        let fields = try #require(first.changes.first).record.fields
        #expect(!fields.isEmpty)

        try client.save("b", in: "notes")
        var request = TestClient.zoneChanges("notes", token: first.token)
        request.desiredKeys.keys = ["other"]
        let unwanted = try changes(client, request)
        #expect(unwanted.changes.map(\.record.name) == ["b"])
        #expect(unwanted.changes.map(\.record.fields) == [[]])
        request.desiredKeys.keys = ["other", "text"]
        let wanted = try changes(client, request)
        #expect(wanted.changes.map(\.record.fields) == [fields])
    }

    @Test func `R-202: the default zones have a feed only where the container gives them one`() throws {
        let client = try world.enter()
        try client.save("a", in: ZoneName.default)
        let own = TestClient.zoneChanges(ZoneName.default)
        var open = own
        open.database = .public
        for request in [own, open] {
            let refused = try code(client, request)
            #expect(refused == .invalidArguments)
        }
        let container = ContainerKey(identifier: SessionWorld.container, environment: .development)
        let isSet = world.database.setFeedsEverywhere(true, in: container)
        #expect(isSet)
        let page = try changes(client, own)
        #expect(page.changes.contains { $0.record.name == "a" })
        let published = try changes(client, open)
        #expect(!published.changes.contains { $0.record.name == "a" })
    }

    @Test func `R-225, I-5: a zone of somebody who shares nothing with the caller is not there`() throws {
        let client = try world.enter()
        try client.makeZone("notes")
        var request = TestClient.zoneChanges("notes")
        request.zone.owner = "_0123456789abcdef0123456789abcdef"
        for scope in [.private, .shared] as [WireDatabaseScope] {
            request.database = scope
            let refused = try code(client, request)
            #expect(refused == .zoneNotFound, "\(scope)")
        }
    }

    @Test func `R-005: a feed needs an account, and a database`() throws {
        let nobody = try world.enter("", device: 3)
        let client = try world.enter()
        var request = TestClient.zoneChanges("notes")
        let anonymous = try code(nobody, request)
        #expect(anonymous == .notAuthenticated)
        request.database = .unspecified
        let nowhere = try code(client, request)
        #expect(nowhere == .invalidArguments)
    }
}
