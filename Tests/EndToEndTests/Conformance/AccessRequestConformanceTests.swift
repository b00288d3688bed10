// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// Requests for access as apps make and answer them, on TestKit and on a real server.
@Suite struct AccessRequestConformanceTests {
    private static let shareID = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: Both.notes)

    private static func fetch(_ owner: any ConformingDevice) async throws -> CKShare {
        try #require(try await owner.database.record(for: shareID) as? CKShare)
    }

    /// Fetches the share, changes it and saves it.
    private static func change(
        _ owner: any ConformingDevice, _ edit: (CKShare) async throws -> Void
    ) async throws {
        let share = try await fetch(owner)
        try await edit(share)
        try await owner.database.save(share)
    }

    /// A share that takes requests, of the notes.
    private static func share(of owner: any ConformingDevice) async throws -> URL {
        try await owner.database.save(CKRecordZone(zoneID: Both.notes))
        let share = CKShare(recordZoneID: Both.notes)
        share.allowsAccessRequests = true
        try await owner.database.save(share)
        #expect(share.allowsAccessRequests && share.requesters.isEmpty && share.blockedIdentities.isEmpty)
        return try #require(share.url)
    }

    private static func ask(_ guest: any ConformingDevice, _ url: URL) async -> String {
        await Both.code { _ = try await guest.container.requestShareAccess(for: [url])[url]?.get() }
    }

    private static func text(_ share: CKShare, _ names: [CKRecord.ID: String]) -> String {
        func list(_ users: [CKUserIdentity]) -> String {
            users.map { $0.userRecordID.flatMap { names[$0] } ?? "?" }.sorted().joined(separator: " ")
        }
        return "ask: \(list(share.requesters.map(\.userIdentity))), "
            + "blocked: \(list(share.blockedIdentities.map(\.userIdentity)))"
    }

    @Test func `R-972, R-973: somebody asks, is let in by the owner, and accepts`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let url = try await Self.share(of: alice)
            var seen = [await Both.code { _ = try await bob.container.shareMetadata(for: url) }]
            for _ in 0..<2 { seen.append(await Self.ask(bob, url)) }
            seen.append(await Both.code { _ = try await bob.container.shareMetadata(for: url) })
            let bobs = try await bob.container.userRecordID()
            try await Self.change(alice) { share in
                seen.append(Self.text(share, [bobs: "bob"]))
                for requester in share.requesters {
                    let info = requester.participantLookupInfo
                    let person = try await alice.container.shareParticipants(
                        forUserRecordIDs: [try #require(info.userRecordID)]
                    ).values.first?.get()
                    share.addParticipant(try #require(person))
                }
                seen.append(Self.text(share, [bobs: "bob"]))
            }
            seen.append(await Self.ask(bob, url))
            seen.append(await Both.code { _ = try await SharingConformanceTests.join(bob, url) })
            let share = try await Self.fetch(alice)
            seen.append(Self.text(share, [bobs: "bob"]))
            seen += share.participants.map { "\($0.role) \($0.isApprovedRequester)" }
            seen.append(await Self.ask(alice, url))
            return seen
        }
        #expect(
            seen == [
                "unknownItem", "done", "done", "unknownItem", "ask: bob, blocked: ", "ask: , blocked: ",
                "participantAlreadyInvited", "done", "ask: , blocked: ", "owner false", "privateUser true",
                "invalidArguments",
            ])
    }

    @Test func `R-973, R-974: a request is refused and made again, and whoever is blocked asks in vain`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let carol = try await cloud.device(of: "carol")
            let names = [
                try await bob.container.userRecordID(): "bob", try await carol.container.userRecordID(): "carol",
            ]
            let url = try await Self.share(of: alice)
            var seen = [await Self.ask(bob, url), await Self.ask(carol, url)]
            try await Self.change(alice) { share in
                share.denyRequesters(
                    share.requesters.filter { names[$0.userIdentity.userRecordID ?? Both.id("")] == "bob" })
                share.blockRequesters(share.requesters)
                seen.append(Self.text(share, names))
            }
            seen.append(Self.text(try await Self.fetch(alice), names))
            seen += [await Self.ask(bob, url), await Self.ask(carol, url)]
            seen.append(Self.text(try await Self.fetch(alice), names))
            try await Self.change(alice) { $0.unblockIdentities($0.blockedIdentities) }
            seen.append(Self.text(try await Self.fetch(alice), names))
            seen.append(await Self.ask(carol, url))
            try await Self.change(alice) { $0.allowsAccessRequests = false }
            seen.append(Self.text(try await Self.fetch(alice), names))
            return seen
        }
        #expect(
            seen == [
                "done", "done", "ask: , blocked: carol", "ask: , blocked: carol", "done", "done",
                "ask: bob, blocked: carol", "ask: bob, blocked: ", "done", "ask: bob carol, blocked: ",
            ])
    }

    @Test func `R-974: whoever is blocked loses what they had`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let url = try await Self.share(of: alice)
            _ = await Self.ask(bob, url)
            // Another device of hers has let him in when this one blocks him.
            let late = try await Self.fetch(alice)
            try await Self.change(alice) { share in
                let info = try #require(share.requesters.first?.participantLookupInfo.userRecordID)
                share.addParticipant(try await alice.container.shareParticipant(forUserRecordID: info))
            }
            let zoneID = try await SharingConformanceTests.join(bob, url)
            try await Self.change(alice) { $0.blockRequesters(late.requesters) }
            let shared = bob.container.sharedCloudDatabase
            var seen = [await Both.code { _ = try await shared.recordZone(for: zoneID) }]
            seen.append(await Both.code { _ = try await bob.container.shareMetadata(for: url) })
            seen.append(await Self.ask(bob, url))
            let share = try await Self.fetch(alice)
            seen.append("\(share.participants.count) \(share.requesters.count) \(share.blockedIdentities.count)")
            return seen
        }
        #expect(seen == ["zoneNotFound", "unknownItem", "done", "1 0 1"])
    }

    @Test func `R-974: whoever has joined a public share is blocked while it is public, and nobody else leaves`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let carol = try await cloud.device(of: "carol")
            let url = try await Self.share(of: alice)
            _ = await Self.ask(bob, url)
            let asked = try await Self.fetch(alice).requesters
            try await Self.change(alice) { $0.publicPermission = .readOnly }
            for guest in [bob, carol] { _ = try await SharingConformanceTests.join(guest, url) }
            var seen = [await Both.code { try await Self.change(alice) { $0.blockRequesters(asked) } }]
            for guest in [bob, carol] {
                seen.append(await Both.code { _ = try await guest.container.shareMetadata(for: url) })
            }
            let share = try await Self.fetch(alice)
            let counts = [share.participants.count, share.blockedIdentities.count, share.publicPermission.rawValue]
            seen.append("\(counts)")
            return seen
        }
        #expect(seen == ["done", "unknownItem", "done", "[2, 1, 2]"])
    }

    @Test
    func `R-972: the owner's engine brings a request as a change of the share, and participants see nothing of it`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let carol = try await cloud.device(of: "carol")
            let url = try await Self.share(of: alice)
            try await Self.change(alice) { share in
                let id = try await bob.container.userRecordID()
                share.addParticipant(try await alice.container.shareParticipant(forUserRecordID: id))
            }
            let zoneID = try await SharingConformanceTests.join(bob, url)
            let app = Device(alice.container, automatically: false)
            try await app.engine?.fetchChanges()
            var seen = [await Self.ask(carol, url)]
            try await app.engine?.fetchChanges()
            let told = app.record(Self.shareID) as? CKShare
            seen.append("\(told?.requesters.count ?? -1)")
            let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)
            let his = try await bob.container.sharedCloudDatabase.record(for: id) as? CKShare
            seen.append("\(his?.requesters.count ?? -1) \(his?.allowsAccessRequests ?? true)")
            return seen
        }
        #expect(seen == ["done", "1", "0 false"])
    }
}
