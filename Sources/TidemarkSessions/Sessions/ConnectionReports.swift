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
    enum Refused: String {
        case credential = "its credential is unknown, expired or revoked"
        case noCredential = "it has no credential"
        case foreignPage = "it is a web page without a credential"

        /// For the operator.
        fileprivate var advice: String {
            switch self {
            case .credential:
                "list valid ones with: tidemark admin credentials list ACCOUNT; make one with: tidemark admin "
                    + "credentials create ACCOUNT"
            case .noCredential: "sign in on the device, or serve everybody: without --require-credential"
            case .foreignPage: "sign in on the page, or name it: --allowed-origins"
            }
        }
    }

    private static let log = Log(Log.connectionsLabel)

    /// - Parameter address: of the device, or of a proxy before the server.
    static func refused(_ cause: Refused, _ hello: WireHello, request: RequestUUID, address: String?) {
        guard log.writes(.debug) else {
            return FailureLog.shared.note(
                .info, "a device was refused", cause: cause.rawValue, ["advice": cause.advice],
                request: RequestTrace(request))
        }
        let greeting = try? Greeting(hello)
        log.debug(
            "a device was refused",
            [
                "cause": cause.rawValue, "advice": cause.advice, "request": "\(request)", "address": address ?? "none",
                "container": greeting?.container ?? "invalid", "device": greeting?.shownName ?? "invalid",
            ])
    }

    /// - Parameter session: the number of the newer device's session.
    static func copied(_ member: SessionMember, session: UInt64) {
        FailureLog.shared.note(
            .warning, "two devices have one identity: the newer one is told to take another", cause: "a copied device",
            ["session": "\(session)", "account": "\(member.identity?.account.rawValue ?? 0)"], request: nil)
    }

    /// Of an account without other containers. It cannot miss data.
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
