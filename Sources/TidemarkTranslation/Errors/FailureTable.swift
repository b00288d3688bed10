// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkTelemetry
package import TidemarkWire

/// What the protocol says for a ``FailureReason``, besides its text: CloudKit's code, and when to try again.
struct FailureLine {
    let code: WireErrorCode
    /// Seconds. 0: not said. R-372: zoneBusy, requestRateLimited and serviceUnavailable always have it.
    let retryAfter: Double
    let isKeyReset: Bool
    let isKeyUnknown: Bool

    init(_ code: WireErrorCode, retryAfter: Double = 0, isKeyReset: Bool = false, isKeyUnknown: Bool = false) {
        self.code = code
        self.retryAfter = retryAfter
        self.isKeyReset = isKeyReset
        self.isKeyUnknown = isKeyUnknown
    }
}

extension FailureReason {
    /// The one place where the rules' reasons become codes of the wire (section 13 of the rules).
    var line: FailureLine {
        switch self {
        case .serverFault: FailureLine(.internalError)
        case .containerUnknown, .containerClosed: FailureLine(.badContainer)
        case .storeUnavailable: FailureLine(.serviceUnavailable, retryAfter: 2)
        case .tooManyRequests: FailureLine(.requestRateLimited, retryAfter: 1)
        case .notAuthenticated: FailureLine(.notAuthenticated)
        case .notPermitted, .createNotPermitted, .notShareAdministrator: FailureLine(.permissionFailure)
        case .recordMissing, .recordUnknown, .subscriptionUnknown, .recordTypeUnknown, .shareUnknown:
            FailureLine(.unknownItem)
        case .recordTypeChanged, .itemRepeated, .recordNameInvalid, .recordTypeInvalid, .fieldsInvalid, .parentCycle,
            .zoneNameInvalid, .zoneIsDefault, .tokenInvalid, .feedUnavailable, .subscriptionInvalid, .requestInvalid,
            .typeUnknown, .fieldUnknown, .fieldTypeDiffers, .fieldSpaceDiffers, .referenceElsewhere,
            .recordTypeNotQueryable, .queryTooLarge, .operatorInvalid, .negationInvalid, .valueKindWrong,
            .queryFieldUnknown, .fieldEncrypted, .fieldNotComparable,
            .fieldNotQueryable, .fieldNotSortable, .sortInvalid, .cursorInvalid, .zoneRequired, .valueNotEncrypted,
            .zoneNotShareable, .shareInvalid, .participantInvalid, .participantsFixed, .shareIsOwn, .shareRootMissing,
            .zoneHasHierarchies:
            FailureLine(.invalidArguments)
        case .recordExists, .recordChanged: FailureLine(.serverRecordChanged)
        case .requestForgotten: FailureLine(.serverResponseLost)
        case .zoneScopeFixed, .zoneIsShared: FailureLine(.serverRejectedRequest)
        case .tokenExpired: FailureLine(.changeTokenExpired)
        case .batchFailed: FailureLine(.batchRequestFailed)
        case .zoneBusy, .tooMuchAtOnce: FailureLine(.zoneBusy, retryAfter: 1)
        case .wrongDatabase: FailureLine(.badDatabase)
        case .zoneNotFound: FailureLine(.zoneNotFound)
        case .zoneKeysReset: FailureLine(.zoneNotFound, isKeyReset: true)
        case .tooManyItems, .requestTooLarge, .recordTooLarge, .tooMuchStored, .tooManyZones, .tooManySubscriptions,
            .schemaFull, .tooManyReferences, .tooManyTargets, .cascadeTooLarge, .assetTooLarge, .tooManyZoneKeys,
            .tooManySharedZones, .tooManySharedZoneKeys, .tooMuchShared, .tooManyBlocked, .tooManyAccountZones,
            .hierarchyTooLarge, .tooManyHierarchies, .tooManyParts:
            FailureLine(.limitExceeded)
        case .queryTooSlow: FailureLine(.limitExceeded, retryAfter: 10)
        case .tooManyParticipants: FailureLine(.tooManyParticipants)
        case .alreadyShared: FailureLine(.alreadyShared)
        case .alreadyInvited: FailureLine(.participantAlreadyInvited)
        case .zonePurged: FailureLine(.userDeletedZone)
        case .assetMissing: FailureLine(.assetNotAvailable)
        case .assetModified: FailureLine(.assetFileModified)
        case .assetsFull, .quotaExceeded, .publicShareFull: FailureLine(.quotaExceeded)
        case .uploadsFull: FailureLine(.zoneBusy, retryAfter: 3)
        case .hierarchiesUnavailable: FailureLine(.zoneBusy, retryAfter: 5)
        // An operator gave the wrong key, which `Keys` logs. Nothing is wrong with what was sent.
        case .masterKeyWrong: FailureLine(.internalError)
        case .assetsUnavailable, .keysUnavailable, .encryptionModeDiffers:
            FailureLine(.serverRejectedRequest)
        case .zoneKeyUnknown: FailureLine(.serverRejectedRequest, isKeyUnknown: true)
        case .parentMissing, .stillParent: FailureLine(.referenceViolation)
        }
    }

    /// What the protocol says for it.
    package var code: WireErrorCode { line.code }

    /// The failure as a message. Each `INTERNAL_ERROR` is told to the operator here, because all of them pass here.
    ///
    /// - Parameters:
    ///   - detail: replaces the reason's own text, if given.
    ///   - retryAfter: seconds; replaces the reason's own delay, if given.
    package func wire(detail: String? = nil, retryAfter: Double? = nil) -> WireFailure {
        if self == .serverFault {
            FailureLog.shared.note(.error, "a request was answered INTERNAL_ERROR", cause: detail ?? "serverFault")
        }
        let line = line
        var failure = WireFailure()
        failure.code = line.code
        failure.message = detail ?? text
        failure.retryAfterSeconds = retryAfter ?? line.retryAfter
        failure.userDidResetEncryptedDataKey = line.isKeyReset
        failure.zoneKeyUnknown = line.isKeyUnknown
        return failure
    }
}
