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

    @Test func `R-370: an error that is printed says its code, its number and its text`() throws {
        let offline = CKError(.networkUnavailable, message: "Nobody there.")
        let busy = CKError(.zoneBusy, message: "The zone is busy.", retryAfter: 2.5)
        let cases: [(CKError, String)] = [
            (offline, "CKError(networkUnavailable (3): Nobody there.)"),
            (busy, "CKError(zoneBusy (23): The zone is busy. (retry after 2.5 s))"),
            (CKError(.badContainer), "CKError(badContainer (5): \(CKError.Code.badContainer.text))"),
            (
                CKError(partialErrors: [
                    CKRecord.ID(recordName: "b", zoneID: CKRecordZone.ID(zoneName: "N")): busy,
                    CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "N")): offline,
                ]),
                "CKError(partialFailure (2): \(CKError.Code.partialFailure.text) [N/a: networkUnavailable (3): Nobody there.; "
                    + "N/b: zoneBusy (23): The zone is busy. (retry after 2.5 s)])"
            ),
        ]
        for (error, text) in cases {
            let any: any Error = error
            let object = error as NSError
            #expect("\(error)" == text && "\(any)" == text && "\(object)" == text && String(reflecting: object) == text)
            #expect(String(reflecting: any) == text)
        }
        let unknown = try #require(NSError(domain: CKErrorDomain, code: 99) as any Error as? CKError)
        #expect("\(unknown)".contains("unknown (99)"))
        let many = Dictionary(uniqueKeysWithValues: (10..<30).map { (AnyHashable("\($0)"), busy as any Error) })
        let text = "\(CKError(partialErrors: many))"
        #expect(text.contains("; 19: zoneBusy") && !text.contains("20: zone") && text.hasSuffix("; and 10 more])"))
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
        #expect(CKError(.zoneNotFound).localizedDescription == "The zone does not exist. Save it first.")
        #expect(CKError(.zoneNotFound, message: "no zone X").localizedDescription == "no zone X")
        #expect((CKError(.zoneNotFound) as any Error).localizedDescription == "The zone does not exist. Save it first.")
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

    private func archived(_ error: CKError) throws -> CKError {
        let data = try NSKeyedArchiver.archivedData(withRootObject: error as NSError, requiringSecureCoding: true)
        let object = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSError.self, from: data))
        return try #require(object as any Error as? CKError)
    }

    @Test func `R-371, R-372: an error is archived with all that it tells, and read with secure coding`() throws {
        let busy = CKError(.zoneBusy, message: "busy", retryAfter: 1.5)
        #expect(try archived(busy) == busy)
        #expect(try archived(busy).retryAfterSeconds == 1.5 && archived(busy).localizedDescription == "busy")
        let plain = CKError(.zoneNotFound, userInfo: [CKErrorUserDidResetEncryptedDataKey: true])
        #expect(try archived(plain).userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)

        let id = CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Z"))
        let client = CKRecord(recordType: "T", recordID: id)
        client["text"] = "mine"
        let server = CKRecord(recordType: "T", recordID: id)
        server["text"] = "theirs"
        let conflict = CKError(serverRecordChanged: server, client: client, message: "client oplock error")
        let partial = CKError(partialErrors: [id: conflict, id.zoneID: busy])
        let read = try archived(partial)
        #expect(read.code == .partialFailure && read.partialErrorsByItemID?.count == 2)
        #expect(read.partialErrorsByItemID?[id.zoneID] as? CKError == busy)
        let item = try #require(read.partialErrorsByItemID?[id] as? CKError)
        #expect(item.code == .serverRecordChanged && item.localizedDescription == "client oplock error")
        #expect(item.serverRecord?["text"] as? String == "theirs" && item.serverRecord?.recordID == id)
        #expect(item.clientRecord?["text"] as? String == "mine" && item.clientRecord?.changedKeys() == ["text"])
        #expect(item.ancestorRecord?.recordID == id && item.ancestorRecord?.allKeys() == [])
        // in all the ways that apps use.
        let errors = read.userInfo[CKPartialErrorsByItemIDKey]
        #expect((errors as? [AnyHashable: CKError])?.count == 2 && (errors as? NSDictionary)?.count == 2)
        // An archive of an archive's error is the same; what is no data of an error is left out.
        #expect(try archived(read).partialErrorsByItemID?.count == 2)
        let foreign = NSError(domain: "other", code: 7, userInfo: [NSLocalizedDescriptionKey: "why"])
        let caused = CKError(.networkFailure, userInfo: [NSUnderlyingErrorKey: foreign, "closure": { 1 }])
        let cause = try archived(caused).userInfo[NSUnderlyingErrorKey] as? NSError
        #expect(cause?.domain == "other" && cause?.code == 7 && cause?.localizedDescription == "why")
        #expect(try archived(caused).userInfo["closure"] == nil)
    }

    @Test func `R-372: retryAfterSeconds may be with any code`() {
        #expect(CKError(.zoneBusy, message: "busy", retryAfter: 1.5).retryAfterSeconds == 1.5)
        #expect(CKError(.quotaExceeded, userInfo: [CKErrorRetryAfterKey: 3]).retryAfterSeconds == 3)
        #expect(CKError(.zoneBusy).retryAfterSeconds == nil)
    }
}
