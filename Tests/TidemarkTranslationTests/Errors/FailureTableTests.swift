// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTranslation
import TidemarkWire

@Suite struct FailureTableTests {
    private static let expected: [(FailureReason, WireErrorCode)] = [
        (.zoneNotFound, .zoneNotFound), (.zonePurged, .userDeletedZone), (.zoneKeysReset, .zoneNotFound),
        (.recordExists, .serverRecordChanged), (.recordChanged, .serverRecordChanged), (.recordMissing, .unknownItem),
        (.recordUnknown, .unknownItem), (.recordTypeChanged, .invalidArguments), (.itemRepeated, .invalidArguments),
        (.recordNameInvalid, .invalidArguments), (.recordTypeInvalid, .invalidArguments),
        (.fieldsInvalid, .invalidArguments), (.recordTooLarge, .limitExceeded), (.parentMissing, .referenceViolation),
        (.parentCycle, .invalidArguments), (.stillParent, .referenceViolation), (.batchFailed, .batchRequestFailed),
        (.zoneNameInvalid, .invalidArguments), (.zoneIsDefault, .invalidArguments), (.tooManyItems, .limitExceeded),
        (.requestTooLarge, .limitExceeded), (.tooManyZones, .limitExceeded), (.requestForgotten, .serverResponseLost),
        (.tooManySubscriptions, .limitExceeded), (.tooManyAccountZones, .limitExceeded),
        (.tokenExpired, .changeTokenExpired), (.tokenInvalid, .invalidArguments), (.feedUnavailable, .invalidArguments),
        (.wrongDatabase, .badDatabase), (.notAuthenticated, .notAuthenticated), (.notPermitted, .permissionFailure),
        (.createNotPermitted, .permissionFailure), (.referenceElsewhere, .invalidArguments),
        (.tooManyReferences, .limitExceeded), (.tooManyTargets, .limitExceeded), (.cascadeTooLarge, .limitExceeded),
        (.zoneScopeFixed, .serverRejectedRequest),
        (.subscriptionUnknown, .unknownItem), (.subscriptionInvalid, .invalidArguments), (.zoneBusy, .zoneBusy),
        (.storeUnavailable, .serviceUnavailable), (.tooManyRequests, .requestRateLimited),
        (.requestInvalid, .invalidArguments), (.containerUnknown, .badContainer), (.containerClosed, .badContainer),
        (.serverFault, .internalError),
        (.assetMissing, .assetNotAvailable), (.assetTooLarge, .limitExceeded), (.assetModified, .assetFileModified),
        (.assetsFull, .quotaExceeded), (.quotaExceeded, .quotaExceeded), (.uploadsFull, .zoneBusy),
        (.publicShareFull, .quotaExceeded),
        (.assetsUnavailable, .serverRejectedRequest),
        (.keysUnavailable, .serverRejectedRequest), (.masterKeyWrong, .internalError),
        (.zoneKeyUnknown, .serverRejectedRequest), (.encryptionModeDiffers, .serverRejectedRequest),
        (.valueNotEncrypted, .invalidArguments), (.tooManyZoneKeys, .limitExceeded),
        (.typeUnknown, .invalidArguments), (.fieldUnknown, .invalidArguments), (.fieldTypeDiffers, .invalidArguments),
        (.fieldSpaceDiffers, .invalidArguments), (.schemaFull, .limitExceeded),
        (.recordTypeUnknown, .unknownItem), (.recordTypeNotQueryable, .invalidArguments),
        (.queryTooLarge, .invalidArguments), (.operatorInvalid, .invalidArguments),
        (.negationInvalid, .invalidArguments), (.valueKindWrong, .invalidArguments),
        (.queryFieldUnknown, .invalidArguments), (.fieldEncrypted, .invalidArguments),
        (.fieldNotComparable, .invalidArguments),
        (.fieldNotQueryable, .invalidArguments), (.fieldNotSortable, .invalidArguments),
        (.sortInvalid, .invalidArguments), (.cursorInvalid, .invalidArguments), (.zoneRequired, .invalidArguments),
        (.queryTooSlow, .limitExceeded), (.tooMuchAtOnce, .zoneBusy), (.tooMuchStored, .limitExceeded),
        (.zoneNotShareable, .invalidArguments), (.shareInvalid, .invalidArguments),
        (.hierarchiesUnavailable, .zoneBusy),
        (.zoneIsShared, .serverRejectedRequest), (.alreadyShared, .alreadyShared),
        (.shareRootMissing, .invalidArguments),
        (.zoneHasHierarchies, .invalidArguments), (.hierarchyTooLarge, .limitExceeded),
        (.tooManyHierarchies, .limitExceeded), (.tooManyParts, .limitExceeded),
        (.participantInvalid, .invalidArguments), (.participantsFixed, .invalidArguments),
        (.tooManyParticipants, .tooManyParticipants), (.notShareAdministrator, .permissionFailure),
        (.shareUnknown, .unknownItem), (.shareIsOwn, .invalidArguments), (.tooManySharedZones, .limitExceeded),
        (.tooManySharedZoneKeys, .limitExceeded), (.tooMuchShared, .limitExceeded),
        (.alreadyInvited, .participantAlreadyInvited), (.tooManyBlocked, .limitExceeded),
    ]

    @Test func `R-370, R-376: every reason has the code that the rules name, and a text`() {
        #expect(Set(Self.expected.map(\.0)) == Set(FailureReason.allCases))
        for (reason, code) in Self.expected {
            #expect(reason.wire().code == code, "\(reason)")
            #expect(reason.wire().message == reason.text)
            #expect(reason.wire(detail: "more").message == "more")
        }
    }

    @Test func `R-155: every limitExceeded tells the limit`() {
        for reason in FailureReason.allCases where reason.wire().code == .limitExceeded {
            #expect(reason.text(within: Limits()) != reason.text, "\(reason)")
        }
    }

    @Test func `R-372: busy, throttled and unavailable say when to try again, others do not, but for a slow query`() {
        for reason in FailureReason.allCases {
            let failure = reason.wire()
            let waits: Set<WireErrorCode> = [.zoneBusy, .requestRateLimited, .serviceUnavailable]
            let waitsToo = reason == .queryTooSlow
            #expect((failure.retryAfterSeconds > 0) == (waits.contains(failure.code) || waitsToo), "\(reason)")
        }
    }

    @Test func `R-107: only a key reset carries the flag`() {
        for reason in FailureReason.allCases {
            #expect(reason.wire().userDidResetEncryptedDataKey == (reason == .zoneKeysReset))
            #expect(reason.wire().zoneKeyUnknown == (reason == .zoneKeyUnknown))
        }
    }
}
