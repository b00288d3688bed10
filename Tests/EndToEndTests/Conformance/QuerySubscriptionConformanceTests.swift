// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing

/// Query subscriptions as an app without an engine sees them: on TestKit and on a real server.
@Suite(.timeLimit(.minutes(10))) struct QuerySubscriptionConformanceTests {
    private typealias Options = CKQuerySubscription.Options

    private static var marked: NSPredicate { NSPredicate(format: "mark == 'yes'") }

    private static func subscription(
        _ id: String, _ predicate: NSPredicate = marked,
        options: CKQuerySubscription.Options = [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion],
        in zoneID: CKRecordZone.ID? = nil
    ) -> CKQuerySubscription {
        let subscription = CKQuerySubscription(
            recordType: "Note", predicate: predicate, subscriptionID: id, options: options)
        subscription.zoneID = zoneID
        return subscription
    }

    private static func save(
        _ name: String, _ mark: String, _ text: String = "", in database: CKDatabase,
        _ zoneID: CKRecordZone.ID = Both.notes
    ) async throws {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        record["mark"] = mark
        record["text"] = text
        let results = try await database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
        _ = try results.saveResults[record.recordID]?.get()
    }

    private static func code(_ work: () async throws -> Void) async -> String { await Both.code(work) }

    @Test func `R-244, R-245: each option fires on its change, and a record that starts or stops matching is updated`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let phone = QueryListener(try await cloud.device(of: "alice").container)
            let laptop = try await cloud.device(of: "alice").database
            try await laptop.save(CKRecordZone(zoneID: Both.notes))
            let combinations: [(String, Options)] = [
                ("creation", .firesOnRecordCreation), ("update", .firesOnRecordUpdate),
                ("deletion", .firesOnRecordDeletion), ("ends", [.firesOnRecordCreation, .firesOnRecordDeletion]),
            ]
            try await phone.subscribe(combinations.map { Self.subscription($0.0, options: $0.1) })
            var seen: [String] = []
            func step(_ what: String, _ body: () async throws -> Void) async throws {
                let lines = try await phone.hears(
                    after: what, by: laptop, until: { try await cloud.run(until: $0, $1) }, body)
                seen.append("\(what): \(lines.joined(separator: ", "))")
            }
            try await step("other created") { try await Self.save("a", "no", in: laptop) }
            try await step("matching created") { try await Self.save("b", "yes", in: laptop) }
            try await step("starts") { try await Self.save("a", "yes", in: laptop) }
            try await step("goes on") { try await Self.save("a", "yes", "new", in: laptop) }
            try await step("stops") { try await Self.save("a", "no", in: laptop) }
            try await step("other changed") { try await Self.save("a", "no", "newer", in: laptop) }
            try await step("matching deleted") { try await laptop.deleteRecord(withID: Both.id("b")) }
            try await step("other deleted") { try await laptop.deleteRecord(withID: Both.id("a")) }
            try await step("created again") { try await Self.save("b", "yes", in: laptop) }
            return seen
        }
        #expect(
            seen == [
                "other created: ", "matching created: creation created b, ends created b",
                "starts: update updated a", "goes on: update updated a", "stops: update updated a", "other changed: ",
                "matching deleted: deletion deleted b, ends deleted b", "other deleted: ",
                "created again: creation created b, ends created b",
            ])
    }

    @Test func `R-246: a subscription that fires once tells each device once, and is gone`() async throws {
        let seen = try await Both.clouds { cloud in
            let phone = QueryListener(try await cloud.device(of: "alice").container)
            let tablet = QueryListener(try await cloud.device(of: "alice").container)
            let laptop = try await cloud.device(of: "alice").database
            try await laptop.save(CKRecordZone(zoneID: Both.notes))
            // The tablet is connected before the first push.
            _ = try await tablet.container.privateCloudDatabase.allRecordZones()
            try await phone.subscribe([
                Self.subscription("once", options: [.firesOnRecordCreation, .firesOnce]), Self.subscription("always"),
            ])
            func lines(_ name: String, of listener: QueryListener) async throws -> [String] {
                try await listener.hears(
                    after: name, by: laptop, until: { try await cloud.run(until: $0, $1) },
                    { try await Self.save(name, "yes", in: laptop) })
            }
            let first = try await lines("a", of: phone)
            try await cloud.run(until: "the tablet heard of it") { tablet.lines.count { $0.hasSuffix(" a") } == 2 }
            let second = try await lines("b", of: phone)
            try await cloud.run(until: "the tablet heard of the second") { tablet.lines.contains("always created b") }
            let gone = await Self.code {
                _ = try await phone.container.privateCloudDatabase.subscription(for: "once")
            }
            let kept = await Self.code {
                _ = try await phone.container.privateCloudDatabase.subscription(for: "always")
            }
            return [
                first.joined(separator: ", "), second.joined(separator: ", "), gone, kept,
                tablet.lines.filter { $0.hasPrefix("once") }.joined(separator: ", "),
            ]
        }
        #expect(
            seen == [
                "always created a, once created a", "always created b", "\(CKError.Code.unknownItem)", "done",
                "once created a",
            ])
    }

    @Test func `R-244: a subscription to one zone is silent about others, the default zone is one, and all are all`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let phone = QueryListener(try await cloud.device(of: "alice").container)
            let laptop = try await cloud.device(of: "alice").database
            let other = CKRecordZone.ID(zoneName: "Other")
            try await laptop.save(CKRecordZone(zoneID: Both.notes))
            try await laptop.save(CKRecordZone(zoneID: other))
            try await phone.subscribe([
                Self.subscription("notes", in: Both.notes), Self.subscription("default", in: .default),
                Self.subscription("all"),
            ])
            var seen: [String] = []
            for zoneID in [Both.notes, other, .default] {
                let lines = try await phone.hears(
                    after: zoneID.zoneName, by: laptop, until: { try await cloud.run(until: $0, $1) },
                    { try await Self.save("n", "yes", in: laptop, zoneID) })
                seen.append(lines.joined(separator: ", "))
            }
            let zones = Set(phone.notifications(of: "all").compactMap { $0.recordID?.zoneID.zoneName })
            // A zone that is gone takes its subscription with it.
            try await laptop.deleteRecordZone(withID: Both.notes)
            let gone = await Self.code {
                _ = try await phone.container.privateCloudDatabase.subscription(for: "notes")
            }
            let lost = await Self.code {
                _ = try await phone.container.privateCloudDatabase.save(Self.subscription("lost", in: Both.notes))
            }
            return seen + [zones.sorted().joined(separator: " "), gone, lost]
        }
        #expect(
            seen == [
                "all created n, notes created n", "all created n", "all created n, default created n",
                "Notes Other _defaultZone", "\(CKError.Code.unknownItem)", "\(CKError.Code.zoneNotFound)",
            ])
    }

    @Test func `R-248, R-249: the device that made the change hears nothing, and the user's others do`() async throws {
        let seen = try await Both.clouds { cloud in
            let phone = QueryListener(try await cloud.device(of: "alice").container)
            let tablet = QueryListener(try await cloud.device(of: "alice").container)
            let laptop = try await cloud.device(of: "alice").database
            let own = phone.container.privateCloudDatabase
            try await own.save(CKRecordZone(zoneID: Both.notes))
            _ = try await tablet.container.privateCloudDatabase.allRecordZones()
            try await phone.subscribe([Self.subscription("q")])
            let lines = try await phone.hears(
                after: "own", by: laptop, until: { try await cloud.run(until: $0, $1) },
                { try await Self.save("own", "yes", in: own) })
            try await cloud.run(until: "the tablet heard of it") { tablet.lines.contains("q created own") }
            return ["\(lines)"]
        }
        #expect(seen == ["[]"])
    }

    @Test func `R-240, R-241, R-249: in the public database each subscriber is told, whoever made the change`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let alice = QueryListener(try await cloud.device(of: "alice").container)
            let bob = QueryListener(try await cloud.device(of: "bob").container)
            let writer = try await cloud.device(of: "carol").container.publicCloudDatabase
            try await alice.subscribe([Self.subscription("q")], in: .public)
            try await bob.subscribe([Self.subscription("q")], in: .public)
            var seen: [String] = []
            for (name, mark) in [("a", "yes"), ("b", "no")] {
                let lines = try await alice.hears(
                    after: name, by: writer, until: { try await cloud.run(until: $0, $1) },
                    { try await Self.save(name, mark, in: writer, .default) })
                seen.append(lines.joined(separator: ", "))
            }
            try await cloud.run(until: "the other user heard of it") { bob.lines.contains("q created a") }
            let scopes = Set(bob.notifications(of: "q").map(\.databaseScope.rawValue))
            let aliceOwner = alice.notifications(of: "q").last?.subscriptionOwnerUserRecordID
            let bobOwner = bob.notifications(of: "q").last?.subscriptionOwnerUserRecordID
            // R-241: what each database may have.
            let shared = alice.container.sharedCloudDatabase
            let refusals = [
                await Self.code { try await shared.save(Self.subscription("q")) },
                await Self.code {
                    try await alice.container.publicCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "d"))
                },
                await Self.code {
                    let zone = CKRecordZoneSubscription(zoneID: .default, subscriptionID: "z")
                    try await alice.container.publicCloudDatabase.save(zone)
                },
            ]
            let names = try await alice.container.publicCloudDatabase.allSubscriptions().map(\.subscriptionID).sorted()
            let ofPrivate = try await alice.container.privateCloudDatabase.allSubscriptions().count
            return seen + ["\(scopes)", "\(aliceOwner != nil && aliceOwner != bobOwner)"] + refusals
                + [names.joined(separator: " "), "\(ofPrivate)"]
        }
        let invalid = "\(CKError.Code.invalidArguments)"
        #expect(seen == ["q created a", "", "[1]", "true", invalid, invalid, invalid, "q sentinel", "0"])
    }

    @Test func `R-242, R-244: a subscription that is replaced or deleted fires no more as it was`() async throws {
        let seen = try await Both.clouds { cloud in
            let phone = QueryListener(try await cloud.device(of: "alice").container)
            let laptop = try await cloud.device(of: "alice").database
            try await laptop.save(CKRecordZone(zoneID: Both.notes))
            try await phone.subscribe([Self.subscription("changed"), Self.subscription("deleted")])
            var seen: [String] = []
            func step(_ name: String, _ mark: String) async throws {
                let lines = try await phone.hears(
                    after: name, by: laptop, until: { try await cloud.run(until: $0, $1) },
                    { try await Self.save(name, mark, in: laptop) })
                seen.append(lines.joined(separator: ", "))
            }
            try await step("a", "yes")
            let database = phone.container.privateCloudDatabase
            let results = try await database.modifySubscriptions(
                saving: [Self.subscription("changed", NSPredicate(format: "mark == 'other'"))], deleting: ["deleted"])
            _ = try results.saveResults["changed"]?.get()
            try results.deleteResults["deleted"]?.get()
            try await step("b", "yes")
            try await step("c", "other")
            let kept = try #require(try await database.subscription(for: "changed") as? CKQuerySubscription)
            return seen + ["\(kept.querySubscriptionOptions.rawValue)"]
        }
        #expect(seen == ["changed created a, deleted created a", "", "changed created c", "7"])
    }

    @Test func `R-253: a device that comes back is told once of each subscription, silently`() async throws {
        let seen = try await Both.clouds { cloud in
            let device = try await cloud.device(of: "alice")
            let phone = QueryListener(device.container)
            let laptop = try await cloud.device(of: "alice").database
            try await laptop.save(CKRecordZone(zoneID: Both.notes))
            try await phone.subscribe([Self.subscription("a"), Self.subscription("b")])
            _ = try await phone.hears(
                after: "nothing", by: laptop, until: { try await cloud.run(until: $0, $1) }, {})
            let before = [phone.prunedCount("a"), phone.prunedCount("b")]
            device.goOffline()
            for number in 0..<5 { try await Self.save("n\(number)", "yes", in: laptop) }
            device.goOnline()
            try await cloud.run(until: "both told") {
                phone.prunedCount("a") > before[0] && phone.prunedCount("b") > before[1]
            }
            let lines = try await phone.hears(
                after: "its return", by: laptop, until: { try await cloud.run(until: $0, $1) },
                { try await Self.save("later", "yes", in: laptop) })
            let pruned = phone.notifications(of: "a").filter { $0.recordID == nil }
            return [
                lines.joined(separator: ", "), "\(pruned.allSatisfy(\.isPruned))",
                // Not one for each change that it missed. A sweep may tell once more.
                "\(phone.prunedCount("a") - before[0] <= 2 && phone.prunedCount("b") - before[1] <= 2)",
            ]
        }
        #expect(seen == ["a created later, b created later", "true", "true"])
    }
}
