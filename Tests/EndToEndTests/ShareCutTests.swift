// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkWire

/// Sharing a zone, accepting, leaving and removing, each cut at each of its statements.
@Suite(.timeLimit(.minutes(10))) struct ShareCutTests {
    /// More statements than any step has.
    private static let statementsMax = 60

    /// Repeats complete the step, and are answered alike.
    private func checkRepeats(of round: ShareCutRound, at site: Site) async throws {
        let answers = [try await round.repeatRequest(at: site), try await round.repeatRequest(at: site)]
        #expect(answers.map(\.failureCodes) == [[], []], "\(round.step) cut at \(round.number)")
        #expect(answers[0].savedTags == answers[1].savedTags, "\(round.step) cut at \(round.number)")
        #expect(try await round.look(at: site) == round.after, "\(round.step) cut at \(round.number)")
    }

    @Test(arguments: ShareCutRound.Step.allCases)
    func `F-5, R-317: a server killed at any statement of a step of sharing did it or not, and a repeat completes it`(
        _ step: ShareCutRound.Step
    ) async throws {
        try await CutServer.with { server in
            var cutCount = 0
            for number in 1...Self.statementsMax {
                let round = try await ShareCutRound(step, number, at: server.site)
                try await server.cut(at: number, killsConnection: false)
                let id = try round.actor.send(round.request)
                try await eventually("it comes to statement \(number), or is done") {
                    if round.actor.hasAnswer(to: id) { return true }
                    return await server.hasComeTo(number)
                }
                guard await server.hasComeTo(number) else { break }
                cutCount += 1
                try await server.killAndRestart()
                let sight = try await round.look(at: server.site)
                #expect([round.before, round.after].contains(sight), "\(step) cut at \(number)")
                try await checkRepeats(of: round, at: server.site)
            }
            try await server.stopCutting()
            #expect((4..<Self.statementsMax).contains(cutCount), "\(step) has \(cutCount) statements")
        }
    }

    @Test(arguments: ShareCutRound.Step.allCases)
    func `F-5, R-317: a step of sharing is done once when its connection to PostgreSQL is killed at any statement`(
        _ step: ShareCutRound.Step
    ) async throws {
        try await CutServer.with { server in
            var cutCount = 0
            for number in 1...Self.statementsMax {
                let round = try await ShareCutRound(step, number, at: server.site)
                try await server.cut(at: number, killsConnection: true)
                let answer = try await round.actor.ask(round.request)
                let isCut = await server.hasComeTo(number)
                try await server.stopCutting()
                // The server tries again; if it gives up, the device does.
                let isPassing = answer.failureCodes.allSatisfy(ShareCutRound.passing.contains)
                #expect(isPassing, "\(step) cut at \(number): \(answer)")
                try await checkRepeats(of: round, at: server.site)
                round.actor.raw.disconnect()
                guard isCut else { break }
                cutCount += 1
            }
            #expect((4..<Self.statementsMax).contains(cutCount), "\(step) has \(cutCount) statements")
        }
    }
}
