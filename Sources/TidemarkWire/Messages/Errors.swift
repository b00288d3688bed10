// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Errors.proto. Change that, and run `make protocol`.

public import TidemarkBytes

/// Why a request, or one item of it, was refused.
@usableFromInline
package struct WireFailure: WireMessage {
    package var code = WireErrorCode()
    /// A sentence or two for a developer: what is wrong, and what to do. It never has another account's data.
    package var message = ""
    /// Seconds to wait before trying again. 0: not said.
    package var retryAfterSeconds: Double = 0
    /// The zone ended because its owner's keys were reset.
    package var userDidResetEncryptedDataKey = false
    /// A value is encrypted with a key that the zone does not have, for example because the zone was created again.
    /// Fetch the zone's keys, encrypt the values again and repeat the save.
    package var zoneKeyUnknown = false
    /// Of a refused Hello: what HelloAnswer.request_session would have had, so that the refusal has a name. Empty
    /// otherwise.
    package var requestSession: [UInt8] = []
    /// Of a refused Hello with NOT_AUTHENTICATED: why, so that an app need not read the message. Older servers do not
    /// say.
    package var signInProblem = WireSignInProblem()

    @usableFromInline package init() {}
}

extension WireFailure {
    @usableFromInline
    package mutating func read(_ reader: inout WireReader) throws(WireError) {
        while let tag = try reader.nextTag() {
            switch tag {
            case 8: self.code = try reader.choice()
            case 18: self.message = try reader.text()
            case 25: self.retryAfterSeconds = try reader.double()
            case 32: self.userDidResetEncryptedDataKey = try reader.flag()
            case 40: self.zoneKeyUnknown = try reader.flag()
            case 50: self.requestSession = try reader.content()
            case 56: self.signInProblem = try reader.choice()
            default: try reader.skip(tag, known: 0xFE)
            }
        }
    }

    @usableFromInline
    package var size: Int {
        var size = 0
        if code != WireErrorCode() {
            size += 1 + WireSize.choice(code)
        }
        if !message.isEmpty {
            size += 1 + WireSize.text(message)
        }
        if retryAfterSeconds.bitPattern != 0 {
            size += 1 + WireSize.double(retryAfterSeconds)
        }
        if userDidResetEncryptedDataKey {
            size += 1 + WireSize.flag(userDidResetEncryptedDataKey)
        }
        if zoneKeyUnknown {
            size += 1 + WireSize.flag(zoneKeyUnknown)
        }
        if !requestSession.isEmpty {
            size += 1 + WireSize.content(requestSession)
        }
        if signInProblem != WireSignInProblem() {
            size += 1 + WireSize.choice(signInProblem)
        }
        return size
    }

    @usableFromInline
    package func write(to writer: inout WireWriter) {
        if code != WireErrorCode() {
            writer.number(8)
            writer.choice(code)
        }
        if !message.isEmpty {
            writer.number(18)
            writer.text(message)
        }
        if retryAfterSeconds.bitPattern != 0 {
            writer.number(25)
            writer.double(retryAfterSeconds)
        }
        if userDidResetEncryptedDataKey {
            writer.number(32)
            writer.flag(userDidResetEncryptedDataKey)
        }
        if zoneKeyUnknown {
            writer.number(40)
            writer.flag(zoneKeyUnknown)
        }
        if !requestSession.isEmpty {
            writer.number(50)
            writer.content(requestSession)
        }
        if signInProblem != WireSignInProblem() {
            writer.number(56)
            writer.choice(signInProblem)
        }
    }
}

/// Why a credential opens no session. Only whoever shows the credential is told.
@usableFromInline
package enum WireSignInProblem: WireChoice {
    case unspecified
    /// Nobody has it, or its account is gone.
    case credentialUnknown
    case credentialExpired
    case credentialRevoked
    case accountDisabled
    case deviceRevoked
    /// A token of an identity provider that the server does not take: its signature, its issuer or its audience is
    /// wrong.
    case tokenInvalid
    /// The token is valid, and nobody has an account for its issuer and subject.
    case identityUnknown
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .credentialUnknown
        case 2: self = .credentialExpired
        case 3: self = .credentialRevoked
        case 4: self = .accountDisabled
        case 5: self = .deviceRevoked
        case 6: self = .tokenInvalid
        case 7: self = .identityUnknown
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .credentialUnknown: 1
        case .credentialExpired: 2
        case .credentialRevoked: 3
        case .accountDisabled: 4
        case .deviceRevoked: 5
        case .tokenInvalid: 6
        case .identityUnknown: 7
        case .unrecognized(let number): number
        }
    }
}

