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
        let data = try NSKeyedArchiver.archivedData(withRootObject: group, requiringSecureCoding: true)
        let back = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKOperationGroup.self, from: data))
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
