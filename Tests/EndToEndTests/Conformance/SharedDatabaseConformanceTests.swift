// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// The shared database on TestKit and on a real server: there is one, and nothing is shared with anybody yet.
@Suite struct SharedDatabaseConformanceTests {
    @Test func `R-010, R-022, R-029, R-191, R-225: what is read in a shared database is not there`() async throws {
        let seen = try await Both.clouds { cloud in
            let device = try await cloud.device(of: "alice")
            let shared = device.container.sharedCloudDatabase
            // What alice has in her private database is no part of it.
            try await device.database.save(CKRecordZone(zoneID: Both.notes))
            try await device.database.save(Both.note("n", ["a": "1"]))
            var seen = ["\(try await shared.allRecordZones().count) zones"]
            let first = try await shared.databaseChanges(since: nil)
            let again = try await shared.databaseChanges(since: first.changeToken)
            for page in [first, again] {
                seen.append("\(page.modifications.count) changes, \(page.deletions.count) ends, \(page.moreComing)")
            }
            let ofOther = CKRecordZone.ID(zoneName: "Notes", ownerName: "_0123456789abcdef0123456789abcdef")
            for zoneID in [Both.notes, ofOther, .default] {
                let id = CKRecord.ID(recordName: "n", zoneID: zoneID)
                let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
                seen.append(await Both.code { _ = try await shared.recordZone(for: zoneID) })
                seen.append(await Both.code { _ = try await shared.record(for: id) })
                seen.append(await Both.code { _ = try await shared.recordZoneChanges(inZoneWith: zoneID, since: nil) })
                seen.append(await Both.code { _ = try await shared.records(matching: query, inZoneWith: zoneID) })
                #expect(Both.told(try await shared.records(for: [id])) == ["n zoneNotFound"])
                #expect(try await shared.recordZones(for: [zoneID]).count == 1)
            }
            // in the shared database a query names its zone. R-200: tokens are of one database.
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
            seen.append(await Both.code { _ = try await shared.records(matching: query) })
            let token = try await device.database.databaseChanges(since: nil).changeToken
            seen.append(await Both.code { _ = try await shared.databaseChanges(since: token) })
            return seen
        }
        let nothing = Array(repeating: "zoneNotFound", count: 12)
        let empty = "0 changes, 0 ends, false"
        #expect(seen == ["0 zones", empty, empty] + nothing + ["invalidArguments", "invalidArguments"])
    }

