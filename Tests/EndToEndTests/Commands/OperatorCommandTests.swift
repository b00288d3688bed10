// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkPostgres
import TidemarkTestSupport

/// Containers and zones as an operator sees them, with the real command and the real server.
@Suite struct OperatorCommandTests {
    @Test func `R-014: serve refuses a container that is not known, until an operator creates it`() async throws {
        try await OperatorPlace.with { place in
            let zone = CKRecordZone(zoneName: "Notes")
            let database = place.database()
            #expect(try await failure { try await database.save(zone) }.code == .badContainer)
            #expect(try await place.admin("containers", "create", place.site.container).status == 0)
            let twice = try await place.admin("containers", "create", place.site.container)
            #expect(twice.status != 0 && twice.output.contains("already"))
            let list = try await place.admin("containers", "list").output
            #expect(list.contains(place.site.container) && list.contains("development"))
            #expect(try await place.database().save(zone).zoneID == zone.zoneID)
            #expect(try await place.admin("containers", "create", "a b").status != 0)

            let limit = try await place.admin("containers", "set-limit", place.site.container, "--references", "20000")
            #expect(limit.status == 0 && limit.output.contains("20000"))
            #expect(try await place.admin("containers", "list").output.contains("20000"))
            let unknown = try await place.admin("containers", "set-limit", "iCloud.none", "--references", "1")
            #expect(unknown.status != 0 && unknown.output.contains("tidemark admin containers create iCloud.none"))
        }
    }

