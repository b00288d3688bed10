// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkTelemetry
internal import TidemarkTranslation
internal import TidemarkWire

/// What a request asks for, in logs and metrics.
enum RequestKind: Int, MetricLabel {
    case hello
    case modifyRecords
    case fetchRecords
    case modifyZones
    case fetchZones
    case fetchDatabaseChanges
    case fetchZoneChanges
    case verifyZone
    case modifySubscriptions
    case fetchSubscriptions
    case queryRecords
    case prepareAssetUpload
    case uploadAssetChunk
    case fetchAssetChunk
    case fetchKeys
    case saveAccountKey
    case saveZoneKey
    case fetchShareMetadata
    case acceptShares
    case fetchShareParticipants
    /// Refused before it was looked at, because too much is under way, or because this server does not know it.
    case unread

    static let label = "request"

    /// How it is named. It is made once: to ask for the name of a case takes Swift microseconds and memory.
    var name: String { Self.names[rawValue] }
    private static let names = texts
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
    /// A code that this server does not answer yet.
    case other

    static let label = "result"

    /// How it is named. It is made once, as those of ``RequestKind``.
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
            default: .other
            }
    }
}
