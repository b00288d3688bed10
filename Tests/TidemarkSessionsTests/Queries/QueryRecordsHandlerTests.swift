// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestSupport
import TidemarkWire

/// Queries through a session, over the protocol's own messages.
@Suite struct QueryRecordsHandlerTests {
    private let world = SessionWorld()

    private func fill(_ client: TestClient) throws {
        for zone in ["a", "b"] {
            try client.makeZone(zone)
            for number in 1...5 { try client.save("\(zone)\(number)", in: zone, text: "\(number)") }
        }
    }

    private func request(
        _ type: String = "Note", zone: String? = nil, scope: WireDatabaseScope = .private, limit: UInt32 = 0,
        cursor: [UInt8] = [], _ change: (inout WireQuery) -> Void = { _ in }
    ) -> WireClientEnvelope.OneOfRequest {
        var request = WireQueryRecords()
        request.database = scope
        request.query.recordType = type
        if let zone { request.query.zone.name = zone }
        request.limit = limit
        request.cursor = cursor
        var sort = WireSort()
        sort.key = "text"
        request.query.sorts = [sort]
        change(&request.query)
        return .queryRecords(request)
    }

    private func page(_ client: TestClient, _ request: WireClientEnvelope.OneOfRequest) throws
        -> WireQueryRecordsAnswer
    {
        let answer = try client.ask(request)
        guard case .queryRecords(let page)? = answer else { throw SessionWorld.Unexpected(answer) }
        return page
    }

    private func failure(_ client: TestClient, _ request: WireClientEnvelope.OneOfRequest) throws -> WireFailure {
        let answer = try client.ask(request)
        guard case .failure(let failure)? = answer else { throw SessionWorld.Unexpected(answer) }
        return failure
    }

    @Test func `R-173, R-187, R-188: pages in order, over all zones and in one`() throws {
        let client = try world.enter()
        try fill(client)
        var names: [String] = []
        var cursor: [UInt8] = []
        for _ in 0..<20 {
            let page = try page(client, request(limit: 3, cursor: cursor))
            names += page.matches.map { "\($0.zone.name)/\($0.record.name)" }
            cursor = page.cursor
            if cursor.isEmpty { break }
        }
        #expect(names == (1...5).flatMap { ["a/a\($0)", "b/b\($0)"] })
        let one = try page(client, request(zone: "b"))
        #expect(one.matches.map(\.record.name) == ["b1", "b2", "b3", "b4", "b5"] && one.cursor.isEmpty)
        #expect(one.matches.allSatisfy { !$0.hasZone })
        // I-5: somebody else sees nothing of it; that there is such a type is the container's schema.
        let other = try world.enter("bob", device: 2)
        #expect(try page(other, request()).matches.isEmpty)
    }

    @Test func `R-174, R-175, R-029, R-184, R-005: what is refused, and in which words`() throws {
        let client = try world.enter()
        try fill(client)
        let unknown = try failure(client, request("Nothing"))
        #expect(unknown.code == .unknownItem && unknown.message.hasPrefix("Did not find record type: Nothing."))
        #expect(try failure(client, request("Users")).code == .invalidArguments)
        #expect(try failure(client, request(zone: "none")).code == .zoneNotFound)
        // in the shared database a zone is named; and there is none.
        #expect(try failure(client, request(scope: .shared)).code == .invalidArguments)
        #expect(try failure(client, request(zone: "a", scope: .shared)).code == .zoneNotFound)
        #expect(try failure(client, request { $0.predicate.not.search = "x" }).code == .invalidArguments)
        #expect(try failure(client, request { $0.predicate.beginsWith.key = "no.field" }).code == .invalidArguments)
        #expect(try failure(client, request { $0.sorts[0].key = "" }).code == .invalidArguments)
    }

    @Test func `R-189, I-6: cursors of other queries, and cut or garbled ones`() throws {
        let client = try world.enter()
        try fill(client)
        let cursor = try page(client, request(zone: "a", limit: 2)).cursor
        #expect(!cursor.isEmpty)
        let others = [
            request(zone: "b", cursor: cursor), request(cursor: cursor),
            request(zone: "a", cursor: cursor) { $0.sorts[0].isDescending = true },
            request(zone: "a", cursor: cursor) { $0.predicate.always = false },
        ]
        for other in others {
            let failure = try failure(client, other)
            #expect(failure.code == .invalidArguments && failure.message == FailureReason.cursorInvalid.text)
        }
        let stranger = try world.enter("bob", device: 2)
        try fill(stranger)
        #expect(try failure(stranger, request(zone: "a", cursor: cursor)).code == .invalidArguments)
        var wrong: [[UInt8]] = (1..<cursor.count).map { Array(cursor.prefix($0)) }
        for index in cursor.indices {
            var garbled = cursor
            garbled[index] ^= 0x10
            wrong.append(garbled)
        }
        for cursor in wrong {
            #expect(try failure(client, request(zone: "a", cursor: cursor)).code == .invalidArguments)
        }
        #expect(try page(client, request(zone: "a", cursor: cursor)).matches.map(\.record.name) == ["a3", "a4", "a5"])
    }

    @Test func `R-189: a cursor is a place in a query that is run again`() throws {
        let client = try world.enter()
        try fill(client)
        let cursor = try page(client, request(zone: "a", limit: 2)).cursor
        try client.save("a0", in: "a", text: "0")
        try client.save("a9", in: "a", text: "4")
        #expect(
            try page(client, request(zone: "a", cursor: cursor)).matches.map(\.record.name) == ["a3", "a4", "a9", "a5"])
    }
}
