// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry
internal import TidemarkWire

// The one place where codes of the protocol, and failures of the connection, become errors that apps see.

extension CKError.Code {
    /// The protocol uses CloudKit's numbers; a number that this library does not know is an internal error.
    init(_ code: WireErrorCode) {
        self = CKError.Code(rawValue: Int(code.rawValue)) ?? .internalError
    }
}

extension CKError {
    /// The server's refusal (section 13 of the rules).
    ///
    /// - Parameter request: the request that was answered so. Nil: it has no name.
    init(_ failure: WireFailure, to request: RequestUUID?, extra: [String: Any] = [:]) {
        var userInfo = extra
        if let request { userInfo[TidemarkErrorRequestUUIDKey] = "\(request)" }
        if !failure.message.isEmpty { userInfo[NSLocalizedDescriptionKey] = failure.message }
        // seconds, present on any error that says how long to wait.
        if failure.retryAfterSeconds > 0 { userInfo[CKErrorRetryAfterKey] = failure.retryAfterSeconds }
        if failure.userDidResetEncryptedDataKey { userInfo[CKErrorUserDidResetEncryptedDataKey] = true }
        if failure.zoneKeyUnknown { userInfo[Self.zoneKeyUnknownKey] = true }
        self.init(Code(failure.code), userInfo: userInfo)
    }

    /// The reason why there is no answer.
    init(_ failure: ConnectionMachine.RequestFailure) {
        let server = failure.serverName.map { "the server \($0)" } ?? "the server"
        switch failure.code {
        case .offline:
            let text = failure.message.isEmpty ? failure.fault?.text : failure.message
            self.init(
                .networkUnavailable, text: text ?? "There is no connection to \(server). Try again later.",
                cause: failure.fault)
        case .timedOut:
            self.init(
                .networkFailure, text: "No answer came from \(server) in time. Try again later.",
                cause: failure.fault, request: failure.request)
        case .answerLost:
            self.init(
                .serverResponseLost,
                text: "The request was sent to \(server), but its answer was lost. It may have been carried out. Fetch "
                    + "changes, then send what is still needed.",
                cause: failure.fault, request: failure.request)
        case .cut:
            let text =
                "The connection to \(server) was cut while a part of an asset was on its way. Save the record again."
            self.init(.networkFailure, userInfo: [NSLocalizedDescriptionKey: text, Self.cutKey: true])
        case .cancelled:
            self.init(.operationCancelled, text: "The request was cancelled.")
        case .otherAccount:
            self = .otherAccount
        case .refused(let code):
            // somebody is signed in, and what an app keeps for them must stay. Only their credential is
            // not valid at the moment. An app without a credential learns that it needs one.
            let isCredential = code == .notAuthenticated && failure.hasCredential
            var wire = WireFailure()
            wire.code = isCredential ? .accountTemporarilyUnavailable : code
            wire.message = failure.message
            // The credential or container may be valid on another server.
            if isCredential || code == .badContainer, let name = failure.serverName, !failure.message.isEmpty {
                wire.message = "The server \(name) says: \(failure.message)"
            }
            wire.retryAfterSeconds = failure.retryAfter
            var extra: [String: Any] = failure.isOfGreeting ? [Self.greetingRefusedKey: true] : [:]
            if isCredential { extra[Self.credentialRefusedKey] = true }
            if isCredential, failure.signInProblem != .unspecified {
                extra[TidemarkErrorSignInProblemKey] = Int(failure.signInProblem.rawValue)
            }
            self.init(wire, to: failure.request, extra: extra)
        }
    }

    private static let greetingRefusedKey = "TidemarkConnectionRefused"

    /// Whether the server refused the connection, and not one request.
    var isGreetingRefused: Bool { userInfo[Self.greetingRefusedKey] != nil }

    private static let credentialRefusedKey = "TidemarkCredentialRefused"

    private static let cutKey = "TidemarkConnectionCut"

    /// Whether a part of an upload was under way when the connection was cut. There is another one now.
    var isCut: Bool { userInfo[Self.cutKey] as? Bool == true }

    /// Whether the server refuses the credential: other errors of an account that cannot be used for now are about its keys.
    var isCredentialRefused: Bool { userInfo[Self.credentialRefusedKey] as? Bool == true }

    /// - Parameters:
    ///   - cause: becomes the underlying error.
    ///   - request: the request that was sent, if one was and it has a name.
    init(_ code: Code, text: String, cause: ConnectionFault? = nil, request: RequestUUID? = nil) {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: text]
        if let request { userInfo[TidemarkErrorRequestUUIDKey] = "\(request)" }
        if let cause { userInfo[NSUnderlyingErrorKey] = cause.asError }
        self.init(code, userInfo: userInfo)
    }

    /// Whether the error is about the network, the server or the account, and not about the record or zone of the
    /// request. The next one would fail in the same way.
    var isAboutNoItem: Bool {
        if isGreetingRefused { return true }
        if userInfo[Self.stalledDownloadKey] != nil { return false }
        return switch code {
        case .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .notAuthenticated,
            .accountTemporarilyUnavailable, .managedAccountRestricted, .badContainer, .missingEntitlement,
            .incompatibleVersion, .operationCancelled:
            true
        default: false
        }
    }

    /// private and shared data need an account.
    static let noAccount = CKError(
        .notAuthenticated, text: "Nobody is signed in. Set TIDEMARK_TOKEN, or call CKContainer.signIn(token:).")

    /// a request for one account is not carried out for another.
    static let otherAccount = CKError(
        .notAuthenticated,
        text: "The account has changed since this request was made. Make it again for the new account.")
}

extension ConnectionFault {
    /// The domain of errors that are not from the system.
    private static let domain = "TidemarkConnectionErrorDomain"

    fileprivate var asError: NSError {
        let domain = errorNumber == 0 ? Self.domain : NSPOSIXErrorDomain
        return CKErrorObject(domain: domain, code: Int(errorNumber), userInfo: [NSLocalizedDescriptionKey: text])
    }
}
