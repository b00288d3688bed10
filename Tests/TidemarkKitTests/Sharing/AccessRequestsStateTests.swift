// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Requests for access, as a share of an app has them and as its saves answer them.
@Suite struct AccessRequestsStateTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Plans")

    private func requester(_ user: String, given: String = "") -> WireAccessRequester {
        var requester = WireAccessRequester()
        (requester.user, requester.givenName) = (user, given)
        return requester
    }

    private func fetched(
        _ requesters: [WireAccessRequester] = [], blocked: [WireAccessRequester] = [],
        _ others: [WireParticipant] = [], allowed: Bool = true
    ) throws -> CKShare {
        var wire = WireRecord.share(others)
        (wire.share.requesters, wire.share.blocked, wire.share.allowsAccessRequests) = (requesters, blocked, allowed)
        return try #require(try CKRecord.make(wire, in: zoneID).get() as? CKShare)
    }

    private func archived(_ share: CKShare) throws -> CKShare {
        let data = try NSKeyedArchiver.archivedData(withRootObject: share, requiringSecureCoding: true)
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: data))
    }

    private func saved(_ share: CKShare) throws -> WireShareSave { WireShareSave(try share.edit()) }

    private func names(_ identities: [CKUserIdentity]) -> [String] {
        identities.compactMap(\.userRecordID?.recordName)
    }

    private func asking(_ share: CKShare) -> [String] { names(share.requesters.map(\.userIdentity)) }
    private func blocked(_ share: CKShare) -> [String] { names(share.blockedIdentities.map(\.userIdentity)) }

    @Test func `R-972: a share has those who ask as the server tells them, and an archive keeps them`() throws {
        let first = try fetched([requester("_dave", given: "Dave"), requester("_erin")], blocked: [requester("_mal")])
        for share in [first, try archived(first), try #require(first.copy() as? CKShare)] {
            #expect(share.allowsAccessRequests && asking(share) == ["_dave", "_erin"] && blocked(share) == ["_mal"])
            let dave = try #require(share.requesters.first)
            #expect(dave.userIdentity.nameComponents?.givenName == "Dave" && dave.userIdentity.hasiCloudAccount)
            #expect(dave.participantLookupInfo.userRecordID?.recordName == "_dave")
            #expect(share.requesters[1].userIdentity.nameComponents == nil)
            #expect(!share.hasSharingChanges && !dave.description.contains("dave"))
        }
        let older = CKShare(recordZoneID: zoneID)
        #expect(!older.allowsAccessRequests && older.requesters.isEmpty && older.blockedIdentities.isEmpty)
    }

    @Test func `R-973, R-974: answers are sent with the next save, once, and an archive keeps those that are not sent`()
        throws
    {
        let share = try fetched(
            [requester("_dave"), requester("_erin"), requester("_fred")], blocked: [requester("_mal")])
        share.denyRequesters([share.requesters[0]])
        share.blockRequesters([share.requesters[0]])
        share.unblockIdentities([share.blockedIdentities[0]])
        #expect(asking(share) == ["_fred"] && blocked(share) == ["_erin"] && share.hasSharingChanges)
        for share in [share, try archived(share)] {
            let wire = try saved(share)
            #expect(wire.denied == ["_dave"] && wire.blocked == ["_erin"] && wire.unblocked == ["_mal"])
            #expect(wire.accessRequests == .unspecified && wire.setsParticipants)
            #expect(asking(share) == ["_fred"] && blocked(share) == ["_erin"])
        }
        share.saved(try share.edit())
        #expect(!share.hasSharingChanges)
        let nothing = try saved(share)
        #expect(
            !nothing.setsParticipants && nothing.denied.isEmpty && nothing.blocked.isEmpty && nothing.unblocked.isEmpty)
    }

    @Test func `R-972: whether requests are taken is sent if it changes`() throws {
        for before in [false, true] {
            let share = try fetched(allowed: before)
            share.allowsAccessRequests = before
            #expect(!share.hasSharingChanges)
            share.allowsAccessRequests = !before
            for share in [share, try archived(share)] {
                #expect(share.allowsAccessRequests == !before && share.hasSharingChanges)
                #expect(try saved(share).accessRequests == (before ? .requestsRefused : .requestsAllowed))
            }
        }
        let new = CKShare(recordZoneID: zoneID)
        #expect(try saved(new).accessRequests == .unspecified, "what older servers do not know is not said")
        new.allowsAccessRequests = true
        #expect(try saved(new).accessRequests == .requestsAllowed)
    }

    @Test func `R-973: whoever is added waits no more, and whoever is blocked is no participant`() throws {
        let share = try fetched([requester("_dave"), requester("_erin")], [.person(1, "_bob", .accepted)])
        let dave = CKUserIdentity(userRecordID: share.requesters[0].participantLookupInfo.userRecordID)
        share.addParticipant(CKShare.Participant(dave))
        #expect(asking(share) == ["_erin"] && share.participants.count == 3)
        let asked = try fetched([requester("_bob")])
        share.blockRequesters(asked.requesters)
        #expect(blocked(share) == ["_bob"] && share.participants.count == 2)
        let wire = try saved(share)
        #expect(wire.participants.map(\.user) == ["_dave"] && wire.blocked == ["_bob"])
    }

    @Test func `R-054, R-973: a save that met a newer share answers those whom it answered, and keeps who came since`()
        throws
    {
        let mine = try fetched([requester("_dave"), requester("_erin")])
        mine.denyRequesters([mine.requesters[0]])
        mine.blockRequesters([mine.requesters[0]])
        let merged = try fetched(
            [requester("_dave"), requester("_erin"), requester("_fred")], blocked: [requester("_mal")])
        merged.takeChanges(of: mine)
        #expect(asking(merged) == ["_fred"] && Set(blocked(merged)) == ["_mal", "_erin"])
        let wire = try saved(merged)
        #expect(wire.denied == ["_dave"] && wire.blocked == ["_erin"] && wire.unblocked.isEmpty)
    }

    @Test func `R-054, R-972: what the app answers while a save is under way stays to be saved`() throws {
        let share = try fetched([requester("_dave"), requester("_erin")])
        share.denyRequesters([share.requesters[0]])
        let edit = try share.edit()
        share.denyRequesters(share.requesters)
        share.allowsAccessRequests = false
        share.saved(edit)
        share.follow(try fetched([requester("_erin"), requester("_fred")]), savedBy: edit)
        #expect(asking(share) == ["_fred"] && !share.allowsAccessRequests && share.hasSharingChanges)
        let wire = try saved(share)
        #expect(wire.denied == ["_erin"] && wire.accessRequests == .requestsRefused)
        // The last answer about somebody counts.
        share.blockRequesters(share.requesters)
        share.unblockIdentities(share.blockedIdentities)
        #expect(try saved(share).blocked.isEmpty)
        #expect(try saved(share).unblocked == ["_fred"])
    }
}
