// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// One use of each symbol of Tests/API.md, section CKError, in that order.
@Suite struct CKErrorAPITests {
    @Test func `R-370: CKError is an error of Swift and of Foundation`() throws {
        let error = CKError(.zoneNotFound, userInfo: [NSLocalizedDescriptionKey: "No such zone"])
        #expect(CKError(.internalError).code == .internalError)
        #expect(CKError.errorDomain == "CKErrorDomain")
        let code: CKError.Code = error.code
        #expect(code == .zoneNotFound && error.errorCode == 26)
        #expect(error.userInfo[NSLocalizedDescriptionKey] as? String == "No such zone")
        #expect(error.errorUserInfo.count == error.userInfo.count && error.localizedDescription == "No such zone")
        let any: any Error = error
        #expect((any as? CKError)?.code == .zoneNotFound)
        #expect((any as NSError).domain == CKErrorDomain && (any as NSError).code == 26)
        do { throw any } catch CKError.zoneNotFound {} catch { Issue.record("not caught by its code: \(error)") }
        do { throw any } catch let error as CKError where error.code == .zoneNotFound {} catch {
            Issue.record("not caught as what it is: \(error)")
        }
        do { throw any } catch CKError.unknownItem { Issue.record("caught by another code") } catch {}
        let localized: any LocalizedError = error
        #expect(localized.errorDescription == "No such zone")
    }

    @Test func `R-371, R-372: what an error carries`() {
        let server = CKRecord(recordType: "Note")
        let client = CKRecord(recordType: "Note")
        let ancestor = CKRecord(recordType: "Note")
        let error = CKError(
            .serverRecordChanged,
            userInfo: [
                CKRecordChangedErrorServerRecordKey: server, CKRecordChangedErrorClientRecordKey: client,
                CKRecordChangedErrorAncestorRecordKey: ancestor, CKErrorRetryAfterKey: 2.5,
                CKErrorUserDidResetEncryptedDataKey: true,
            ])
        #expect(error.serverRecord === server && error.clientRecord === client && error.ancestorRecord === ancestor)
        let seconds: Double? = error.retryAfterSeconds
        #expect(seconds == 2.5 && error.userInfo[CKErrorUserDidResetEncryptedDataKey] as? Bool == true)
        let id = CKRecord.ID(recordName: "r")
        let partial = CKError(.partialFailure, userInfo: [CKPartialErrorsByItemIDKey: [id: error]])
        let errors: [AnyHashable: any Error]? = partial.partialErrorsByItemID
        #expect((errors?[id] as? CKError)?.code == .serverRecordChanged)
    }

    @available(*, deprecated, message: "uses what is deprecated")
    @Test func `R-370: the code that is not used any more`() {
        let code: CKError.Code = CKError.resultsTruncated
        #expect(code == .resultsTruncated && code.rawValue == 13)
    }

    @Test func `R-370: every code, by its name on CKError and on CKError.Code`() {
        let codes: [(CKError.Code, CKError.Code, Int)] = [
            (CKError.internalError, .internalError, 1), (CKError.partialFailure, .partialFailure, 2),
            (CKError.networkUnavailable, .networkUnavailable, 3), (CKError.networkFailure, .networkFailure, 4),
            (CKError.badContainer, .badContainer, 5), (CKError.serviceUnavailable, .serviceUnavailable, 6),
            (CKError.requestRateLimited, .requestRateLimited, 7), (CKError.missingEntitlement, .missingEntitlement, 8),
            (CKError.notAuthenticated, .notAuthenticated, 9), (CKError.permissionFailure, .permissionFailure, 10),
            (CKError.unknownItem, .unknownItem, 11), (CKError.invalidArguments, .invalidArguments, 12),
            (CKError.serverRecordChanged, .serverRecordChanged, 14),
            (CKError.serverRejectedRequest, .serverRejectedRequest, 15),
            (CKError.assetFileNotFound, .assetFileNotFound, 16), (CKError.assetFileModified, .assetFileModified, 17),
            (CKError.incompatibleVersion, .incompatibleVersion, 18),
            (CKError.constraintViolation, .constraintViolation, 19),
            (CKError.operationCancelled, .operationCancelled, 20),
            (CKError.changeTokenExpired, .changeTokenExpired, 21),
            (CKError.batchRequestFailed, .batchRequestFailed, 22), (CKError.zoneBusy, .zoneBusy, 23),
            (CKError.badDatabase, .badDatabase, 24), (CKError.quotaExceeded, .quotaExceeded, 25),
            (CKError.zoneNotFound, .zoneNotFound, 26), (CKError.limitExceeded, .limitExceeded, 27),
            (CKError.userDeletedZone, .userDeletedZone, 28), (CKError.tooManyParticipants, .tooManyParticipants, 29),
            (CKError.alreadyShared, .alreadyShared, 30), (CKError.referenceViolation, .referenceViolation, 31),
            (CKError.managedAccountRestricted, .managedAccountRestricted, 32),
            (CKError.participantMayNeedVerification, .participantMayNeedVerification, 33),
            (CKError.serverResponseLost, .serverResponseLost, 34), (CKError.assetNotAvailable, .assetNotAvailable, 35),
            (CKError.accountTemporarilyUnavailable, .accountTemporarilyUnavailable, 36),
            (CKError.participantAlreadyInvited, .participantAlreadyInvited, 37),
        ]
        for (named, code, number) in codes {
            #expect(named == code && code.rawValue == number && CKError.Code(rawValue: number) == code)
        }
    }

    @Test func `R-371: the keys of userInfo`() {
        let keys: [String] = [
            CKErrorDomain, CKPartialErrorsByItemIDKey, CKRecordChangedErrorServerRecordKey,
            CKRecordChangedErrorClientRecordKey, CKRecordChangedErrorAncestorRecordKey, CKErrorRetryAfterKey,
            CKErrorUserDidResetEncryptedDataKey,
        ]
        #expect(Set(keys).count == 7 && keys[0] == "CKErrorDomain")
    }
}