    @Test func `R-014: serve --create-containers takes the first client of a fresh deployment`() async throws {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let before = try await place.admin("containers", "list").output
            #expect(!before.contains(place.site.container))
            let database = place.database()
            let id = CKRecord.ID(recordName: "n", zoneID: CKRecordZone.ID(zoneName: "Notes"))
            try await database.save(CKRecordZone(zoneID: id.zoneID))
            try await database.save(CKRecord(recordType: "Note", recordID: id))
            #expect(try await place.database().record(for: id).recordType == "Note")
            #expect(try await place.admin("containers", "list").output.contains(place.site.container))
        }
    }

    @Test func `R-008: the grants of a schema hold in the public database, from the next request on`() async throws {
        try await OperatorPlace.with(["--create-containers"]) { place in
            #expect(try await place.admin("accounts", "create", "bob").status == 0)
            let token = try await place.admin("credentials", "create", "bob").output.split(separator: "\n").first
            let alice = place.database(.public)
            let bob = place.database(.public, token: String(try #require(token)))
            let nobody = place.database(.public, token: "")
            let names = ["Free", "Closed", "Own", "Wiki"]
            for name in names { try await alice.save(record(name, "a")) }
            for name in names { #expect(try await nobody.record(for: record(name, "a").recordID).recordType == name) }

            let file = place.directory.path + "/grants.ckdb"
            let types = [
                "Free": "", "Closed": ", GRANT READ TO \"_icloud\"",
                "Own": ", GRANT CREATE TO \"_icloud\", GRANT WRITE TO \"_creator\"",
                "Wiki": ", GRANT READ TO \"_world\", GRANT CREATE, WRITE TO \"_icloud\"",
            ]
            let text = types.map { "RECORD TYPE \($0.key) ( text STRING QUERYABLE\($0.value) );" }.joined(
                separator: "\n")
            try ("DEFINE SCHEMA\n" + text).write(toFile: file, atomically: true, encoding: .utf8)
            let imported = try await place.admin("schema", "import", file, "--container", place.site.container)
            #expect(imported.status == 0, "\(imported.output)")

            func sees(_ database: CKDatabase) async throws -> [String] {
                let found = try await database.records(for: names.map { record($0, "a").recordID })
                let fetched = names.filter { (try? found[record($0, "a").recordID]?.get()) != nil }
                var queried: [String] = []
                for name in names {
                    let query = CKQuery(recordType: name, predicate: NSPredicate(format: "text == 'a'"))
                    // A type of which nothing may be read is as one that there is not.
                    guard let page = try? await database.records(matching: query) else { continue }
                    if !page.matchResults.isEmpty { queried.append(name) }
                }
                #expect(fetched == queried)
                return fetched
            }
            #expect(try await sees(alice) == names)
            #expect(try await sees(bob) == ["Free", "Closed", "Wiki"])
            #expect(try await sees(nobody) == ["Free", "Wiki"])

            #expect(try await failure { try await bob.save(record("Closed", "b")) }.code == .permissionFailure)
            #expect(try await failure { try await alice.save(record("Closed", "b")) }.code == .permissionFailure)
            #expect(try await bob.save(record("Own", "b")).creatorUserRecordID != nil)
            let wiki = try await bob.record(for: record("Wiki", "a").recordID)
            wiki["text"] = "of bob"
            #expect(try await bob.save(wiki)["text"] as? String == "of bob")
            let free = try await bob.record(for: record("Free", "a").recordID)
            #expect(try await failure { try await bob.save(free) }.code == .permissionFailure)
            #expect(try await failure { try await nobody.save(record("Wiki", "n")) }.code == .notAuthenticated)
        }
    }

    private func record(_ type: String, _ text: String) -> CKRecord {
        let record = CKRecord(recordType: type, recordID: CKRecord.ID(recordName: type + "-" + text))
        record["text"] = text
        return record
    }

    @Test func `R-205, R-206: an operator lists zones, ends them with a reason, and compacts`() async throws {
        try await OperatorPlace.with(["--create-containers"]) { place in
            func zones(_ verb: String, _ names: String...) async throws -> (status: Int32, output: String) {
                try await place.admin(
                    ["zones", verb, "alice"] + names + ["--container", place.site.container, "--yes"])
            }
            let early = try await zones("list")
            #expect(early.status != 0 && early.output.contains("no data"))
            let database = place.database()
            for name in ["Purged", "Reset", "Kept"] { try await database.save(CKRecordZone(zoneName: name)) }
            let before = try await database.databaseChanges(since: nil)
            #expect(try await zones("list").output.contains("Purged"))
            #expect(try await zones("purge", "Purged").status == 0)
            #expect(try await zones("reset-encrypted", "Reset").status == 0)
            let again = try await zones("purge", "Purged")
            #expect(again.status != 0 && again.output.contains("admin zones list"))
            let list = try await zones("list").output
            #expect(list.contains("purged") && list.contains("encryptedDataReset"))

            let changes = try await database.databaseChanges(since: before.changeToken)
            let reasons = Dictionary(uniqueKeysWithValues: changes.deletions.map { ($0.zoneID.zoneName, $0.reason) })
            #expect(reasons == ["Purged": .purged, "Reset": .encryptedDataReset])
            func note(_ zone: String) -> CKRecord {
                CKRecord(
                    recordType: "Note",
                    recordID: CKRecord.ID(recordName: "n", zoneID: CKRecordZone.ID(zoneName: zone)))
            }
            let purged = try await failure { try await database.save(note("Purged")) }
            #expect(purged.code == .userDeletedZone)
            let reset = try await failure { try await database.save(note("Reset")) }
            #expect(reset.code == .zoneNotFound)
            #expect(reset.errorUserInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)

            let compacted = try await place.admin("compact", "--older-than", "30d", "--yes")
            #expect(compacted.status == 0 && compacted.output.contains("0 deleted records and 0 deleted zones"))
            #expect(try await place.admin("compact").status != 0)
        }
    }

    private struct Tokens {
        let zone: CKServerChangeToken
        let database: CKServerChangeToken
    }

    @Test func `R-220, R-221: compact forgets what is older than it says, and tokens from before that are expired`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let database = place.database()
            let notes = CKRecordZone.ID(zoneName: "Notes")
            func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: notes) }
            func zone(_ name: String) -> CKRecordZone.ID { CKRecordZone.ID(zoneName: name) }
            func tokens() async throws -> Tokens {
                let zone = try await database.recordZoneChanges(inZoneWith: notes, since: nil).changeToken
                return Tokens(zone: zone, database: try await database.databaseChanges(since: nil).changeToken)
            }
            /// What is told of deletions since then.
            func deletions(_ since: Tokens) async throws -> [String] {
                let records = try await database.recordZoneChanges(inZoneWith: notes, since: since.zone).deletions
                let zones = try await database.databaseChanges(since: since.database).deletions
                return records.map(\.recordID.recordName) + zones.map(\.zoneID.zoneName)
            }
            for name in ["Notes", "Old", "New"] { try await database.save(CKRecordZone(zoneName: name)) }
            _ = try await database.modifyRecords(
                saving: ["old", "new", "kept"].map { CKRecord(recordType: "Note", recordID: id($0)) }, deleting: [])
            let first = try await tokens()
            _ = try await database.deleteRecord(withID: id("old"))
            _ = try await database.deleteRecordZone(withID: zone("Old"))
            try PostgresAdministration.execute(
                [
                    "UPDATE record SET modified_at = modified_at - interval '31 days' WHERE is_deleted",
                    "UPDATE zone SET removed_at = removed_at - interval '31 days' WHERE removal IS NOT NULL",
                ], url: place.database.url)
            let second = try await tokens()
            _ = try await database.deleteRecord(withID: id("new"))
            _ = try await database.deleteRecordZone(withID: zone("New"))

            let none = try await place.admin("compact", "--older-than", "32d", "--yes")
            #expect(none.output == "Forgot 0 deleted records and 0 deleted zones.\n", "\(none.output)")
            #expect(try await deletions(first) == ["old", "new", "Old", "New"])
            let compacted = try await place.admin("compact", "--older-than", "30d", "--yes")
            #expect(compacted.output == "Forgot 1 deleted records and 1 deleted zones.\n", "\(compacted.output)")

            for error in [
                try await failure { try await database.recordZoneChanges(inZoneWith: notes, since: first.zone) },
                try await failure { try await database.databaseChanges(since: first.database) },
            ] { #expect(error.code == .changeTokenExpired) }
            #expect(try await deletions(second) == ["new", "New"])
            let all = try await database.recordZoneChanges(inZoneWith: notes, since: nil)
            #expect(all.modificationResultsByID.keys.map(\.recordName) == ["kept"])
            #expect(try await database.databaseChanges(since: nil).modifications.map(\.zoneID) == [notes])
            let again = try await place.admin("compact", "--older-than", "30d", "--yes")
            #expect(again.output == "Forgot 0 deleted records and 0 deleted zones.\n", "\(again.output)")
        }
    }
}
