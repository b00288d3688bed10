// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct CKOperationTests {
    @Test func `a configuration has CloudKit's defaults, and a copy is independent`() throws {
        let configuration = CKOperation.Configuration()
        #expect(configuration.timeoutIntervalForRequest == 60 && configuration.timeoutIntervalForResource == 604_800)
        #expect(configuration.allowsCellularAccess && !configuration.isLongLived && configuration.container == nil)
        let copy = try #require(configuration.copy() as? CKOperation.Configuration)
        copy.timeoutIntervalForRequest = 5
        copy.qualityOfService = .userInitiated
        #expect(configuration.timeoutIntervalForRequest == 60 && copy.qualityOfService == .userInitiated)
    }

    @Test func `a group keeps its name through an archive`() throws {
        let group = CKOperationGroup()
        group.name = "tap"
        group.quantity = 3
        group.expectedSendSize = .megabytes
        let back = try archived(group)
        #expect(back.name == "tap" && back.quantity == 3 && back.expectedSendSize == .megabytes)
        #expect(back.operationGroupID == group.operationGroupID)
        #expect(CKOperationGroup().operationGroupID != group.operationGroupID)
        group.defaultConfiguration = nil
        #expect(group.defaultConfiguration != nil)
    }

    @Test func `an operation has a configuration and a name of its own`() {
        let operation = CKOperation()
        operation.configuration.timeoutIntervalForRequest = 7
        #expect(operation.configuration.timeoutIntervalForRequest == 7)
        operation.group = CKOperationGroup()
        #expect(operation.group != nil && operation.operationID != CKOperation().operationID)
    }
}

extension CKOperationTests {
    @Test func `R-395: the operation's own setting holds, then the group's, then the default`() {
        let operation = CKOperation()
        let group = CKOperationGroup()
        operation.group = group
        #expect(operation.effectiveConfiguration.timeoutIntervalForRequest == 60)
        group.defaultConfiguration.timeoutIntervalForRequest = 30
        group.defaultConfiguration.qualityOfService = .utility
        #expect(operation.effectiveConfiguration.timeoutIntervalForRequest == 30)
        operation.configuration.timeoutIntervalForRequest = 60
        #expect(operation.effectiveConfiguration.timeoutIntervalForRequest == 60)
        #expect(operation.effectiveConfiguration.qualityOfService == .utility)
    }

    @Test func `R-395: what is set as a configuration is copied, and nil sets the default`() {
        let shared = CKOperation.Configuration()
        shared.timeoutIntervalForRequest = 5
        let (first, second, group) = (CKOperation(), CKOperation(), CKOperationGroup())
        first.configuration = shared
        second.configuration = shared
        group.defaultConfiguration = shared
        first.configuration.timeoutIntervalForRequest = 7
        shared.timeoutIntervalForRequest = 9
        #expect(first.configuration.timeoutIntervalForRequest == 7)
        #expect(second.configuration.timeoutIntervalForRequest == 5)
        #expect(group.defaultConfiguration.timeoutIntervalForRequest == 5)
        second.configuration = nil
        #expect(second.configuration.timeoutIntervalForRequest == 60)
        let container = CKContainer(identifier: "iCloud.test.copy")
        let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        container.privateCloudDatabase.configuredWith(configuration: shared) { database in
            shared.timeoutIntervalForRequest = 11
            database.add(operation)
        }
        #expect(operation.configuration.timeoutIntervalForRequest == 9)
    }

    @Test func `R-391: an operation runs once`() async {
        let operation = CKModifyRecordsOperation()
        operation.database = .test
        let count = Locked(0)
        operation.modifyRecordsResultBlock = { _ in count.withLock { $0 += 1 } }
        await withCheckedContinuation { continuation in
            operation.completionBlock = { continuation.resume() }
            operation.start()
        }
        operation.start()
        #expect(operation.isFinished && count.withLock { $0 } == 1)
    }

    @Test func `R-050: a zone's configuration survives an archive`() throws {
        let token = CKServerChangeToken(bytes: [1, 2, 3])
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(
            previousServerChangeToken: token, resultsLimit: 7, desiredKeys: ["a"])
        let data = try NSKeyedArchiver.archivedData(withRootObject: configuration, requiringSecureCoding: true)
        let back = try #require(
            try NSKeyedUnarchiver.unarchivedObject(
                ofClass: CKFetchRecordZoneChangesOperation.ZoneConfiguration.self, from: data))
        #expect(back.previousServerChangeToken == token && back.resultsLimit == 7 && back.desiredKeys == ["a"])
        let copy = try #require(configuration.copy() as? CKFetchRecordZoneChangesOperation.ZoneConfiguration)
        copy.resultsLimit = 9
        #expect(configuration.resultsLimit == 7)
    }
}

extension CKOperationTests {
    @Test func `R-392: who adds an operation says whose work it is`() throws {
        let container = CKContainer(identifier: "iCloud.test.add")
        let fetch = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        container.add(fetch)
        #expect(fetch.database === container.privateCloudDatabase)
        #expect(fetch.configuration.container === container)
        let mine = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        mine.database = container.publicCloudDatabase
        mine.configuration.timeoutIntervalForRequest = 7
        container.add(mine)
        #expect(mine.database === container.publicCloudDatabase)
        #expect(mine.configuration.timeoutIntervalForRequest == 7)
        let other = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        container.sharedCloudDatabase.add(other)
        #expect(other.database === container.sharedCloudDatabase)
        let configured = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        let settings = CKOperation.Configuration()
        settings.timeoutIntervalForRequest = 9
        container.configuredWith(configuration: settings) { $0.add(configured) }
        #expect(configured.configuration.timeoutIntervalForRequest == 9)
    }

