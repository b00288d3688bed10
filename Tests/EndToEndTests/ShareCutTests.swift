// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkWire

/// Sharing a zone, accepting, leaving and removing, each cut at each of its statements.
@Suite(.timeLimit(.minutes(10))) struct ShareCutTests {
    /// What is cut.
    enum Step: String, CaseIterable, Sendable {
        case share, accept, leave, remove

        /// Whether the owner takes it.
        var isOwners: Bool { self == .share || self == .remove }
    }

    /// What can be seen of a zone.
    private struct Sight: Equatable {
        var isShared = false
        /// Whether the record says that bob takes part.
        var hasBob = false
        var bobReads = false
        /// In his list, and in his feed.
        var isListed = false
        var isFed = false

        static let unshared = Sight()
        static let open = Sight(isShared: true)
        static let joined = Sight(isShared: true, hasBob: true, bobReads: true, isListed: true, isFed: true)
    }

    private struct Round {
        let zone: String
        /// As bob names it.
        let guestZone: WireZoneID
        let actor: ShareClient
        let request: ShareRequests.Request
        let before: Sight
        let after: Sight
    }

    /// More statements than any step has.
    private static let statementsMax = 60

    /// A zone of its own, just before the step.
    private func prepare(_ step: Step, _ number: Int, at site: Site) async throws -> Round {
        let alice = try await ShareClient(site, "alice", device: UInt8(number))
        let bob = try await ShareClient(site, "bob", device: UInt8(number))
        let zone = "\(step.rawValue) \(number)"
        let guestZone = ShareRequests.zone(zone, of: alice.name)
        try await alice.makeZone(zone)
        let link = step == .share ? "" : try await alice.share(zone)
        if step == .leave || step == .remove { try await bob.succeed(ShareRequests.accept(link)) }
        let actor = step.isOwners ? alice : bob
        let stamp = actor.stamp()
        let request: ShareRequests.Request
        switch step {
        case .share: request = .modifyRecords(ShareRequests.share(zone, .readWrite, stamp))
        case .accept: request = ShareRequests.accept(link)
        case .leave: request = ShareRequests.delete(guestZone, stamp)
        case .remove:
            let tag = try await alice.shareRecord(of: zone)?.tag ?? []
            request = .modifyRecords(ShareRequests.share(zone, .noAccess, tag: tag, stamp))
        }
        let before: Sight = step == .share ? .unshared : step == .accept ? .open : .joined
        return Round(
            zone: zone, guestZone: guestZone, actor: actor, request: request, before: before,
            after: step == .accept ? .joined : .open)
    }

    private func look(at round: Round, _ site: Site) async throws -> Sight {
        let alice = try await ShareClient(site, "alice", device: 201)
        let bob = try await ShareClient(site, "bob", device: 202)
        let share = try await alice.shareRecord(of: round.zone)?.share
        var sight = Sight()
        sight.isShared = share != nil
        sight.hasBob = share?.participants.contains { $0.user == bob.name && $0.status == .accepted } ?? false
        sight.bobReads = try await bob.readingFails(in: round.guestZone) == nil
        sight.isListed = try await bob.listedZones().contains(round.zone)
        sight.isFed = try await bob.fedZones().contains(round.zone)
        for client in [alice, bob] { client.raw.disconnect() }
        return sight
    }

    /// The device sends the same request once more, over a new connection.
    private func repeatRequest(
        of round: Round, _ step: Step, _ number: Int, at site: Site
    ) async throws -> WireServerEnvelope {
        let again = try await ShareClient(site, step.isOwners ? "alice" : "bob", device: UInt8(number))
        defer { again.raw.disconnect() }
        return try await again.ask(round.request)
    }

    /// Repeats complete the step, and are answered alike, and as the first time if that was answered with success.
    private func checkRepeats(
        of round: Round, _ step: Step, _ number: Int, first: WireServerEnvelope? = nil, at site: Site
    ) async throws {
        let answers = [
            try await repeatRequest(of: round, step, number, at: site),
            try await repeatRequest(of: round, step, number, at: site),
        ]
        #expect(answers.map(\.failureCodes) == [[], []], "\(step) cut at \(number)")
        #expect(answers[0].savedTags == answers[1].savedTags, "\(step) cut at \(number)")
        if let first, first.failureCodes.isEmpty {
            #expect(first.savedTags == answers[0].savedTags, "\(step) cut at \(number)")
        }
        #expect(try await look(at: round, site) == round.after, "\(step) cut at \(number)")
    }

    /// Takes a step once for each statement that it has, each time in a zone of its own.
    ///
    /// - Parameter attempt: the step, cut at one of them. Returns whether it came to that.
    private func eachStatement(
        of step: Step, _ attempt: (CutServer, Round, _ number: Int) async throws -> Bool
    ) async throws {
        try await CutServer.with { server in
            var cutCount = 0
            for number in 1...Self.statementsMax {
                let round = try await prepare(step, number, at: server.site)
                guard try await attempt(server, round, number) else { break }
                cutCount += 1
            }
            try await server.stopCutting()
            #expect((4..<Self.statementsMax).contains(cutCount), "\(step) has \(cutCount) statements")
        }
    }

    @Test(arguments: Step.allCases)
    func `F-5, R-317: a server killed at any statement of a step of sharing did it or not, and a repeat completes it`(
        _ step: Step
    ) async throws {
        try await eachStatement(of: step) { server, round, number in
            try await server.cut(at: number, killsConnection: false)
            let id = try round.actor.send(round.request)
            try await eventually("it comes to statement \(number), or is done") {
                if round.actor.hasAnswer(to: id) { return true }
                return await server.hasComeTo(number)
            }
            guard await server.hasComeTo(number) else { return false }
            try await server.killAndRestart()
            let sight = try await look(at: round, server.site)
            #expect([round.before, round.after].contains(sight), "\(step) cut at \(number)")
            try await checkRepeats(of: round, step, number, at: server.site)
            return true
        }
    }

    @Test(arguments: Step.allCases)
    func `F-5, R-317: a step of sharing is done once when its connection to PostgreSQL is killed at any statement`(
        _ step: Step
    ) async throws {
        try await eachStatement(of: step) { server, round, number in
            try await server.cut(at: number, killsConnection: true)
            let answer = try await round.actor.ask(round.request)
            let isCut = await server.hasComeTo(number)
            try await server.stopCutting()
            // The server tries again; if it gives up, the device does.
            let passing: [WireErrorCode] = isCut ? [.serviceUnavailable, .zoneBusy] : []
            #expect(answer.failureCodes.allSatisfy(passing.contains), "\(step) cut at \(number): \(answer)")
            try await checkRepeats(of: round, step, number, first: answer, at: server.site)
            round.actor.raw.disconnect()
            return isCut
        }
    }
}
