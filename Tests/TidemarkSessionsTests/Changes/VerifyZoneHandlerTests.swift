// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestKit
import TidemarkWire

/// What a zone has, as a session answers it.
@Suite struct VerifyZoneHandlerTests {
    private let world = SessionWorld { $0.limits.inventoryRowsMax = 2 }

    private func request(_ zone: String, lists: Bool = false, after: String = "") -> WireVerifyZone {
        var request = WireVerifyZone()
        request.database = .private
        request.zone = TestClient.zone(zone)
        request.lists = lists
        request.after = after
        return request
    }

    private func answer(_ client: TestClient, _ request: WireVerifyZone) throws -> WireVerifyZoneAnswer {
        let answer = try client.ask(.verifyZone(request))
        guard case .verifyZone(let inventory)? = answer else { throw SessionWorld.Unexpected(answer) }
        return inventory
    }

    private func code(_ client: TestClient, _ request: WireVerifyZone) throws -> WireErrorCode? {
        try client.ask(.verifyZone(request))?.code
    }

    @Test func `R-844, R-845: a digest with the token of the feed's end, and the names page by page`() throws {
        let client = try world.enter()
        try client.makeZone("notes")
        let empty = try answer(client, request("notes"))
        #expect(empty.recordCount == 0 && empty.digest == [UInt8](repeating: 0, count: 16))
        for name in ["c", "a", "b", "e", "d"] { try client.save(name, in: "notes") }

        let head = try answer(client, request("notes"))
        #expect(head.recordCount == 5 && head.digest != empty.digest && head.versions.isEmpty && head.next.isEmpty)
        let page = try client.ask(.fetchZoneChanges(TestClient.zoneChanges("notes")))
        guard case .fetchZoneChanges(let changes)? = page else { throw SessionWorld.Unexpected(page) }
        #expect(head.token == changes.token && !changes.moreComing)

        var (names, numbers, after): ([String], [UInt64], String) = ([], [], "")
        for _ in 0..<10 {
            let page = try answer(client, request("notes", lists: true, after: after))
            #expect(page.versions.count <= 2 && page.token == head.token)
            names += page.versions.map(\.name)
            numbers += page.versions.map(\.number)
            after = page.next
            if after.isEmpty { break }
        }
        #expect(names == ["a", "b", "c", "d", "e"] && numbers == [2, 3, 1, 5, 4])

        try client.save("f", in: "notes")
        let later = try answer(client, request("notes"))
        #expect(later.recordCount == 6 && later.digest != head.digest && later.token != head.token)
    }

    @Test func `R-844: only custom zones of one's own databases have one`() throws {
        let client = try world.enter()
        try client.makeZone("notes")
        #expect(try code(client, request(ZoneName.default)) == .invalidArguments)
        #expect(try code(client, request("none")) == .zoneNotFound)
        var open = request("notes")
        open.database = .public
        #expect(try code(client, open) != nil)
        var others = request("notes")
        others.zone.owner = "_0123456789abcdef0123456789abcdef"
        for scope in [.private, .shared] as [WireDatabaseScope] {
            others.database = scope
            #expect(try code(client, others) == .zoneNotFound, "\(scope)")
        }
        let nobody = try world.enter("", device: 3)
        #expect(try code(nobody, request("notes")) == .notAuthenticated)
    }

    @Test func `R-845, I-5: a participant is told of the zone as its owner is, with a token of their own`() throws {
        let pair = try SharingPair(world)
        let mine = try answer(pair.alice, request("notes"))
        var shared = request("notes")
        (shared.database, shared.zone) = (.shared, pair.zone)
        let theirs = try answer(pair.bob, shared)
        #expect(theirs.digest == mine.digest && theirs.recordCount == mine.recordCount && theirs.recordCount > 0)
        #expect(theirs.token == (try pair.bob.changes(of: pair.zone).token))
    }
}
