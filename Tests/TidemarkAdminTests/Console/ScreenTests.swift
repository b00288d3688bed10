// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

/// How commands ask before they destroy anything.
@Suite struct ScreenTests {
    private func screen(_ terminal: RecordingTerminal, isDryRun: Bool = false, isConfirmed: Bool = false) -> Screen {
        Screen(output: .table, isDryRun: isDryRun, isConfirmed: isConfirmed, terminal: terminal)
    }

    private func confirm(_ screen: Screen, typing name: String? = nil) async throws {
        try await screen.confirm("delete the zone Notes of alice", loss: "The zone has 3 records.", typing: name)
    }

    @Test(
        arguments: [
            (["y"], nil, true), (["YES"], nil, true), (["n"], nil, false), ([""], nil, false), ([], nil, false),
            (["Notes"], "Notes", true), (["notes"], "Notes", false), (["y"], "Notes", false),
        ] as [([String], String?, Bool)])
    func `R-832: who is asked decides`(_ answers: [String], _ name: String?, _ isWanted: Bool) async {
        let terminal = RecordingTerminal(answers: answers)
        if isWanted {
            await #expect(throws: Never.self) { try await confirm(screen(terminal), typing: name) }
        } else {
            await #expect(throws: AdminFailure(.refused, "Not confirmed. Nothing was changed.")) {
                try await confirm(screen(terminal), typing: name)
            }
        }
        #expect(terminal.messages == ["The zone has 3 records."])
        #expect(terminal.questions.count == 1)
        #expect(terminal.questions.first?.contains(name ?? "Really delete the zone Notes of alice?") == true)
    }

    @Test func `R-832: --yes asks nothing, and where nobody can be asked nothing is done`() async {
        let silent = RecordingTerminal()
        await #expect(throws: Never.self) { try await confirm(screen(silent, isConfirmed: true), typing: "Notes") }
        #expect(silent.messages.isEmpty)
        let failure = await #expect(throws: AdminFailure.self) { try await confirm(screen(silent)) }
        #expect(failure?.status == .usage)
        for text in ["The zone has 3 records.", "--yes", "--dry-run"] {
            #expect(failure?.description.contains(text) == true)
        }
    }

    @Test func `R-832: --dry-run says what would be done, even with --yes, and asks nothing`() async {
        let terminal = RecordingTerminal(answers: ["y"])
        let screen = screen(terminal, isDryRun: true, isConfirmed: true)
        await #expect(throws: CommandEnd.dryRun) { try await confirm(screen) }
        #expect(throws: CommandEnd.dryRun) { try screen.plan("create the account alice") }
        #expect(
            terminal.messages == [
                "Would delete the zone Notes of alice. The zone has 3 records.", "Would create the account alice.",
            ])
        #expect(terminal.questions.isEmpty)
        #expect(throws: Never.self) { try self.screen(terminal).plan("create the account alice") }
    }

    @Test(
        arguments: [
            (.table, [], nil, true), (.wide, [], nil, true), (.json, [], nil, false), (.name, [], nil, false),
            (.table, [1], nil, false), (.table, [], "Nothing was found.", false),
        ] as [(OutputFormat, [Int], String?, Bool)])
    func `R-830: who watches is told that a table is empty`(
        _ form: OutputFormat, _ rows: [Int], _ message: String?, _ isTold: Bool
    ) async throws {
        for isWatched in [true, false] {
            let terminal = RecordingTerminal(answers: isWatched ? [] : nil)
            let screen = Screen(output: form, terminal: terminal)
            try await screen.show([Int](), as: [Column("COUNT", key: "count") { .number($0) }])
            try await screen.show(rows, as: [Column("COUNT", key: "count") { .number($0) }])
            if let message { screen.say(message) }
            screen.sayIfEmpty()
            let told = isTold && isWatched ? ["There is nothing to show."] : []
            #expect(terminal.messages == (message.map { [$0] } ?? []) + told)
        }
    }
}
