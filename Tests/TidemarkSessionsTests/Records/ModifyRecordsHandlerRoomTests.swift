// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkSessions
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// What requests in many zones keep in memory while some of their zones are not decided.
@Suite struct ModifyRecordsHandlerRoomTests {
    private static let textBytes = 900_000

    /// Creates zones with one large record in each. Then each commit takes a while.
    private func prepare(_ zones: [String], of clients: [TestClient], in world: SessionWorld) throws {
        let text = String(repeating: "x", count: Self.textBytes)
        for client in clients {
            for zone in zones {
                try client.makeZone(zone)
                try client.save("r", in: zone, text: text)
            }
        }
        world.server.faults.always(.commitSent, .delay(.milliseconds(200)))
    }

    /// Saves the record of each zone as if it were new: all are conflicts.
    private func conflicting(_ zones: [String], _ client: TestClient) throws -> WireModifyRecords {
        var request = try client.saving("r", in: zones[0])
        request.policy = .ifServerRecordUnchanged
        for zone in zones.dropFirst() {
            var part = request.zones[0]
            part.zone = TestClient.zone(zone)
            request.zones.append(part)
        }
        return request
    }

    /// The failures that a request was answered, one for each zone.
    private func told(_ client: TestClient, _ id: UInt64) throws -> [WireSaveFailure] {
        let answer = client.answer(to: id)
        guard case .modifyRecords(let records)? = answer else { throw SessionWorld.Unexpected(answer) }
        return records.zones.compactMap { $0.saves.first?.failure }
    }

    /// Lets time pass until all requests are answered.
    ///
    /// - Returns: the most bytes that were under way.
    private func mostBytes(
        until asked: [(client: TestClient, id: UInt64)], in world: SessionWorld, _ budget: RequestBudget
    ) -> Int {
        var most = 0
        while asked.contains(where: { $0.client.answer(to: $0.id) == nil }), world.scheduler.now < .seconds(60) {
            world.scheduler.advance(by: .milliseconds(100))
            most = max(most, budget.bytesUnderWay)
        }
        return most
    }

    @Test func `R-111, R-716, R-722: what conflicts show of many zones is as much as an answer holds, and no more`()
        throws
    {
        let budget = RequestBudget()
        let world = SessionWorld { $0.requestBudget = budget }
        let client = try world.enter()
        let zones = (1...8).map { "zone \($0)" }
        try prepare(zones, of: [client], in: world)
        let id = client.post(.modifyRecords(try conflicting(zones, client)))
        let most = mostBytes(until: [(client, id)], in: world, budget)
        #expect(most > Self.textBytes && most <= Limits().answerBytesMax, "\(most)")
        #expect(budget.bytesUnderWay == 0)
        let failures = try told(client, id)
        #expect(failures.count == 8 && failures.allSatisfy { $0.failure.code == .serverRecordChanged })
        #expect(failures.filter(\.hasServerRecord).count == 4)
        #expect(failures.allSatisfy { !$0.hasServerRecord || $0.serverRecord.fields.count > Self.textBytes })
    }

    @Test func `R-722: records that conflicts show take half of what an account may have, on all its connections`()
        throws
    {
        // An account may have 4 MiB of it.
        let budget = RequestBudget(bytesMax: 16_777_216)
        let world = SessionWorld { $0.requestBudget = budget }
        let (alice, again, bob) = (try world.enter(), try world.enter(device: 2), try world.enter("bob", device: 3))
        let zones = ["a", "b", "c", "d"]
        try prepare(zones, of: [alice, bob], in: world)
        let asked = try [alice, again, bob].map { client in
            (client: client, id: client.post(.modifyRecords(try conflicting(zones, client))))
        }
        let most = mostBytes(until: asked, in: world, budget)
        // Alice and Bob have 2 MiB each.
        #expect(most > Self.textBytes && most <= 4_194_304, "\(most)")
        #expect(budget.bytesUnderWay == 0)
        for (client, id) in asked {
            let failures = try told(client, id)
            #expect(failures.count == 4 && failures.allSatisfy { $0.failure.code == .serverRecordChanged })
        }
        let ofAlice = try told(alice, asked[0].id) + told(again, asked[1].id)
        #expect(ofAlice.filter(\.hasServerRecord).count >= 2)
        #expect(try told(bob, asked[2].id).filter(\.hasServerRecord).count == 2)
    }

    @Test func `R-722: what conflicts show is free again when the client has left`() throws {
        let budget = RequestBudget()
        let world = SessionWorld { $0.requestBudget = budget }
        let client = try world.enter()
        let zones = (1...8).map { "zone \($0)" }
        try prepare(zones, of: [client], in: world)
        client.post(.modifyRecords(try conflicting(zones, client)))
        while budget.bytesUnderWay == 0, world.scheduler.now < .seconds(60) {
            world.scheduler.advance(by: .milliseconds(100))
        }
        #expect(budget.bytesUnderWay > 0)
        client.disconnect()
        world.scheduler.advance(by: .seconds(20))
        #expect(budget.bytesUnderWay == 0)
    }

    @Test func `R-054, R-722: what blind saves in many zones come with counts like what conflicts show`() throws {
        let budget = RequestBudget(bytesMax: 16_777_216)
        let world = SessionWorld { $0.requestBudget = budget }
        let client = try world.enter()
        let zones = ["a", "b", "c", "d"]
        try prepare(zones, of: [client], in: world)
        var request = try conflicting(zones, client)
        request.policy = .allKeys
        let number = try FieldMap([Field("number", .int64(1))]).bytes
        for zone in zones.indices { request.zones[zone].saves[0].fields = [UInt8](number) }
        let id = client.post(.modifyRecords(request))
        _ = mostBytes(until: [(client, id)], in: world, budget)
        guard case .modifyRecords(let answer)? = client.answer(to: id) else {
            throw SessionWorld.Unexpected(client.answer(to: id))
        }
        let saved = answer.zones.compactMap { $0.saves.first?.saved }
        #expect(saved.count == 4 && saved.allSatisfy { $0.hasRecord != $0.mustFetch })
        #expect(saved.filter(\.hasRecord).count == 2)
        #expect(budget.bytesUnderWay == 0)
    }
}
