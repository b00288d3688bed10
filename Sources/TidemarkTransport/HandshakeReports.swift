// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTelemetry

/// The log lines of a server about connections that failed before they were open.
///
/// Scanners of addresses cause such lines all the time. So the log has one line of a kind in a minute, and a count of the others. With
/// `--verbose`, or at debug, each has a separate line, with its address.
enum HandshakeReports {
    private static let log = Log(Log.connectionsLabel)

    static func failed(_ error: TransportError, from address: SocketAddress?) {
        if let header = error.underlying as? ProxyHeaderError {
            // Only proxies of the operator's cause it.
            return FailureLog.shared.note(
                .warning, "a proxy did not say who its client is", cause: header.rawValue,
                ["advice": "let the proxy send the PROXY protocol of version 2, or take its network from --proxy-from"],
                request: nil)
        }
        let tls = error.underlying as? TLSError
        guard log.writes(.debug) else {
            // Other connections are cut or too slow, which no operator can mend.
            guard let tls else { return }
            return FailureLog.shared.note(
                .info, "a TLS handshake failed", cause: tls.code.rawValue,
                ["reason": tls.detail, "advice": advice(tls.code)], request: nil)
        }
        let address = address?.description ?? "none"
        guard let tls else {
            return log.debug("a handshake failed", ["cause": error.description, "address": address])
        }
        log.debug(
            "a TLS handshake failed",
            ["cause": tls.code.rawValue, "reason": tls.detail, "advice": advice(tls.code), "address": address])
    }

    private static func advice(_ code: TLSError.Code) -> String {
        switch code {
        case .alertReceived:
            "the client refuses the certificate: give the client its authority (TIDEMARK_CA), and check the "
                + "certificate's names and dates"
        case .handshakeFailed, .recordInvalid:
            "the client speaks no TLS, or an old version: it needs a URL that begins with wss:// and TLS 1.2 or newer"
        case .configurationInvalid: "check --certificate and --private-key"
        case .certificateUntrusted, .certificateExpired, .hostNameMismatch, .certificateInvalid, .sessionEnded:
            "try again from the client, and look at its error"
        }
    }
}
