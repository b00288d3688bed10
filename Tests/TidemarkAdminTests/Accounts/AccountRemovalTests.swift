// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkService
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct AccountRemovalTests {
    private static let records = """
        {"recordName":"a","recordType":"Note","fields":{"n":{"type":"int64","value":7}}}
        {"recordName":"b","recordType":"Note","fields":{}}

        """

    /// Alice has two private and two public records, bob two public ones. One of them refers to one of alice's, and goes with it.
    private func fill(_ place: AdminPlace) async throws {
        _ = try await place.user("alice")
        _ = try await place.user("bob")
        let zone = ZoneName.default
        #expect(try await place.perform("records", "save", "alice", zone, "-", input: Self.records).status == .ok)
        #expect(
            try await place.perform("records", "save", "public", zone, "-", "--account", "alice", input: Self.records)
                .status == .ok)
        let bobs = """
            {"recordName":"c","recordType":"Note","fields":{}}
            {"recordName":"d","recordType":"Note","fields":{"r":{"type":"reference","value":{"recordName":"a","deleteSelf":true}}}}

            """
        #expect(
            try await place.perform("records", "save", "public", zone, "-", "--account", "bob", input: bobs).status
                == .ok)
    }

    private func names(_ place: AdminPlace) async throws -> [String] {
        let list = try await place.perform("records", "list", "public", ZoneName.default, "-o", "name")
        return list.terminal.output.split(separator: "\n").map(String.init).sorted()
    }

    @Test func `R-863: a deletion says in numbers what goes, and needs a confirmation`() async throws {
        try await AdminPlace.run { place in
            try await fill(place)
            let asked = try await place.perform("accounts", "delete", "alice")
            #expect(asked.status == .usage)
            #expect(asked.terminal.messages.contains("1 zone with 2 records"))
            let planned = try await place.perform(
                "accounts", "delete", "alice", "--public-records", "delete", "--dry-run")
            #expect(planned.status == .ok)
            #expect(planned.terminal.messages.contains("2 public records, and 1 record of others"))
            #expect(try await place.store.account(named: "alice") != nil)
        }
    }

    @Test func `R-863: whoever is cut off is told to go on, and not that nothing was changed`() {
        let failure = AdminFailure(StorageError(.tooSlow), done: "A part is deleted.")
        #expect(failure.description == "The database took too long. A part is deleted.")
        #expect(AdminFailure(StorageError(.tooSlow)).description.hasSuffix("Nothing was changed."))
    }

    @Test func `R-832: what takes too long to be counted is told as such`() {
        #expect(Amount.records(.exactly(1)) == "1 record")
        #expect(Amount.records(.atLeast(2)) == "at least 2 records")
        #expect(Amount.records(.atLeast(0)) == "records (not counted: it takes too long)")
        #expect(CountedNumber.exactly(1) + .atLeast(2) == .atLeast(3))
    }

    @Test func `R-863: public records stay, unless they are to go as well, and others' stay in any case`() async throws
    {
        for (choice, left) in [("keep", ["a", "b", "c", "d"]), ("delete", ["c"])] {
            try await AdminPlace.run { place in
                try await fill(place)
                let deleted = try await place.perform(
                    "accounts", "delete", "alice", "--public-records", choice, "--yes")
                #expect(deleted.status == .ok, "\(deleted.terminal.messages)")
                #expect(try await names(place) == left)
                #expect(try await place.store.account(named: "alice") == nil)
                #expect(try await place.perform("accounts", "show", "alice").status == .refused)
                #expect(try await place.perform("accounts", "show", "bob").status == .ok)
            }
        }
    }
}
