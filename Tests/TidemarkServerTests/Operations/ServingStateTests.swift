// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkServer

@Suite struct ServingStateTests {
    @Test func `R-808: a server is ready from when it accepts until it stops, if the store answers and has its tables`()
    {
        let state = ServingState()
        #expect(state.obstacle(storeAnswers: true) == "the server starts")
        state.serve()
        #expect(state.obstacle(storeAnswers: true) == nil)
        #expect(state.obstacle(storeAnswers: false) == "the store does not answer")
        state.noteTables(areThere: false)
        #expect(state.obstacle(storeAnswers: true) == "the database does not have this version's tables")
        state.noteTables(areThere: true)
        #expect(state.obstacle(storeAnswers: true) == nil)
        let (first, second) = (state.stop(), state.stop())
        #expect(first && !second)
        // What stops never serves again.
        state.serve()
        #expect(state.obstacle(storeAnswers: true) == "the server stops")
    }
}
