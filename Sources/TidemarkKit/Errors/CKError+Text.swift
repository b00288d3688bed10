// SPDX-License-Identifier: Apache-2.0

extension CKError.Code {
    /// The text of an error that has none of its own.
    var text: String {
        switch self {
        case .internalError: "Something went wrong inside the library or the server, whose log may say more."
        case .partialFailure: "Some items failed: partialErrorsByItemID has the reasons."
        case .networkUnavailable: "There is no network."
        case .networkFailure: "The connection could not be made or was lost."
        case .badContainer: "The container is unknown or not allowed. Check its identifier and environment."
        case .serviceUnavailable: "The server cannot answer now; try again later."
        case .requestRateLimited: "Too many requests; try again later."
        case .missingEntitlement: "The app may not do this."
        case .notAuthenticated: "There is no account. Set TIDEMARK_TOKEN, or call CKContainer.signIn(token:)."
        case .permissionFailure: "The user may not do this."
        case .unknownItem: "The record, share or subscription does not exist."
        case .invalidArguments: "The request is not valid. Check names, types and values."
        case .serverRecordChanged:
            "The record has changed on the server since it was fetched. Merge with serverRecord, and save that."
        case .serverRejectedRequest: "The server refuses the request."
        case .assetFileNotFound: "The asset's file is not there."
        case .assetFileModified: "The asset's file changed while it was sent."
        case .incompatibleVersion: "The app is too old for the server. Update it, or the server."
        case .constraintViolation: "A value that must be unique is not."
        case .operationCancelled: "The work was cancelled."
        case .changeTokenExpired: "The token is of no use any more. Fetch from the beginning."
        case .batchRequestFailed: "Another item of the atomic batch failed. Mend that one, and send all again."
        case .zoneBusy: "The zone is busy; try again later."
        case .badDatabase: "This cannot be done in that database."
        case .quotaExceeded: "The storage is full."
        case .zoneNotFound: "The zone does not exist. Save it first."
        case .limitExceeded: "The request is too large. Split it in half."
        case .userDeletedZone: "The user erased the zone in the settings."
        case .tooManyParticipants: "The share has too many participants."
        case .alreadyShared: "The record already belongs to a share."
        case .referenceViolation: "The record's parent does not exist, or the record is still a parent."
        case .managedAccountRestricted: "The account's administrator does not allow this."
        case .participantMayNeedVerification: "The participant has to be verified first."
        case .serverResponseLost: "The answer was lost; it is not known whether the request was carried out."
        case .assetNotAvailable: "The asset cannot be read."
        case .accountTemporarilyUnavailable: "The account cannot be used for now."
        case .participantAlreadyInvited: "The participant was invited before."
        // `resultsTruncated`. It is deprecated, so naming it would be a warning.
        default: "Not used any more."
        }
    }
}
