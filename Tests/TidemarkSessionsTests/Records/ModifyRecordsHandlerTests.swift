// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
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

    private struct Unanswered: Error {}
}
