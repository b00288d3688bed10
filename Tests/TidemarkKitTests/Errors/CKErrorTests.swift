// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct CKErrorTests {
    @Test func `R-370: codes have CloudKit's numbers`() {
        #expect(CKError.Code.allCases.map(\.rawValue) == Array(1...37))
        #expect(CKError.Code.serverRecordChanged.rawValue == 14 && CKError.Code.zoneNotFound.rawValue == 26)
        #expect(CKError.Code.accountTemporarilyUnavailable.rawValue == 36)
        #expect(CKError.changeTokenExpired == CKError.Code(rawValue: 21))
        #expect(CKError.errorDomain == CKErrorDomain && CKErrorDomain == "CKErrorDomain")
    }

    @Test func `R-370: an NSError of our domain is a CKError, and the other way round`() throws {
        let plain: any Error = NSError(domain: CKErrorDomain, code: 26, userInfo: ["k": "v"])
        let error = try #require(plain as? CKError)
        #expect(error.code == .zoneNotFound && error.errorCode == 26 && error.userInfo["k"] as? String == "v")
        let back: any Error = CKError(.zoneBusy, userInfo: ["k": 1]) as NSError
        #expect((back as? CKError)?.code == .zoneBusy)
        #expect((back as NSError).userInfo["k"] as? Int == 1)
        #expect(NSError(domain: "other", code: 26) as any Error as? CKError == nil)
        do {
            throw NSError(domain: CKErrorDomain, code: 14)
        } catch CKError.serverRecordChanged {
        } catch {
            Issue.record("not caught")
        }
        do {
            throw CKError(.zoneBusy)
        } catch CKError.zoneNotFound {
            Issue.record("wrong code")
        } catch {}
        let unknown = try #require(NSError(domain: CKErrorDomain, code: 99) as any Error as? CKError)
        #expect(unknown.code == .internalError && unknown.errorCode == 99)
    }

    @Test(arguments: [3, 3.0, Float(3), NSNumber(value: 3)] as [any Sendable])
    func `R-372: the seconds of an error that an app makes are a number of any type`(_ seconds: any Sendable) {
        let error = CKError(.requestRateLimited, userInfo: [CKErrorRetryAfterKey: seconds])
        #expect(error.retryAfterSeconds == 3)
        for userInfo in [error.userInfo, (error as NSError).userInfo] {
            #expect(userInfo[CKErrorRetryAfterKey] as? Double == 3 && userInfo[CKErrorRetryAfterKey] as? Int == 3)
        }
    }

    @Test func `R-371: the errors of items can be taken in all the ways that apps use`() {
        let id = CKRecord.ID(recordName: "a")
        let error = CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: [id: CKError(.zoneBusy)]])
        for userInfo in [error.userInfo, (error as NSError).userInfo] {
            let errors = userInfo[CKPartialErrorsByItemIDKey]
            #expect((errors as? [CKRecord.ID: any Error])?.keys.first == id)
            #expect((errors as? [CKRecord.ID: CKError])?[id]?.code == .zoneBusy)
            #expect((errors as? [CKRecord.ID: NSError])?[id]?.code == CKError.zoneBusy.rawValue)
            #expect((errors as? [NSObject: CKError])?.count == 1)
            #expect((errors as? [AnyHashable: Any])?.count == 1)
            #expect((errors as? NSDictionary)?.count == 1)
        }
        #expect((error.partialErrorsByItemID as? [CKRecord.ID: CKError])?[id] == CKError(.zoneBusy))
    }

    @Test func `R-370: errors say something, are equal when their content is, and can be keys`() {
        #expect(CKError(.zoneNotFound).localizedDescription == "The zone does not exist.")
        #expect(CKError(.zoneNotFound, message: "no zone X").localizedDescription == "no zone X")
        #expect((CKError(.zoneNotFound) as any Error).localizedDescription == "The zone does not exist.")
        #expect(CKError.Code.allCases.allSatisfy { !CKError($0).localizedDescription.isEmpty })
        #expect(CKError(.zoneBusy) == CKError(.zoneBusy) && CKError(.zoneBusy) != CKError(.zoneNotFound))
        #expect(CKError(.zoneBusy, userInfo: ["a": 1]) != CKError(.zoneBusy))
        #expect(Set([CKError(.zoneBusy), CKError(.zoneBusy), CKError(.badDatabase)]).count == 2)
    }

    @Test func `R-371: userInfo holds partial errors and the three records`() throws {
        let id = CKRecord.ID(recordName: "a")
        let partial = CKError(partialErrors: [id: CKError(.unknownItem)])
        #expect(partial.code == .partialFailure)
        #expect((partial.partialErrorsByItemID?[id] as? CKError)?.code == .unknownItem)
        #expect((partial.userInfo[CKPartialErrorsByItemIDKey] as? [CKRecord.ID: any Error])?.count == 1)
        let bridged = try #require((partial as NSError) as any Error as? CKError)
        #expect((bridged.partialErrorsByItemID?[id] as? CKError)?.code == .unknownItem)
        let client = CKRecord(recordType: "T", recordID: id)
        client["a"] = 1
        let server = CKRecord(recordType: "T", recordID: id)
        let conflict = CKError(serverRecordChanged: server, client: client, message: "record to insert already exists")
        #expect(conflict.code == .serverRecordChanged)
        #expect(conflict.serverRecord === server && conflict.clientRecord === client)
        #expect(conflict.ancestorRecord?.recordID == id && conflict.ancestorRecord?.allKeys() == [])
        #expect(conflict.userInfo["ServerRecord"] as? CKRecord === server)
        #expect(CKError(.zoneBusy).serverRecord == nil && CKError(.zoneBusy).partialErrorsByItemID == nil)
    }

    @Test func `R-372: retryAfterSeconds may be with any code`() {
        #expect(CKError(.zoneBusy, message: "busy", retryAfter: 1.5).retryAfterSeconds == 1.5)
        #expect(CKError(.quotaExceeded, userInfo: [CKErrorRetryAfterKey: 3]).retryAfterSeconds == 3)
        #expect(CKError(.zoneBusy).retryAfterSeconds == nil)
    }
}
