// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// Shares as an operator sees and ends them, with the real command and the real server.
@Suite struct AdminSharesTests {
    private static let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private static let noteID = CKRecord.ID(recordName: "shopping", zoneID: zoneID)

    /// alice shares her notes with bob, who has the address and may read; bob and carol are in the container.
    private struct SharedPlace {
        let place: OperatorPlace
        let share: CKShare
        let url: URL
        let alice: CKContainer
        let bob: CKContainer
        let carol: CKContainer

        func explain(_ account: String, _ record: String = "shopping") async throws -> String {
            let explained = try await place.admin([
                "explain", account, record, "--container", place.site.container, "--database", "alice",
                "--zone", "Notes",
            ])
            #expect(explained.status == 0, "\(explained.output)")
            return explained.output
        }

        /// What bob reads of the note.
        func read() async throws -> CKRecord {
            let zoneID = try #require(try await bob.sharedCloudDatabase.allRecordZones().first?.zoneID)
            return try await bob.sharedCloudDatabase.record(
                for: CKRecord.ID(recordName: "shopping", zoneID: zoneID))
        }

        /// Bob reads the note in vain, by its name and by a fetch that goes on.
        func expectNothing(of noteID: CKRecord.ID, since token: CKServerChangeToken) async throws {
            #expect(try await bob.sharedCloudDatabase.allRecordZones().isEmpty)
            let read = try await failure { try await bob.sharedCloudDatabase.record(for: noteID) }
            #expect(read.code == .zoneNotFound)
            let fetch = try await failure {
                try await bob.sharedCloudDatabase.recordZoneChanges(inZoneWith: noteID.zoneID, since: token)
            }
            #expect(fetch.code == .zoneNotFound)
        }

        /// What alice's devices hear of her zone.
        func heard(since token: CKServerChangeToken?) async throws -> (
            changed: [String], deleted: [String], token: CKServerChangeToken
        ) {
            let changes = try await alice.privateCloudDatabase.recordZoneChanges(
                inZoneWith: share.recordID.zoneID, since: token)
            #expect(!changes.moreComing)
            return (
                changes.modificationResultsByID.keys.map(\.recordName).sorted(),
                changes.deletions.map(\.recordID.recordName), changes.changeToken
            )
        }

        func shares(_ verb: String, _ arguments: String...) async throws -> (status: Int32, output: String) {
            try await place.admin(
                ["shares", verb, "alice"] + arguments + ["--container", place.site.container, "--yes"])
        }
    }

