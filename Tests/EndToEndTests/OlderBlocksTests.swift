// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit

/// Every operation with the blocks that it had before there were results (R-399): alone, beside the newer ones, and when it
/// is cancelled.
@Suite struct OlderBlocksTests {
    private let zoneID = CKRecordZone.ID(zoneName: "Notes")
    private let missing = CKRecordZone.ID(zoneName: "Missing")

    private func makeDatabase() async throws -> CKDatabase {
        try await DevServer.shared().makeContainer().privateDatabase(holding: zoneID)
    }

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: zoneID) }

    private func note(_ name: String, file: String? = nil) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id(name))
        record["text"] = "text"
        if let file { record["file"] = CKAsset(fileURL: URL(fileURLWithPath: file)) }
        return record
    }

    private func text(_ error: (any Error)?) -> String { error.map { EndToEndTests.text($0) } ?? "success" }

    /// Runs what `make` gives three times.
    ///
    /// - Parameters:
    ///   - lines: what the older blocks say, before the operation is completed.
    ///   - cancelled: what they say when it was cancelled before it began.
    ///   - newer: how often the newer blocks are called.
    ///   - make: an operation whose older blocks speak to the first, and whose newer ones to the second, if there is one.
    private func check(
        _ database: CKDatabase, _ lines: [String], cancelled: String, newer: Int,
        _ make: (_ old: Said, _ new: Said?) -> CKDatabaseOperation
    ) async {
        let (alone, beside, new, ended) = (Said(), Said(), Said(), Said())
        await run(make(alone, nil), on: database, alone)
        #expect(alone.all == lines + ["completed"])
        await run(make(beside, new), on: database, beside)
        #expect(beside.all == lines + ["completed"])
        #expect(new.all.count == newer, "\(new.all)")
        let operation = make(ended, nil)
        operation.cancel()
        await run(operation, on: database, ended)
        #expect(ended.all == [cancelled, "completed"])
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-399: saving and deleting records`() async throws {
        let database = try await makeDatabase()
        func operation(_ records: [CKRecord], _ old: Said, _ new: Said?) -> CKModifyRecordsOperation {
            let operation = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: [id("never")])
            operation.savePolicy = .allKeys
            operation.isAtomic = false
            operation.perRecordCompletionBlock = { old.say("\($0.recordID.recordName) \(text($1))") }
            operation.modifyRecordsCompletionBlock = { saved, deleted, error in
                let names = (saved ?? []).map(\.recordID.recordName) + (deleted ?? []).map(\.recordName)
                old.say("end \(names) \(text(error))")
            }
            guard let new else { return operation }
            operation.perRecordSaveBlock = { id, _ in new.say(id.recordName) }
            operation.perRecordDeleteBlock = { id, _ in new.say(id.recordName) }
            operation.modifyRecordsResultBlock = { _ in new.say("end") }
            return operation
        }
        await check(
            database, ["a success", "b success", "end [\"a\", \"b\", \"never\"] success"],
            cancelled: "end [] operationCancelled", newer: 4
        ) { operation([note("a"), note("b")], $0, $1) }
        await check(
            database, ["a success", "b assetFileNotFound", "end [\"a\", \"never\"] partialFailure"],
            cancelled: "end [] operationCancelled", newer: 4
        ) { operation([note("a"), note("b", file: "/none/there")], $0, $1) }
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-399: fetching records`() async throws {
        let database = try await makeDatabase()
        try await database.save(note("a"))
        func operation(_ names: [String], _ old: Said, _ new: Said?) -> CKFetchRecordsOperation {
            let operation = CKFetchRecordsOperation(recordIDs: names.map { id($0) })
            operation.perRecordCompletionBlock = { record, id, error in
                old.say("\(id?.recordName ?? "none") \(record?["text"] as? String ?? "none") \(text(error))")
            }
            operation.fetchRecordsCompletionBlock = { records, error in
                old.say("end \((records ?? [:]).keys.map(\.recordName)) \(text(error))")
            }
            guard let new else { return operation }
            operation.perRecordResultBlock = { id, _ in new.say(id.recordName) }
            operation.fetchRecordsResultBlock = { _ in new.say("end") }
            return operation
        }
        let cancelled = "end [] operationCancelled"
        await check(database, ["a text success", "end [\"a\"] success"], cancelled: cancelled, newer: 2) {
            operation(["a"], $0, $1)
        }
        await check(
            database, ["a text success", "b none unknownItem", "end [\"a\"] partialFailure"], cancelled: cancelled,
            newer: 3
        ) { operation(["a", "b"], $0, $1) }
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-399: queries`() async throws {
        let database = try await makeDatabase()
        _ = try await database.modifyRecords(saving: [note("a"), note("b")], deleting: [])
        func operation(_ type: String, _ old: Said, _ new: Said?) -> CKQueryOperation {
            let query = CKQuery(recordType: type, predicate: NSPredicate(value: true))
            query.sortDescriptors = [NSSortDescriptor(key: "recordID", ascending: true)]
            let operation = CKQueryOperation(query: query)
            operation.resultsLimit = 1
            operation.recordFetchedBlock = { old.say($0.recordID.recordName) }
            operation.queryCompletionBlock = { old.say("end \($0 != nil) \(text($1))") }
            guard let new else { return operation }
            operation.recordMatchedBlock = { id, _ in new.say(id.recordName) }
            operation.queryResultBlock = { _ in new.say("end") }
            return operation
        }
        let cancelled = "end false operationCancelled"
        await check(database, ["a", "end true success"], cancelled: cancelled, newer: 2) { operation("Note", $0, $1) }
        await check(database, ["end false unknownItem"], cancelled: cancelled, newer: 1) { operation("None", $0, $1) }
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-399: fetching zones`() async throws {
        let database = try await makeDatabase()
        func operation(_ ids: [CKRecordZone.ID], _ old: Said, _ new: Said?) -> CKFetchRecordZonesOperation {
            let operation = CKFetchRecordZonesOperation(recordZoneIDs: ids)
            operation.fetchRecordZonesCompletionBlock = { zones, error in
                old.say("end \((zones ?? [:]).keys.map(\.zoneName)) \(text(error))")
            }
            guard let new else { return operation }
            operation.perRecordZoneResultBlock = { id, _ in new.say(id.zoneName) }
            operation.fetchRecordZonesResultBlock = { _ in new.say("end") }
            return operation
        }
        let cancelled = "end [] operationCancelled"
        await check(database, ["end [\"Notes\"] success"], cancelled: cancelled, newer: 2) {
            operation([zoneID], $0, $1)
        }
        await check(database, ["end [\"Notes\"] partialFailure"], cancelled: cancelled, newer: 3) {
            operation([missing, zoneID], $0, $1)
        }
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-399: saving and deleting zones`() async throws {
        let database = try await makeDatabase()
        func operation(_ deleted: CKRecordZone.ID, _ old: Said, _ new: Said?) -> CKModifyRecordZonesOperation {
            let operation = CKModifyRecordZonesOperation(
                recordZonesToSave: [CKRecordZone(zoneName: "New")], recordZoneIDsToDelete: [deleted])
            operation.modifyRecordZonesCompletionBlock = { saved, deleted, error in
                let names = (saved ?? []).map(\.zoneID.zoneName) + (deleted ?? []).map(\.zoneName)
                old.say("end \(names) \(text(error))")
            }
            guard let new else { return operation }
            operation.perRecordZoneSaveBlock = { id, _ in new.say(id.zoneName) }
            operation.perRecordZoneDeleteBlock = { id, _ in new.say(id.zoneName) }
            operation.modifyRecordZonesResultBlock = { _ in new.say("end") }
            return operation
        }
        let cancelled = "end [] operationCancelled"
        await check(database, ["end [\"New\", \"Missing\"] success"], cancelled: cancelled, newer: 3) {
            operation(missing, $0, $1)
        }
        // R-032: nobody deletes the default zone.
        await check(database, ["end [\"New\"] partialFailure"], cancelled: cancelled, newer: 3) {
            operation(.default, $0, $1)
        }
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-399: the changes of a database`() async throws {
        let database = try await makeDatabase()
        let foreign = try await database.recordZoneChanges(inZoneWith: zoneID, since: nil).changeToken
        func operation(_ token: CKServerChangeToken?, _ old: Said, _ new: Said?) -> CKFetchDatabaseChangesOperation {
            let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
            operation.fetchDatabaseChangesCompletionBlock = { old.say("end \($0 != nil) \($1) \(text($2))") }
            guard let new else { return operation }
            operation.fetchDatabaseChangesResultBlock = { _ in new.say("end") }
            return operation
        }
        let cancelled = "end false false operationCancelled"
        await check(database, ["end true false success"], cancelled: cancelled, newer: 1) { operation(nil, $0, $1) }
        await check(database, ["end false false invalidArguments"], cancelled: cancelled, newer: 1) {
            operation(foreign, $0, $1)
        }
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-399: the changes of zones`() async throws {
        let database = try await makeDatabase()
        _ = try await database.modifyRecords(saving: [note("a"), note("b")], deleting: [])
        func operation(_ ids: [CKRecordZone.ID], _ old: Said, _ new: Said?) -> CKFetchRecordZoneChangesOperation {
            let operation = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: ids, optionsByRecordZoneID: [zoneID: .init(resultsLimit: 1)])
            operation.fetchAllChanges = false
            operation.recordChangedBlock = { old.say($0.recordID.recordName) }
            operation.recordZoneFetchCompletionBlock = { id, token, _, moreComing, error in
                old.say("\(id.zoneName) \(token != nil) \(moreComing) \(text(error))")
            }
            operation.fetchRecordZoneChangesCompletionBlock = { old.say("end \(text($0))") }
            guard let new else { return operation }
            operation.recordWasChangedBlock = { id, _ in new.say(id.recordName) }
            operation.recordZoneFetchResultBlock = { id, _ in new.say(id.zoneName) }
            operation.fetchRecordZoneChangesResultBlock = { _ in new.say("end") }
            return operation
        }
        await check(
            database, ["a", "Notes true true success", "end success"], cancelled: "end operationCancelled", newer: 3
        ) { operation([zoneID], $0, $1) }
        await check(
            database,
            ["Missing false false zoneNotFound", "a", "Notes true true success", "end partialFailure"],
            cancelled: "end operationCancelled", newer: 4
        ) { operation([missing, zoneID], $0, $1) }
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-399: subscriptions`() async throws {
        let database = try await makeDatabase()
        func modify(_ deleted: [String], _ old: Said, _ new: Said?) -> CKModifySubscriptionsOperation {
            let operation = CKModifySubscriptionsOperation(
                subscriptionsToSave: [CKDatabaseSubscription(subscriptionID: "s")], subscriptionIDsToDelete: deleted)
            operation.modifySubscriptionsCompletionBlock = { saved, deleted, error in
                old.say("end \((saved ?? []).map(\.subscriptionID) + (deleted ?? [])) \(text(error))")
            }
            guard let new else { return operation }
            operation.perSubscriptionSaveBlock = { id, _ in new.say(id) }
            operation.perSubscriptionDeleteBlock = { id, _ in new.say(id) }
            operation.modifySubscriptionsResultBlock = { _ in new.say("end") }
            return operation
        }
        func fetch(_ ids: [String], _ old: Said, _ new: Said?) -> CKFetchSubscriptionsOperation {
            let operation = CKFetchSubscriptionsOperation(subscriptionIDs: ids)
            operation.fetchSubscriptionCompletionBlock = { found, error in
                old.say("end \((found ?? [:]).keys.map(\.self)) \(text(error))")
            }
            guard let new else { return operation }
            operation.perSubscriptionResultBlock = { id, _ in new.say(id) }
            operation.fetchSubscriptionsResultBlock = { _ in new.say("end") }
            return operation
        }
        let cancelled = "end [] operationCancelled"
        await check(database, ["end [\"s\"] success"], cancelled: cancelled, newer: 2) { modify([], $0, $1) }
        await check(database, ["end [\"s\"] partialFailure"], cancelled: cancelled, newer: 3) {
            modify(["none"], $0, $1)
        }
        await check(database, ["end [\"s\"] success"], cancelled: cancelled, newer: 2) { fetch(["s"], $0, $1) }
        await check(database, ["end [\"s\"] partialFailure"], cancelled: cancelled, newer: 3) {
            fetch(["none", "s"], $0, $1)
        }
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-399: the operations of sharing`() async throws {
        let container = try await DevServer.shared().makeContainer()
        func run(_ operation: CKOperation) async {
            await withCheckedContinuation { continuation in
                operation.completionBlock = { continuation.resume() }
                container.add(operation)
            }
        }
        let said = Said()
        let url = try #require(URL(string: "https://example.org/share"))
        for isBoth in [false, true] {
            let metadata = CKFetchShareMetadataOperation(shareURLs: [url])
            metadata.fetchShareMetadataCompletionBlock = { said.say("old \(text($0))") }
            if isBoth { metadata.fetchShareMetadataResultBlock = { _ in said.say("new") } }
            await run(metadata)
            let info = CKUserIdentity.LookupInfo(emailAddress: "a@example.org")
            let participants = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [info])
            participants.fetchShareParticipantsCompletionBlock = { said.say("old \(text($0))") }
            if isBoth { participants.fetchShareParticipantsResultBlock = { _ in said.say("new") } }
            await run(participants)
            let accept = CKAcceptSharesOperation(shareMetadatas: [])
            accept.acceptSharesCompletionBlock = { said.say("old \(text($0))") }
            if isBoth { accept.acceptSharesResultBlock = { _ in said.say("new") } }
            await run(accept)
        }
        let old = ["old partialFailure", "old success", "old success"]
        #expect(said.all == old + old.flatMap { ["new", $0] })
    }
}
