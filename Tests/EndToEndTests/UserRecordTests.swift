// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit

/// each user's own record, in a container's databases.
@Suite struct UserRecordTests {
    @Test func `R-058: a user record is there without being saved, and belongs to its user`() async throws {
        let site = try await DevServer.shared()
        let (alice, bob) = (site.makeContainer("alice"), site.makeContainer("bob"))
        let id = try await alice.userRecordID()
        #expect(id.recordName.hasPrefix("_") && id.zoneID == .default)
        for scope in [CKDatabase.Scope.public, .private] {
            let database = alice.database(with: scope)
            let record = try await database.record(for: id)
            #expect(record.recordType == CKRecord.SystemType.userRecord && record.allKeys().isEmpty)
            #expect(record.recordID == id && record.recordChangeTag != nil)
            #expect(record.creatorUserRecordID?.recordName == CKCurrentUserDefaultName)
            // the stand-in means it as well.
            let own = try #require(record.creatorUserRecordID)
            #expect(try await database.record(for: own).recordChangeTag == record.recordChangeTag)
            record["nickname"] = "al"
            let saved = try await database.save(record)
            #expect(try await database.record(for: id)["nickname"] as? String == "al")
            saved["nickname"] = nil
            try await database.save(saved)
            #expect(try await database.record(for: id).allKeys().isEmpty)
            // It is not deletable, not queryable, and of one type.
            #expect(try await failure { try await database.deleteRecord(withID: id) }.code == .permissionFailure)
            let query = CKQuery(recordType: "Users", predicate: NSPredicate(value: true))
            #expect(try await failure { try await database.records(matching: query) }.code == .invalidArguments)
            let other = CKRecord(recordType: "Note", recordID: id)
            #expect(try await failure { try await database.save(other) }.code == .invalidArguments)
            let nameless = CKRecord(recordType: "Users", recordID: CKRecord.ID(recordName: "me"))
            #expect(try await failure { try await database.save(nameless) }.code == .invalidArguments)
            let elsewhere = CKRecord(
                recordType: "Users", recordID: CKRecord.ID(recordName: id.recordName, zoneID: .init(zoneName: "Z")))
            let refusal = try await failure { try await database.save(elsewhere) }
            #expect([.permissionFailure, .zoneNotFound].contains(refusal.code))
        }
        // In public, others may read it as any record, and not write it; in private they have their own.
        let seen = try await bob.publicCloudDatabase.record(for: id)
        seen["nickname"] = "bob was here"
        #expect(try await failure { try await bob.publicCloudDatabase.save(seen) }.code == .permissionFailure)
        #expect(try await failure { try await bob.privateCloudDatabase.record(for: id) }.code == .unknownItem)
        let forged = CKRecord(
            recordType: "Users", recordID: CKRecord.ID(recordName: "_" + String(repeating: "a", count: 32)))
        #expect(try await failure { try await bob.publicCloudDatabase.save(forged) }.code == .permissionFailure)
        let nobody = site.makeNobody().publicCloudDatabase
        #expect(try await nobody.record(for: id).recordType == "Users")
    }

    @Test func `R-058, R-133: a user record does not go with what it refers to`() async throws {
        let container = try await DevServer.shared().makeContainer()
        let id = try await container.userRecordID()
        for scope in [CKDatabase.Scope.public, .private] {
            let database = container.database(with: scope)
            let (target, holder) = (CKRecord.ID(recordName: "target"), CKRecord.ID(recordName: "holder"))
            try await database.save(CKRecord(recordType: "Note", recordID: target))
            let user = try await database.record(for: id)
            let other = CKRecord(recordType: "Note", recordID: holder)
            for record in [user, other] {
                record["favourite"] = CKRecord.Reference(recordID: target, action: .deleteSelf)
                try await database.save(record)
            }
            try await database.deleteRecord(withID: target)
            #expect(try await failure { try await database.record(for: holder) }.code == .unknownItem)
            #expect(try await database.record(for: id)["favourite"] is CKRecord.Reference)
        }
    }

    @Test func `R-058, R-390: the operation for the current user finds the record`() async throws {
        let container = try await DevServer.shared().makeContainer()
        let id = try await container.userRecordID()
        let found: CKRecord? = await withCheckedContinuation { continuation in
            let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
            operation.perRecordResultBlock = { told, result in
                #expect(told == id)
                continuation.resume(returning: try? result.get())
            }
            container.publicCloudDatabase.add(operation)
        }
        #expect(found?.recordID == id && found?.recordType == "Users")
    }

    @Test func `R-352: the operation for the current user fails as a whole where there is none`() async throws {
        let container = try await DevServer.shared().makeContainer()
        container.signOut()
        let result: Result<Void, any Error> = await withCheckedContinuation { continuation in
            let operation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
            operation.perRecordResultBlock = { id, _ in Issue.record("told of \(id)") }
            operation.fetchRecordsResultBlock = { continuation.resume(returning: $0) }
            container.publicCloudDatabase.add(operation)
        }
        let error = #expect(throws: CKError.self) { try result.get() }
        #expect(error?.code == .notAuthenticated)
    }
}
