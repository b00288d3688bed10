// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// Feeds of the default zones and of the public database: beyond CloudKit, behind a setting of the container.
@Suite struct OpenFeedsTests {
    private func record(_ type: String, _ name: String, _ text: String = "text") -> CKRecord {
        let record = CKRecord(recordType: type, recordID: CKRecord.ID(recordName: name))
        record["text"] = text
        return record
    }

    /// All pages of the default zone's feed: names of records that changed, and of those that are gone with a minus.
    private func walk(
        _ database: CKDatabase, since token: CKServerChangeToken? = nil, limit: Int? = nil
    ) async throws -> (names: [String], token: CKServerChangeToken, pages: Int) {
        var (names, pages, last): ([String], Int, CKServerChangeToken?) = ([], 0, token)
        while true {
            let page = try await database.recordZoneChanges(inZoneWith: .default, since: last, resultsLimit: limit)
            names += page.modificationResultsByID.keys.map(\.recordName).sorted()
            names += page.deletions.map { "-" + $0.recordID.recordName }.sorted()
            pages += 1
            last = page.changeToken
            if !page.moreComing { return (names, page.changeToken, pages) }
        }
    }

    /// Deletes and saves a record. Each reader's feed tells of both from the reader's token on.
    private func expectNews(of writer: CKDatabase, in readers: [CKDatabase]) async throws {
        var tokens: [CKServerChangeToken] = []
        var marks: [CKServerChangeToken] = []
        for reader in readers {
            tokens.append(try await walk(reader).token)
            marks.append(try await reader.databaseChanges(since: nil).changeToken)
        }
        try await writer.deleteRecord(withID: CKRecord.ID(recordName: "r1"))
        try await writer.save(record("Note", "new"))
        for (index, reader) in readers.enumerated() {
            #expect(try await walk(reader, since: tokens[index]).names == ["new", "-r1"])
            let changes = try await reader.databaseChanges(since: marks[index])
            #expect(changes.modifications.map(\.zoneID) == [.default])
        }
    }

    @Test func `R-202: off unless an operator says otherwise; then changes, deletions, pages and tokens`() async throws
    {
        try await OperatorPlace.with { place in
            let container = place.site.container
            #expect(try await place.admin("containers", "create", container).status == 0)
            let mine = place.database()
            let open = place.database(.public)
            let nobody = place.database(.public, token: "")
            for database in [mine, open] {
                _ = try await database.modifyRecords(
                    saving: (0..<5).map { record("Note", "r\($0)") }, deleting: [], atomically: false)
                let refusal = try await failure { try await walk(database) }
                #expect(refusal.code == .invalidArguments && refusal.localizedDescription.contains("no change feed"))
                #expect(try await database.recordZone(for: .default).capabilities == [])
            }
            #expect(try await failure { try await open.databaseChanges(since: nil) }.code == .badDatabase)
            let before = try await mine.databaseChanges(since: nil)
            #expect(before.modifications.isEmpty)

            let set = try await place.admin("containers", "set-feeds", container, "everywhere")
            #expect(set.status == 0, "\(set.output)")
            #expect(try await place.admin("containers", "list").output.contains("everywhere"))
            for database in [mine, open, nobody] {
                #expect(try await database.recordZone(for: .default).capabilities == [.fetchChanges])
                let all = try await walk(database, limit: 2)
                #expect(all.names.sorted() == ["r0", "r1", "r2", "r3", "r4"] && all.pages == 3)
                #expect(try await database.databaseChanges(since: nil).modifications.map(\.zoneID) == [.default])
            }
            // users can be looked up, not listed; each sees the own record.
            let user = try await open.container.userRecordID()
            _ = try await open.record(for: user)
            #expect(try await !walk(nobody).names.contains(user.recordName))
            #expect(try await walk(open).names.contains(user.recordName))
            // Who had a token of the database is told as well (I-2).
            let after = try await mine.databaseChanges(since: before.changeToken)
            #expect(after.modifications.map(\.zoneID) == [.default])
            try await expectNews(of: mine, in: [mine])
            try await expectNews(of: open, in: [open, nobody])
            // a token belongs to its feed, here too.
            let foreign = try await walk(open).token
            #expect(try await failure { try await walk(mine, since: foreign) }.code == .invalidArguments)
            // nothing else about the default zone is other than in CloudKit.
            let results = try await mine.modifyRecords(
                saving: [record("Note", "r0"), record("Note", "one")], deleting: [], atomically: false)
            #expect(try results.saveResults[CKRecord.ID(recordName: "one")]?.get() != nil)

            #expect(try await place.admin("containers", "set-feeds", container, "custom-zones").status == 0)
            #expect(try await failure { try await walk(mine) }.code == .invalidArguments)
            #expect(try await failure { try await open.databaseChanges(since: nil) }.code == .badDatabase)
            #expect(try await mine.databaseChanges(since: nil).modifications.isEmpty)
            let unknown = try await place.admin("containers", "set-feeds", "iCloud.none", "everywhere")
            #expect(unknown.status != 0 && unknown.output.contains("tidemark admin containers create iCloud.none"))
            #expect(try await place.admin("containers", "set-feeds", container, "some").status != 0)
        }
    }

    @Test func `I-5, R-202: what somebody may not read is not in their feed, nor that it is gone`() async throws {
        try await OperatorPlace.with { place in
            let container = place.site.container
            let schema = try place.write(
                """
                DEFINE SCHEMA
                    RECORD TYPE Note ( text STRING );
                    RECORD TYPE Diary ( text STRING, GRANT CREATE TO "_icloud", GRANT WRITE TO "_creator" );
                """, to: "schema.ckdb")
            #expect(try await place.admin("schema", "import", schema, "--container", container).status == 0)
            #expect(try await place.admin("containers", "set-feeds", container, "everywhere").status == 0)
            let bobsToken = try await place.makeAccount("bob")
            let (alice, bob) = (place.database(.public), place.database(.public, token: bobsToken))
            let nobody = place.database(.public, token: "")
            for (database, name) in [(alice, "a"), (bob, "b")] {
                try await database.save(record("Note", "note-" + name))
                try await database.save(record("Diary", "diary-" + name))
            }
            var tokens: [CKServerChangeToken] = []
            for (reader, names) in [
                (alice, ["diary-a", "note-a", "note-b"]), (bob, ["diary-b", "note-a", "note-b"]),
                (nobody, ["note-a", "note-b"]),
            ] {
                for limit in [nil, 1] {
                    let all = try await walk(reader, limit: limit)
                    #expect(all.names.sorted() == names)
                    if limit == nil { tokens.append(all.token) }
                }
            }
            for name in ["diary-a", "note-a"] {
                try await alice.deleteRecord(withID: CKRecord.ID(recordName: name))
            }
            #expect(try await walk(alice, since: tokens[0]).names == ["-diary-a", "-note-a"])
            #expect(try await walk(bob, since: tokens[1]).names == ["-note-a"])
            #expect(try await walk(nobody, since: tokens[2]).names == ["-note-a"])
        }
    }
}
