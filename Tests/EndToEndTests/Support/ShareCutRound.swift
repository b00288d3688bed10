// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import TidemarkWire

/// A step of sharing that is cut, in a zone of its own, and what can be seen of the zone.
struct ShareCutRound {
    /// What is cut.
    enum Step: String, CaseIterable, Sendable {
        case share, accept, leave, remove

        /// Whether the owner takes it.
        var isOwners: Bool { self == .share || self == .remove }
    }

    /// What can be seen of a zone.
    struct Sight: Equatable {
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

    /// What the server says while its store is away.
    static let passing: [WireErrorCode] = [.serviceUnavailable, .zoneBusy]

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

    /// Makes the zone, and does all that comes before the step.
    init(_ step: Step, _ number: Int, at site: Site) async throws {
        let alice = try await ShareClient(site, "alice", device: UInt8(number))
        let bob = try await ShareClient(site, "bob", device: UInt8(number))
        let zone = "\(step.rawValue) \(number)"
        let guestZone = ShareRequests.zone(zone, of: alice.name)
        try await alice.makeZone(zone)
        let link = step == .share ? "" : try await alice.share(zone)
        if step == .leave || step == .remove { try await bob.succeed(ShareRequests.accept(link)) }
        self.actor = step.isOwners ? alice : bob
        let stamp = self.actor.stamp()
        switch step {
        case .share: request = .modifyRecords(ShareRequests.share(zone, .readWrite, stamp))
        case .accept: request = ShareRequests.accept(link)
        case .leave: request = ShareRequests.delete(guestZone, stamp)
        case .remove:
            let tag = try await alice.shareRecord(of: zone)?.tag ?? []
            request = .modifyRecords(ShareRequests.share(zone, .noAccess, tag: tag, stamp))
        }
        (self.step, self.number, self.zone, self.guestZone) = (step, number, zone, guestZone)
        before = step == .share ? .unshared : step == .accept ? .open : .joined
        after = step == .accept ? .joined : .open
    }

    func look(at site: Site) async throws -> Sight { try await lookOnce(at: site).sight }

    private func lookOnce(at site: Site) async throws -> (sight: Sight, isWhole: Bool) {
        let alice = try await ShareClient(site, "alice", device: 201)
        let bob = try await ShareClient(site, "bob", device: 202)
        let share = try await alice.shareRecord(of: zone)?.share
        var sight = Sight()
        sight.isShared = share != nil
        sight.hasBob = share?.participants.contains { $0.user == bob.name && $0.status == .accepted } ?? false
        sight.bobReads = try await bob.readingFails(in: guestZone) == nil
        sight.isListed = try await bob.listedZones().contains(zone)
        sight.isFed = try await bob.fedZones().contains(zone)
        let codes = [alice, bob].flatMap(\.raw.answers).flatMap(\.failureCodes)
        for client in [alice, bob] { client.raw.disconnect() }
        return (sight, !codes.contains(where: Self.passing.contains))
    }

    /// The device sends the same request once more, over a new connection.
    func repeatRequest(at site: Site) async throws -> WireServerEnvelope {
        let again = try await ShareClient(site, step.isOwners ? "alice" : "bob", device: UInt8(number))
        defer { again.raw.disconnect() }
        return try await again.ask(request)
    }

    // MARK: While the server finds its store again

    func lookPatiently(at site: Site) async throws -> Sight {
        var sight: Sight?
        try await eventually("the zone can be seen", within: .seconds(60)) {
            let look = try? await lookOnce(at: site)
            sight = look?.isWhole == true ? look?.sight : nil
            return sight != nil
        }
        return sight ?? .unshared
    }

    func repeatPatiently(at site: Site) async throws -> WireServerEnvelope {
        var answer: WireServerEnvelope?
        try await eventually("a repeat is answered", within: .seconds(60)) {
            answer = try? await repeatRequest(at: site)
            return answer.map { !$0.failureCodes.contains(where: Self.passing.contains) } ?? false
        }
        return answer ?? WireServerEnvelope()
    }
}
