// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension CKError {
    /// The kind of an error (R-370 and the table after it).
    public enum Code: Int, Sendable {
        /// An internal error in the library or the server.
        case internalError = 1
        /// Some items failed; `partialErrorsByItemID` has their errors.
        case partialFailure = 2
        /// There is no network.
        case networkUnavailable = 3
        /// The connection could not be made or was lost.
        case networkFailure = 4
        /// The container is unknown or not allowed.
        case badContainer = 5
        /// The server cannot answer now; try again after `retryAfterSeconds`.
        case serviceUnavailable = 6
        /// Too many requests; try again after `retryAfterSeconds`.
        case requestRateLimited = 7
        /// The app may not do this.
        case missingEntitlement = 8
        /// There is no account.
        case notAuthenticated = 9
        /// The user may not do this.
        case permissionFailure = 10
        /// The record, share or subscription does not exist.
        case unknownItem = 11
        /// The request is not valid.
        case invalidArguments = 12
        /// No longer used.
        @available(*, deprecated, message: "Never given")
        case resultsTruncated = 13
        /// The record has changed on the server since it was fetched.
        case serverRecordChanged = 14
        /// The server refuses the request.
        case serverRejectedRequest = 15
        /// The asset's file does not exist.
        case assetFileNotFound = 16
        /// The asset's file changed during the upload.
        case assetFileModified = 17
        /// The app is too old.
        case incompatibleVersion = 18
        /// A value that must be unique is not.
        case constraintViolation = 19
        /// The work was cancelled.
        case operationCancelled = 20
        /// The token has expired; fetch from the beginning.
        case changeTokenExpired = 21
        /// Another item of the atomic batch failed.
        case batchRequestFailed = 22
        /// The zone is busy; try again after `retryAfterSeconds`.
        case zoneBusy = 23
        /// That database does not support this.
        case badDatabase = 24
        /// The storage is full.
        case quotaExceeded = 25
        /// The zone does not exist.
        case zoneNotFound = 26
        /// The request is too large.
        case limitExceeded = 27
        /// The user purged the zone, which deleted its data.
        case userDeletedZone = 28
        /// The share has too many participants.
        case tooManyParticipants = 29
        /// The record already belongs to a share.
        case alreadyShared = 30
        /// The record's parent does not exist.
        case referenceViolation = 31
        /// The account's administrator does not allow this.
        case managedAccountRestricted = 32
        /// The participant must be verified first.
        case participantMayNeedVerification = 33
        /// The answer was lost; it is not known whether the request was carried out.
        case serverResponseLost = 34
        /// The asset cannot be read.
        case assetNotAvailable = 35
        /// The account cannot be used for now.
        case accountTemporarilyUnavailable = 36
        /// The participant has already been invited.
        case participantAlreadyInvited = 37
    }
}

// NB: Written out, because Swift does not synthesize it for an enumeration with a deprecated case.
extension CKError.Code: CaseIterable {
    /// All codes, by number.
    public static var allCases: [CKError.Code] { (1...37).compactMap(CKError.Code.init(rawValue:)) }
}

// Makes `catch CKError.zoneNotFound` work: a code is a pattern that matches errors.
extension CKError.Code: _ErrorCodeProtocol {
    /// The error type of these codes.
    public typealias _ErrorType = CKError
}

extension CKError {
    /// An internal error in the library or the server.
    public static var internalError: CKError.Code { .internalError }

    /// Some items failed; `partialErrorsByItemID` has their errors.
    public static var partialFailure: CKError.Code { .partialFailure }

    /// There is no network.
    public static var networkUnavailable: CKError.Code { .networkUnavailable }

    /// The connection could not be made or was lost.
    public static var networkFailure: CKError.Code { .networkFailure }

    /// The container is unknown or not allowed.
    public static var badContainer: CKError.Code { .badContainer }

    /// The server cannot answer now; try again after `retryAfterSeconds`.
    public static var serviceUnavailable: CKError.Code { .serviceUnavailable }

    /// Too many requests; try again after `retryAfterSeconds`.
    public static var requestRateLimited: CKError.Code { .requestRateLimited }

    /// The app may not do this.
    public static var missingEntitlement: CKError.Code { .missingEntitlement }

    /// There is no account.
    public static var notAuthenticated: CKError.Code { .notAuthenticated }

    /// The user may not do this.
    public static var permissionFailure: CKError.Code { .permissionFailure }

    /// The record, share or subscription does not exist.
    public static var unknownItem: CKError.Code { .unknownItem }

    /// The request is not valid.
    public static var invalidArguments: CKError.Code { .invalidArguments }

    /// No longer used.
    @available(*, deprecated, message: "Never given")
    public static var resultsTruncated: CKError.Code { .resultsTruncated }

    /// The record has changed on the server since it was fetched.
    public static var serverRecordChanged: CKError.Code { .serverRecordChanged }

    /// The server refuses the request.
    public static var serverRejectedRequest: CKError.Code { .serverRejectedRequest }

    /// The asset's file does not exist.
    public static var assetFileNotFound: CKError.Code { .assetFileNotFound }

    /// The asset's file changed during the upload.
    public static var assetFileModified: CKError.Code { .assetFileModified }

    /// The app is too old.
    public static var incompatibleVersion: CKError.Code { .incompatibleVersion }

    /// A value that must be unique is not.
    public static var constraintViolation: CKError.Code { .constraintViolation }

    /// The work was cancelled.
    public static var operationCancelled: CKError.Code { .operationCancelled }

    /// The token has expired; fetch from the beginning.
    public static var changeTokenExpired: CKError.Code { .changeTokenExpired }

    /// Another item of the atomic batch failed.
    public static var batchRequestFailed: CKError.Code { .batchRequestFailed }

    /// The zone is busy; try again after `retryAfterSeconds`.
    public static var zoneBusy: CKError.Code { .zoneBusy }

    /// That database does not support this.
    public static var badDatabase: CKError.Code { .badDatabase }

    /// The storage is full.
    public static var quotaExceeded: CKError.Code { .quotaExceeded }

    /// The zone does not exist.
    public static var zoneNotFound: CKError.Code { .zoneNotFound }

    /// The request is too large.
    public static var limitExceeded: CKError.Code { .limitExceeded }

    /// The user purged the zone, which deleted its data.
    public static var userDeletedZone: CKError.Code { .userDeletedZone }

    /// The share has too many participants.
    public static var tooManyParticipants: CKError.Code { .tooManyParticipants }

    /// The record already belongs to a share.
    public static var alreadyShared: CKError.Code { .alreadyShared }

    /// The record's parent does not exist.
    public static var referenceViolation: CKError.Code { .referenceViolation }

    /// The account's administrator does not allow this.
    public static var managedAccountRestricted: CKError.Code { .managedAccountRestricted }

    /// The participant must be verified first.
    public static var participantMayNeedVerification: CKError.Code { .participantMayNeedVerification }

    /// The answer was lost; it is not known whether the request was carried out.
    public static var serverResponseLost: CKError.Code { .serverResponseLost }

    /// The asset cannot be read.
    public static var assetNotAvailable: CKError.Code { .assetNotAvailable }

    /// The account cannot be used for now.
    public static var accountTemporarilyUnavailable: CKError.Code { .accountTemporarilyUnavailable }

    /// The participant has already been invited.
    public static var participantAlreadyInvited: CKError.Code { .participantAlreadyInvited }
}
