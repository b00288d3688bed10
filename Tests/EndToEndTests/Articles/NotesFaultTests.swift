// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// Histories of the articles' app, from seeds, with all that can go wrong: nothing that the user wrote is lost, and all devices end
/// equal. Environment:
/// - `TIDEMARK_SEEDS`: how many histories each test runs, from a random seed; unless set three, which take seconds in all.
/// - `TIDEMARK_TEST_SEED`: the seed of the only one.
/// - `TIDEMARK_TRACE`: print what happens in each, event by event.
@Suite struct NotesFaultTests {
    private func run(_ faults: [NotesWorld.Fault], count: Int = 3) async throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["TIDEMARK_TEST_SEED"] != nil ? 1 : Int(environment["TIDEMARK_SEEDS"] ?? "") ?? count
        let first = SeededRandom().seed
        for number in 0..<count {
            let seed = first &+ UInt64(number)
            do {
                try await NotesWorld(seed: seed, faults: faults).run(stepCount: 60)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    @Test func `R-640: nothing is lost, whatever network, server and process do`() async throws {
        try await run([.offline, .lostAnswer, .cut, .serverRestart, .death])
    }

    @Test func `R-501, R-640: nothing is lost when a device is copied while it is at work`() async throws {
        try await run([.offline, .lostAnswer, .cut, .death, .clone])
    }

    @Test func `R-643: nothing is lost when accounts change`() async throws {
        try await run([.offline, .lostAnswer, .death, .signOut, .switchOfAccounts])
    }

    @Test func `R-644: what a device has comes back after a reset`() async throws {
        try await run([.offline, .lostAnswer, .death, .zoneReset])
    }

    @Test func `R-644: devices end equal when zones go`() async throws {
        try await run([.offline, .lostAnswer, .death, .zoneEnd, .zoneReset, .signOut])
    }

    @Test func `R-645: nothing is lost when the server goes back to a backup`() async throws {
        try await run([.offline, .lostAnswer, .death, .restore])
    }

    @Test func `R-645: nothing is lost when tokens expire`() async throws {
        try await run([.offline, .lostAnswer, .death, .expiry, .forgottenDeletions])
    }
}
