// SPDX-License-Identifier: Apache-2.0

import Foundation
import SessionTestSupport
import Testing
import TidemarkWire

/// Sharing a zone, accepting, leaving and removing, each cut at its statements.
@Suite(.timeLimit(.minutes(10))) struct ShareCutTests {
    /// What is cut.
    enum Step: String, CaseIterable, Sendable {
        case share, accept, leave, remove

        /// Whose request it is.
        var account: String { self == .share || self == .remove ? "alice" : "bob" }
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
        let step: Step
        /// Of the round and its devices.
        let number: Int
        let zone: String
        /// As bob names it.
        let guestZone: WireZoneID
        let actor: ShareClient
        let request: ShareRequests.Request
        let before: Sight
        let after: Sight
    }

    /// What the server says while its store is away. The device tries again.
    private static let passing: [WireErrorCode] = [.serviceUnavailable, .zoneBusy]
    /// More than any step has, and fewer than there are devices.
    private static let placesMax = 100

    // MARK: Rounds

    /// A zone of its own, just before the step.
    private func prepare(_ step: Step, _ number: Int, at site: Site) async throws -> Round {
        let alice = try await ShareClient(site, "alice", device: UInt8(number))
        let bob = try await ShareClient(site, "bob", device: UInt8(number))
        let zone = "\(step.rawValue) \(number)"
        let guestZone = ShareRequests.zone(zone, of: alice.name)
        try await alice.makeZone(zone)
        let link = step == .share ? "" : try await alice.share(zone)
        if step == .leave || step == .remove { try await bob.succeed(ShareRequests.accept(link)) }
        let (actor, other) = step.account == "alice" ? (alice, bob) : (bob, alice)
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
        other.raw.disconnect()
        let before: Sight = step == .share ? .unshared : step == .accept ? .open : .joined
        return Round(
            step: step, number: number, zone: zone, guestZone: guestZone, actor: actor, request: request,
            before: before, after: step == .accept ? .joined : .open)
    }

    private func look(at round: Round, _ site: Site) async throws -> Sight {
        var sight: Sight?
        try await eventually("\(round.zone) can be seen", within: .seconds(60)) {
            sight = try? await lookOnce(at: round, site)
            return sight != nil
        }
        return sight ?? .unshared
    }

    /// - Returns: nil: the server has not found its store again.
    private func lookOnce(at round: Round, _ site: Site) async throws -> Sight? {
        let alice = try await ShareClient(site, "alice", device: 201)
        defer { alice.raw.disconnect() }
        let bob = try await ShareClient(site, "bob", device: 202)
        defer { bob.raw.disconnect() }
        let share = try await alice.shareRecord(of: round.zone)?.share
        var sight = Sight()
        sight.isShared = share != nil
        sight.hasBob = share?.participants.contains { $0.user == bob.name && $0.status == .accepted } ?? false
        sight.bobReads = try await bob.readingFails(in: round.guestZone) == nil
        sight.isListed = try await bob.listedZones().contains(round.zone)
        sight.isFed = try await bob.fedZones().contains(round.zone)
        let codes = [alice, bob].flatMap(\.raw.answers).flatMap(\.failureCodes)
        return codes.contains(where: Self.passing.contains) ? nil : sight
    }

    /// The device sends the same request once more, over a new connection, until the server has found its store again.
    private func repeatRequest(of round: Round, at site: Site) async throws -> WireServerEnvelope {
        var answer: WireServerEnvelope?
        try await eventually("a repeat in \(round.zone) is answered", within: .seconds(60)) {
            let device = UInt8(round.number)
            guard let again = try? await ShareClient(site, round.step.account, device: device) else { return false }
            defer { again.raw.disconnect() }
            answer = try? await again.ask(round.request)
            return answer.map { !$0.failureCodes.contains(where: Self.passing.contains) } ?? false
        }
        return answer ?? WireServerEnvelope()
    }

    // MARK: Cutting

    /// Takes a step in a zone of its own, and kills the victim: at that place, or after the answer if the step has none
    /// of that number.
    ///
    /// - Returns: the places until then.
    private func take(
        _ step: Step, round number: Int, killingAt place: Int, _ server: CutServer
    ) async throws -> [String] {
        let round = try await prepare(step, number, at: server.site)
        await server.line.count(cuttingAt: place)
        let id = try round.actor.send(round.request)
        try await eventually("\(round.zone) comes to place \(place), or is done") {
            if round.actor.hasAnswer(to: id) { return true }
            return await server.line.isStill
        }
        let isTold = round.actor.hasAnswer(to: id)
        let places = await server.line.places
        try await server.killVictim()
        let isAnswered = isTold || server.victim != .server
        let first = try await isAnswered ? round.actor.raw.answer(to: id) : nil
        round.actor.raw.disconnect()
        let what: Comment = "\(step), \(server.victim) killed \(isTold ? "when it was told" : "at"): \(places)"
        if isTold { #expect(first?.failureCodes == [], what) }
        try await check(round, first, at: server.site, what)
        return places
    }

    /// All of it was done or nothing, and all if it was acknowledged. Repeats complete it, and are answered alike.
    private func check(
        _ round: Round, _ first: WireServerEnvelope?, at site: Site, _ what: Comment
    ) async throws {
        let codes = first?.failureCodes ?? Self.passing
        #expect(codes.allSatisfy(Self.passing.contains), what)
        let possible = codes.isEmpty ? [round.after] : [round.before, round.after]
        let sight = try await look(at: round, site)
        #expect(possible.contains(sight), what)
        let answers = [try await repeatRequest(of: round, at: site), try await repeatRequest(of: round, at: site)]
        #expect(answers.map(\.failureCodes) == [[], []], what)
        #expect(answers[0].savedTags == answers[1].savedTags, what)
        if let first, codes.isEmpty { #expect(first.savedTags == answers[0].savedTags, what) }
        let completed = try await look(at: round, site)
        #expect(completed == round.after, what)
    }

    /// The numbers of the places to cut at. In a usual run: each commit, the statement before it, and of the others a
    /// third for each victim.
    private static func numbers(in places: [String], for victim: CutServer.Victim) -> [Int] {
        let isWhole = ProcessInfo.processInfo.environment["TIDEMARK_SHARE_CUTS"] == "all"
        let third = CutServer.Victim.allCases.firstIndex(of: victim)
        return places.indices.filter { index in
            isWhole || index % 3 == third || places[index...].prefix(2).contains("commit")
        }.map { $0 + 1 }
    }

    @Test(arguments: Step.allCases, CutServer.Victim.allCases)
    func `F-5, I-1, R-317: a step of sharing is done or not, and a repeat completes it, whatever is killed`(
        _ step: Step, _ victim: CutServer.Victim
    ) async throws {
        try await CutServer.with(victim) { server in
            let places = try await take(step, round: 1, killingAt: .max, server)
            #expect(places.contains("commit") && (4..<Self.placesMax).contains(places.count), "\(places)")
            let numbers = Self.numbers(in: Array(places.prefix(Self.placesMax)), for: victim)
            var cutCount = 0
            for (index, number) in numbers.enumerated() {
                let reached = try await take(step, round: index + 2, killingAt: number, server)
                cutCount += reached.count == number ? 1 : 0
            }
            // The server may do other work between, which counts too.
            #expect(cutCount * 2 > numbers.count, "\(step): \(cutCount) of \(numbers.count) places")
        }
    }
}
