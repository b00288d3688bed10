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
