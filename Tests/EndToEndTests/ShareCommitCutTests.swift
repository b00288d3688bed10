// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkWire

/// Sharing a zone, accepting, leaving and removing, each cut at each of its commits: just before it is durable, and when
/// it is and nobody has been told.
@Suite(.timeLimit(.minutes(10))) struct ShareCommitCutTests {
    enum Victim: String, CaseIterable, Sendable {
        case connection, postgres
    }

    /// More commits than any step has.
    private static let commitsMax = 8

    @Test(arguments: Victim.allCases)
    func `F-5, R-317: a step of sharing is done once if a connection or all of PostgreSQL is killed at any COMMIT`(
        _ victim: Victim
    ) async throws {
        try await CutServer.withOwnPostgres { server in
            var rounds = 0
            for step in ShareCutRound.Step.allCases {
                for moment in CutServer.CommitMoment.allCases {
                    let cutCount = try await cut(step, moment, victim, server, &rounds)
                    let has = step == .share || step == .accept ? 2 : 1
                    #expect((has..<Self.commitsMax).contains(cutCount), "\(step) has \(cutCount) commits")
                }
            }
        }
    }

    /// - Returns: how many commits were cut.
    private func cut(
        _ step: ShareCutRound.Step, _ moment: CutServer.CommitMoment, _ victim: Victim, _ server: CutServer,
        _ rounds: inout Int
    ) async throws -> Int {
        for number in 1...Self.commitsMax {
            rounds += 1
            let round = try await ShareCutRound(step, rounds, at: server.site)
            try await server.cut(atCommit: number, moment)
            let id = try round.actor.send(round.request)
            var stands = false
            try await eventually("it comes to commit \(number), or is done") {
                stands = await server.stands(atCommit: number, moment)
                return stands || round.actor.hasAnswer(to: id)
            }
            guard await server.hasComeTo(number) else {
                try await server.stopCutting()
                round.actor.raw.disconnect()
                return number - 1
            }
            let what: Comment = "\(step), its \(victim) killed \(moment) commit \(number)"
            #expect(stands, what)
            switch victim {
            case .connection: try await server.killBackend()
            case .postgres: try await server.killPostgres()
            }
            try await check(round, id, server, what)
        }
        return Self.commitsMax
    }

    /// All or nothing was done, and repeats complete it and give the first answer.
    private func check(_ round: ShareCutRound, _ id: UInt64, _ server: CutServer, _ what: Comment) async throws {
        let first = try await round.actor.raw.answer(to: id)
        round.actor.raw.disconnect()
        // The server tries again; if it gives up, the device does.
        #expect(first.failureCodes.allSatisfy(ShareCutRound.passing.contains), what)
        let sight = try await round.lookPatiently(at: server.site)
        #expect([round.before, round.after].contains(sight), what)
        var answers = [
            try await round.repeatPatiently(at: server.site), try await round.repeatPatiently(at: server.site),
        ]
        if first.failureCodes.isEmpty { answers.append(first) }
        #expect(answers.allSatisfy(\.failureCodes.isEmpty), what)
        #expect(Set(answers.map(\.savedTags)).count == 1, what)
        #expect(try await round.lookPatiently(at: server.site) == round.after, what)
    }
}
