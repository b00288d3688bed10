// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Participants who are invited by a one-time URL, and what a server says of an invitation.
@Suite struct ParticipantInvitationTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Plans")
    private static let link = String(repeating: "ab", count: 48)

    private func fetched(_ others: [WireParticipant]) throws -> CKShare {
        let urls = ShareURLs(of: URL(string: "wss://cloud.example.org:8443/a"))
        let state = ShareState(WireRecord.share(others).share, of: shareID, ownerName: "_alice", urls)
        return CKShare(recordID: shareID, state: RecordContents(), sharing: state)
    }

    private var shareID: CKRecord.ID { CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID) }

    /// A participant of whom a server tells a link.
    private func linked(_ number: UInt8, _ user: String?, addedAt: Int64 = 0) -> WireParticipant {
        var person = WireParticipant.person(number, user ?? "", user == nil ? .pending : .accepted)
        if user == nil { person.isCaller = false }
        (person.link, person.addedAt) = (Self.link, addedAt)
        return person
    }

    private func archived(_ share: CKShare) throws -> CKShare {
        let data = try NSKeyedArchiver.archivedData(withRootObject: share, requiringSecureCoding: true)
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.self, from: data))
    }

    @Test func `R-970: a participant of a one-time URL names nobody, and is saved as such`() throws {
        let share = CKShare(recordZoneID: zoneID)
        let (first, second) = (CKShare.Participant.oneTimeURLParticipant(), CKShare.Participant.oneTimeURLParticipant())
        first.permission = .readWrite
        share.addParticipant(first)
        share.addParticipant(second)
        #expect(share.participants.count == 3, "each is somebody else")
        #expect(first.role == .privateUser && second.permission == .readOnly && first.acceptanceStatus == .pending)
        #expect(first.userIdentity.userRecordID == nil && first.userIdentity.lookupInfo == nil)
        #expect(share.oneTimeURL(for: first.participantID) == nil && first.dateAddedToShare == nil)
        for share in [share, try archived(share)] {
            let wire = WireShareSave(try share.edit()).participants
            #expect(wire.map(\.byLink) == [true, true] && wire.map(\.permission) == [.readWrite, .readOnly])
            #expect(wire.allSatisfy { $0.user.isEmpty && $0.email.isEmpty && $0.phone.isEmpty })
            #expect(wire.map(\.id) == [first, second].map { UUID(uuidString: $0.participantID)?.bytes })
        }
    }

    @Test func `R-970, R-971: the server's link becomes the URL of the participant, and an archive keeps both`() throws
    {
        let share = try fetched([linked(1, nil, addedAt: 1_500), .person(2, "_carol", .accepted), linked(3, "_bob")])
        let people = share.participants
        for share in [share, try archived(share)] {
            let urls = people.map { share.oneTimeURL(for: $0.participantID)?.absoluteString }
            let url = "https://cloud.example.org:8443/share/\(Self.link)"
            #expect(urls == [nil, url, nil, url])
            let dates = share.participants.map(\.dateAddedToShare)
            #expect(dates == [nil, Date(timeIntervalSince1970: 1.5), nil, nil])
        }
        #expect(share.oneTimeURL(for: "nobody") == nil)
        // Whoever has taken the link is saved by name. So the owner can invite them again.
        let wire = WireShareSave(ShareEdit(terms: try share.edit().terms, isChange: true)).participants
        #expect(wire.map(\.byLink) == [true, false, false] && wire.map(\.user) == ["", "_carol", "_bob"])
        let link = try #require(share.oneTimeURL(for: people[1].participantID).flatMap(ShareURLs.link))
        #expect(link == Self.link)
    }

    @Test func `R-054, R-970: the app's own participant gets the URL with the save`() throws {
        let share = CKShare(recordZoneID: zoneID)
        let mine = CKShare.Participant.oneTimeURLParticipant()
        share.addParticipant(mine)
        let edit = try share.edit()
        var theirs = linked(1, nil, addedAt: 2_000)
        theirs.id = UUID(uuidString: mine.participantID)?.bytes ?? []
        share.follow(try fetched([theirs]), savedBy: edit)
        #expect(share.participants.last === mine)
        #expect(share.oneTimeURL(for: mine.participantID)?.lastPathComponent == Self.link)
        #expect(mine.dateAddedToShare == Date(timeIntervalSince1970: 2))
        var taken = linked(1, "_bob")
        taken.id = theirs.id
        share.follow(try fetched([taken]), savedBy: try share.edit())
        #expect(mine.userIdentity.userRecordID?.recordName == "_bob" && mine.acceptanceStatus == .accepted)
    }
}
