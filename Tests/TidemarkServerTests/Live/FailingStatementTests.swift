// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkPostgres
import TidemarkTestSupport
import TidemarkWire

/// A database that refuses what the rules allow.
@Suite(.serialized, .timeLimit(.minutes(10))) struct FailingStatementTests {
    @Test func `I-6: of a group of requests only the one whose SQL fails fails`() async throws {
        try await withLiveWorld { world in
            try PostgresAdministration.execute(
                ["ALTER TABLE record ADD CONSTRAINT poison CHECK (name NOT LIKE 'poison%')"], url: world.database.url)
            try await world.withServer { server in
                var clients: [LiveClient] = []
                for device in 1...3 { clients.append(try await world.enter(device: UInt64(device), server: server)) }
                for zone in ["notes", "more"] { try await clients[0].makeZone(zone) }
                // All are under way at once, so that they wait for each other and are written in groups.
                var posted: [(client: LiveClient, id: UInt64, isPoison: Bool)] = []
                for number in 0..<60 {
                    let client = clients[number % 3]
                    let isPoison = number % 20 == 7
                    let names = isPoison ? ["poison\(number)", "beside poison\(number)"] : ["r\(number)"]
                    var request = try client.saving(names, in: number % 2 == 0 ? "notes" : "more")
                    request.atomic = true
                    request.stamp.lowestUnanswered = 1
                    posted.append((client, client.post(.modifyRecords(request)), isPoison))
                }
                for (client, id, isPoison) in posted {
                    let answer = try await client.answer(to: id)
                    let saves = answer.modifyRecords.zones.first?.saves ?? []
                    let areSaved = !saves.isEmpty && saves.allSatisfy { !$0.saved.tag.isEmpty }
                    #expect(areSaved != isPoison, "\(answer)")
                    if isPoison {
                        let codes = [answer.failure.code] + saves.map(\.failure.failure.code)
                        #expect(codes.contains(.internalError), "\(answer)")
                    }
                }
                var names: Set<String> = []
                for zone in ["notes", "more"] { names.formUnion(try await clients[0].names(in: zone)) }
                #expect(names == Set((0..<60).filter { $0 % 20 != 7 }.map { "r\($0)" }))
                try await clients[1].save(["afterwards"], in: "notes")
            }
        }
    }
}
