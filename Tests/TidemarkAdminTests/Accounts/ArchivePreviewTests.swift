// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

/// What a dry run of an import says of an archive, and what the import itself does.
@Suite struct ArchivePreviewTests {
    private static let head = #"{"account":{"account":"x","version":1}}"#
    private static let container =
        #"{"container":{"container":"iCloud.test","environment":"development","user":"_x"}}"#
    private static let zone = #"{"zone":{"zone":"Notes","isPerZone":false}}"#
    private static let record = #"{"record":{"recordName":"a","recordType":"Note","fields":{}}}"#
    private static let asset =
        #"{"asset":{"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","bytes":3,"offset":0,"data":"YWJj"}}"#
    private static let share =
        #"{"share":{"record":{"recordName":"cloudkit.zoneshare","recordType":"cloudkit.share","fields":{}},"publicPermission":"all","participants":[]}}"#
    private static let lacksNothing = #""lacks":{"encryptedValues":0,"assets":0}"#

    private static func end(zones: Int, records: Int) -> String {
        #"{"end":{"zones":\#(zones),"records":\#(records),"assets":0,"shares":0,\#(lacksNothing)}}"#
    }

    private static func archive(_ lines: String...) -> String { lines.joined(separator: "\n") + "\n" }

    /// Archives that the import refuses at some line.
    static let refused = [
        archive("no archive"), archive(#"{"account":{"account":"x","version":2}}"#), archive(head, zone),
        archive(head, container, record), archive(head, record), archive(head, asset),
        archive(head, container, asset), archive(head, container, share),
        archive(head, container, zone, share), archive(head, container, zone, record, container, record),
        archive(head, container, zone, #"{"zoneKey":{"id":"","accountKey":"","wrapped":""}}"#),
        archive(head, container, zone, end(zones: 1, records: 0), record),
        archive(head, container, zone, record, "{}"),
    ]

    @Test(arguments: refused)
    func `R-839: an archive that an import refuses is refused by its dry run, with the same words`(
        _ archive: String
    ) async throws {
        try await AdminPlace.run { (place: AdminPlace) async throws in
            _ = try await place.user("alice")
            let planned = try await place.perform("accounts", "import", "alice", "-", "--dry-run", input: archive)
            #expect(try await place.store.livingZoneNames("alice") == [])
            let done = try await place.perform("accounts", "import", "alice", "-", input: archive)
            #expect(planned.status == .refused && done.status == .refused, "\(planned.terminal.messages)")
            #expect(planned.terminal.lastMessage == done.terminal.lastMessage && !planned.terminal.lastMessage.isEmpty)
        }
    }

    @Test(arguments: [
        (archive(), "no end"), (archive(head, container, zone, record), "no end"),
        (archive(head, container, zone, end(zones: 1, records: 1)), "lines are missing"),
        (archive(head, container, zone, record, record, end(zones: 1, records: 1)), "lines are missing"),
    ])
    func `R-839: an archive of which something is missing is told as such by both, with the same status`(
        _ archive: String, _ text: String
    ) async throws {
        try await AdminPlace.run { (place: AdminPlace) async throws in
            _ = try await place.user("alice")
            for more in [["--dry-run"], []] {
                let ended = try await place.perform(["accounts", "import", "alice", "-"] + more, input: archive)
                #expect(ended.status == .failedCheck)
                #expect(ended.terminal.lastMessage.contains(text), "\(ended.terminal.messages)")
            }
        }
    }

    @Test func `R-839: the dry run of a whole archive counts it, and saves nothing`() async throws {
        try await AdminPlace.run { (place: AdminPlace) async throws in
            _ = try await place.user("alice")
            let archive = Self.archive(
                Self.head, "", Self.container, Self.zone, Self.record, Self.end(zones: 1, records: 1))
            let words = ["accounts", "import", "alice", "-"]
            for more in [["--dry-run"], ["--dry-run", "--replace"]] {
                let planned = try await place.perform(words + more, input: archive)
                #expect(planned.status == .ok)
                #expect(
                    planned.terminal.messages
                        == "Would save up to 1 zone, 1 record, 0 assets and 0 shares into the account alice.\n")
                #expect(try await place.store.livingZoneNames("alice") == [])
            }
            #expect(try await place.perform(words, input: archive).status == .ok)
            #expect(try await place.store.livingZoneNames("alice") == ["Notes"])
        }
    }

    @Test func `R-839: a container that is being deleted takes no archive, and a dry run says so`() async throws {
        try await AdminPlace.run { (place: AdminPlace) async throws in
            _ = try await place.user("bob")
            _ = try await place.store.createAccount("alice")
            _ = try await place.store.closeContainer(AdminPlace.container)
            let archive = Self.archive(Self.head, Self.container, Self.zone, Self.end(zones: 1, records: 0))
            let planned = try await place.perform("accounts", "import", "alice", "-", "--dry-run", input: archive)
            let done = try await place.perform("accounts", "import", "alice", "-", input: archive)
            #expect(planned.status == .refused && done.status == .refused, "\(done.terminal.messages)")
        }
    }

    /// An earlier dry run made the user, or refused what the command does.
    @Test func `R-839: a dry run for somebody who was never in the container makes nobody`() async throws {
        try await AdminPlace.run { (place: AdminPlace) async throws in
            _ = try await place.user("bob")
            _ = try await place.store.createAccount("alice")
            let line = #"{"recordName":"a","recordType":"Note","fields":{}}"# + "\n"
            let words = ["import", "alice", "-", "--format", "jsonl"]
            let planned = try await place.perform(words + ["--dry-run"], input: line)
            #expect(planned.status == .ok, "\(planned.terminal.messages)")
            #expect(planned.terminal.output.contains("Would import up to 1, and refuse 0."))
            let other = try await place.perform(words + ["--zone", "None", "--dry-run"], input: line)
            #expect(other.status == .refused)
            #expect(try await place.store.privateDatabase(ofAccount: "alice", in: AdminPlace.container) == nil)
            #expect(try await place.perform(words, input: line).status == .ok)
            #expect(try await place.store.privateDatabase(ofAccount: "alice", in: AdminPlace.container) != nil)
        }
    }

    @Test func `R-839: a dry run of records save reads the file, and says what is wrong with it`() async throws {
        try await AdminPlace.run { (place: AdminPlace) async throws in
            let alice = try await place.user("alice")
            let key = ZoneKey(database: alice.privateDatabase, name: ZoneName.default)
            let good = #"{"recordName":"a","recordType":"Note","fields":{}}"# + "\n"
            let words = ["records", "save", "alice", ZoneName.default, "-"]
            for more in [[], ["--replace"]] {
                let planned = try await place.perform(words + ["--dry-run"] + more, input: good)
                #expect(planned.status == .ok)
                #expect(
                    planned.terminal.messages == "Would save up to 1 record in _defaultZone, and refuse 0.\n")
            }
            let bad = try await place.perform(words + ["--dry-run"], input: good + "no record\n")
            let done = try await place.perform(words, input: good + "no record\n")
            #expect(bad.status == .failedCheck && done.status == .failedCheck)
            #expect(bad.terminal.messages.contains(":2: ") && done.terminal.messages.contains(":2: "))
            #expect(bad.terminal.lastMessage.contains("refuse 1"), "\(bad.terminal.messages)")
            #expect(try await place.store.records(named: ["a"], in: key).count == 1)
        }
    }
}

extension MemoryTerminal {
    fileprivate var lastMessage: Substring { messages.split(separator: "\n").last ?? "" }
}

extension AdminStore {
    /// Of the account's private database in the container, but for the default one.
    fileprivate func livingZoneNames(_ account: String) async throws -> [String] {
        guard let database = try await privateDatabase(ofAccount: account, in: AdminPlace.container) else { return [] }
        return try await zones(in: database).filter { $0.removal == nil && $0.name != ZoneName.default }.map(\.name)
    }
}
