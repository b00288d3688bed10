// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

private typealias RecordResults = [CKRecord.ID: Result<CKRecord, any Error>]
private typealias Matches = (
    matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?
)
private typealias ModifiedRecords = (
    saveResults: RecordResults, deleteResults: [CKRecord.ID: Result<Void, any Error>]
)
private typealias ModifiedZones = (
    saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
    deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
)
private typealias ModifiedSubscriptions = (
    saveResults: [CKSubscription.ID: Result<CKSubscription, any Error>],
    deleteResults: [CKSubscription.ID: Result<Void, any Error>]
)
private typealias DatabaseChanges = (
    modifications: [CKDatabase.DatabaseChange.Modification], deletions: [CKDatabase.DatabaseChange.Deletion],
    changeToken: CKServerChangeToken, moreComing: Bool
)
private typealias ZoneChanges = (
    modificationResultsByID: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>],
    deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
)

/// One use of each symbol of Tests/API.md, section CKDatabase, as an app writes it, in that order. What asks a server is
/// compiled and not called: no test of this target has one.
@Suite struct CKDatabaseAPITests {
    @Test func `R-004, R-396: CKDatabase`() async throws {
        let database: CKDatabase = CKContainer(identifier: "iCloud.org.example.api").privateCloudDatabase
        let scope: CKDatabase.Scope = database.databaseScope
        #expect(scope == .private)
        #expect([CKDatabase.Scope.public, .private, .shared].map(\.rawValue) == [1, 2, 3])
        #expect(CKDatabase.Scope(rawValue: 3) == .shared && CKDatabase.Scope(rawValue: 4) == nil)
        let _: (CKDatabaseOperation) -> Void = database.add(_:)
        let count = database.configuredWith(configuration: CKOperation.Configuration(), group: nil) { configured in
            configured.databaseScope.rawValue
        }
        #expect(count == 2)
        let other = await database.configuredWith(group: CKOperationGroup()) { configured in
            await Task.yield()
            return configured !== database
        }
        #expect(other)
        database.configuredWith { _ in 1 }
    }

    /// Whoever only wants to know whether there is an answer writes no `_ =`, and gets no warning.
    func existence(_ container: CKContainer, _ database: CKDatabase, _ id: CKRecord.ID, _ url: URL) async throws {
        try await database.record(for: id)
        try await database.recordZone(for: id.zoneID)
        try await database.allRecordZones()
        try await database.allSubscriptions()
        try await container.accountStatus()
        try await container.userRecordID()
        try await container.shareMetadata(for: url)
        try await container.shareParticipant(forUserRecordID: id)
    }

    func records(_ database: CKDatabase, _ id: CKRecord.ID, _ record: CKRecord) async throws {
        let _: CKRecord = try await database.record(for: id)
        database.fetch(withRecordID: id) { (_: CKRecord?, _: (any Error)?) in }
        let _: RecordResults = try await database.records(for: [id])
        let _: RecordResults = try await database.records(for: [id], desiredKeys: ["a"])
        database.fetch(withRecordIDs: [id]) { (_: Result<RecordResults, any Error>) in }
        database.fetch(withRecordIDs: [id], desiredKeys: ["a"]) { (_: Result<RecordResults, any Error>) in }
        try await database.save(record)
        let _: CKRecord = try await database.save(record)
        database.save(record) { (_: CKRecord?, _: (any Error)?) in }
        try await database.deleteRecord(withID: id)
        let _: CKRecord.ID = try await database.deleteRecord(withID: id)
        database.delete(withRecordID: id) { (_: CKRecord.ID?, _: (any Error)?) in }
        let _: ModifiedRecords = try await database.modifyRecords(saving: [record], deleting: [id])
        let (saveResults, deleteResults) = try await database.modifyRecords(
            saving: [record], deleting: [id], savePolicy: .changedKeys, atomically: false)
        _ = (saveResults[id], deleteResults[id])
        database.modifyRecords(saving: [record], deleting: []) { (_: Result<ModifiedRecords, any Error>) in }
        database.modifyRecords(saving: [record], deleting: [id], savePolicy: .allKeys, atomically: true) { result in
            switch result {
            case .success((let saveResults, let deleteResults)): _ = (saveResults.count, deleteResults.count)
            case .failure(let error): _ = error
            }
        }
    }

    func queries(_ database: CKDatabase, _ query: CKQuery, _ cursor: CKQueryOperation.Cursor) async throws {
        let _: Matches = try await database.records(matching: query)
        let (matchResults, queryCursor) = try await database.records(
            matching: query, inZoneWith: .default, desiredKeys: ["a"], resultsLimit: 10)
        _ = (matchResults, queryCursor)
        let _: Matches = try await database.records(continuingMatchFrom: cursor)
        let _: Matches = try await database.records(continuingMatchFrom: cursor, desiredKeys: nil, resultsLimit: 1)
        database.fetch(withQuery: query) { (_: Result<Matches, any Error>) in }
        database.fetch(withQuery: query, inZoneWith: nil, desiredKeys: [], resultsLimit: 5) { _ in }
        database.fetch(withCursor: cursor) { (_: Result<Matches, any Error>) in }
        database.fetch(withCursor: cursor, desiredKeys: nil, resultsLimit: CKQueryOperation.maximumResults) { _ in }
    }

    @available(*, deprecated, message: "uses what is deprecated")
    func deprecatedQueries(_ database: CKDatabase, _ query: CKQuery) async throws {
        database.perform(query, inZoneWith: nil) { (_: [CKRecord]?, _: (any Error)?) in }
        let _: [CKRecord] = try await database.records(matching: query, inZoneWith: nil)
    }

