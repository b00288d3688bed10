// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkHTTP
internal import TidemarkSockets
internal import TidemarkTelemetry
internal import TidemarkTransport

/// Answers operators and their programs: `/metrics`, `/healthz` and `/readyz`.
///
/// A client that may not see the metrics may still use the two others, as load balancers do. They reveal no more than a device learns when
/// it connects.
final class AdminHandler: HTTPHandler {
    private let state: ServingState
    private let storeAnswers: @Sendable () -> Bool
    /// Nil: nobody needs one.
    private let token: Mutex<AdminToken?>

    init(token: AdminToken?, state: ServingState, storeAnswers: @escaping @Sendable () -> Bool) {
        self.token = Mutex(token)
        self.state = state
        self.storeAnswers = storeAnswers
    }

    /// From now on another token counts.
    func replaceToken(_ new: AdminToken) { token.withLock { $0 = new } }

    func decide(_ head: RequestHead, from peer: HTTPPeer) -> HTTPDecision {
        if !peer.isSecured, !Self.namesThisMachine(head) {
            return .refuse(.text(.forbidden, "Ask for this machine by its address or as localhost."))
        }
        let wanted = head.path == "/metrics" ? token.withLock { $0 } : nil
        guard let wanted, !wanted.isShown(by: head.fields) else {
            return .take(bodyBytesMax: 0)
        }
        FailureLog.shared.note(
            .warning, "an operator was refused", cause: "no token, or a wrong one", ["peer": peer.address.host],
            request: nil)
        return .refuse(.plain(.unauthorized, fields: HeaderFields([("WWW-Authenticate", "Bearer realm=\"tidemark\"")])))
    }

    func answer(_ request: HTTPRequest) async -> HTTPAnswer {
        let found: HTTPResponse? =
            switch request.head.path {
            case "/metrics": metrics()
            case "/healthz": health()
            case "/readyz": readiness()
            default: nil
            }
        return .whole(HTTPResponse.answer(request.head, found: found))
    }

    /// In the text format of Prometheus.
    private func metrics() -> HTTPResponse {
        let format = HeaderFields([("Content-Type", "text/plain; version=0.0.4; charset=utf-8")])
        return HTTPResponse(.ok, fields: format, body: Array(Measurements.text.utf8))
    }

    private func health() -> HTTPResponse {
        storeAnswers() ? .text(.ok, "ok") : .text(.serviceUnavailable, "the store does not answer")
    }

    private func readiness() -> HTTPResponse {
        guard let obstacle = state.obstacle(storeAnswers: storeAnswers()) else { return .text(.ok, "ready") }
        return .text(.serviceUnavailable, obstacle)
    }

    /// A web page can point its own host name at this machine and then read the answers. It cannot use an address or `localhost` that way.
    private static func namesThisMachine(_ head: RequestHead) -> Bool {
        guard let authority = head.fields.onlyValue("Host") else { return true }
        var host = authority
        if let (name, _) = try? SocketAddress.split(authority) { host = name }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return HeaderFields.isSame(host, "localhost") || SocketAddress(numericHost: host, port: 0) != nil
    }
}
