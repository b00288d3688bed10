// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkStore

@testable import TidemarkAdmin

@Suite struct AdminZonesTests {
    private static let archive = """
        {"container":{"container":"iCloud.test","environment":"development","user":"_x"}}
        {"zone":{"zone":"Notes","isPerZone":false}}
        {"record":{"recordName":"a","recordType":"Note","fields":{}}}
        {"record":{"recordName":"b","recordType":"Note","fields":{}}}
        {"end":{"assets":0,"lacks":{"assets":0,"encryptedValues":0},"records":2,"shares":0,"zones":1}}

        """

    @Test func `R-862: a zone is shown in numbers, and its deletion says what goes`() async throws {
        try await AdminPlace.run { place in
            let alice = try await place.user("alice")
            #expect(try await place.perform("accounts", "import", "alice", "-", input: Self.archive).status == .ok)
            #expect(try await place.perform("records", "delete", "alice", "Notes", "b", "--yes").status == .ok)
            let shown = try await place.perform("zones", "show", "alice", "Notes")
            let bytes = 1 + 4 + 128
            #expect(
                shown.terminal.output == """
                    ZONE   HEAD  RECORDS  TOMBSTONES  BYTES  KEYS  SHARES  SUBSCRIPTIONS
                    Notes  3     1        1           \(bytes)    0     0       0

                    """)
            let asked = try await place.perform("zones", "delete", "alice", "Notes")
            #expect(asked.status == .usage && asked.terminal.messages.contains("1 record"))
            #expect(try await place.perform("zones", "delete", "alice", "Notes", "--yes").status == .ok)
            let key = ZoneKey(database: alice.privateDatabase, name: "Notes")
            #expect(try await place.store.livingZone(key) == nil)
            let zones = try await place.store.zones(in: alice.privateDatabase)
            #expect(zones.first { $0.name == "Notes" }?.removal == .deleted)
            for zone in ["Notes", ZoneName.default] {
                #expect(try await place.perform("zones", "delete", "alice", zone, "--yes").status == .refused)
            }
        }
    }

    @Test func `R-872: tail shows what came after a position, and ends when there is nothing new`() async throws {
        try await AdminPlace.run { place in
            let alice = try await place.user("alice")
            #expect(try await place.perform("accounts", "import", "alice", "-", input: Self.archive).status == .ok)
            let key = ZoneKey(database: alice.privateDatabase, name: "Notes")
            let zone = try #require(try await place.store.livingZone(key)).id.rawValue
            #expect(try await place.perform("tail", "alice", "--once").terminal.output.isEmpty)
            let all = try await place.perform("tail", "alice", "--once", "--after", "\(zone).0", "-o", "name")
            #expect(all.terminal.output == "a\nb\n")
            let later = try await place.perform("tail", "alice", "--once", "--after", "\(zone).1", "-o", "json")
            #expect(later.terminal.output.contains(#""recordName":"b""#))
            #expect(later.terminal.output.contains(#""position":"\#(zone).2""#))
            #expect(!later.terminal.output.contains(#""recordName":"a""#))
        }
    }
}
