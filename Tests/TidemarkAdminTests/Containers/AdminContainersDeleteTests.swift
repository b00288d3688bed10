// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing
import TidemarkDomain
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct AdminContainersDeleteTests {
    private static let name = AdminPlace.container.identifier

    private func fill(_ place: AdminPlace) async throws {
        _ = try await place.user("alice")
        let records = """
            {"recordName":"a","recordType":"Note","fields":{"n":{"type":"int64","value":7}}}
            {"recordName":"b","recordType":"Note","fields":{}}

            """
        let saved = try await place.perform("records", "save", "alice", ZoneName.default, "-", input: records)
        #expect(saved.status == .ok, "\(saved.terminal.messages)")
    }

    @Test func `R-915: a deletion says in numbers what goes, and needs a confirmation`() async throws {
        try await AdminPlace.run { place in
            try await fill(place)
            let asked = try await place.perform("containers", "delete", Self.name)
            #expect(asked.status == .usage)
            let text = "It has in development 1 user, 1 zone with 2 records, "
            #expect(asked.terminal.messages.contains(text), "\(asked.terminal.messages)")
            #expect(asked.terminal.messages.contains("1 record type."))
            let planned = try await place.perform("containers", "delete", Self.name, "--dry-run")
            #expect(planned.status == .ok && planned.terminal.messages.hasPrefix("Would delete the container"))
            #expect(try await !place.store.isClosed(AdminPlace.container), "it was only looked at")
        }
    }

    @Test func `R-915: one environment goes, or both, and what is not there is said`() async throws {
        try await AdminPlace.run { place in
            try await fill(place)
            let production = ContainerKey(identifier: Self.name, environment: .production)
            _ = try await place.store.createContainer(production)
            let first = try await place.perform("containers", "delete", Self.name, "--yes")
            #expect(first.status == .ok, "\(first.terminal.messages)")
            #expect(first.terminal.messages == "Deleted \(Self.name), development.\n")
            #expect(try await place.store.containers().map(\.key) == [production])
            #expect(try await place.perform("containers", "delete", Self.name, "--yes").status == .refused)
            #expect(try await place.perform("containers", "create", Self.name).status == .ok)
            let both = try await place.perform("containers", "delete", Self.name, "--both-environments", "--yes")
            #expect(both.status == .ok, "\(both.terminal.messages)")
            #expect(try await place.store.containers().isEmpty)
            let none = try await place.perform("containers", "delete", Self.name, "--both-environments", "--yes")
            #expect(none.status == .refused)
        }
    }

    @Test func `R-917: the container that was confirmed is deleted, and none that was created since`() async throws {
        try await AdminPlace.run { place in
            try await fill(place)
            let key = AdminPlace.container
            let removal = ContainerRemoval(key: key, createdAt: try #require(try await place.store.createdAt(of: key)))
            try await removal.checkIsConfirmed(in: place.store)
            // One that was cut off is the same container.
            _ = try await place.store.closeContainer(key)
            try await removal.checkIsConfirmed(in: place.store)
            #expect(try await place.perform("containers", "delete", Self.name, "--yes").status == .ok)
            for isThere in [false, true] {
                if isThere { #expect(try await place.store.createContainer(key)) }
                let error = await #expect(throws: AdminFailure.self) {
                    try await removal.checkIsConfirmed(in: place.store)
                }
                #expect(error?.description.contains("Nothing of it was deleted.") == true, "\(isThere)")
            }
        }
    }

    @Test func `R-915: production is not deleted by accident`() {
        #expect(throws: (any Error).self) {
            try Admin.parseAsRoot([
                "containers", "delete", Self.name, "--both-environments", "--environment", "development",
            ])
        }
    }

    @Test func `R-917: a container that is being deleted is not created, and takes no records, and says how to go on`()
        async throws
    {
        try await AdminPlace.run { place in
            try await fill(place)
            _ = try await place.store.closeContainer(AdminPlace.container)
            let created = try await place.perform("containers", "create", Self.name)
            #expect(created.status == .refused)
            #expect(created.terminal.messages.contains("is being deleted"), "\(created.terminal.messages)")
            let saved = try await place.perform(
                "records", "save", "alice", ZoneName.default, "-",
                input: "{\"recordName\":\"c\",\"recordType\":\"Note\",\"fields\":{}}\n")
            #expect(saved.status != .ok)
            let list = try await place.perform("containers", "list", "-o", "json")
            #expect(list.terminal.output.contains(#""state":"closed""#), "\(list.terminal.output)")
            #expect(try await place.perform("containers", "delete", Self.name, "--yes").status == .ok)
            #expect(try await place.perform("containers", "create", Self.name).status == .ok)
            let again = try await place.perform("records", "list", "alice", ZoneName.default, "-o", "name")
            #expect(again.status == .ok && again.terminal.output.isEmpty, "\(again.terminal.output)")
        }
    }
}
