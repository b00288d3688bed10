// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkTelemetry
internal import TidemarkTranslation
package import TidemarkWire

extension WireRequestKind: MetricLabel {
    package static let label = "request"
    package var text: String { name }
}

/// What became of a request: that all of it was done, or the code of the first failure in it.
enum RequestResult: Int, MetricLabel {
    case ok
    /// The device was gone before it was the request's turn.
    case disconnected
    case internalError, badContainer, serviceUnavailable, requestRateLimited, notAuthenticated, permissionFailure
    case unknownItem, invalidArguments, serverRecordChanged, serverRejectedRequest, assetFileModified
    case changeTokenExpired, batchRequestFailed, zoneBusy, badDatabase, quotaExceeded, zoneNotFound, limitExceeded
    case userDeletedZone, tooManyParticipants, referenceViolation, serverResponseLost, assetNotAvailable
    case participantAlreadyInvited, alreadyShared
    /// A code that this server does not answer yet.
    case other

    static let label = "result"

    /// How it is named. It is made once, as those of ``WireRequestKind``.
    var name: String { Self.names[rawValue] }
    private static let names = texts

    /// Whether the server failed, and not its client.
    var isFault: Bool { self == .internalError || self == .serviceUnavailable }

    /// - Parameter failure: nil if there was none.
    init(_ failure: FailureReason?) {
        self = failure.map { Self($0.code) } ?? .ok
    }

    private init(_ code: WireErrorCode) {
        self =
            switch code {
            case .internalError: .internalError
            case .badContainer: .badContainer
            case .serviceUnavailable: .serviceUnavailable
            case .requestRateLimited: .requestRateLimited
            case .notAuthenticated: .notAuthenticated
            case .permissionFailure: .permissionFailure
            case .unknownItem: .unknownItem
            case .invalidArguments: .invalidArguments
            case .serverRecordChanged: .serverRecordChanged
            case .serverRejectedRequest: .serverRejectedRequest
            case .assetFileModified: .assetFileModified
            case .changeTokenExpired: .changeTokenExpired
            case .batchRequestFailed: .batchRequestFailed
            case .zoneBusy: .zoneBusy
            case .badDatabase: .badDatabase
            case .quotaExceeded: .quotaExceeded
            case .zoneNotFound: .zoneNotFound
            case .limitExceeded: .limitExceeded
            case .userDeletedZone: .userDeletedZone
            case .tooManyParticipants: .tooManyParticipants
            case .referenceViolation: .referenceViolation
            case .serverResponseLost: .serverResponseLost
            case .assetNotAvailable: .assetNotAvailable
            case .participantAlreadyInvited: .participantAlreadyInvited
            case .alreadyShared: .alreadyShared
            default: .other
            }
    }
}
