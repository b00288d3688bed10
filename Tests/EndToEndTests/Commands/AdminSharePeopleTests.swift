// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// Who is in a share or at its door, as an operator sees it, with the real command and the real server.
@Suite struct AdminSharePeopleTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private static let shareID = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)

    /// A row of `shares show -o json`.
    private struct Row: Decodable {
        let id: String?
        let kind: String
        let user: String?
        let address: String?
        let role: String?
        let permission: String?
        let status: String?
        let added: String?
        let oneTimeLink: String?
    }

    private func rows(_ place: OperatorPlace) async throws -> [String: Row] {
        let shown = try await place.admin([
            "shares", "show", "alice", "Notes", "--container", place.site.container, "-o", "json",
        ])
        #expect(shown.status == 0, "\(shown.output)")
        let lines = shown.output.split(separator: "\n").filter { $0.hasPrefix("{") }
        let rows = try lines.map { try JSONDecoder().decode(Row.self, from: Data($0.utf8)) }
        #expect(Set(rows.map(\.kind)).count == rows.count, "\(shown.output)")
        return Dictionary(rows.map { ($0.kind, $0) }) { first, _ in first }
    }

    private func explain(_ account: String, _ place: OperatorPlace) async throws -> String {
        let explained = try await place.admin([
            "explain", account, "a", "--container", place.site.container, "--database", "alice", "--zone", "Notes",
            "--type", "Note",
        ])
        #expect(explained.status == 0 && explained.output.contains("nothing"), "\(explained.output)")
        return explained.output
    }

    private func change(_ owner: CKContainer, _ edit: (CKShare) async throws -> Void) async throws {
        let found = try await owner.privateCloudDatabase.record(for: Self.shareID)
        let share = try #require(found as? CKShare)
        try await edit(share)
        try await owner.privateCloudDatabase.save(share)
    }

    @Test
    func `R-970, R-972, R-974, R-976, R-997: show and explain name who asks, who is blocked, links and addresses`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"]) { (place: OperatorPlace) async throws in
            let names = ["bob", "carol", "dave", "erin", "frank"]
            let tokens = try place.makeAccounts(names)
            let alice = place.container()
            let guests = Dictionary(uniqueKeysWithValues: zip(names, tokens.map { place.container(token: $0) }))
            for guest in guests.values { _ = try await guest.userRecordID() }
            let (bob, carol) = (try #require(guests["bob"]), try #require(guests["carol"]))
            let (dave, erin) = (try #require(guests["dave"]), try #require(guests["erin"]))
            try await alice.privateCloudDatabase.save(CKRecordZone(zoneID: Self.zoneID))
            let share = CKShare(recordZoneID: Self.zoneID)
            share.allowsAccessRequests = true
            for id in [try await bob.userRecordID(), try await erin.userRecordID()] {
                share.addParticipant(try await alice.shareParticipant(forUserRecordID: id))
            }
            share.addParticipant(try await alice.shareParticipant(forEmailAddress: "nobody@example.org"))
            let link = CKShare.Participant.oneTimeURLParticipant()
            link.permission = .readWrite
            share.addParticipant(link)
            let saved = try #require(try await alice.privateCloudDatabase.save(share) as? CKShare)
            let url = try #require(saved.url)
            _ = try await bob.accept(try await bob.shareMetadata(for: url))
            // Whoever is neither in nor at the door: a link lets anybody in.
            #expect(try await explain("frank", place).contains("R-970"))
            for guest in [carol, dave] { try await guest.requestShareAccess(for: [url])[url]?.get() }
            let daves = try await dave.userRecordID()
            try await change(alice) { share in
                share.blockRequesters(share.requesters.filter { $0.userIdentity.userRecordID == daves })
            }

            let rows = try await rows(place)
            #expect(
                Set(rows.keys) == ["participant", "invitation", "address", "oneTimeLink", "request", "blocked"])
            let users = [
                "participant": bob, "invitation": erin, "request": carol, "blocked": dave,
            ]
            for (kind, user) in users {
                #expect(try await rows[kind]?.user == user.userRecordID().recordName, "\(kind)")
            }
            for kind in ["address", "oneTimeLink"] {
                #expect(rows[kind]?.user == nil && rows[kind]?.status == "pending")
            }
            #expect(rows["address"]?.address == "nobody@example.org")
            #expect(rows["oneTimeLink"]?.oneTimeLink == "untaken" && rows["oneTimeLink"]?.permission == "readWrite")
            for kind in ["request", "blocked"] {
                let row = try #require(rows[kind])
                #expect(row.id == nil && row.role == nil && row.permission == nil && row.status == nil)
                #expect(row.added != nil && row.oneTimeLink == nil)
            }
            let list = try await place.admin([
                "shares", "list", "alice", "--container", place.site.container, "-o", "json",
            ])
            #expect(list.output.contains(#""requests":1"#), "\(list.output)")

            for (account, rule) in [("erin", "R-317"), ("carol", "R-972"), ("dave", "R-974")] {
                #expect(try await explain(account, place).contains(rule), "\(account)")
            }
            // The address gets an owner, and the link somebody who takes it.
            #expect(try await place.admin("addresses", "create", "frank", "nobody@example.org").status == 0)
            #expect(try await explain("frank", place).contains("R-976"))
            let current = try await alice.privateCloudDatabase.record(for: Self.shareID)
            let oneTime = try #require((current as? CKShare)?.oneTimeURL(for: link.participantID))
            _ = try await carol.accept(try await carol.shareMetadata(for: oneTime))
            let shown = try await place.admin([
                "shares", "show", "alice", "Notes", "--container", place.site.container, "-o", "wide",
            ])
            #expect(shown.output.contains(" taken") && !shown.output.contains("oneTimeLink"), "\(shown.output)")
            // Whoever has come waits for no answer (R-973).
            #expect(!shown.output.contains(" request "), "\(shown.output)")
        }
    }
}
