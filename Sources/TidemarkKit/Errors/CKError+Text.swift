// SPDX-License-Identifier: Apache-2.0

extension CKError.Code {
    /// The text of an error that has no other text.
    var text: String {
        switch self {
        case .internalError: "An internal error occurred in the library or the server. The server's log may say more."
        case .partialFailure: "Some items failed. partialErrorsByItemID has the error of each."
        case .networkUnavailable: "There is no network. Send the request again when there is one."
        case .networkFailure: "The connection could not be made or was lost. Try again later."
        case .badContainer: "The container is unknown or not allowed. Check its identifier and environment."
        case .serviceUnavailable: "The server cannot answer now. Try again later."
        case .requestRateLimited: "Too many requests were sent. Try again after the delay in retryAfterSeconds."
        case .missingEntitlement: "The app may not do this. Ask the server's operator."
        case .notAuthenticated: "There is no account. Set TIDEMARK_TOKEN, or call CKContainer.signIn(token:)."
        case .permissionFailure: "The user may not do this. Ask the owner of the data, or the server's operator."
        case .unknownItem: "The record, share or subscription does not exist. It was deleted, or never saved."
        case .invalidArguments: "The request is not valid. Check names, types and values."
        case .serverRecordChanged:
            "The record has changed on the server since it was fetched. Merge with serverRecord, and save that."
        case .serverRejectedRequest: "The server refuses the request. Sending it again will not help."
        case .assetFileNotFound: "The asset's file does not exist. Keep it until the record is saved."
        case .assetFileModified: "The asset's file changed during the upload. Save the record again."
        case .incompatibleVersion: "The app and the server do not understand each other. Update the older one."
        case .constraintViolation: "A value that must be unique is already in use. Choose another one."
        case .operationCancelled: "The operation was cancelled."
        case .changeTokenExpired: "The change token has expired. Fetch from the beginning."
        case .batchRequestFailed: "Another item of the atomic batch failed. Correct that one, and send all again."
        case .zoneBusy: "The zone is busy. Try again later."
        case .badDatabase: "This database does not support the request. Use another database."
        case .quotaExceeded: "The storage is full. Delete what is not needed."
        case .zoneNotFound: "The zone does not exist. Save it first."
        case .limitExceeded: "The request is too large. Split it in half."
        case .userDeletedZone: "The user purged the zone, which deleted its data. Ask the user before you upload it."
        case .tooManyParticipants: "The share has too many participants. Remove some of them."
        case .alreadyShared: "The record already belongs to a share. Use that share."
        case .referenceViolation:
            "The record's parent does not exist, or the record is still a parent. Save the parent or delete the children first."
        case .managedAccountRestricted: "The account's administrator does not allow this. Ask the administrator."
        case .participantMayNeedVerification: "The participant must be verified before they accept the share."
        case .serverResponseLost:
            "The answer was lost, and the request may have been carried out. Fetch changes, then send what is still needed."
        case .assetNotAvailable: "The asset is not available. Fetch the record again."
        case .accountTemporarilyUnavailable: "The account cannot be used now. Sign in with a valid credential."
        case .participantAlreadyInvited: "The participant has already been invited."
        // `resultsTruncated`. It is deprecated, so naming it would be a warning.
        default: "No longer used."
        }
    }
}
