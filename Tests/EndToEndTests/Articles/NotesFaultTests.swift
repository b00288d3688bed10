// SPDX-License-Identifier: Apache-2.0

import Testing

/// Histories of the articles' app (``ArticleHistories``): nothing that the user wrote is lost, and all devices end equal.
@Suite struct NotesFaultTests {
    private func run(_ faults: [NotesWorld.Fault], recorded: [UInt64] = []) async {
        await ArticleHistories.run(count: 3, recorded: recorded) { seed in
            try await NotesWorld(seed: seed, faults: faults).run(stepCount: 60)
        }
    }

    @Test func `R-640: nothing is lost, whatever network, server and process do`() async {
        await run([.offline, .lostAnswer, .cut, .serverRestart, .death])
    }

    @Test func `R-501, R-640: nothing is lost when a device is copied while it is at work`() async {
        await run([.offline, .lostAnswer, .cut, .death, .clone])
    }

    @Test func `R-643: nothing is lost when accounts change`() async {
        await run([.offline, .lostAnswer, .death, .signOut, .switchOfAccounts])
    }

    /// Of the recorded one: an edit met the record that another device had saved after the reset, and lost what that lacks.
    @Test func `R-644: what a device has comes back after a reset`() async {
        await run([.offline, .lostAnswer, .death, .zoneReset], recorded: [6_521_327_471_395_932_265])
    }

    @Test func `R-644: devices end equal when zones go`() async {
        await run([.offline, .lostAnswer, .death, .zoneEnd, .zoneReset, .signOut])
    }

    @Test func `R-645: nothing is lost when the server goes back to a backup`() async {
        await run([.offline, .lostAnswer, .death, .restore])
    }

    @Test func `R-645: nothing is lost when tokens expire`() async {
        await run([.offline, .lostAnswer, .death, .expiry, .forgottenDeletions])
    }
}
