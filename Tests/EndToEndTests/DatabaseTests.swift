// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit

/// Every asynchronous method of `CKDatabase`, once, against a real server.
@Suite struct DatabaseTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Notes")

    private func makeDatabase() async throws -> CKDatabase {
        try await DevServer.shared().makeContainer().privateDatabase(holding: zoneID)
    }

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private func note(_ name: String, _ text: String) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id(name))
        record["text"] = text
        record["length"] = text.count
        return record
    }

    @Test func `R-060: a record comes back as it was saved, in every type`() async throws {
        let database = try await makeDatabase()
        let record = note("all", "Grüße, 世界 🌍")
        record["double"] = 1.5
        record["date"] = Date(timeIntervalSince1970: 1_700_000_000.125)
        record["data"] = Data((0...255).map { UInt8($0) })
        record["reference"] = CKRecord.Reference(recordID: id("other"), action: .deleteSelf)
        record["strings"] = ["a", "", "ü"]
        record["numbers"] = [1, -2, 3]
        record["empty"] = [String]()
        let saved = try await database.save(record)
        #expect(saved.recordChangeTag != nil)
        let fetched = try await database.record(for: record.recordID)
        #expect(fetched.recordType == "Note")
        #expect(fetched.recordChangeTag == saved.recordChangeTag)
        #expect(fetched["text"] as? String == "Grüße, 世界 🌍")
        #expect(fetched["double"] as? Double == 1.5)
        #expect(fetched["date"] as? Date == Date(timeIntervalSince1970: 1_700_000_000.125))
        #expect(fetched["data"] as? Data == Data((0...255).map { UInt8($0) }))
        #expect((fetched["reference"] as? CKRecord.Reference)?.recordID == id("other"))
        #expect(fetched["strings"] as? [String] == ["a", "", "ü"])
        #expect(fetched["numbers"] as? [Int] == [1, -2, 3])
        #expect(fetched.creationDate != nil && fetched.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
    }

    @Test func `R-118: the error of a single save is thrown as it is`() async throws {
        let database = try await makeDatabase()
        try await database.save(note("n1", "one"))
        let error = try await failure { try await database.save(self.note("n1", "another")) }
        #expect(error.code == .serverRecordChanged)
    }

    @Test func `R-170, R-029: fetching by id gives each record or its own error`() async throws {
        let database = try await makeDatabase()
        try await database.save(note("n1", "one"))
        let elsewhere = CKRecord.ID(recordName: "n1", zoneID: CKRecordZone.ID(zoneName: "Nowhere"))
        let results = try await database.records(for: [id("n1"), id("n2"), elsewhere], desiredKeys: ["length"])
        let found = try #require(try results[id("n1")]?.get())
        #expect(found.allKeys() == ["length"])
        #expect(code(results[id("n2")]) == .unknownItem)
        #expect(code(results[elsewhere]) == .zoneNotFound)
        #expect(try await failure { try await database.record(for: self.id("n2")) }.code == .unknownItem)
        #expect(try await failure { try await database.record(for: elsewhere) }.code == .zoneNotFound)
    }

    @Test func `R-153: an atomic batch fails as a whole and says why for each item`() async throws {
        let database = try await makeDatabase()
        try await database.save(note("n1", "one"))
        let batch = [note("n1", "conflict"), note("n2", "two")]
        let error = try await failure { try await database.modifyRecords(saving: batch, deleting: []) }
        #expect(error.code == .partialFailure)
        let errors = error.partialErrorsByItemID ?? [:]
        #expect((errors[id("n1")] as? CKError)?.code == .serverRecordChanged)
        #expect((errors[id("n2")] as? CKError)?.code == .batchRequestFailed)
        let results = try await database.modifyRecords(saving: batch, deleting: [id("n3")], atomically: false)
        #expect(code(results.saveResults[id("n1")]) != nil)
        #expect(try results.saveResults[id("n2")]?.get()["text"] as? String == "two")
    }

    @Test func `R-150: in the default zone a record that cannot be sent fails alone, also in an atomic call`()
        async throws
    {
        let database = try await makeDatabase()
        func make(_ name: String, _ zoneID: CKRecordZone.ID, file: String? = nil) -> CKRecord {
            let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
            record["text"] = name
            if let file { record["file"] = CKAsset(fileURL: URL(fileURLWithPath: file)) }
            return record
        }
        for (zone, isAtomic) in [(CKRecordZone.ID.default, false), (zoneID, true)] {
            let (good, bad) = (make("good", zone), make("bad", zone, file: "/none/there"))
            let old = CKRecord.ID(recordName: "old", zoneID: zone)
            try await database.save(make("old", zone))
            let error = try await failure {
                try await database.modifyRecords(saving: [good, bad], deleting: [old], atomically: true)
            }
            let codes = (error.partialErrorsByItemID ?? [:]).mapValues { ($0 as? CKError)?.code }
            #expect(error.code == .partialFailure && codes[bad.recordID] == .assetFileNotFound)
            #expect(codes[good.recordID] == (isAtomic ? .batchRequestFailed : nil) && codes.count == (isAtomic ? 3 : 1))
            let found = try await database.records(for: [good.recordID, old])
            #expect(code(found[good.recordID]) == (isAtomic ? .unknownItem : nil))
            #expect(code(found[old]) == (isAtomic ? nil : .unknownItem))
        }
    }

    @Test func `R-158, R-705: changes of different records of a zone do not conflict`() async throws {
        let database = try await makeDatabase()
        _ = try await database.modifyRecords(saving: [note("n1", "one"), note("n2", "two")], deleting: [])
        let (mine, other) = (try await database.record(for: id("n1")), try await database.record(for: id("n2")))
        other["text"] = "other"
        try await database.save(other)
        try await database.save(note("n3", "three"))
        // The zone has moved on since this was fetched; the record has not.
        mine["text"] = "mine"
        #expect(try await database.save(mine)["text"] as? String == "mine")
    }

    @Test func `R-112: saving the client's or the ancestor's copy of a conflict conflicts again`() async throws {
        let database = try await makeDatabase()
        try await database.save(note("n1", "one"))
        let stale = try await database.record(for: id("n1"))
        let other = try await database.record(for: id("n1"))
        other["text"] = "other"
        try await database.save(other)
        stale["text"] = "mine"
        let error = try await failure { try await database.save(stale) }
        #expect(error.code == .serverRecordChanged)
        for copy in [try #require(error.clientRecord), try #require(error.ancestorRecord)] {
            copy["text"] = "again"
            let again = try await failure { try await database.save(copy) }
            #expect(again.code == .serverRecordChanged && again.serverRecord?["text"] as? String == "other")
        }
        let server = try #require(error.serverRecord)
        server["text"] = "merged"
        #expect(try await database.save(server)["text"] as? String == "merged")
    }

    @Test func `R-130, R-131: deleting needs no tag, also for what is not there, and that leaves no trace`()
        async throws
    {
        let database = try await makeDatabase()
        try await database.save(note("n1", "one"))
        #expect(try await database.deleteRecord(withID: id("n1")) == id("n1"))
        #expect(try await failure { try await database.record(for: self.id("n1")) }.code == .unknownItem)
        let token = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil).changeToken
        for name in ["n1", "never"] { #expect(try await database.deleteRecord(withID: id(name)) == id(name)) }
        let changes = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
        #expect(changes.modificationResultsByID.isEmpty && changes.deletions.isEmpty)
    }

    @Test func `R-031: deleting a zone that is not there succeeds, and nobody is told of it`() async throws {
        let database = try await makeDatabase()
        let never = CKRecordZone.ID(zoneName: "Never")
        let token = try await database.databaseChanges(since: nil).changeToken
        #expect(try await database.deleteRecordZone(withID: never) == never)
        let both = try await database.modifyRecordZones(saving: [], deleting: [never, zoneID])
        for id in [never, zoneID] { #expect(throws: Never.self) { try both.deleteResults[id]?.get() } }
        #expect(both.deleteResults.count == 2)
        let changes = try await database.databaseChanges(since: token)
        #expect(changes.deletions.map(\.zoneID) == [zoneID] && changes.modifications.isEmpty)
        #expect(try await database.deleteRecordZone(withID: zoneID) == zoneID)
        let later = try await database.databaseChanges(since: changes.changeToken)
        #expect(later.deletions.isEmpty && later.modifications.isEmpty)
    }

    @Test func `R-155: more than 400 items are refused as a whole`() async throws {
        let database = try await makeDatabase()
        let records = (0..<401).map { note("n\($0)", "text") }
        let error = try await failure { try await database.modifyRecords(saving: records, deleting: []) }
        #expect(error.code == .limitExceeded)
        let results = try await database.modifyRecords(saving: Array(records.prefix(400)), deleting: [])
        #expect(results.saveResults.count == 400)
    }

    @Test func `R-212: pages of a zone's changes end with tokens that lead on`() async throws {
        let database = try await makeDatabase()
        _ = try await database.modifyRecords(saving: (0..<7).map { note("n\($0)", "text \($0)") }, deleting: [])
        var names: [String] = []
        var token: CKServerChangeToken?
        for page in 0..<10 {
            let changes = try await database.recordZoneChanges(
                inZoneWith: zoneID, since: token, desiredKeys: ["text"], resultsLimit: 3)
            token = changes.changeToken
            names += changes.modificationResultsByID.keys.map(\.recordName)
            #expect(changes.modificationResultsByID.count <= 3)
            let keys = try changes.modificationResultsByID.values.map { try $0.get().record.allKeys() }
            #expect(keys.allSatisfy { $0 == ["text"] })
            if !changes.moreComing { break }
            #expect(page < 9)
        }
        #expect(names.sorted() == (0..<7).map { "n\($0)" })
        try await database.deleteRecord(withID: id("n3"))
        let rest = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
        #expect(rest.deletions.map(\.recordID) == [id("n3")])
        #expect(rest.deletions.map(\.recordType) == ["Note"])
        #expect(rest.modificationResultsByID.isEmpty && !rest.moreComing)
    }

    @Test func `R-200: a token belongs to one feed`() async throws {
        let database = try await makeDatabase()
        let zones = try await database.databaseChanges(since: nil)
        #expect(zones.modifications.map(\.zoneID) == [zoneID])
        let error = try await failure {
            try await database.recordZoneChanges(inZoneWith: self.zoneID, since: zones.changeToken)
        }
        #expect(error.code == .invalidArguments)
        let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
        #expect(
            try await failure { try await database.databaseChanges(since: page.changeToken) }.code == .invalidArguments)
    }

    @Test func `R-220: a token of a zone that was deleted and made again is expired`() async throws {
        let database = try await makeDatabase()
        try await database.save(note("n1", "one"))
        let page = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil)
        try await database.deleteRecordZone(withID: zoneID)
        try await database.save(CKRecordZone(zoneID: zoneID))
        let error = try await failure {
            try await database.recordZoneChanges(inZoneWith: self.zoneID, since: page.changeToken)
        }
        #expect(error.code == .changeTokenExpired)
    }

    @Test func `R-202: the default zone has no feed`() async throws {
        let database = try await makeDatabase()
        let error = try await failure { try await database.recordZoneChanges(inZoneWith: .default, since: nil) }
        #expect(error.code == .invalidArguments)
    }

    @Test func `R-020: zones are made, listed, fetched and deleted`() async throws {
        let database = try await makeDatabase()
        let other = CKRecordZone.ID(zoneName: "Other")
        let missing = CKRecordZone.ID(zoneName: "Missing")
        let results = try await database.modifyRecordZones(saving: [CKRecordZone(zoneID: other)], deleting: [])
        #expect(try results.saveResults[other]?.get().zoneID == other)
        let all = try await database.allRecordZones().map(\.zoneID.zoneName)
        #expect(Set(all).isSuperset(of: ["Notes", "Other"]))
        #expect(try await database.recordZone(for: other).zoneID == other)
        let fetched = try await database.recordZones(for: [zoneID, missing])
        #expect(try fetched[zoneID]?.get().zoneID == zoneID)
        #expect(code(fetched[missing]) == .zoneNotFound)
        #expect(try await database.deleteRecordZone(withID: other) == other)
        #expect(try await failure { try await database.recordZone(for: other) }.code == .zoneNotFound)
        let late = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: other))
        #expect([.zoneNotFound, .userDeletedZone].contains(try await failure { try await database.save(late) }.code))
    }

    @Test func `R-240: subscriptions are saved, listed, fetched and deleted`() async throws {
        let database = try await makeDatabase()
        let subscription = CKDatabaseSubscription(subscriptionID: "all")
        let info = CKSubscription.NotificationInfo()
        info.shouldSendContentAvailable = true
        subscription.notificationInfo = info
        #expect(try await database.save(subscription).subscriptionID == "all")
        #expect(try await database.subscription(for: "all").subscriptionType == .database)
        #expect(try await database.allSubscriptions().map(\.subscriptionID) == ["all"])
        let found = try await database.subscriptions(for: ["all", "none"])
        #expect(try found["all"]?.get().subscriptionID == "all")
        #expect(code(found["none"]) == .unknownItem)
        let results = try await database.modifySubscriptions(saving: [], deleting: ["all"])
        #expect(results.deleteResults["all"] != nil)
        #expect(try await failure { try await database.subscription(for: "all") }.code == .unknownItem)
    }

    @Test func `R-744: long subscriptions are listed and fetched, however many answers that takes`() async throws {
        let database = try await makeDatabase()
        let ids = (0..<100).map { "subscription \(100 + $0)" }
        let long = CKSubscription.NotificationInfo(alertBody: String(repeating: "x", count: 4_000))
        let subscriptions = ids.map { id in
            let subscription = CKDatabaseSubscription(subscriptionID: id)
            subscription.notificationInfo = long
            return subscription
        }
        _ = try await database.modifySubscriptions(saving: subscriptions, deleting: [])
        let all = try await database.allSubscriptions()
        #expect(all.map(\.subscriptionID) == ids)
        #expect(all.allSatisfy { $0.notificationInfo?.alertBody == long.alertBody })
        let found = try await database.subscriptions(for: ids + ["none"])
        #expect(found.count == 101 && code(found["none"]) == .unknownItem)
        for id in ids { #expect(try found[id]?.get().subscriptionID == id) }
    }

    @Test func `I-5: another account sees nothing of it`() async throws {
        let site = try await DevServer.shared()
        let alice = site.makeContainer("alice").privateCloudDatabase
        try await alice.save(CKRecordZone(zoneID: zoneID))
        try await alice.save(note("secret", "of alice"))
        let page = try await alice.recordZoneChanges(inZoneWith: zoneID, since: nil)
        let bob = site.makeContainer("bob").privateCloudDatabase
        #expect(try await failure { try await bob.record(for: self.id("secret")) }.code == .zoneNotFound)
        try await bob.save(CKRecordZone(zoneID: zoneID))
        #expect(try await failure { try await bob.record(for: self.id("secret")) }.code == .unknownItem)
        let error = try await failure {
            try await bob.recordZoneChanges(inZoneWith: self.zoneID, since: page.changeToken)
        }
        #expect([.changeTokenExpired, .invalidArguments].contains(error.code))
    }
}