    func zones(_ database: CKDatabase, _ id: CKRecordZone.ID, _ zone: CKRecordZone) async throws {
        let _: CKRecordZone = try await database.recordZone(for: id)
        database.fetch(withRecordZoneID: id) { (_: CKRecordZone?, _: (any Error)?) in }
        let _: [CKRecordZone.ID: Result<CKRecordZone, any Error>] = try await database.recordZones(for: [id])
        database.fetch(withRecordZoneIDs: [id]) {
            (_: Result<[CKRecordZone.ID: Result<CKRecordZone, any Error>], any Error>) in
        }
        let _: [CKRecordZone] = try await database.allRecordZones()
        database.fetchAllRecordZones { (_: [CKRecordZone]?, _: (any Error)?) in }
        let _: CKRecordZone = try await database.save(zone)
        database.save(zone) { (_: CKRecordZone?, _: (any Error)?) in }
        try await database.deleteRecordZone(withID: id)
        let _: CKRecordZone.ID = try await database.deleteRecordZone(withID: id)
        database.delete(withRecordZoneID: id) { (_: CKRecordZone.ID?, _: (any Error)?) in }
        let _: ModifiedZones = try await database.modifyRecordZones(saving: [zone], deleting: [id])
        database.modifyRecordZones(saving: [zone], deleting: [id]) { (_: Result<ModifiedZones, any Error>) in }
    }

    func subscriptions(
        _ database: CKDatabase, _ id: CKSubscription.ID, _ subscription: CKSubscription
    ) async throws {
        let _: CKSubscription = try await database.subscription(for: id)
        database.fetch(withSubscriptionID: id) { (_: CKSubscription?, _: (any Error)?) in }
        let _: [CKSubscription.ID: Result<CKSubscription, any Error>] = try await database.subscriptions(for: [id])
        database.fetch(withSubscriptionIDs: [id]) {
            (_: Result<[CKSubscription.ID: Result<CKSubscription, any Error>], any Error>) in
        }
        let _: [CKSubscription] = try await database.allSubscriptions()
        database.fetchAllSubscriptions { (_: [CKSubscription]?, _: (any Error)?) in }
        let _: CKSubscription = try await database.save(subscription)
        database.save(subscription) { (_: CKSubscription?, _: (any Error)?) in }
        try await database.deleteSubscription(withID: id)
        let _: CKSubscription.ID = try await database.deleteSubscription(withID: id)
        database.delete(withSubscriptionID: id) { (_: String?, _: (any Error)?) in }
        let _: ModifiedSubscriptions = try await database.modifySubscriptions(saving: [subscription], deleting: [id])
        database.modifySubscriptions(saving: [subscription], deleting: [id]) {
            (_: Result<ModifiedSubscriptions, any Error>) in
        }
    }

    func changes(_ database: CKDatabase, _ zoneID: CKRecordZone.ID, _ token: CKServerChangeToken?) async throws {
        let _: DatabaseChanges = try await database.databaseChanges(since: token)
        let _: DatabaseChanges = try await database.databaseChanges(since: nil, resultsLimit: 1)
        database.fetchDatabaseChanges(since: token) { (_: Result<DatabaseChanges, any Error>) in }
        database.fetchDatabaseChanges(since: nil, resultsLimit: 1) { _ in }
        let _: ZoneChanges = try await database.recordZoneChanges(inZoneWith: zoneID, since: token)
        let changes = try await database.recordZoneChanges(
            inZoneWith: zoneID, since: nil, desiredKeys: ["a"], resultsLimit: 1)
        for case .success(let modification) in changes.modificationResultsByID.values { use(modification) }
        for deletion in changes.deletions { use(deletion) }
        database.fetchRecordZoneChanges(inZoneWith: zoneID, since: token) { (_: Result<ZoneChanges, any Error>) in }
        database.fetchRecordZoneChanges(inZoneWith: zoneID, since: nil, desiredKeys: [], resultsLimit: 1) { _ in }
    }

    private func use(_ modification: CKDatabase.RecordZoneChange.Modification) {
        let _: CKRecord = modification.record
        let _: any (Sendable & Hashable) = modification
    }

    private func use(_ deletion: CKDatabase.RecordZoneChange.Deletion) {
        let _: CKRecord.ID = deletion.recordID
        let _: CKRecord.RecordType = deletion.recordType
        let _: any (Sendable & Hashable) = deletion
    }

    private func use(_ modification: CKDatabase.DatabaseChange.Modification) {
        let _: CKRecordZone.ID = modification.zoneID
        let _: any (Sendable & Hashable) = modification
    }

    private func use(_ deletion: CKDatabase.DatabaseChange.Deletion) {
        let _: CKRecordZone.ID = deletion.zoneID
        let _: any (Sendable & Hashable) = deletion
        switch deletion.reason {
        case .deleted, .purged, .encryptedDataReset: break
        @unknown default: break
        }
    }

    @available(*, deprecated, message: "uses what is deprecated")
    private func useOlder(_ deletion: CKDatabase.DatabaseChange.Deletion) {
        let _: Bool = deletion.purged
    }

    @Test func `R-205: the reasons of a deletion are three`() {
        let reasons: Set<CKDatabase.DatabaseChange.Deletion.Reason> = [.deleted, .purged, .encryptedDataReset]
        #expect(reasons.count == 3)
    }
}