/// CloudKit's codes, with CloudKit's numbers (section 13 of the rules).
@usableFromInline
package enum WireErrorCode: WireChoice {
    case unspecified
    case internalError
    case partialFailure
    case networkUnavailable
    case networkFailure
    case badContainer
    case serviceUnavailable
    case requestRateLimited
    case missingEntitlement
    case notAuthenticated
    case permissionFailure
    case unknownItem
    case invalidArguments
    case resultsTruncated
    case serverRecordChanged
    case serverRejectedRequest
    case assetFileNotFound
    case assetFileModified
    case incompatibleVersion
    case constraintViolation
    case operationCancelled
    case changeTokenExpired
    case batchRequestFailed
    case zoneBusy
    case badDatabase
    case quotaExceeded
    case zoneNotFound
    case limitExceeded
    case userDeletedZone
    case tooManyParticipants
    case alreadyShared
    case referenceViolation
    case managedAccountRestricted
    case participantMayNeedVerification
    case serverResponseLost
    case assetNotAvailable
    case accountTemporarilyUnavailable
    case participantAlreadyInvited
    /// A value that this version does not know.
    case unrecognized(Int32)

    @usableFromInline package init() { self = .unspecified }

    @usableFromInline
    package init(rawValue: Int32) {
        switch rawValue {
        case 0: self = .unspecified
        case 1: self = .internalError
        case 2: self = .partialFailure
        case 3: self = .networkUnavailable
        case 4: self = .networkFailure
        case 5: self = .badContainer
        case 6: self = .serviceUnavailable
        case 7: self = .requestRateLimited
        case 8: self = .missingEntitlement
        case 9: self = .notAuthenticated
        case 10: self = .permissionFailure
        case 11: self = .unknownItem
        case 12: self = .invalidArguments
        case 13: self = .resultsTruncated
        case 14: self = .serverRecordChanged
        case 15: self = .serverRejectedRequest
        case 16: self = .assetFileNotFound
        case 17: self = .assetFileModified
        case 18: self = .incompatibleVersion
        case 19: self = .constraintViolation
        case 20: self = .operationCancelled
        case 21: self = .changeTokenExpired
        case 22: self = .batchRequestFailed
        case 23: self = .zoneBusy
        case 24: self = .badDatabase
        case 25: self = .quotaExceeded
        case 26: self = .zoneNotFound
        case 27: self = .limitExceeded
        case 28: self = .userDeletedZone
        case 29: self = .tooManyParticipants
        case 30: self = .alreadyShared
        case 31: self = .referenceViolation
        case 32: self = .managedAccountRestricted
        case 33: self = .participantMayNeedVerification
        case 34: self = .serverResponseLost
        case 35: self = .assetNotAvailable
        case 36: self = .accountTemporarilyUnavailable
        case 37: self = .participantAlreadyInvited
        default: self = .unrecognized(rawValue)
        }
    }

    @usableFromInline
    package var rawValue: Int32 {
        switch self {
        case .unspecified: 0
        case .internalError: 1
        case .partialFailure: 2
        case .networkUnavailable: 3
        case .networkFailure: 4
        case .badContainer: 5
        case .serviceUnavailable: 6
        case .requestRateLimited: 7
        case .missingEntitlement: 8
        case .notAuthenticated: 9
        case .permissionFailure: 10
        case .unknownItem: 11
        case .invalidArguments: 12
        case .resultsTruncated: 13
        case .serverRecordChanged: 14
        case .serverRejectedRequest: 15
        case .assetFileNotFound: 16
        case .assetFileModified: 17
        case .incompatibleVersion: 18
        case .constraintViolation: 19
        case .operationCancelled: 20
        case .changeTokenExpired: 21
        case .batchRequestFailed: 22
        case .zoneBusy: 23
        case .badDatabase: 24
        case .quotaExceeded: 25
        case .zoneNotFound: 26
        case .limitExceeded: 27
        case .userDeletedZone: 28
        case .tooManyParticipants: 29
        case .alreadyShared: 30
        case .referenceViolation: 31
        case .managedAccountRestricted: 32
        case .participantMayNeedVerification: 33
        case .serverResponseLost: 34
        case .assetNotAvailable: 35
        case .accountTemporarilyUnavailable: 36
        case .participantAlreadyInvited: 37
        case .unrecognized(let number): number
        }
    }
}
