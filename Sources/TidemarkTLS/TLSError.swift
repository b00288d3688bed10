// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL

/// Why a TLS context could not be made, or why a TLS session has ended.
package struct TLSError: Error, Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The causes of the error. They tell a wrong configuration from a wrong peer.
    package enum Code: String, Sendable, CaseIterable {
        /// A certificate or key file is missing, unreadable or does not fit. ``TLSError/detail`` names it.
        case configurationInvalid
        /// The peer's certificate is not from an authority that we trust.
        case certificateUntrusted
        /// The certificate has expired, or is not valid yet.
        case certificateExpired
        /// The certificate is for another host.
        case hostNameMismatch
        /// Anything else is wrong with the certificate.
        case certificateInvalid
        /// The handshake failed: not TLS, no common version or cipher, or forged.
        case handshakeFailed
        /// The peer ended the session with an alert.
        case alertReceived
        /// Something arrived that is not a valid record.
        case recordInvalid
        /// The session has failed or was closed before.
        case sessionEnded
    }

    package let code: Code
    /// libssl's reason (constant text) or the file's name. Safe in an operator's logs; of no use to app users.
    package let detail: String

    package init(_ code: Code, detail: String = "") {
        self.code = code
        self.detail = detail
    }

    package var description: String { code.rawValue }

    package var debugDescription: String { detail.isEmpty ? code.rawValue : "\(code.rawValue): \(detail)" }
}

extension TLSError {
    /// Removes the reason from this thread's queue of libssl errors, and returns it. The queue is then empty.
    static func takeReason() -> String {
        let number = ERR_peek_last_error()
        ERR_clear_error()
        guard number != 0, let reason = ERR_reason_error_string(number) else { return "" }
        return String(cString: reason)
    }

    static func configuration(_ subject: String) -> TLSError {
        let reason = takeReason()
        return TLSError(.configurationInvalid, detail: reason.isEmpty ? subject : "\(subject): \(reason)")
    }

    /// The error for a failed verification; nil if the certificate is valid or was not checked.
    static func verification(_ result: Int) -> TLSError? {
        let code: Code
        switch Int32(result) {
        case X509_V_OK: return nil
        case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: code = .certificateExpired
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: code = .hostNameMismatch
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_CERT_UNTRUSTED:
            code = .certificateUntrusted
        default: code = .certificateInvalid
        }
        return TLSError(code, detail: String(cString: X509_verify_cert_error_string(result)))
    }
}
