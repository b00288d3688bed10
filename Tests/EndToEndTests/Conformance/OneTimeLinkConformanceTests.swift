// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// One-time URLs as apps use them, on TestKit and on a real server.
@Suite struct OneTimeLinkConformanceTests {
    private static let shareID = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: Both.notes)

    /// A new share of the notes with one-time participants of these permissions.
    private static func share(
        of owner: any ConformingDevice, _ permissions: [CKShare.ParticipantPermission]
    ) async throws -> (share: CKShare, people: [CKShare.Participant]) {
        try await owner.database.save(CKRecordZone(zoneID: Both.notes))
        let share = CKShare(recordZoneID: Both.notes)
        let people = permissions.map { permission in
            let person = CKShare.Participant.oneTimeURLParticipant()
            person.permission = permission
            share.addParticipant(person)
            return person
        }
        try await owner.database.save(share)
        return (share, people)
    }

    private static func fetch(_ owner: any ConformingDevice) async throws -> CKShare {
        try #require(try await owner.database.record(for: shareID) as? CKShare)
    }

    @Test func `R-970: one person uses a one-time URL once, and for others there is no such share`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let carol = try await cloud.device(of: "carol")
            let (share, people) = try await Self.share(of: alice, [.readWrite, .readOnly])
            let urls = try people.map { try #require(share.oneTimeURL(for: $0.participantID)) }
            var seen = [Set(urls + [try #require(share.url)]).count == 3 ? "three URLs" : "\(urls)"]
            // The URL is the same on each of the owner's devices.
            let again = try await Self.fetch(alice)
            seen.append(people.map { again.oneTimeURL(for: $0.participantID) } == urls ? "the same" : "others")
            seen.append(again.participants.dropFirst().allSatisfy { $0.dateAddedToShare != nil } ? "dated" : "no date")

            let metadata = try await bob.container.shareMetadata(for: urls[0])
            seen.append("\(metadata.participantStatus) \(metadata.participantPermission) \(metadata.participantRole)")
            let zoneID = try await bob.container.accept(metadata).recordID.zoneID
            let shared = bob.container.sharedCloudDatabase
            seen.append(await Both.code { _ = try await shared.recordZone(for: zoneID) })
            seen.append(await Both.code { _ = try await carol.container.shareMetadata(for: urls[0]) })
            seen.append(await Both.code { _ = try await carol.container.accept(metadata) })
            // What bob has done he does again.
            seen.append(await Both.code { _ = try await SharingConformanceTests.join(bob, urls[0]) })
            // The other URL is still good. The owner sees who has come.
            seen.append(await Both.code { _ = try await SharingConformanceTests.join(carol, urls[1]) })
            let now = try await Self.fetch(alice)
            let (bobs, carols) = (try await bob.container.userRecordID(), try await carol.container.userRecordID())
            let users = Set(now.participants.dropFirst().map(\.userIdentity.userRecordID))
            seen.append(users == [bobs, carols] ? "both" : "\(users)")
            seen.append(people.map { now.oneTimeURL(for: $0.participantID) } == urls ? "the same" : "others")
            let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)
            let his = try #require(try await shared.record(for: id) as? CKShare)
            seen.append(
                his.participants.allSatisfy { his.oneTimeURL(for: $0.participantID) == nil } ? "hidden" : "shown")
            return seen
        }
        #expect(
            seen == [
                "three URLs", "the same", "dated", "pending readWrite privateUser", "done", "unknownItem",
                "unknownItem",
                "done", "done", "both", "the same", "hidden",
            ])
    }

    @Test func `R-970: to remove the participant makes their URL void, before somebody has used it and after`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let (share, people) = try await Self.share(of: alice, [.readWrite, .readWrite])
            let urls = try people.map { try #require(share.oneTimeURL(for: $0.participantID)) }
            let zoneID = try await SharingConformanceTests.join(bob, urls[0])
            let current = try await Self.fetch(alice)
            for person in current.participants.dropFirst() { current.removeParticipant(person) }
            try await alice.database.save(current)
            let shared = bob.container.sharedCloudDatabase
            var seen = [await Both.code { _ = try await shared.recordZone(for: zoneID) }]
            for url in urls { seen.append(await Both.code { _ = try await bob.container.shareMetadata(for: url) }) }
            // Who is added again has another URL.
            let next = try await Self.fetch(alice)
            let person = CKShare.Participant.oneTimeURLParticipant()
            next.addParticipant(person)
            try await alice.database.save(next)
            let url = try #require(next.oneTimeURL(for: person.participantID))
            seen.append(await Both.code { _ = try await SharingConformanceTests.join(bob, url) })
            return seen
        }
        #expect(seen == ["zoneNotFound", "unknownItem", "unknownItem", "done"])
    }
}
