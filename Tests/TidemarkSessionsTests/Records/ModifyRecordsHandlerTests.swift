// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// How requests to save records are read.
@Suite struct ModifyRecordsHandlerTests {
    @Test func `R-723: a long request is read in turns, and a later one of its connection does not pass it`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        try client.makeZone("a")
        // More than is read in a turn, before the record that both save.
        var long = try client.saving("first", in: "a", text: String(repeating: "x", count: 300_000))
        var last = long.zones[0].saves[0]
        last.name = "second"
        long.zones[0].saves.append(last)
        var short = try client.saving("both", in: "a")
        (long.policy, short.policy) = (.ifServerRecordUnchanged, .ifServerRecordUnchanged)
        long.zones[0].saves.append(contentsOf: short.zones[0].saves)

        let (longID, shortID) = (client.post(.modifyRecords(long)), client.post(.modifyRecords(short)))
        world.scheduler.runUntilIdle()
        let codes = try [longID, shortID].map { id in
            guard case .modifyRecords(let answer)? = client.answer(to: id) else { throw Unanswered() }
            return answer.zones[0].saves.map(\.failure.failure.code)
        }
        #expect(codes == [[.unspecified, .unspecified, .unspecified], [.serverRecordChanged]])
    }

    /// Who owns it must be looked up each time.
    private static let foreign = ShareRequests.zone("notes", of: "_" + String(repeating: "0", count: 32))

    @Test func `R-711: a save in a private database does not wait for a look at owners`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        try client.makeZone("a")
        world.server.faults.next(.callSent, .delay(.seconds(5)))
        let shared = client.post(.modifyRecords(try ShareRequests.saving(["a"], in: Self.foreign, client.stamp())))
        let own = client.post(.modifyRecords(try client.saving("a", in: "a")))
        world.scheduler.runUntilIdle()
        #expect(client.answer(to: shared) == nil)
        #expect(client.answer(to: own) != nil)
        world.scheduler.advance(by: .seconds(6))
        #expect(client.answer(to: shared) != nil)
    }

    @Test func `R-711: a request whose owners were looked up waits for none that came later`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        func post() throws -> UInt64 {
            client.post(.modifyRecords(try ShareRequests.saving(["a"], in: Self.foreign, client.stamp())))
        }
        func seconds(to id: UInt64) throws -> Int {
            for second in 0..<20 {
                world.scheduler.runUntilIdle()
                if client.answer(to: id) != nil { return second }
                world.scheduler.advance(by: .seconds(1))
            }
            throw Unanswered()
        }
        world.server.faults.always(.callSent, .delay(.seconds(1)))
        _ = try seconds(to: post())
        let alone = try seconds(to: post())
        let (first, second) = (try post(), try post())
        #expect(try seconds(to: first) == alone)
        _ = try seconds(to: second)
    }

    private struct Unanswered: Error {}
}
