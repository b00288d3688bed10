// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// A container's own roles, as its schema makes them and an operator gives them, with the real server.
@Suite struct RolesTests {
    private let schema = """
        DEFINE SCHEMA
            CREATE ROLE Editor;
            CREATE ROLE Reader;
            RECORD TYPE Page ( text STRING QUERYABLE, GRANT READ TO "_world", GRANT CREATE, WRITE TO Editor );
            RECORD TYPE Draft ( text STRING QUERYABLE, GRANT CREATE, WRITE TO Editor, GRANT READ TO Reader );
        """

    private func record(_ type: String, _ name: String, _ text: String = "text") -> CKRecord {
        let record = CKRecord(recordType: type, recordID: CKRecord.ID(recordName: name))
        record["text"] = text
        return record
    }

    private func names(_ type: String, in database: CKDatabase) async throws -> [String] {
        let query = CKQuery(recordType: type, predicate: NSPredicate(value: true))
        return try await database.records(matching: query).matchResults.map(\.0.recordName).sorted()
    }

    /// Whoever may not read drafts is not told that there is one.
    private func expectNoDraft(in database: CKDatabase) async throws {
        #expect(try await failure { try await names("Draft", in: database) }.code == .unknownItem)
        // not even what is wrong with a query of it.
        for format in ["nothing == 1", "text > 1", "text == 'a'"] {
            let query = CKQuery(recordType: "Draft", predicate: NSPredicate(format: format))
            let refusal = try await failure { try await database.records(matching: query) }
            #expect(refusal.code == .unknownItem, "\(format): \(refusal)")
        }
        let hidden = try await failure { try await database.record(for: CKRecord.ID(recordName: "d")) }
        #expect(hidden.code == .unknownItem)
    }

    @Test func `R-008: a role is in force as soon as it is given, and until it is taken`() async throws {
        try await OperatorPlace.with { place in
            let container = place.site.container
            let file = try place.write(schema, to: "schema.ckdb")
            #expect(try await place.admin("schema", "import", file, "--container", container).status == 0)
            let bobsToken = try await place.makeAccount("bob")
            let (alice, bob) = (place.database(.public), place.database(.public, token: bobsToken))
            let nobody = place.database(.public, token: "")
            func roles(_ verb: String, _ role: String, _ account: String) async throws -> (
                status: Int32, output: String
            ) {
                try await place.admin("roles", verb, account, role, "--container", container)
            }
            for type in ["Page", "Draft"] {
                let refusal = try await failure { try await alice.save(record(type, "early")) }
                #expect(refusal.code == .permissionFailure)
            }
            // An account that has not been here yet can be given a role as well.
            #expect(try await roles("assign", "Editor", "alice").status == 0)
            #expect(try await roles("assign", "Editor", "alice").status == 0)
            try await alice.save(record("Page", "p"))
            try await alice.save(record("Draft", "d"))
            for reader in [alice, bob, nobody] { #expect(try await names("Page", in: reader) == ["p"]) }
            #expect(try await names("Draft", in: alice) == ["d"])
            for reader in [bob, nobody] { try await expectNoDraft(in: reader) }
            #expect(try await roles("assign", "Reader", "bob").status == 0)
            let draft = try await bob.record(for: CKRecord.ID(recordName: "d"))
            #expect(try await names("Draft", in: bob) == ["d"])
            draft["text"] = "of bob"
            #expect(try await failure { try await bob.save(draft) }.code == .permissionFailure)
            #expect(try await failure { try await bob.deleteRecord(withID: draft.recordID) }.code == .permissionFailure)
            // Two users in one group of writes have each their own roles.
            async let first = alice.modifyRecords(saving: [record("Page", "q")], deleting: [], atomically: false)
            async let second = bob.modifyRecords(saving: [record("Page", "r")], deleting: [], atomically: false)
            let (saved, refused) = try await (first, second)
            #expect(throws: Never.self) { try saved.saveResults.values.first?.get() }
            #expect(throws: CKError.self) { try refused.saveResults.values.first?.get() }

            let list = try await place.admin("roles", "list", "--container", container)
            #expect(list.status == 0)
            #expect(list.output.contains(/Editor +alice +_[0-9a-f]{32}/) && list.output.contains(/Reader +bob +_/))
            #expect(try await roles("revoke", "Editor", "alice").status == 0)
            #expect(try await failure { try await alice.save(record("Page", "late")) }.code == .permissionFailure)
            #expect(try await failure { try await names("Draft", in: alice) }.code == .unknownItem)
            #expect(try await names("Draft", in: bob) == ["d"])
            #expect(try await place.admin("roles", "list", "--container", container).output.contains(/Editor +- +-/))

            let unknown = try await roles("assign", "Judge", "alice")
            #expect(unknown.status != 0 && unknown.output.contains("no role Judge"))
            let nobodysName = try await roles("assign", "Editor", "carol")
            #expect(nobodysName.status != 0 && nobodysName.output.contains("tidemark admin accounts create carol"))
        }
    }
}
