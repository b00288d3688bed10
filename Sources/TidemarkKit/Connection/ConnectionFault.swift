// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTransport
internal import TidemarkWebSocket

/// The reason why a server was not reached: a sentence for the person who has to correct it, with the address that was
/// tried.
package struct ConnectionFault: Sendable, Equatable {
    package let text: String
    /// The system's error number, if the system failed; otherwise 0.
    package var errorNumber: Int32 = 0

    package init(_ text: String, errorNumber: Int32 = 0) {
        self.text = text
        self.errorNumber = errorNumber
    }
}

extension ConnectionFault: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}

/// The server of a connection in a form that may be shown: without the secrets that a URL may contain.
struct ServerPlace: Sendable {
    let text: String
    private let isSecure: Bool

    init(_ url: URL) {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
        parts?.user = nil
        parts?.password = nil
        parts?.query = nil
        parts?.fragment = nil
        text = parts?.string ?? "that is configured"
        isSecure = url.scheme == "wss"
    }

    func fault(_ error: TransportError) -> ConnectionFault {
        switch error.code {
        case .connectFailed: unreached(error.underlying as? SocketError)
        case .tlsFailed: untrusted(error.underlying as? TLSError)
        case .httpInvalid: says("what answers there is not HTTP. Is it a Tidemark server?\(tlsHint)")
        case .upgradeRefused: refused(error.underlying as? WebSocketError)
        case .handshakeTimedOut: says("it did not answer in time. Is the network slow, or the server overloaded?")
        case .connectionLost: says("it ended the connection.\(tlsHint)")
        default: says("the connection failed (\(error)).")
        }
    }

    private func says(_ why: String, errorNumber: Int32 = 0) -> ConnectionFault {
        ConnectionFault("The server \(text) cannot be reached: \(why)", errorNumber: errorNumber)
    }

    private var tlsHint: String {
        isSecure ? "" : " If that port speaks TLS, the URL begins with wss://."
    }

    private func unreached(_ error: SocketError?) -> ConnectionFault {
        guard let error else { return says("no connection could be made.") }
        let number = error.errorNumber
        switch error.code {
        case .nameNotFound: return says("no host has that name (name not found). Check TIDEMARK_URL.")
        case .nameLookupFailed: return says("no name server answered. Check the network.")
        case .notLoopback: return says("that name leads to another machine. Without TLS (ws://), use 127.0.0.1.")
        case .addressInvalid where number == 0: return says("that is no host. Check TIDEMARK_URL.")
        case .connectionRefused:
            return says(
                "nothing listens on that port (ECONNREFUSED). Has the server been started, and is the port right?",
                errorNumber: number)
        default:
            let reason = number == 0 ? error.code.rawValue : String(cString: strerror(number))
            return says("\(reason) (\(error.code.rawValue)).", errorNumber: number)
        }
    }

    private func untrusted(_ error: TLSError?) -> ConnectionFault {
        guard let error else { return says("the TLS handshake failed.") }
        let detail = error.detail.isEmpty ? "" : " (\(error.detail))"
        switch error.code {
        case .certificateUntrusted:
            return ConnectionFault(
                """
                The certificate of the server \(text) is not trusted\(detail). Set TIDEMARK_CA to the file of the authority \
                that issued it.
                """)
        case .certificateExpired:
            return ConnectionFault(
                "The certificate of the server \(text) is not trusted\(detail): it is out of date, or this clock is wrong."
            )
        case .hostNameMismatch:
            return ConnectionFault(
                "The certificate of the server \(text) is not trusted\(detail): it is for another host. Use a name from "
                    + "the certificate in TIDEMARK_URL.")
        case .certificateInvalid:
            return ConnectionFault(
                "The certificate of the server \(text) is not trusted\(detail): it is not valid. Tell the server's operator."
            )
        default: return says("the TLS handshake failed\(detail). Does that port speak TLS?")
        }
    }

    private func refused(_ error: WebSocketError?) -> ConnectionFault {
        guard let status = error?.status else { return says("what answers there is no Tidemark server.") }
        let hint =
            status >= 500
            ? "It may be starting, or a proxy before it may not reach it."
            : "Is that a Tidemark server, and the path right?"
        return says("it answered with HTTP status \(status). \(hint)")
    }
}

extension ConnectionFault {
    /// An authority's file cannot be used.
    ///
    /// - Parameter error: libssl's error.
    init(authorityFile path: String, _ error: TLSError) {
        var isDirectory: ObjCBool = false
        let why: String
        if !FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) {
            why = "there is no such file"
        } else if isDirectory.boolValue {
            why = "it is a directory"
        } else if let data = FileManager.default.contents(atPath: path) {
            why =
                Self.wrong(with: String(decoding: data, as: UTF8.self))
                ?? (error.detail.isEmpty ? "\(error)" : error.detail)
        } else {
            why = "it cannot be read: check its permissions"
        }
        self.init(
            "The certificate authority file \(path) (TIDEMARK_CA, or ca in tidemark.json) cannot be used: \(why).")
    }

    private static func wrong(with text: String) -> String? {
        if !text.contains("-----BEGIN ") { return "it is not PEM" }
        let hasCertificate = text.contains(/-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/)
        return hasCertificate ? nil : "it has no certificate in it"
    }
}
