// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import TidemarkDomain
import TidemarkTestSupport
import TidemarkWire

/// A zone of an owner that one guest comes to and has to leave, again and again.
struct GuestStay: Sendable {
    /// How the guest comes.
    enum Way: CaseIterable, Sendable {
        /// By the link, which is everybody's.
        case link
        /// By an invitation.
        case name
    }

    let guest: String
    let link: String
    /// As the owner and as the guest name it.
    let own: WireZoneID
    let shared: WireZoneID
    let ledger = AccessLedger()

    /// Makes the zone, and shares it with nobody.
    init(_ zone: String, for guest: String, by owner: RovingClient) async throws {
        self.guest = guest
        own = ShareRequests.zone(zone)
        let made = try await owner.ask(ShareRequests.make(zone, owner.stamp()), "a zone")
        guard made.failureCodes.isEmpty else { throw NeverHappened(description: "\(made)") }
        shared = ShareRequests.zone(zone, of: await owner.name)
        let answer = try await owner.ask(
            .modifyRecords(ShareRequests.share(zone, .noAccess, await owner.stamp())), "a share")
        link = answer.records.first?.share.link ?? ""
        guard !link.isEmpty else { throw NeverHappened(description: "\(answer)") }
    }

    /// The guest may come from now on.
    ///
    /// - Parameters:
    ///   - name: the guest's record name.
    ///   - number: of the participant, which no other one has.
    func open(_ way: Way, by owner: RovingClient, to name: String, number: UInt64) async throws {
        ledger.begins()
        switch way {
        case .link: _ = try await change(by: owner, .readWrite, nil)
        case .name:
            var person = WireParticipantSave()
            person.id = (0..<16).map { UInt8(truncatingIfNeeded: number >> (8 * ($0 % 8))) }
            (person.user, person.permission) = (name, .readWrite)
            _ = try await change(by: owner, .unspecified, [person])
        }
    }

    /// The guest has to go.
    func close(_ way: Way, by owner: RovingClient) async throws {
        let answer =
            switch way {
            case .link: try await change(by: owner, .noAccess, nil)
            case .name: try await change(by: owner, .unspecified, [])
            }
        guard let number = answer.savedTags.first.flatMap({ RecordPoint(tag: $0)?.number }) else {
            throw NeverHappened(description: "\(answer)")
        }
        ledger.ended(at: number)
    }

    /// Changes the share. A guest who comes meanwhile changes it too, and then it is done once more.
    private func change(
        by owner: RovingClient, _ permission: WireSharePermission, _ people: [WireParticipantSave]?
    ) async throws -> WireServerEnvelope {
        for _ in 0..<100 {
            let tag = try await owner.ask(ShareRequests.shareRecord(of: own), "the share").records.first?.tag ?? []
            let request = ShareRequests.share(own.name, permission, with: people, tag: tag, await owner.stamp())
            let answer = try await owner.ask(.modifyRecords(request), "a change of the share")
            if !answer.savedTags.isEmpty { return answer }
            guard answer.failureCodes == [.serverRecordChanged] else { throw NeverHappened(description: "\(answer)") }
        }
        throw NeverHappened(description: "the share of \(own.name) is changed")
    }
}
