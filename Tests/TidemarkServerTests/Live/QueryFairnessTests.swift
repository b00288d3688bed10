// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkServer
import TidemarkTestSupport
import TidemarkWire

/// Queries that take long, beside those of others.
@Suite(.serialized, .timeLimit(.minutes(10))) struct QueryFairnessTests {
    private static let floodCount = 48

    @Test func `R-714: of a flood of long queries few are answered before another account's query`() async throws {
        try await withFlood { world, server, flood in
            let bob = try await world.enter(world.bob, device: 99, server: server)
            try await bob.makeZone("z")
            try await bob.save(["b1"], in: "z", text: "x")
            let query = Self.query(in: "z", [Self.compare(.equal, "x")])
            #expect(Self.names(in: try await bob.ask(.queryRecords(query))) == ["b1"])

            let posted = try await flood.begin()
            let before = flood.answerCount
            let id = bob.post(.queryRecords(query))
            let (answer, after) = try await bob.wait(for: "the answer") { state in
                state.inbox.first { $0.id == id }.map { ($0, flood.answerCount) }
            }
            #expect(Self.names(in: answer) == ["b1"])
            // In the order of arrival it is the last: after 48 of them.
            #expect(after - before <= 16, "\(after - before) of \(Self.floodCount) came first")

            var refusedCount = 0
            for (client, id) in posted {
                let answer = try await client.answer(to: id)
                guard case .failure(let failure)? = answer.answer else { continue }
                #expect([.requestRateLimited, .limitExceeded].contains(failure.code), "\(failure)")
                #expect(failure.retryAfterSeconds >= 1, "\(failure)")
                refusedCount += failure.code == .requestRateLimited ? 1 : 0
            }
            #expect(refusedCount > 0, "more wait than one account may have")
        }
    }

    @Test func `R-713: the queries of a device that is gone leave the queue`() async throws {
        try await withFlood { world, server, flood in
            _ = try await flood.begin()
            try await flood.refused()
            flood.leave()
            try await eventually(within: .seconds(30)) { server.connectionCount == 0 }
            let client = try await world.enter(device: 98, server: server)
            let answer = try await client.ask(.queryRecords(Self.heavy))
            #expect(answer.failure.code != .requestRateLimited, "the account's queue is still full: \(answer)")
        }
    }

    /// A server with one loop, and an account with many records and devices.
    private func withFlood(_ body: (LiveWorld, Server, QueryFlood) async throws -> Void) async throws {
        try await withLiveWorld { world in
            try await world.withServer({ $0.loopCount = 1 }) { server in
                var clients: [LiveClient] = []
                for device in 1...Self.floodCount / QueryFlood.perClient {
                    clients.append(try await world.enter(device: UInt64(device), server: server))
                }
                try await clients[0].makeZone("heavy")
                for part in 0..<5 {
                    try await clients[0].save((0..<400).map { "h\(part)-\($0)" }, in: "heavy", text: "\(part)\(part)")
                }
                // The first query marks the field.
                let marks = Self.query(in: "heavy", [Self.compare(.equal, "none")])
                _ = try await clients[0].ask(.queryRecords(marks))
                try await body(world, server, QueryFlood(clients: clients, query: Self.heavy))
            }
        }
    }

    /// Looks at all records of the zone, and finds none.
    private static var heavy: WireQueryRecords {
        let others = (0..<480).map { compare(.notEqual, "no\($0)") }
        // No index serves them.
        return query(in: "heavy", others + (0..<5).map { compare(.notEqual, "\($0)\($0)") })
    }

    private static func names(in answer: WireServerEnvelope) -> [String] {
        answer.queryRecords.matches.map(\.record.name)
    }

    private static func compare(_ sign: WireComparisonOperator, _ text: String) -> WirePredicate {
        var predicate = WirePredicate()
        predicate.compare.key = "text"
        predicate.compare.operator = sign
        predicate.compare.value.string = text
        return predicate
    }

    private static func query(in zone: String, _ conditions: [WirePredicate]) -> WireQueryRecords {
        var request = WireQueryRecords()
        request.database = .private
        request.query.recordType = "Note"
        request.query.zone = TestClient.zone(zone)
        request.query.predicate.and.parts = conditions
        return request
    }
}

/// The devices of one account, which ask as much as they may.
struct QueryFlood: Sendable {
    /// As many large answers as a connection may wait for.
    static let perClient = 4

    let clients: [LiveClient]
    let query: WireQueryRecords

    var answerCount: Int { clients.reduce(0) { $0 + $1.answers.count } }

    /// Returns when all queries are under way, and forgets what was answered before.
    func begin() async throws -> [(client: LiveClient, id: UInt64)] {
        for client in clients { client.forgetInbox() }
        var posted: [(client: LiveClient, id: UInt64)] = []
        for client in clients {
            for _ in 0..<Self.perClient { posted.append((client, client.post(.queryRecords(query)))) }
        }
        // A connection's requests begin in their order.
        for client in clients { try await client.subscribe() }
        return posted
    }

    /// Waits until one is refused.
    func refused() async throws {
        try await eventually(within: .seconds(30)) {
            clients.contains { $0.answers.contains { $0.failure.code == .requestRateLimited } }
        }
    }

    func leave() {
        for client in clients { client.disconnect() }
    }
}
