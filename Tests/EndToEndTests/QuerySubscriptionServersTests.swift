// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit

/// Query subscriptions whose devices are at two servers of one database, and of who may read what.
@Suite(.timeLimit(.minutes(10))) struct QuerySubscriptionServersTests {
    private static func subscription(
        _ id: String, _ mark: String,
        options: CKQuerySubscription.Options = [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
    ) -> CKQuerySubscription {
        let subscription = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(format: "mark == %@", mark), subscriptionID: id, options: options
        )
        subscription.notificationInfo = CKSubscription.NotificationInfo(desiredKeys: ["mark"])
        return subscription
    }

    private static func save(_ name: String, _ mark: String, in database: CKDatabase) async throws {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name))
        record["mark"] = mark
        let results = try await database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
        _ = try results.saveResults[record.recordID]?.get()
    }

    /// The server of `database` has heard of the subscriptions of `listener`, which include one to the mark "warm".
    private static func warm(_ listener: QueryListener, by database: CKDatabase) async throws {
        var number = 0
        try await eventually("the other server knows the subscriptions") {
            number += 1
            try await save("warm \(number)", "warm", in: database)
            return listener.lines.contains { $0.hasPrefix("warm ") }
        }
    }

    @Test func `R-245, R-249, R-256: a change at one server is told at the other, without what that does not know`()
        async throws
    {
        try await ServerPair.with { pair in
            let phone = QueryListener(pair.sites[1].makeContainer("alice"))
            let tablet = QueryListener(pair.sites[0].makeContainer("alice"))
            let laptop = pair.sites[0].makeContainer("alice").privateCloudDatabase
            _ = try await tablet.container.privateCloudDatabase.allRecordZones()
            try await phone.subscribe([Self.subscription("warm", "warm"), Self.subscription("q", "yes")])
            try await Self.warm(phone, by: laptop)
            try await Self.save("n", "yes", in: laptop)
            try await laptop.deleteRecord(withID: CKRecord.ID(recordName: "n"))
            let expected = ["q created n", "q deleted n"]
            for (device, knows) in [(phone, false), (tablet, true)] {
                try await eventually("both changes are told") {
                    device.lines.filter { $0.hasPrefix("q ") } == expected
                }
                let created = try #require(device.notifications(of: "q").first { $0.recordID != nil })
                #expect(created.recordFields?["mark"] as? String == (knows ? "yes" : nil))
                #expect(created.isPruned == !knows)
            }
        }
    }

    @Test func `R-246: a subscription that fires once fires once, though two servers write at the same moment`()
        async throws
    {
        try await ServerPair.with { pair in
            let devices = pair.sites.map { QueryListener($0.makeContainer("alice")) }
            let writers = pair.sites.map { $0.makeContainer("alice").privateCloudDatabase }
            for device in devices { _ = try await device.container.privateCloudDatabase.allRecordZones() }
            for round in 0..<5 {
                let once = "once\(round)"
                try await devices[0].subscribe([
                    Self.subscription("warm", "warm \(round)"),
                    Self.subscription(once, "go \(round)", options: [.firesOnRecordCreation, .firesOnce]),
                ])
                for (index, writer) in writers.enumerated() {
                    let start = devices[0].lines.count
                    var number = 0
                    try await eventually("server \(index) knows the subscriptions") {
                        number += 1
                        try await Self.save("warm \(round) \(index) \(number)", "warm \(round)", in: writer)
                        return devices[0].lines.dropFirst(start).contains { $0.hasPrefix("warm ") }
                    }
                }
                async let first: Void = Self.save("first \(round)", "go \(round)", in: writers[0])
                async let second: Void = Self.save("second \(round)", "go \(round)", in: writers[1])
                _ = try await (first, second)
                for (index, writer) in writers.enumerated() {
                    let last = "last \(round) \(index)"
                    try await Self.save(last, "warm \(round)", in: writer)
                    for device in devices {
                        try await eventually("what came before it is told") {
                            device.lines.contains("warm created \(last)")
                        }
                    }
                }
                for device in devices {
                    let told = device.lines.filter { $0.hasPrefix("\(once) ") }
                    #expect(told.count == 1, "\(told)")
                }
            }
        }
    }

    @Test func `R-008, R-249, I-5: who may not read a public record hears nothing of it`() async throws {
        try await OperatorPlace.with { place in
            let schema = """
                DEFINE SCHEMA
                    CREATE ROLE Editor;
                    CREATE ROLE Reader;
                    RECORD TYPE Sentinel ( text STRING, GRANT READ TO "_world", GRANT CREATE TO "_icloud" );
                    RECORD TYPE Note ( mark STRING QUERYABLE, GRANT CREATE, WRITE TO Editor, GRANT READ TO Reader );
                """
            let file = try place.write(schema, to: "schema.ckdb")
            let container = place.site.container
            #expect(try await place.admin("schema", "import", file, "--container", container).status == 0)
            let bobsToken = try await place.makeAccount("bob")
            let bob = QueryListener(place.container(token: bobsToken))
            let alice = place.database(.public)
            func role(_ verb: String, _ role: String, _ account: String) async throws {
                let result = try await place.admin("roles", verb, account, role, "--container", container)
                #expect(result.status == 0, "\(result.output)")
            }
            try await role("assign", "Editor", "alice")
            try await role("assign", "Reader", "bob")
            try await bob.subscribe([Self.subscription("q", "yes")], in: .public)
            func lines(_ name: String) async throws -> [String] {
                try await bob.hears(
                    after: name, by: alice, until: { try await eventually($0, $1) },
                    { try await Self.save(name, "yes", in: alice) })
            }
            #expect(try await lines("told") == ["q created told"])
            try await role("revoke", "Reader", "bob")
            #expect(try await lines("hidden") == [])
            #expect(bob.lines.allSatisfy { !$0.contains("hidden") })
            try await role("assign", "Reader", "bob")
            #expect(try await lines("told again") == ["q created told again"])
        }
    }
}
