// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkTelemetry
internal import TidemarkTranslation
internal import TidemarkWire

/// What the log says of `Hello`s: who was refused, and which containers were created.
///
/// Clients cause these lines as often as they like. So the log has one line of a kind in a minute, and a count of the
/// others. With `--verbose`, or at debug, each has a line of its own, with what may be personal: address and name of the
/// device.
enum ConnectionReports {
    /// Why somebody was refused.
    enum Refused: Equatable {
        case credential
        case noCredential
        case foreignPage
        /// A token of an identity provider. The text is one of few, and has nothing of the token.
        case token(String)
        case identity
        case account
        case device

        /// For somebody who has shown a credential.
        init(_ refusal: Refusal) {
            switch refusal.problem {
            case .tokenInvalid: self = .token(refusal.detail ?? SignInProblem.tokenInvalid.text)
            // A token's end has a text of its own.
            case .credentialExpired where refusal.detail != SignInProblem.credentialExpired.text:
                self = .token(refusal.detail ?? SignInProblem.credentialExpired.text)
            case .identityUnknown: self = .identity
            case .accountDisabled: self = .account
            case .deviceRevoked: self = .device
            case nil, .credentialUnknown, .credentialExpired, .credentialRevoked: self = .credential
            }
        }

        var cause: String {
            switch self {
            case .credential: "its credential is unknown, expired or revoked"
            case .noCredential: "it has no credential"
            case .foreignPage: "it is a web page without a credential"
            case .token(let why): "its token does not count: \(why)"
            case .identity: "its token is of somebody who has no account"
            case .account: "its account is disabled"
            case .device: "this device of the account is revoked"
            }
        }

        /// For the operator.
        var advice: String {
            switch self {
            case .credential:
                "list valid ones with: tidemark admin credentials list ACCOUNT; make one with: tidemark admin "
                    + "credentials create ACCOUNT"
            case .noCredential: "sign in on the device, or serve everybody: without --require-credential"
            case .foreignPage: "sign in on the page, or name it: --allowed-origins"
            case .token: "compare what the provider gives the app with the file of --issuers"
            case .identity:
                "link it with: tidemark admin identities create ACCOUNT --issuer URL --subject SUBJECT; or set "
                    + "create-accounts in the file of --issuers"
            case .account: "if it may sign in again: tidemark admin accounts enable ACCOUNT"
            case .device: "if it may sign in again: tidemark admin devices delete ACCOUNT DEVICE"
            }
        }
    }

    private static let log = Log(Log.connectionsLabel)

    /// - Parameter address: of the device, or of a proxy before the server.
    static func refused(_ cause: Refused, _ hello: WireHello, request: RequestUUID, address: String?) {
        guard log.writes(.debug) else {
            return FailureLog.shared.note(
                .info, "a device was refused", cause: cause.cause, ["advice": cause.advice],
                request: RequestTrace(request))
        }
        let greeting = try? Greeting(hello)
        log.debug(
            "a device was refused",
            [
                "cause": cause.cause, "advice": cause.advice, "request": "\(request)", "address": address ?? "none",
                "container": greeting?.container ?? "invalid", "device": greeting?.shownName ?? "invalid",
            ])
    }

    /// - Parameter session: the number of the newer device's session.
    static func copied(_ member: SessionMember, session: UInt64) {
        FailureLog.shared.note(
            .warning, "two devices have one identity: the newer one is told to take another", cause: "a copied device",
            ["session": "\(session)", "account": "\(member.identity?.account.rawValue ?? 0)"], request: nil)
    }

    /// A container was created for an account without others. It cannot miss data.
    static func createdFirst(_ container: UnknownContainer, _ greeting: Greeting) {
        guard log.writes(.debug) else {
            return FailureLog.shared.note(
                .info, "a container was created", cause: "a device named it",
                ["container": container.name, "advice": "without --create-containers none is created"])
        }
        log.debug(
            "a container was created",
            [
                "cause": "a device named it", "container": container.name, "environment": "\(container.environment)",
                "device": greeting.shownName, "advice": "without --create-containers none is created",
            ])
    }
}
