// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTransport
internal import TidemarkWebSocket

extension OperatorURL {
    /// Why the server was not reached, or the connection broke: what is wrong, and what to do.
    func fault(_ error: TransportError) -> String {
        switch error.code {
        case .connectFailed: return unreached(error.underlying as? SocketError)
        case .tlsFailed: return untrusted(error.underlying as? TLSError)
        case .upgradeRefused:
            return "What answers at \(text) takes no commands of operators. Check the port: see tidemark serve "
                + "--operators-listen. (\(error))"
        case .connectionLost: return "The connection to the server \(text) broke."
        default: return "The connection to the server \(text) failed (\(error))."
        }
    }

    private func unreached(_ error: SocketError?) -> String {
        let why =
            switch error?.code {
            case .connectionRefused?: "nothing listens on that port. Has the server been started?"
            case .nameNotFound?: "no host has that name."
            case .notLoopback?: "that name leads to another machine. Use wss://."
            case let code?: "\(code.rawValue)."
            case nil: "no connection could be made."
            }
        return "The server \(text) cannot be reached: \(why)"
    }

    private func untrusted(_ error: TLSError?) -> String {
        let detail = error.map { $0.detail.isEmpty ? "" : " (\($0.detail))" } ?? ""
        switch error?.code {
        case .certificateUntrusted?:
            return "The certificate of the server \(text) is not trusted\(detail). Name its authority: tidemark admin "
                + "context add … --ca FILE, or TIDEMARK_CA."
        case .certificateExpired?, .hostNameMismatch?, .certificateInvalid?:
            return "The certificate of the server \(text) is not trusted\(detail). Tell who runs the server."
        default: return "The TLS handshake with the server \(text) failed\(detail). Does that port speak TLS?"
        }
    }
}
