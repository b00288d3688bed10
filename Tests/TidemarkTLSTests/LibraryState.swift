// SPDX-License-Identifier: Apache-2.0

import CTidemarkOpenSSL
import Synchronization

@testable import TidemarkTLS

extension TLSContext {
    /// Turns libssl's own policy off for new sessions, so that only the settings of the context refuse anything.
    func liftLibraryPolicy() {
        current.withLock { SSL_CTX_set_security_level($0.pointer, 0) }
    }
}

extension TLSSession {
    /// `TLSv1.2` or `TLSv1.3`.
    var version: String { String(cString: SSL_get_version(ssl)) }

    /// Nil before the handshake has chosen one.
    var cipher: String? { SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } }

    /// The protocol chosen by ALPN; nil if there was none.
    var negotiatedProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        guard let name, count > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
    }
}
