// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// Every error that this library throws.
///
/// It wraps an `NSError` of the domain `CKErrorDomain`. Casts work both ways: `error as? CKError` of such an NSError,
/// and `error as NSError` of a CKError.
public struct CKError: _BridgedStoredNSError, LocalizedError, @unchecked Sendable {
    /// The wrapped error; its domain is `CKErrorDomain`.
    public let _nsError: NSError

    /// Wraps an error whose domain is `CKErrorDomain`.
    public init(_nsError error: NSError) {
        _nsError = error
    }

    /// An error with that code; `userInfo` may hold the keys of R-371.
    public init(_ code: CKError.Code, userInfo: [String: Any] = [:]) {
        var userInfo = userInfo
        var text = userInfo[NSLocalizedDescriptionKey] as? String ?? code.text
        if let uuid = userInfo[TidemarkErrorRequestUUIDKey] as? String { text = Self.text(text, requestUUID: uuid) }
        userInfo[NSLocalizedDescriptionKey] = text
        // An object, so that it can be read as a number of any type. Swift's own numbers have one type here.
        if let seconds = userInfo[CKErrorRetryAfterKey] as? NSNumber { userInfo[CKErrorRetryAfterKey] = seconds }
        _nsError = CKErrorObject(domain: CKErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// `CKErrorDomain`.
    public static var errorDomain: String { CKErrorDomain }

    /// `CKErrorDomain`.
    public static var _nsErrorDomain: String { CKErrorDomain }

    /// The kind of the error; `internalError` for a number that this version does not know (see `errorCode`).
    public var code: CKError.Code { CKError.Code(rawValue: _nsError.code) ?? .internalError }

    /// The code's number.
    public var errorCode: Int { _nsError.code }

    /// Further values of the error.
    public var userInfo: [String: Any] { _nsError.userInfo }

    /// Further values of the error.
    public var errorUserInfo: [String: Any] { _nsError.userInfo }

    /// A sentence that says what went wrong.
    public var errorDescription: String? {
        userInfo[NSLocalizedDescriptionKey] as? String ?? code.text
    }

    /// A sentence that says what went wrong.
    public var localizedDescription: String { errorDescription ?? code.text }

    /// With `partialFailure`: the error of each item that failed, by its ID.
    public var partialErrorsByItemID: [AnyHashable: any Error]? {
        userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: any Error]
    }

    /// With `serverRecordChanged`: the record as it was before the client changed it.
    public var ancestorRecord: CKRecord? { userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord }

    /// With `serverRecordChanged`: the record on the server.
    public var serverRecord: CKRecord? { userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord }

    /// With `serverRecordChanged`: the record that was to be saved.
    public var clientRecord: CKRecord? { userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord }

    /// The seconds after which to try again; possible with any code.
    public var retryAfterSeconds: Double? { (userInfo[CKErrorRetryAfterKey] as? NSNumber)?.doubleValue }

    /// Whether domain, code and userInfo are equal.
    public static func == (left: CKError, right: CKError) -> Bool {
        left._nsError.isEqual(right._nsError)
    }

    // NB: Without userInfo, because NSError's own hash does not terminate for certain objects in userInfo.
    /// Equal for equal errors.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(_nsError.code)
    }
}

// On Linux this conformance is what lets `as? CKError` look into an NSError.
extension CKError: _ObjectiveCBridgeable {
    /// The wrapped error.
    public func _bridgeToObjectiveC() -> NSError { _nsError }

    /// Wraps an error of any domain.
    public static func _forceBridgeFromObjectiveC(_ source: NSError, result: inout CKError?) {
        result = CKError(_nsError: source)
    }

    /// Wraps an error of our domain.
    public static func _conditionallyBridgeFromObjectiveC(_ source: NSError, result: inout CKError?) -> Bool {
        result = source.domain == CKErrorDomain ? CKError(_nsError: source) : nil
        return result != nil
    }

    /// Wraps an error of any domain.
    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSError?) -> CKError {
        source.map(CKError.init(_nsError:)) ?? CKError(.internalError)
    }
}

extension CKError {
    /// An error with a sentence that says what to do.
    package init(_ code: CKError.Code, message: String, retryAfter: Double? = nil, userInfo: [String: Any] = [:]) {
        var userInfo = userInfo
        if !message.isEmpty { userInfo[NSLocalizedDescriptionKey] = message }
        if let retryAfter { userInfo[CKErrorRetryAfterKey] = NSNumber(value: retryAfter) }
        self.init(code, userInfo: userInfo)
    }

    /// The error for a request some of whose items failed.
    package init(partialErrors: [AnyHashable: any Error]) {
        var userInfo: [String: Any] = [CKPartialErrorsByItemIDKey: partialErrors]
        userInfo[TidemarkErrorRequestUUIDKey] = Self.commonRequest(of: partialErrors.values)
        self.init(.partialFailure, userInfo: userInfo)
    }

    /// The error for a save that the server's record has overtaken.
    ///
    /// `client` is the record to be saved. The ancestor is the version before its edits.
    ///
    /// - Parameter requestUUID: of the request that was answered so.
    package init(
        serverRecordChanged server: CKRecord, client: CKRecord, message: String = "", requestUUID: String? = nil
    ) {
        var userInfo: [String: Any] = [
            CKRecordChangedErrorServerRecordKey: server,
            CKRecordChangedErrorClientRecordKey: client,
            CKRecordChangedErrorAncestorRecordKey: client.ancestor(),
        ]
        userInfo[TidemarkErrorRequestUUIDKey] = requestUUID
        self.init(.serverRecordChanged, message: message, userInfo: userInfo)
    }
}