    @Test func `R-392: without a database it is the private one of the default container, or of the configuration's`()
        async
    {
        // Nobody is signed in there, and that is what private data needs first.
        for container in [nil, CKContainer(identifier: "iCloud.test.configured")] {
            let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
            operation.configuration.container = container
            let code: CKError.Code? = await withCheckedContinuation { continuation in
                operation.fetchRecordZonesResultBlock = { result in
                    guard case .failure(let error) = result else { return continuation.resume(returning: nil) }
                    continuation.resume(returning: (error as? CKError)?.code)
                }
                OperationQueue().addOperation(operation)
            }
            #expect(code == .notAuthenticated)
        }
    }

    @Test func `R-402: with nothing to do there is no request, so that it succeeds without a server`() async throws {
        let context = CloudContext(
            containerIdentifier: "iCloud.test.idle", configuration: TidemarkConfiguration(url: nil, token: "t"))
        let database = CKContainer(context: context).privateCloudDatabase
        let records = try await database.modifyRecords(saving: [], deleting: [])
        #expect(records.saveResults.isEmpty && records.deleteResults.isEmpty)
        #expect(try await database.modifyRecordZones(saving: [], deleting: []).saveResults.isEmpty)
        #expect(try await database.modifySubscriptions(saving: [], deleting: []).saveResults.isEmpty)
        #expect(try await database.records(for: []).isEmpty)
        for operation in [
            CKModifyRecordsOperation(), CKModifyRecordsOperation(recordsToSave: [], recordIDsToDelete: []),
        ] {
            let succeeded: Bool = await withCheckedContinuation { continuation in
                operation.modifyRecordsResultBlock = { result in
                    if case .success = result {
                        continuation.resume(returning: true)
                    } else {
                        continuation.resume(returning: false)
                    }
                }
                database.add(operation)
            }
            #expect(succeeded)
        }
        await #expect(throws: CKError.self) { try await database.allRecordZones() }
    }
}

extension CKOperationTests {
    @Test func `R-394, R-395: an operation is as urgent as it says, or else its configuration or its group`() {
        let operation = CKOperation()
        #expect(operation.priority == nil)
        let group = CKOperationGroup()
        group.defaultConfiguration.qualityOfService = .background
        operation.group = group
        #expect(operation.priority == .background)
        operation.configuration.qualityOfService = .utility
        #expect(operation.priority == .utility)
        operation.qualityOfService = .userInitiated
        #expect(operation.priority == .userInitiated)
    }

    @Test func `R-395, R-396: an operation's own group counts, not that of the database or container it is given to`() {
        let container = CKContainer(identifier: "iCloud.test.groups")
        func group(_ timeout: TimeInterval) -> CKOperationGroup {
            let group = CKOperationGroup()
            group.defaultConfiguration.timeoutIntervalForRequest = timeout
            return group
        }
        func timeout(_ own: CKOperationGroup?, _ add: (CKDatabaseOperation) -> Void) -> TimeInterval {
            let operation = CKModifyRecordsOperation()
            operation.group = own
            add(operation)
            return operation.effectiveConfiguration.timeoutIntervalForRequest
        }
        let (given, own) = (group(30), group(10))
        let settings = CKOperation.Configuration()
        settings.timeoutIntervalForRequest = 20
        for (group, configuration, expected) in [
            (nil, nil, 30), (own, nil, 10), (nil, settings, 20), (own, settings, 20),
        ] as [(CKOperationGroup?, CKOperation.Configuration?, TimeInterval)] {
            container.configuredWith(configuration: configuration, group: given) { container in
                #expect(timeout(group) { container.add($0) } == expected)
                #expect(timeout(group) { container.privateCloudDatabase.add($0) } == expected)
            }
            container.privateCloudDatabase.configuredWith(configuration: configuration, group: given) { database in
                #expect(timeout(group) { database.add($0) } == expected)
            }
        }
    }

    @Test func `R-396: operations given to a configured database or container are of its group, unless of another`() {
        let container = CKContainer(identifier: "iCloud.test.group")
        let (group, other) = (CKOperationGroup(), CKOperationGroup())
        func operation(_ group: CKOperationGroup? = nil) -> CKModifyRecordsOperation {
            let operation = CKModifyRecordsOperation()
            operation.group = group
            return operation
        }
        let added = (operation(), operation(other), operation(), operation(), operation())
        container.privateCloudDatabase.configuredWith(group: group) {
            $0.add(added.0)
            $0.add(added.1)
        }
        container.configuredWith(group: group) {
            $0.add(added.2)
            $0.privateCloudDatabase.add(added.3)
        }
        container.privateCloudDatabase.add(added.4)
        #expect(added.0.group === group && added.1.group === other)
        #expect(added.2.group === group && added.3.group === group && added.4.group == nil)
    }
}
