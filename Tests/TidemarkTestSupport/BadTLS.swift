// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL

/// What no endpoint of ours does with TLS. Tests take the pointers from the library.
package enum BadTLS {
    /// Limits new sessions of an `SSL_CTX` to TLS 1.2.
    package static func limitToTLS12(_ context: OpaquePointer) {
        _ = tidemark_ssl_ctx_set_maximum_tls12(context)
    }

    /// Asks for another handshake in the middle of a session, an `SSL`. Only TLS 1.2 has that.
    ///
    /// - Returns: whether the library lets us ask.
    @discardableResult
    package static func renegotiate(_ session: OpaquePointer) -> Bool {
        tidemark_ssl_clear_no_renegotiation(session)
        defer { ERR_clear_error() }
        guard SSL_renegotiate(session) == 1 else { return false }
        _ = SSL_do_handshake(session)
        return true
    }

    /// Updates the keys of a session, an `SSL`, again and again, and asks the peer each time to do the same. Only TLS 1.3
    /// has that.
    package static func updateKeys(_ session: OpaquePointer, count: Int) {
        for _ in 0..<count {
            guard SSL_key_update(session, SSL_KEY_UPDATE_REQUESTED) == 1 else { break }
            _ = SSL_do_handshake(session)
        }
        ERR_clear_error()
    }
}