    private func with(_ body: (SharedPlace) async throws -> Void) async throws {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let tokens = try place.makeAccounts(["bob", "carol"])
            let (alice, bob, carol) = (
                place.container(), place.container(token: tokens[0]), place.container(token: tokens[1])
            )
            for person in [bob, carol] { _ = try await person.userRecordID() }
            #expect(try await place.admin("addresses", "create", "bob", "bob@example.org").status == 0)
            try await alice.privateCloudDatabase.save(CKRecordZone(zoneID: Self.zoneID))
            let note = CKRecord(recordType: "Note", recordID: Self.noteID)
            note["text"] = "milk"
            try await alice.privateCloudDatabase.save(note)
            let share = CKShare(recordZoneID: Self.zoneID)
            share.addParticipant(try await alice.shareParticipant(forEmailAddress: "bob@example.org"))
            let saved = try #require(try await alice.privateCloudDatabase.save(share) as? CKShare)
            let url = try #require(saved.url)
            try await body(
                SharedPlace(place: place, share: saved, url: url, alice: alice, bob: bob, carol: carol))
        }
    }

    private func accept(_ shared: SharedPlace) async throws {
        let metadata = try await shared.bob.shareMetadata(for: shared.url)
        _ = try await shared.bob.accept(metadata)
    }

    @Test func `R-314: an operator records whose an address is, and an address is one account's`() async throws {
        try await OperatorPlace.with { place in
            _ = try place.makeAccounts(["bob"])
            func addresses(_ verb: String, _ arguments: String...) async throws -> (status: Int32, output: String) {
                try await place.admin(["addresses", verb] + arguments)
            }
            #expect(try await addresses("create", "bob", "Bob@Example.org").output.contains("bob@example.org"))
            #expect(try await addresses("create", "bob", "+354 555-0100").status == 0)
            let list = try await addresses("list", "bob").output
            #expect(list.contains("bob@example.org") && list.contains("+3545550100"))
            let taken = try await addresses("create", "alice", "BOB@example.org")
            #expect(taken.status != 0 && taken.output.contains("addresses delete"))
            #expect(try await addresses("create", "bob", "example.org").status != 0)
            #expect(try await addresses("delete", "alice", "bob@example.org").status != 0)
            #expect(try await addresses("delete", "bob", "bob@example.org").status == 0)
            #expect(try await addresses("create", "alice", "bob@example.org").status == 0)
            let nobody = try await addresses("list", "nobody")
            #expect(nobody.status != 0 && nobody.output.contains("tidemark admin accounts create nobody"))
        }
    }

    private func names(_ share: CKShare?) -> [String?] {
        (share?.participants ?? []).map { participant in
            participant.userIdentity.nameComponents.map { "\($0.givenName ?? "-") \($0.familyName ?? "-")" }
        }
    }

    @Test func `R-779: an operator names people, and those who take part in a share see each other's names`()
        async throws
    {
        try await with { shared in
            func set(_ arguments: String...) async throws -> (status: Int32, output: String) {
                try await shared.place.admin(["accounts", "set-name"] + arguments)
            }
            func hers() async throws -> CKShare? {
                try await shared.alice.privateCloudDatabase.record(for: shared.share.recordID) as? CKShare
            }
            let named = try await set("alice", "--given", "Alice", "--family", "Liddell")
            #expect(named.status == 0 && named.output.contains("Alice Liddell"), "\(named.output)")
            #expect(try await set("bob", "--given", "Bob").status == 0)
            #expect(try await shared.place.admin("accounts", "list").output.contains("Alice Liddell"))
            let wrong = [
                ["bob"], ["bob", "--given", ""], ["bob", "--clear", "--given", "B"], ["bob", "--family", "a\nb"],
                ["bob", "--given", String(repeating: "a", count: 129)],
            ]
            for arguments in wrong {
                let refused = try await shared.place.admin(["accounts", "set-name"] + arguments)
                #expect(refused.status != 0, "\(arguments): \(refused.output)")
            }
            #expect(try await set("nobody", "--clear").output.contains("tidemark admin accounts create nobody"))

            // Whoever is only invited has no name, and a lookup tells none.
            let found = try await shared.alice.shareParticipant(forEmailAddress: "bob@example.org")
            #expect(found.userIdentity.hasiCloudAccount && found.userIdentity.nameComponents == nil)
            let byID = try await shared.alice.shareParticipant(
                forUserRecordID: try await shared.carol.userRecordID())
            #expect(byID.userIdentity.nameComponents == nil)
            #expect(try await names(hers()) == ["Alice Liddell", nil])
            let metadata = try await shared.bob.shareMetadata(for: shared.url)
            #expect(metadata.ownerIdentity.nameComponents?.givenName == "Alice")
            #expect(names(metadata.share) == ["Alice Liddell", nil])

            #expect(try await names(shared.bob.accept(metadata)) == ["Alice Liddell", "Bob -"])
            #expect(try await names(hers()) == ["Alice Liddell", "Bob -"])
            let members = try await Program.run(
                "foldersync", ["members", shared.place.directory.path, "--zone", "Notes"],
                environment: shared.place.site.environment(), directory: shared.place.directory.path)
            #expect(members.output.contains("Alice Liddell, ") && members.output.contains("Bob, bob@example.org"))
            #expect(try await set("bob", "--clear").status == 0)
            #expect(try await names(hers()) == ["Alice Liddell", nil])
        }
    }

    @Test func `R-009, R-313, R-316, R-323, R-976: explain tells what an account may do, and the rule that says so`()
        async throws
    {
        try await with { shared in
            // bob is invited by an address, and nobody else learns whose that is.
            let expected = [("alice", "R-009", "read"), ("bob", "R-976", "nothing"), ("carol", "R-316", "nothing")]
            for (account, rule, may) in expected {
                let output = try await shared.explain(account)
                #expect(output.contains(rule) && output.contains(may), "\(account): \(output)")
            }
            try await accept(shared)
            let reads = try await shared.explain("bob")
            #expect(reads.contains("R-323") && reads.contains("readOnly") && !reads.contains("change"), "\(reads)")
            #expect(try await shared.read()["text"] as? String == "milk")
            #expect(try await shared.explain("bob", "cloudkit.zoneshare").contains("R-313"))

            let unknown = try await shared.place.admin([
                "explain", "bob", "none", "--container", shared.place.site.container, "--database", "alice",
                "--zone", "Notes",
            ])
            #expect(unknown.status != 0 && unknown.output.contains("no record none"))
        }
    }

    @Test func `R-008: explain names the roles by which a public record is read and changed`() async throws {
        try await with { shared in
            let page = CKRecord(recordType: "Page", recordID: CKRecord.ID(recordName: "page"))
            try await shared.bob.publicCloudDatabase.save(page)
            func explain(_ account: String) async throws -> String {
                try await shared.place.admin([
                    "explain", account, "page", "--container", shared.place.site.container,
                ]).output
            }
            let creator = try await explain("bob")
            for text in ["R-008", "_creator", "change"] { #expect(creator.contains(text), "\(creator)") }
            let reader = try await explain("carol")
            #expect(reader.contains("read"), "\(reader)")
            for text in ["_creator", "change"] { #expect(!reader.contains(text), "\(reader)") }
        }
    }

    @Test func `R-326, R-328, I-5: what an operator revokes is not given any more, and the owner's devices hear of it`()
        async throws
    {
        try await with { shared in
            let pending = try await shared.shares("show", "Notes").output
            #expect(pending.contains("bob@example.org") && pending.contains("pending"), "\(pending)")
            try await accept(shared)
            let list = try await shared.shares("list").output
            #expect(list.contains("Notes  -     none    1        0        0"), "\(list)")
            let shown = try await shared.shares("show", "Notes").output
            let row = try #require(shown.split(separator: "\n").first { $0.contains("accepted") })
            let id = String(try #require(row.split(separator: " ").first))
            let noteID = try await shared.read().recordID
            let bobs = try await shared.bob.sharedCloudDatabase.recordZoneChanges(
                inZoneWith: noteID.zoneID, since: nil
            ).changeToken
            let before = try await shared.heard(since: nil).token

            #expect(try await shared.shares("revoke", "Notes", "--participant", id).status == 0)
            try await shared.expectNothing(of: noteID, since: bobs)
            #expect(try await shared.explain("bob").contains("R-328"))
            let again = try await shared.shares("revoke", "Notes", "--participant", id)
            #expect(again.status != 0 && again.output.contains("no such participant"), "\(again.output)")
            // R-839: a dry run knows it before.
            let planned = try await shared.shares("revoke", "Notes", "--participant", id, "--dry-run")
            #expect(planned.status == again.status && planned.output == again.output, "\(planned.output)")
            // R-224: the share has a new version, without bob.
            let found = try await shared.alice.privateCloudDatabase.record(for: shared.share.recordID)
            let share = try #require(found as? CKShare)
            #expect(share.recordChangeTag != shared.share.recordChangeTag)
            #expect(share.participants.count == 1)
            let removal = try await shared.heard(since: before)
            #expect(removal.changed == [share.recordID.recordName] && removal.deleted.isEmpty)

            share.addParticipant(try await shared.alice.shareParticipant(forEmailAddress: "bob@example.org"))
            try await shared.alice.privateCloudDatabase.save(share)
            try await accept(shared)
            #expect(try await shared.read()["text"] as? String == "milk")
            #expect(try await shared.shares("revoke", "Notes").status == 0)
            try await shared.expectNothing(of: noteID, since: bobs)
            #expect(try await shared.heard(since: removal.token).deleted == [share.recordID.recordName])
            let error = try await failure {
                try await shared.alice.privateCloudDatabase.record(for: shared.share.recordID)
            }
            #expect(error.code == .unknownItem)
            #expect(try await shared.alice.privateCloudDatabase.record(for: Self.noteID).recordType == "Note")
            #expect(try await shared.explain("bob").contains("R-326"))
            let none = try await shared.shares("revoke", "Notes")
            #expect(none.status != 0 && none.output.contains("does not share"))
            let rest = try await shared.shares("list")
            #expect(rest.status == 0 && !rest.output.contains("Notes"), "\(rest.output)")
        }
    }
}
