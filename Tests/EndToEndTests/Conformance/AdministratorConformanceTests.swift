// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// What an administrator of a share does from the shared database, on TestKit and on a real server.
@Suite struct AdministratorConformanceTests {
    private typealias Guest = (device: any ConformingDevice, zoneID: CKRecordZone.ID)

    private static func shareID(_ zoneID: CKRecordZone.ID) -> CKRecord.ID {
        CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)
    }

    /// Fetches the share as the guest sees it, changes it and saves it in the shared database.
    private static func change(_ guest: Guest, _ edit: (CKShare) async throws -> Void) async -> String {
        await Both.code {
            let database = guest.device.container.sharedCloudDatabase
            let share = try #require(try await database.record(for: shareID(guest.zoneID)) as? CKShare)
            try await edit(share)
            try await database.save(share)
        }
    }

    /// Alice's notes, with bob as administrator and carol as a writer.
    private static func share(
        _ alice: any ConformingDevice, _ bob: any ConformingDevice, _ carol: any ConformingDevice
    ) async throws -> (url: URL, bob: Guest, carol: Guest) {
        try await alice.database.save(CKRecordZone(zoneID: Both.notes))
        let share = CKShare(recordZoneID: Both.notes)
        for (device, role) in [(bob, CKShare.ParticipantRole.administrator), (carol, .privateUser)] {
            let id = try await device.container.userRecordID()
            let person = try await alice.container.shareParticipant(forUserRecordID: id)
            (person.role, person.permission) = (role, .readWrite)
            share.addParticipant(person)
        }
        try await alice.database.save(share)
        let url = try #require(share.url)
        let zones = [
            try await SharingConformanceTests.join(bob, url), try await SharingConformanceTests.join(carol, url),
        ]
        return (url, (bob, zones[0]), (carol, zones[1]))
    }

    @Test func `R-313, R-975: an administrator invites, removes, makes links and lets in who asks, as the owner does`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let (carol, dave) = (try await cloud.device(of: "carol"), try await cloud.device(of: "dave"))
            let erin = try await cloud.device(of: "erin")
            let shared = try await Self.share(alice, bob, carol)
            var seen: [String] = []
            // Who is no administrator changes nothing.
            seen.append(await Self.change(shared.carol) { $0["cloudkit.title"] = "Hers" })
            seen.append(await Self.change(shared.carol) { $0.addParticipant(.oneTimeURLParticipant()) })

            let link = CKShare.Participant.oneTimeURLParticipant()
            var url: URL?
            seen.append(
                await Self.change(shared.bob) { share in
                    share["cloudkit.title"] = "Ours"
                    share.allowsAccessRequests = true
                    share.addParticipant(link)
                })
            let bobs = bob.container.sharedCloudDatabase
            let now = try #require(try await bobs.record(for: Self.shareID(shared.bob.zoneID)) as? CKShare)
            url = now.oneTimeURL(for: link.participantID)
            seen.append(now.currentUserParticipant?.role == .administrator ? "administrator" : "\(now)")
            let once = try #require(url)
            seen.append(await Both.code { _ = try await SharingConformanceTests.join(dave, once) })
            seen.append(
                await Both.code {
                    _ = try await erin.container.requestShareAccess(for: [shared.url])[shared.url]?.get()
                })
            seen.append(
                await Self.change(shared.bob) { share in
                    for requester in share.requesters {
                        let id = try #require(requester.participantLookupInfo.userRecordID)
                        share.addParticipant(try await bob.container.shareParticipant(forUserRecordID: id))
                    }
                })
            seen.append(await Both.code { _ = try await SharingConformanceTests.join(erin, shared.url) })
            let carols = try await carol.container.userRecordID()
            seen.append(
                await Self.change(shared.bob) { share in
                    for person in share.participants where person.userIdentity.userRecordID == carols {
                        share.removeParticipant(person)
                    }
                })
            seen.append(
                await Both.code {
                    _ = try await carol.container.sharedCloudDatabase.recordZone(for: shared.carol.zoneID)
                })
            let hers = try await alice.database.record(for: Self.shareID(Both.notes)) as? CKShare
            seen.append("\(hers?.participants.count ?? 0) \(hers?["cloudkit.title"] as? String ?? "")")
            return seen
        }
        #expect(
            seen == [
                "permissionFailure", "permissionFailure", "done", "administrator", "done", "done", "done", "done",
                "done",
                "zoneNotFound", "4 Ours",
            ])
    }

    @Test func `R-330, R-975: an administrator ends no share, and who is none any more changes nothing`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let carol = try await cloud.device(of: "carol")
            let shared = try await Self.share(alice, bob, carol)
            // The owner stays, whatever an administrator does.
            var seen = [await Self.change(shared.bob) { $0.removeParticipant($0.owner) }]
            let hers = try #require(try await alice.database.record(for: Self.shareID(Both.notes)) as? CKShare)
            let bobs = try await bob.container.userRecordID()
            for person in hers.participants where person.userIdentity.userRecordID == bobs {
                person.role = .privateUser
            }
            try await alice.database.save(hers)
            seen.append(await Self.change(shared.bob) { $0.publicPermission = .readOnly })
            // Deleting the share's record in the shared database leaves it.
            let database = bob.container.sharedCloudDatabase
            seen.append(
                await Both.code { try await database.deleteRecord(withID: Self.shareID(shared.bob.zoneID)) })
            seen.append(await Both.code { _ = try await database.recordZone(for: shared.bob.zoneID) })
            let others = carol.container.sharedCloudDatabase
            seen.append(await Both.code { _ = try await others.recordZone(for: shared.carol.zoneID) })
            let after = try await alice.database.record(for: Self.shareID(Both.notes)) as? CKShare
            seen.append("\(after?.participants.count ?? 0)")
            return seen
        }
        #expect(seen == ["done", "permissionFailure", "done", "zoneNotFound", "done", "2"])
    }
}
