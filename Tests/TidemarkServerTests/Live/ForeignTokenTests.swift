// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkPostgres
import TidemarkServer
import TidemarkTestSupport
import TidemarkWire

/// I-5, I-6: tokens and tags are only good where they were given out.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ForeignTokenTests {
    private func token(of zone: String, _ client: LiveClient) async throws -> [UInt8] {
        let answer = try await client.ask(.fetchZoneChanges(TestClient.zoneChanges(zone)))
        guard !answer.fetchZoneChanges.token.isEmpty else { throw LiveError("no token: \(answer)") }
        return [UInt8](answer.fetchZoneChanges.token)
    }

    private func databaseChanges(_ client: LiveClient, token: [UInt8] = []) async throws -> WireServerEnvelope {
        var request = WireFetchDatabaseChanges()
        request.database = .private
        request.token = [UInt8](token)
        return try await client.ask(.fetchDatabaseChanges(request))
    }

    /// A client of alice with zones `notes` and `more` and a record in each.
    private func prepared(_ world: LiveWorld, _ server: Server) async throws -> LiveClient {
        let client = try await world.enter(server: server)
        for zone in ["notes", "more"] {
            try await client.makeZone(zone)
            try await client.save(["a"], in: zone)
        }
        return client
    }

    @Test func `R-200, R-220: a token of another zone, feed, account or server gets no page`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let alice = try await prepared(world, server)
                let bob = try await world.enter(world.bob, device: 2, server: server)
                try await bob.makeZone("notes")
                try await bob.save(["b"], in: "notes")
                let notes = try await token(of: "notes", alice)
                let database = [UInt8](try await databaseChanges(alice).fetchDatabaseChanges.token)
                #expect(try await alice.code(of: "notes", token: notes) == .unspecified)
                #expect(try await alice.code(of: "more", token: notes) == .invalidArguments)
                #expect(try await alice.code(of: "notes", token: database) == .invalidArguments)
                #expect(try await databaseChanges(alice, token: notes).failure.code == .invalidArguments)
                #expect(try await bob.code(of: "notes", token: notes) == .invalidArguments)
                #expect(try await databaseChanges(bob, token: database).failure.code == .invalidArguments)
                try await withLiveWorld { otherWorld in
                    // Everything has the same ids there, but the store is another.
                    try PostgresAdministration.execute(
                        ["UPDATE store SET incarnation = incarnation + 1"], url: otherWorld.database.url)
                    try await otherWorld.withServer { otherServer in
                        let other = try await prepared(otherWorld, otherServer)
                        #expect(try await other.code(of: "notes", token: notes) == .changeTokenExpired)
                        #expect(try await databaseChanges(other, token: database).failure.code == .changeTokenExpired)
                        #expect(try await other.names(in: "notes") == ["a"])
                    }
                }
            }
        }
    }

    @Test func `I-6: every cut and every wrong byte of a token is an answer, never a page of others`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let alice = try await prepared(world, server)
                let notes = try await token(of: "notes", alice)
                let codes: [WireErrorCode] = [.unspecified, .invalidArguments, .changeTokenExpired]
                for count in 1..<notes.count {
                    #expect(try await codes.contains(alice.code(of: "notes", token: Array(notes[..<count]))))
                }
                for position in notes.indices {
                    for bit in 0..<8 {
                        var wrong = notes
                        wrong[position] ^= 1 << UInt8(bit)
                        #expect(try await codes.contains(alice.code(of: "notes", token: wrong)))
                        #expect(try await codes.contains(databaseChanges(alice, token: wrong).failure.code))
                    }
                }
                #expect(try await alice.names(in: "notes") == ["a"])
            }
        }
    }
}
