// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTelemetry

@Suite struct RequestNotesTests {
    @Test func `R-824: the times of statements are added up, and the slowest one is kept`() {
        let notes = RequestNotes()
        #expect(notes.storeTime == nil && notes.slowest == nil && notes.turn == nil)
        notes.ran("a", for: .milliseconds(3))
        notes.ran("b", for: .milliseconds(9))
        notes.ran("c", for: .milliseconds(4))
        notes.turn = .seconds(2)
        #expect(notes.storeTime == .milliseconds(16) && notes.turn == .seconds(2))
        #expect(notes.slowest?.sql == "b" && notes.slowest?.time == .milliseconds(9))
    }
}