    @Test func `R-015, R-023, R-031, R-105, R-132: what is written in a shared database is refused`() async throws {
        let seen = try await Both.clouds { cloud in
            let shared = try await cloud.device(of: "alice").container.sharedCloudDatabase
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).bin")
            try Data(count: 100).write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            let encrypted = Both.note("n", [:])
            encrypted.encryptedValues["secret"] = "milk"
            var seen: [String] = []
            for record in [Both.note("n", ["a": "1"]), Both.note("n", ["file": CKAsset(fileURL: file)]), encrypted] {
                seen.append(await Both.code { _ = try await shared.save(record) })
            }
            let noZone = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
            seen.append(await Both.code { _ = try await shared.save(noZone) })
            seen.append(await Both.code { _ = try await shared.deleteRecord(withID: Both.id("n")) })
            let results = try await shared.modifyRecords(
                saving: [Both.note("a", [:])], deleting: [Both.id("b")], atomically: false)
            seen += Both.told(results.saveResults) + Both.told(results.deleteResults)
            seen.append(await Both.code { _ = try await shared.save(CKRecordZone(zoneID: Both.notes)) })
            seen.append(await Both.code { _ = try await shared.deleteRecordZone(withID: Both.notes) })
            return seen
        }
        let nowhere = Array(repeating: "zoneNotFound", count: 5)
        #expect(seen == nowhere + ["a zoneNotFound", "b zoneNotFound", "badDatabase", "done"])
    }

    @Test func `R-240 to R-242: subscriptions of the shared database are kept apart from those of the private one`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let container = try await cloud.device(of: "alice").container
            let shared = container.sharedCloudDatabase
            try await shared.save(CKDatabaseSubscription(subscriptionID: "all"))
            let other = try await cloud.device(of: "alice").container
            var seen = try await other.sharedCloudDatabase.allSubscriptions().map(\.subscriptionID)
            seen += try await other.privateCloudDatabase.allSubscriptions().map(\.subscriptionID)
            seen.append(try await shared.subscription(for: "all").subscriptionType == .database ? "database" : "other")
            seen.append(await Both.code { try await container.privateCloudDatabase.deleteSubscription(withID: "all") })
            seen.append(await Both.code { try await shared.deleteSubscription(withID: "all") })
            seen.append(await Both.code { _ = try await shared.subscription(for: "all") })
            return seen
        }
        #expect(seen == ["all", "database", "unknownItem", "done", "unknownItem"])
    }

    @Test func `R-030, R-241, R-242, R-247: a subscription of a zone is saved, fetched and deleted, and ends with it`()
        async throws
    {
        let seen = try await Both.clouds { cloud in
            let container = try await cloud.device(of: "alice").container
            let (database, shared) = (container.privateCloudDatabase, container.sharedCloudDatabase)
            let other = try await cloud.device(of: "alice").database
            func save(_ id: String, _ zoneID: CKRecordZone.ID, in database: CKDatabase) async -> String {
                await Both.code {
                    let subscription = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: id)
                    subscription.recordType = "Note"
                    try await database.save(subscription)
                }
            }
            let ofBob = CKRecordZone.ID(zoneName: "Notes", ownerName: "_0123456789abcdef0123456789abcdef")
            var seen = [await save("a", Both.notes, in: database)]
            try await database.save(CKRecordZone(zoneID: Both.notes))
            for zoneID in [Both.notes, ofBob, .default] { seen.append(await save("a", zoneID, in: database)) }
            seen.append(await save("a", Both.notes, in: shared))
            seen.append(await save("a", Both.notes, in: container.publicCloudDatabase))
            seen.append(await save("b", Both.notes, in: database))
            let kept = try #require(try await other.subscription(for: "a") as? CKRecordZoneSubscription)
            #expect(kept.zoneID == Both.notes && kept.recordType == "Note" && kept.notificationInfo == nil)
            seen.append(await Both.code { try await other.deleteSubscription(withID: "a") })
            seen += try await database.allSubscriptions().map(\.subscriptionID)
            try await database.deleteRecordZone(withID: Both.notes)
            seen.append("\(try await other.allSubscriptions().count) left")
            return seen
        }
        let refused = ["zoneNotFound", "invalidArguments", "invalidArguments", "invalidArguments"]
        #expect(seen == ["zoneNotFound", "done"] + refused + ["done", "done", "b", "0 left"])
    }

    @Test(arguments: [true, false])
    func `R-334, R-501, R-507, R-572: an app that starts an engine on the private and one on the shared database`(
        automatically: Bool
    ) async throws {
        let seen = try await Both.clouds { cloud in
            let device = try await cloud.device(of: "alice")
            let own = Device(device.container, automatically: automatically)
            let shared = Device(device.container, .shared, automatically: automatically)
            own.makeZone(Both.notes)
            own.write("one", to: "n", in: Both.notes)
            if automatically {
                try await cloud.run(until: "both are done") {
                    own.heard.last == "did send" && own.heard.contains("sent records n=one")
                        && shared.heard.last == "did fetch"
                }
            } else {
                for app in [own, shared] {
                    try await app.engine?.sendChanges()
                    try await app.engine?.fetchChanges()
                }
            }
            let subscriptions = try await device.container.sharedCloudDatabase.allSubscriptions()
            #expect(subscriptions.map(\.subscriptionType) == (automatically ? [.database] : []))
            #expect(own.texts == ["n": "one"] && shared.texts.isEmpty)
            var seen = automatically ? shared.tale : shared.heard
            // What is written in it is refused, change by change, and not tried again.
            let count = shared.heard.count
            shared.makeZone(CKRecordZone.ID(zoneName: "Mine"))
            if automatically {
                try await cloud.run(until: "the zone is refused") { shared.heard.last == "did send" }
            } else {
                seen.append(await Both.code { try await shared.engine?.sendChanges() })
            }
            shared.write("two", to: "n", in: Both.notes)
            if automatically {
                try await cloud.run(until: "the record is refused") {
                    shared.heard.count { $0 == "did send" } == 2 && shared.heard.last == "did send"
                }
            } else {
                seen.append(await Both.code { try await shared.engine?.sendChanges() })
            }
            #expect(shared.engine?.state.pendingRecordZoneChanges.isEmpty == true)
            #expect(shared.engine?.state.pendingDatabaseChanges.isEmpty == true)
            return seen + shared.heard.dropFirst(count).filter { $0.hasPrefix("sent") }
        }
        let refused = ["sent zones Mine badDatabase", "sent records n=two zoneNotFound"]
        if automatically {
            #expect(seen == ["sign in"] + refused)
        } else {
            let calm = ["sign in", "will send, manual", "did send", "will fetch, manual", "did fetch"]
            // the request for zones is refused as a whole, that for records record by record.
            #expect(seen == calm + ["badDatabase", "partialFailure"] + refused)
        }
    }
}
