// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkKit
import TidemarkTestKit

/// Every operation, once, against a real server.
@Suite struct OperationTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Notes")

    private func makeDatabase() async throws -> CKDatabase {
        try await DevServer.shared().makeContainer().privateDatabase(holding: zoneID)
    }

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private func note(_ name: String, _ text: String = "text") -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id(name))
        record["text"] = text
        return record
    }

    @Test func `R-390, R-152: items first, then the whole without them, then the completion block`() async throws {
        let database = try await makeDatabase()
        try await database.save(note("taken"))
        let said = Said()
        let operation = CKModifyRecordsOperation(
            recordsToSave: [note("new"), note("taken", "another")], recordIDsToDelete: [id("never")])
        operation.isAtomic = false
        operation.perRecordProgressBlock = { said.say("progress \($0.recordID.recordName) \($1)") }
        operation.perRecordSaveBlock = { said.say("save \($0.recordName) \(text($1) { _ in "ok" })") }
        operation.perRecordDeleteBlock = { said.say("delete \($0.recordName) \(text($1) { "ok" })") }
        operation.modifyRecordsResultBlock = { said.say(text($0) { "success" }) }
        await run(operation, on: database, said)
        #expect(
            said.all == [
                "progress new 1.0", "save new ok", "save taken serverRecordChanged", "delete never ok", "success",
                "completed",
            ])
        #expect(operation.isFinished && !operation.isExecuting && operation.database === database)
    }

    @Test func `R-151: an atomic operation applies nothing when an item fails`() async throws {
        let database = try await makeDatabase()
        try await database.save(note("taken"))
        let said = Said()
        let operation = CKModifyRecordsOperation(recordsToSave: [note("new"), note("taken", "another")])
        operation.perRecordSaveBlock = { said.say("\($0.recordName) \(text($1) { _ in "ok" })") }
        await run(operation, on: database, said)
        #expect(said.all == ["new batchRequestFailed", "taken serverRecordChanged", "completed"])
        let error = try await failure { try await database.record(for: self.id("new")) }
        #expect(error.code == .unknownItem)
    }

    @Test func `R-170, R-172: records by id, each once, with the keys that are desired`() async throws {
        let database = try await makeDatabase()
        try await database.save(note("n1"))
        let said = Said()
        let operation = CKFetchRecordsOperation(recordIDs: [id("n1"), id("none"), id("n1")])
        operation.desiredKeys = []
        operation.perRecordResultBlock = { id, result in
            said.say("\(id.recordName) \(text(result) { "\($0.allKeys())" })")
        }
        operation.fetchRecordsResultBlock = { said.say(text($0) { "success" }) }
        await run(operation, on: database, said)
        #expect(said.all == ["n1 []", "none unknownItem", "success", "completed"])
    }

    @Test func `zones are made, fetched and deleted`() async throws {
        let database = try await makeDatabase()
        let (said, other) = (Said(), CKRecordZone.ID(zoneName: "Other"))
        let modify = CKModifyRecordZonesOperation(
            recordZonesToSave: [CKRecordZone(zoneID: other)], recordZoneIDsToDelete: [zoneID])
        modify.perRecordZoneSaveBlock = { said.say("save \($0.zoneName) \(text($1) { _ in "ok" })") }
        modify.perRecordZoneDeleteBlock = { said.say("delete \($0.zoneName) \(text($1) { "ok" })") }
        modify.modifyRecordZonesResultBlock = { said.say(text($0) { "success" }) }
        await run(modify, on: database, said)
        let all = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        all.perRecordZoneResultBlock = { said.say("found \($0.zoneName) \(text($1) { _ in "ok" })") }
        await run(all, on: database, said)
        let some = CKFetchRecordZonesOperation(recordZoneIDs: [zoneID, other])
        some.perRecordZoneResultBlock = { said.say("fetched \($0.zoneName) \(text($1) { _ in "ok" })") }
        some.fetchRecordZonesResultBlock = { said.say(text($0) { "success" }) }
        await run(some, on: database, said)
        #expect(
            said.all == [
                "save Other ok", "delete Notes ok", "success", "completed", "found _defaultZone ok", "found Other ok",
                "completed", "fetched Notes zoneNotFound", "fetched Other ok", "success", "completed",
            ])
    }

    @Test func `R-216, R-205: the database's feed is read to its end, with a token after each page`() async throws {
        let database = try await makeDatabase()
        let zones = ["A", "B", "C"].map { CKRecordZone(zoneName: $0) }
        _ = try await database.modifyRecordZones(saving: zones, deleting: [])
        let said = Said()
        let last = Mutex<CKServerChangeToken?>(nil)
        let operation = CKFetchDatabaseChangesOperation()
        operation.resultsLimit = 2
        operation.recordZoneWithIDChangedBlock = { said.say($0.zoneName) }
        operation.changeTokenUpdatedBlock = { _ in said.say("token") }
        operation.fetchDatabaseChangesResultBlock = { result in
            said.say(text(result) { "end \($0.moreComing)" })
            last.withLock { $0 = (try? result.get())?.serverChangeToken }
        }
        await run(operation, on: database, said)
        #expect(Set(said.all.prefix { $0 != "token" }).count == 2)
        #expect(Set(said.all) == ["Notes", "A", "B", "C", "token", "end false", "completed"])
        try await database.deleteRecordZone(withID: zones[0].zoneID)
        let after = Said()
        let next = CKFetchDatabaseChangesOperation(previousServerChangeToken: last.withLock { $0 })
        next.recordZoneWithIDWasDeletedBlock = { after.say("deleted \($0.zoneName)") }
        next.recordZoneWithIDChangedBlock = { after.say("changed \($0.zoneName)") }
        await run(next, on: database, after)
        #expect(after.all == ["deleted A", "completed"])
    }

    @Test func `R-216, R-217, R-218: zones are read one after another, and one that fails does not stop the others`()
        async throws
    {
        let database = try await makeDatabase()
        _ = try await database.modifyRecords(saving: (0..<5).map { note("n\($0)") }, deleting: [])
        let (said, missing) = (Said(), CKRecordZone.ID(zoneName: "Missing"))
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [missing, zoneID], configurationsByRecordZoneID: [zoneID: .init(resultsLimit: 2)])
        operation.recordWasChangedBlock = { said.say(text($1) { $0.recordID.recordName }) }
        operation.recordZoneChangeTokensUpdatedBlock = { zone, token, _ in
            said.say("\(zone.zoneName) token \(token != nil)")
        }
        operation.recordZoneFetchResultBlock = { zone, result in
            said.say("\(zone.zoneName) \(text(result) { "end \($0.moreComing)" })")
        }
        operation.fetchRecordZoneChangesResultBlock = { said.say(text($0) { "success" }) }
        await run(operation, on: database, said)
        #expect(said.all.first == "Missing zoneNotFound")
        #expect(said.all.filter { $0.hasPrefix("n") } == (0..<5).map { "n\($0)" })
        #expect(said.all.filter { $0 == "Notes token true" }.count >= 2)
        #expect(said.all.dropLast(3).last?.hasPrefix("n") == true, "the token of the last page is in the zone's result")
        #expect(said.all.suffix(3) == ["Notes end false", "success", "completed"])

        let (single, onePage) = (Said(), CKFetchRecordZoneChangesOperation())
        onePage.configurationsByRecordZoneID = [zoneID: .init(resultsLimit: 2, desiredKeys: [])]
        onePage.fetchAllChanges = false
        onePage.recordZoneChangeTokensUpdatedBlock = { _, _, _ in single.say("token") }
        onePage.recordZoneFetchResultBlock = { single.say(text($1) { "end \($0.moreComing)" }) }
        await run(onePage, on: database, single)
        #expect(single.all == ["end true", "completed"])

        let (none, nothing) = (Said(), CKFetchRecordZoneChangesOperation())
        nothing.fetchRecordZoneChangesResultBlock = { none.say(text($0) { "success" }) }
        await run(nothing, on: database, none)
        #expect(none.all == ["success", "completed"])
    }

    @Test func `R-242: subscriptions are saved, fetched and deleted`() async throws {
        let database = try await makeDatabase()
        let said = Said()
        let modify = CKModifySubscriptionsOperation(
            subscriptionsToSave: [CKDatabaseSubscription(subscriptionID: "s")], subscriptionIDsToDelete: ["none"])
        modify.perSubscriptionSaveBlock = { said.say("save \($0) \(text($1) { _ in "ok" })") }
        modify.perSubscriptionDeleteBlock = { said.say("delete \($0) \(text($1) { "ok" })") }
        modify.modifySubscriptionsResultBlock = { said.say(text($0) { "success" }) }
        await run(modify, on: database, said)
        let all = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        all.perSubscriptionResultBlock = { said.say("found \($0) \(text($1) { _ in "ok" })") }
        all.fetchSubscriptionsResultBlock = { said.say(text($0) { "success" }) }
        await run(all, on: database, said)
        #expect(
            said.all == [
                "save s ok", "delete none unknownItem", "success", "completed", "found s ok", "success",
                "completed",
            ])
    }

    @Test func `R-393: a cancelled operation says so, and completes`() async throws {
        let database = try await makeDatabase()
        let said = Said()
        let operation = CKModifyRecordsOperation(recordsToSave: [note("n1")])
        operation.perRecordSaveBlock = { id, _ in said.say(id.recordName) }
        operation.modifyRecordsResultBlock = { said.say(text($0) { "success" }) }
        operation.cancel()
        await run(operation, on: database, said)
        #expect(said.all == ["operationCancelled", "completed"])
    }

    @Test func `R-393: cancelling in a block stops the blocks of the other items, and no token is handed out`()
        async throws
    {
        let database = try await makeDatabase()
        let said = Said()
        let save = CKModifyRecordsOperation(recordsToSave: ["n1", "n2", "n3"].map { note($0) })
        save.perRecordSaveBlock = { [weak save] id, _ in
            said.say(id.recordName)
            save?.cancel()
        }
        save.modifyRecordsResultBlock = { said.say(text($0) { "success" }) }
        await run(save, on: database, said)
        #expect(said.all == ["n1", "operationCancelled", "completed"])

        let (changes, told) = (CKFetchRecordZoneChangesOperation(recordZoneIDs: [zoneID]), Said())
        changes.recordWasChangedBlock = { [weak changes] _, _ in
            told.say("record")
            changes?.cancel()
        }
        changes.recordZoneChangeTokensUpdatedBlock = { _, _, _ in told.say("token") }
        changes.recordZoneFetchResultBlock = { told.say("zone \(text($1) { _ in "success" })") }
        changes.fetchRecordZoneChangesResultBlock = { told.say(text($0) { "success" }) }
        await run(changes, on: database, told)
        #expect(told.all == ["record", "zone operationCancelled", "operationCancelled", "completed"])
    }

    @Test func `R-393: cancelling after a zone stops the blocks of the zones that follow`() async throws {
        let (database, other) = (try await makeDatabase(), CKRecordZone.ID(zoneName: "Other"))
        try await database.save(CKRecordZone(zoneID: other))
        let (said, changes) = (Said(), CKFetchRecordZoneChangesOperation(recordZoneIDs: [zoneID, other]))
        changes.recordZoneFetchResultBlock = { [weak changes] id, result in
            said.say("\(id.zoneName) \(text(result) { _ in "success" })")
            changes?.cancel()
        }
        changes.fetchRecordZoneChangesResultBlock = { said.say(text($0) { "success" }) }
        await run(changes, on: database, said)
        #expect(said.all == ["Notes success", "operationCancelled", "completed"])
    }

    @Test func `R-205: an ended zone is told of by one block, the one of its reason or else that of deleted zones`()
        async throws
    {
        let alice = TestCloud().account("alice")
        let database = alice.device("phone").container.privateCloudDatabase
        let zones = ["deleted", "purged", "reset"].map { CKRecordZone(zoneName: $0) }
        _ = try await database.modifyRecordZones(saving: zones, deleting: [])
        let token = try await database.databaseChanges(since: nil).changeToken
        try await database.deleteRecordZone(withID: zones[0].zoneID)
        try alice.purge(zones[1].zoneID)
        try alice.resetEncryptedData(in: zones[2].zoneID)
        for isEach in [true, false] {
            let (said, operation) = (Said(), CKFetchDatabaseChangesOperation(previousServerChangeToken: token))
            operation.recordZoneWithIDWasDeletedBlock = { said.say("deleted \($0.zoneName)") }
            if isEach {
                operation.recordZoneWithIDWasPurgedBlock = { said.say("purged \($0.zoneName)") }
                operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = {
                    said.say("reset \($0.zoneName)")
                }
            }
            operation.recordZoneWithIDChangedBlock = { said.say("changed \($0.zoneName)") }
            await run(operation, on: database, said)
            let expected = ["deleted deleted", isEach ? "purged purged" : "deleted purged"]
            #expect(said.all.sorted() == (["completed", isEach ? "reset reset" : "deleted reset"] + expected).sorted())
        }
    }

    @Test func `R-394: operations wait for those that they depend on`() async throws {
        let database = try await makeDatabase()
        let said = Said()
        let save = CKModifyRecordsOperation(recordsToSave: [note("n1")])
        save.modifyRecordsResultBlock = { _ in said.say("saved") }
        let fetch = CKFetchRecordsOperation(recordIDs: [id("n1")])
        fetch.addDependency(save)
        fetch.perRecordResultBlock = { said.say("fetched \(text($1) { _ in "ok" })") }
        let fetching = Task { await run(fetch, on: database, said) }
        await run(save, on: database, said)
        await fetching.value
        #expect(said.all.filter { $0 != "completed" } == ["saved", "fetched ok"])
    }

    @Test func `R-401: each method has a form with a completion handler`() async throws {
        let container = try await DevServer.shared().makeContainer()
        let database = container.privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        func value<Value: Sendable>(_ call: (@escaping @Sendable (Value?, (any Error)?) -> Void) -> Void) async throws
            -> Value
        {
            try await withCheckedThrowingContinuation { continuation in
                call { value, error in
                    if let value {
                        continuation.resume(returning: value)
                    } else {
                        continuation.resume(throwing: error ?? CKError(.internalError))
                    }
                }
            }
        }
        func result<Value: Sendable>(_ call: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void)
            async throws -> Value
        {
            try await withCheckedThrowingContinuation { continuation in call { continuation.resume(with: $0) } }
        }
        let record = note("n1")
        let saved: CKRecord = try await value { database.save(record, completionHandler: $0) }
        #expect(saved.recordChangeTag != nil)
        let fetched: CKRecord = try await value { database.fetch(withRecordID: record.recordID, completionHandler: $0) }
        #expect(fetched.recordChangeTag == saved.recordChangeTag)
        #expect(try await result { database.fetch(withRecordIDs: [id("n1")], completionHandler: $0) }.count == 1)
        let changes = try await result {
            database.modifyRecords(saving: [note("n2")], deleting: [id("n1")], completionHandler: $0)
        }
        #expect(changes.saveResults.count == 1 && changes.deleteResults.count == 1)
        #expect(try await value { database.delete(withRecordID: id("n2"), completionHandler: $0) } == id("n2"))
        let zone: CKRecordZone = try await value { database.save(CKRecordZone(zoneName: "Z"), completionHandler: $0) }
        #expect(
            try await value { database.fetch(withRecordZoneID: zone.zoneID, completionHandler: $0) }.zoneID
                == zone.zoneID)
        #expect(try await result { database.fetch(withRecordZoneIDs: [zone.zoneID], completionHandler: $0) }.count == 1)
        #expect(try await value { database.fetchAllRecordZones(completionHandler: $0) }.count == 3)
        let feed = try await result { database.fetchDatabaseChanges(since: nil, completionHandler: $0) }
        #expect(feed.modifications.count == 2 && !feed.moreComing)
        let page = try await result {
            database.fetchRecordZoneChanges(inZoneWith: zoneID, since: nil, completionHandler: $0)
        }
        #expect(page.modificationResultsByID.isEmpty)
        #expect(
            try await value { database.delete(withRecordZoneID: zone.zoneID, completionHandler: $0) } == zone.zoneID)
        let zones = try await result { database.modifyRecordZones(saving: [zone], deleting: [], completionHandler: $0) }
        #expect(zones.saveResults.count == 1)
        let subscription = CKDatabaseSubscription(subscriptionID: "s")
        let kept: CKSubscription = try await value { database.save(subscription, completionHandler: $0) }
        #expect(kept.subscriptionID == "s")
        #expect(
            try await value { database.fetch(withSubscriptionID: "s", completionHandler: $0) }.subscriptionID == "s")
        #expect(try await result { database.fetch(withSubscriptionIDs: ["s"], completionHandler: $0) }.count == 1)
        #expect(try await value { database.fetchAllSubscriptions(completionHandler: $0) }.count == 1)
        #expect(try await value { database.delete(withSubscriptionID: "s", completionHandler: $0) } == "s")
        let subscriptions = try await result {
            database.modifySubscriptions(saving: [subscription], deleting: [], completionHandler: $0)
        }
        #expect(subscriptions.saveResults.count == 1)
        let user: CKRecord.ID = try await value { container.fetchUserRecordID(completionHandler: $0) }
        #expect(user.recordName.hasPrefix("_"))
        let status: CKAccountStatus = await withCheckedContinuation { continuation in
            container.accountStatus { status, _ in continuation.resume(returning: status) }
        }
        #expect(status == .available)
    }

    @Test func `R-396: a configured database is another one, and works`() async throws {
        let database = try await makeDatabase()
        let configuration = CKOperation.Configuration()
        configuration.qualityOfService = .utility
        configuration.timeoutIntervalForRequest = 20
        let tag = try await database.configuredWith(configuration: configuration) { configured in
            #expect(configured !== database)
            return try await configured.save(note("n1")).recordChangeTag
        }
        #expect(tag != nil)
        #expect(database.configuredWith { $0.databaseScope } == .private)
    }
}
