// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

/// When two participants are one person.
@Suite struct CKShareParticipantTests {
    private func person(
        user: String? = nil, email: String? = nil, phone: String? = nil,
        _ permission: CKShare.ParticipantPermission = .readOnly
    ) -> CKShare.Participant {
        let lookup =
            email.map { CKUserIdentity.LookupInfo(emailAddress: $0) }
            ?? phone.map { CKUserIdentity.LookupInfo(phoneNumber: $0) }
        let identity = CKUserIdentity(userRecordID: user.map { CKRecord.ID(recordName: $0) }, lookupInfo: lookup)
        return CKShare.Participant(identity, permission: permission)
    }

    private func share(_ zone: String, with people: CKShare.Participant...) -> CKShare {
        let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: zone))
        for one in people { share.addParticipant(one) }
        return share
    }

    @Test func `R-998: participants are equal by the person, whatever they may do`() throws {
        let bob = person(user: "_bob")
        let writer = person(user: "_bob", .readWrite)
        writer.role = .administrator
        #expect(bob == writer && bob.participantID != writer.participantID)
        #expect(bob != person(user: "_carol") && bob != person(email: "b@example.org"))
        #expect(person(email: "b@example.org") == person(email: "b@example.org", .readWrite))
        #expect(person(email: "b@example.org") != person(email: "c@example.org"))
        #expect(person(phone: "+3545550100") == person(phone: "+3545550100"))
        // By one of several names is enough.
        let accepted = person(user: "_bob", email: "b@example.org")
        #expect(accepted == bob && accepted == person(email: "b@example.org"))
        let moved = person(user: "_carol", email: "b@example.org")
        #expect(moved == accepted)
        let copy = try #require(bob.copy() as? CKShare.Participant)
        copy.permission = .readWrite
        #expect(copy == bob)
        #expect(!bob.isEqual("_bob") && !bob.isEqual(nil))
    }

    @Test func `R-970, R-998: people whom nobody has named are not one another`() {
        let (first, second) = (CKShare.Participant.oneTimeURLParticipant(), CKShare.Participant.oneTimeURLParticipant())
        #expect(first != second && first == first)
        #expect(person() != person())
    }

    @Test func `R-998: a set has each person once, and an array finds a person`() {
        let people = [person(user: "_bob"), person(user: "_bob", .readWrite), person(user: "_carol")]
        #expect(Set(people).count == 2)
        #expect([people[0], people[2]].contains(people[1]))
        #expect(Set(people.map(\.hash)).count == 1, "who is equal has an equal hash")
    }

    @Test func `R-310, R-998: one person in two shares of an archive keeps the permission of each`() throws {
        let shares = [share("a", with: person(user: "_bob")), share("b", with: person(user: "_bob", .readWrite))]
        let data = try NSKeyedArchiver.archivedData(withRootObject: NSArray(array: shares), requiringSecureCoding: true)
        let classes: [AnyClass] = [NSArray.self, CKShare.self]
        let found = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data) as? [CKShare]
        let back = try #require(found)
        #expect(
            back.map { $0.participants.map(\.permission) } == [[.readWrite, .readOnly], [.readWrite, .readWrite]])
        #expect(back.map { $0.participants.last?.participantID } == shares.map { $0.participants.last?.participantID })
    }

    @Test func `R-309, R-311, R-998: who was removed from one share may be added to another`() throws {
        let bob = person(user: "_bob")
        let (first, second) = (share("a", with: bob), share("b"))
        // It is the object that belongs to a share, and the person may be in both.
        second.addParticipant(person(user: "_bob"))
        #expect(throws: Never.self) { try second.edit() }
        second.removeParticipant(bob)
        #expect(second.participants.count == 1 && first.participants.count == 2)
        second.addParticipant(bob)
        #expect(throws: CKError.self) { try second.edit() }
        first.removeParticipant(person(user: "_bob"))
        #expect(first.participants.count == 1)
        second.removeParticipant(bob)
        second.addParticipant(bob)
        #expect(throws: Never.self) { try second.edit() }
        // Who was never added is not there to remove.
        first.removeParticipant(person(user: "_carol"))
        first.removeParticipant(first.owner)
        #expect(first.participants.map(\.role) == [.owner])
    }
}
