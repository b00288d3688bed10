// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// One use of each symbol of Tests/API.md, section CKOperation family, in that order. Blocks are set with the types that
/// they have; what they do is shown by the tests with a server.
@Suite struct CKOperationAPITests {
    private let zoneID = CKRecordZone.ID(zoneName: "Z")
    private let recordID = CKRecord.ID(recordName: "r")

    @Test func `R-394, R-395: CKOperation, its configuration and its group`() throws {
        let operation = CKOperation()
        let asOperation: Operation = operation
        #expect(!asOperation.isFinished)
        let configuration: CKOperation.Configuration? = operation.configuration
        #expect(configuration != nil)
        let group: CKOperationGroup? = operation.group
        let id: CKOperation.ID = operation.operationID
        #expect(group == nil && !id.isEmpty && id != CKOperation().operationID)
        operation.longLivedOperationWasPersistedBlock = {}
        operation.qualityOfService = .utility

        let settings = CKOperation.Configuration()
        #expect(settings.container == nil && settings.qualityOfService == .default && settings.allowsCellularAccess)
        #expect(!settings.isLongLived && settings.timeoutIntervalForRequest == 60)
        #expect(settings.timeoutIntervalForResource == 604_800)
        settings.container = CKContainer(identifier: "iCloud.org.example.api")
        settings.qualityOfService = .userInitiated
        settings.allowsCellularAccess = false
        settings.isLongLived = true
        settings.timeoutIntervalForRequest = 1
        settings.timeoutIntervalForResource = 2
        operation.configuration = settings
        operation.configuration.timeoutIntervalForRequest = 3
        #expect((settings.copy() as? CKOperation.Configuration)?.timeoutIntervalForResource == 2)

        let named = CKOperationGroup()
        named.defaultConfiguration = settings
        named.defaultConfiguration.isLongLived = false
        named.name = "import"
        named.quantity = 3
        named.expectedSendSize = .megabytes
        named.expectedReceiveSize = CKOperationGroup.TransferSize.kilobytes
        operation.group = named
        #expect(!named.operationGroupID.isEmpty && named.name == "import")
        let data = try NSKeyedArchiver.archivedData(withRootObject: named, requiringSecureCoding: true)
        let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKOperationGroup.self, from: data)
        #expect(back?.operationGroupID == named.operationGroupID && back?.quantity == 3)
        let sizes: [CKOperationGroup.TransferSize] = [
            .unknown, .kilobytes, .megabytes, .tensOfMegabytes, .hundredsOfMegabytes, .gigabytes, .tensOfGigabytes,
            .hundredsOfGigabytes,
        ]
        #expect(sizes.map(\.rawValue) == Array(0...7))
        let work = CKDatabaseOperation()
        let database: CKDatabase? = work.database
        #expect(database == nil)
        work.database = settings.container?.privateCloudDatabase
        #expect(work.database?.databaseScope == .private)
    }

    private final class CountedFetch: CKFetchRecordsOperation, @unchecked Sendable {
        let number: Int

        init(number: Int) {
            self.number = number
            super.init()
        }
    }

    private final class NamedZones: CKFetchRecordZonesOperation, @unchecked Sendable {
        let label: String

        init(label: String) {
            self.label = label
            super.init()
        }
    }

    @Test func `R-394: operations can be subclassed, with initializers of the app's own`() {
        let fetch = CountedFetch(number: 3)
        fetch.recordIDs = [recordID]
        let zones = NamedZones(label: "all")
        #expect(fetch.number == 3 && fetch.recordIDs == [recordID] && zones.label == "all")
    }

    @Test func `R-150: CKModifyRecordsOperation`() {
        let record = CKRecord(recordType: "Note")
        let operation = CKModifyRecordsOperation()
        #expect(
            operation.recordsToSave == nil && operation.isAtomic && operation.savePolicy == .ifServerRecordUnchanged)
        let other = CKModifyRecordsOperation(recordsToSave: [record], recordIDsToDelete: [recordID])
        #expect(other.recordsToSave?.count == 1 && other.recordIDsToDelete == [recordID])
        #expect(CKModifyRecordsOperation(recordsToSave: [record]).recordIDsToDelete == nil)
        other.recordsToSave = nil
        other.recordIDsToDelete = nil
        other.savePolicy = .changedKeys
        let policies: [CKModifyRecordsOperation.RecordSavePolicy] = [.ifServerRecordUnchanged, .changedKeys, .allKeys]
        #expect(policies.map(\.rawValue) == [0, 1, 2])
        #expect(CKModifyRecordsOperation.RecordSavePolicy(rawValue: 2) == .allKeys)
        other.isAtomic = false
        other.clientChangeTokenData = Data([1])
        other.perRecordProgressBlock = { (_: CKRecord, _: Double) in }
        other.perRecordSaveBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in }
        other.perRecordDeleteBlock = { (_: CKRecord.ID, _: Result<Void, any Error>) in }
        other.modifyRecordsResultBlock = { (_: Result<Void, any Error>) in }
        #expect(other.modifyRecordsResultBlock != nil && !other.isAtomic)
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-399: the older blocks`() {
        let modify = CKModifyRecordsOperation()
        modify.perRecordCompletionBlock = { (_: CKRecord, _: (any Error)?) in }
        modify.modifyRecordsCompletionBlock = { (_: [CKRecord]?, _: [CKRecord.ID]?, _: (any Error)?) in }
        let fetch = CKFetchRecordsOperation()
        fetch.perRecordCompletionBlock = { (_: CKRecord?, _: CKRecord.ID?, _: (any Error)?) in }
        fetch.fetchRecordsCompletionBlock = { (_: [CKRecord.ID: CKRecord]?, _: (any Error)?) in }
        let query = CKQueryOperation()
        query.recordFetchedBlock = { (_: CKRecord) in }
        query.queryCompletionBlock = { (_: CKQueryOperation.Cursor?, _: (any Error)?) in }
        let zones = CKFetchRecordZonesOperation()
        zones.fetchRecordZonesCompletionBlock = { (_: [CKRecordZone.ID: CKRecordZone]?, _: (any Error)?) in }
        let modifyZones = CKModifyRecordZonesOperation()
        modifyZones.modifyRecordZonesCompletionBlock = {
            (_: [CKRecordZone]?, _: [CKRecordZone.ID]?, _: (any Error)?) in
        }
        let database = CKFetchDatabaseChangesOperation()
        database.fetchDatabaseChangesCompletionBlock = { (_: CKServerChangeToken?, _: Bool, _: (any Error)?) in }
        let changes = CKFetchRecordZoneChangesOperation()
        changes.recordChangedBlock = { (_: CKRecord) in }
        changes.recordZoneFetchCompletionBlock = {
            (_: CKRecordZone.ID, _: CKServerChangeToken?, _: Data?, _: Bool, _: (any Error)?) in
        }
        changes.fetchRecordZoneChangesCompletionBlock = { (_: (any Error)?) in }
        let subscriptions = CKFetchSubscriptionsOperation()
        subscriptions.fetchSubscriptionCompletionBlock = {
            (_: [CKSubscription.ID: CKSubscription]?, _: (any Error)?) in
        }
        let modifySubscriptions = CKModifySubscriptionsOperation()
        modifySubscriptions.modifySubscriptionsCompletionBlock = {
            (_: [CKSubscription]?, _: [CKSubscription.ID]?, _: (any Error)?) in
        }
        #expect(modify.modifyRecordsCompletionBlock != nil && query.queryCompletionBlock != nil)
    }

    @Test func `R-170: CKFetchRecordsOperation`() {
        let operation = CKFetchRecordsOperation()
        #expect(operation.recordIDs == nil && operation.desiredKeys == nil)
        let other = CKFetchRecordsOperation(recordIDs: [recordID])
        other.desiredKeys = ["text"]
        other.perRecordProgressBlock = { (_: CKRecord.ID, _: Double) in }
        other.perRecordResultBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in }
        other.fetchRecordsResultBlock = { (_: Result<Void, any Error>) in }
        #expect(other.recordIDs == [recordID])
        other.recordIDs = nil
        #expect(other.recordIDs == nil)
        let current: CKFetchRecordsOperation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
        #expect(current !== other)
    }

    @Test func `R-188: CKQueryOperation`() {
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        let operation = CKQueryOperation()
        #expect(operation.query == nil && operation.cursor == nil && operation.zoneID == nil)
        #expect(operation.resultsLimit == CKQueryOperation.maximumResults && CKQueryOperation.maximumResults == 0)
        let other = CKQueryOperation(query: query)
        other.zoneID = zoneID
        other.resultsLimit = 5
        other.desiredKeys = []
        other.recordMatchedBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in }
        other.queryResultBlock = { (_: Result<CKQueryOperation.Cursor?, any Error>) in }
        #expect(other.query === query)
        other.query = nil
        other.cursor = nil
        #expect(other.query == nil && other.cursor == nil)
        let _: (CKQueryOperation.Cursor) -> CKQueryOperation = CKQueryOperation.init(cursor:)
        #expect(CKQueryOperation.Cursor.supportsSecureCoding)
    }

    @Test func `CKFetchRecordZonesOperation and CKModifyRecordZonesOperation`() {
        let zone = CKRecordZone(zoneID: zoneID)
        let fetch = CKFetchRecordZonesOperation()
        #expect(fetch.recordZoneIDs == nil)
        let some = CKFetchRecordZonesOperation(recordZoneIDs: [zoneID])
        let all: CKFetchRecordZonesOperation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        some.perRecordZoneResultBlock = { (_: CKRecordZone.ID, _: Result<CKRecordZone, any Error>) in }
        some.fetchRecordZonesResultBlock = { (_: Result<Void, any Error>) in }
        #expect(some.recordZoneIDs == [zoneID] && all !== some)
        all.recordZoneIDs = [zoneID]
        #expect(all.recordZoneIDs == [zoneID])

        let modify = CKModifyRecordZonesOperation()
        #expect(modify.recordZonesToSave == nil && modify.recordZoneIDsToDelete == nil)
        let other = CKModifyRecordZonesOperation(recordZonesToSave: [zone], recordZoneIDsToDelete: [zoneID])
        other.perRecordZoneSaveBlock = { (_: CKRecordZone.ID, _: Result<CKRecordZone, any Error>) in }
        other.perRecordZoneDeleteBlock = { (_: CKRecordZone.ID, _: Result<Void, any Error>) in }
        other.modifyRecordZonesResultBlock = { (_: Result<Void, any Error>) in }
        #expect(other.recordZonesToSave?.count == 1 && other.recordZoneIDsToDelete == [zoneID])
        modify.recordZonesToSave = [zone]
        modify.recordZoneIDsToDelete = [zoneID]
        #expect(modify.recordZonesToSave?.first === zone && modify.recordZoneIDsToDelete == [zoneID])
    }

    @Test func `R-216: CKFetchDatabaseChangesOperation`() {
        let operation = CKFetchDatabaseChangesOperation()
        #expect(operation.previousServerChangeToken == nil && operation.resultsLimit == 0 && operation.fetchAllChanges)
        let other = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        other.previousServerChangeToken = nil
        other.resultsLimit = 1
        other.fetchAllChanges = false
        other.recordZoneWithIDChangedBlock = { (_: CKRecordZone.ID) in }
        other.recordZoneWithIDWasDeletedBlock = { (_: CKRecordZone.ID) in }
        other.recordZoneWithIDWasPurgedBlock = { (_: CKRecordZone.ID) in }
        other.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = { (_: CKRecordZone.ID) in }
        other.changeTokenUpdatedBlock = { (_: CKServerChangeToken) in }
        other.fetchDatabaseChangesResultBlock = {
            (_: Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) in
        }
        #expect(!other.fetchAllChanges && other.changeTokenUpdatedBlock != nil)
    }

    @Test func `R-216, R-218: CKFetchRecordZoneChangesOperation`() throws {
        typealias Configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration
        let operation = CKFetchRecordZoneChangesOperation()
        #expect(operation.recordZoneIDs == nil && operation.fetchAllChanges)
        let configuration = Configuration()
        #expect(configuration.resultsLimit == 0 && configuration.desiredKeys == nil)
        let full = Configuration(previousServerChangeToken: nil, resultsLimit: 5, desiredKeys: ["text"])
        full.previousServerChangeToken = nil
        #expect(full.resultsLimit == 5 && full.desiredKeys == ["text"])
        #expect(Configuration(desiredKeys: []).resultsLimit == 0)
        let data = try NSKeyedArchiver.archivedData(withRootObject: full, requiringSecureCoding: true)
        let back = try NSKeyedUnarchiver.unarchivedObject(ofClass: Configuration.self, from: data)
        #expect(back?.resultsLimit == 5 && (full.copy() as? Configuration)?.desiredKeys == ["text"])
        let other = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID], configurationsByRecordZoneID: [zoneID: full])
        #expect(CKFetchRecordZoneChangesOperation(recordZoneIDs: [zoneID]).configurationsByRecordZoneID == nil)
        other.recordZoneIDs = [zoneID]
        other.configurationsByRecordZoneID = [zoneID: full]
        other.fetchAllChanges = false
        other.recordWasChangedBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in }
        other.recordWithIDWasDeletedBlock = { (_: CKRecord.ID, _: CKRecord.RecordType) in }
        other.recordZoneChangeTokensUpdatedBlock = { (_: CKRecordZone.ID, _: CKServerChangeToken?, _: Data?) in }
        other.recordZoneFetchResultBlock = {
            (
                _: CKRecordZone.ID,
                _: Result<
                    (serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool), any Error
                >
            ) in
        }
        other.fetchRecordZoneChangesResultBlock = { (_: Result<Void, any Error>) in }
        #expect(!other.fetchAllChanges && other.fetchRecordZoneChangesResultBlock != nil)
    }

    @Test func `CKFetchSubscriptionsOperation and CKModifySubscriptionsOperation`() {
        let subscription = CKDatabaseSubscription(subscriptionID: "all")
        let fetch = CKFetchSubscriptionsOperation()
        #expect(fetch.subscriptionIDs == nil)
        let some = CKFetchSubscriptionsOperation(subscriptionIDs: ["all"])
        let all: CKFetchSubscriptionsOperation = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        some.perSubscriptionResultBlock = { (_: CKSubscription.ID, _: Result<CKSubscription, any Error>) in }
        some.fetchSubscriptionsResultBlock = { (_: Result<Void, any Error>) in }
        #expect(some.subscriptionIDs == ["all"] && all !== some)
        all.subscriptionIDs = ["all"]
        #expect(all.subscriptionIDs == ["all"])

        let modify = CKModifySubscriptionsOperation()
        #expect(modify.subscriptionsToSave == nil && modify.subscriptionIDsToDelete == nil)
        let other = CKModifySubscriptionsOperation(
            subscriptionsToSave: [subscription], subscriptionIDsToDelete: ["old"])
        other.perSubscriptionSaveBlock = { (_: CKSubscription.ID, _: Result<CKSubscription, any Error>) in }
        other.perSubscriptionDeleteBlock = { (_: CKSubscription.ID, _: Result<Void, any Error>) in }
        other.modifySubscriptionsResultBlock = { (_: Result<Void, any Error>) in }
        #expect(other.subscriptionsToSave?.count == 1 && other.subscriptionIDsToDelete == ["old"])
        modify.subscriptionsToSave = [subscription]
        modify.subscriptionIDsToDelete = ["old"]
        #expect(modify.subscriptionsToSave?.first === subscription && modify.subscriptionIDsToDelete == ["old"])
    }

    @Test func `R-314, R-315, R-317: the operations of sharing`() throws {
        let url = try #require(URL(string: "https://example.org/share"))
        #expect(CKFetchShareMetadataOperation().shareURLs == nil)
        let metadata = CKFetchShareMetadataOperation(shareURLs: [url])
        metadata.shareURLs = [url]
        metadata.shouldFetchRootRecord = true
        metadata.rootRecordDesiredKeys = ["text"]
        metadata.perShareMetadataResultBlock = { (_: URL, _: Result<CKShare.Metadata, any Error>) in }
        metadata.fetchShareMetadataResultBlock = { (_: Result<Void, any Error>) in }
        let operation: CKOperation = metadata
        #expect(!operation.isFinished)

        #expect(CKAcceptSharesOperation().shareMetadatas == nil)
        let accept = CKAcceptSharesOperation(shareMetadatas: [])
        accept.shareMetadatas = []
        accept.perShareResultBlock = { (_: CKShare.Metadata, _: Result<CKShare, any Error>) in }
        accept.acceptSharesResultBlock = { (_: Result<Void, any Error>) in }

        #expect(CKShareRequestAccessOperation().shareURLs == nil)
        let request = CKShareRequestAccessOperation(shareURLs: [url])
        request.shareURLs = [url]
        request.perShareAccessRequestResultBlock = { (_: URL, _: Result<Void, any Error>) in }
        request.shareAccessRequestResultBlock = { (_: Result<Void, any Error>) in }

        let info = CKUserIdentity.LookupInfo(emailAddress: "a@example.org")
        #expect(CKFetchShareParticipantsOperation().userIdentityLookupInfos == nil)
        let participants = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [info])
        participants.perShareParticipantResultBlock = {
            (_: CKUserIdentity.LookupInfo, _: Result<CKShare.Participant, any Error>) in
        }
        participants.fetchShareParticipantsResultBlock = { (_: Result<Void, any Error>) in }
        #expect(participants.userIdentityLookupInfos == [info])
        participants.userIdentityLookupInfos = nil
        #expect(participants.userIdentityLookupInfos == nil)
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-399: the older blocks of sharing`() {
        let metadata = CKFetchShareMetadataOperation()
        metadata.perShareMetadataBlock = { (_: URL, _: CKShare.Metadata?, _: (any Error)?) in }
        metadata.fetchShareMetadataCompletionBlock = { (_: (any Error)?) in }
        let accept = CKAcceptSharesOperation()
        accept.perShareCompletionBlock = { (_: CKShare.Metadata, _: CKShare?, _: (any Error)?) in }
        accept.acceptSharesCompletionBlock = { (_: (any Error)?) in }
        let participants = CKFetchShareParticipantsOperation()
        participants.shareParticipantFetchedBlock = { (_: CKShare.Participant) in }
        participants.fetchShareParticipantsCompletionBlock = { (_: (any Error)?) in }
        #expect(metadata.perShareMetadataBlock != nil && accept.perShareCompletionBlock != nil)
        #expect(participants.shareParticipantFetchedBlock != nil)
    }

    @available(*, deprecated)
    @Test func `R-395: the settings of CKOperation itself are those of its configuration`() {
        let operation = CKOperation()
        let container = CKContainer(identifier: "iCloud.org.example.api")
        operation.container = container
        operation.isLongLived = true
        operation.allowsCellularAccess = false
        operation.timeoutIntervalForRequest = 1
        operation.timeoutIntervalForResource = 2
        #expect(operation.container === container && operation.isLongLived && !operation.allowsCellularAccess)
        #expect(operation.timeoutIntervalForRequest == 1 && operation.timeoutIntervalForResource == 2)
        #expect(operation.configuration.container === container && operation.configuration.isLongLived)
        #expect(!operation.configuration.allowsCellularAccess)
        #expect(operation.configuration.timeoutIntervalForResource == 2)
    }

    @available(*, deprecated)
    @Test func `R-218: ZoneOptions are the configurations of zones`() {
        let options = CKFetchRecordZoneChangesOperation.ZoneOptions()
        options.desiredKeys = ["text"]
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID], optionsByRecordZoneID: [zoneID: options])
        #expect(operation.configurationsByRecordZoneID?[zoneID]?.desiredKeys == ["text"])
        operation.optionsByRecordZoneID = nil
        #expect(operation.configurationsByRecordZoneID == nil && operation.optionsByRecordZoneID == nil)
    }

    /// Compiled only: blocks may change what they capture, as no two of them run at a time.
    func blocksWithState() -> CKQueryOperation {
        let operation = CKQueryOperation()
        var names: [String] = []
        operation.recordMatchedBlock = { id, _ in names.append(id.recordName) }
        operation.queryResultBlock = { _ in names.removeAll() }
        return operation
    }

    private final class Mock: CKModifyRecordsOperation, @unchecked Sendable {
        var starts = 0
        override func start() { starts += 1 }
        override var isFinished: Bool { starts > 0 }
    }

    @Test func `operations can be subclassed`() {
        let mock = Mock()
        mock.recordIDsToDelete = [recordID]
        (mock as CKDatabaseOperation).start()
        #expect(mock.starts == 1 && mock.isFinished)
    }
}
