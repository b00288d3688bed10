// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL
internal import Synchronization

/// The ticket keys of one `SSL_CTX` of a server. libssl asks for them with each ticket, on any thread.
final class TicketKeys: Sendable {
    /// The key of some tickets. It is wiped when it is forgotten.
    private final class Key: Sendable {
        static let nameByteCount = 16
        static let cipherByteCount = 32
        static let authenticationByteCount = 32

        static let byteCount = nameByteCount + cipherByteCount + authenticationByteCount

        private let bytes = SecretBytes(byteCount: byteCount)

        /// Nil if there are no random numbers.
        init?() {
            guard RAND_bytes(bytes.start, Int32(Self.byteCount)) == 1 else { return nil }
        }

        /// Nil if it cannot be made.
        init?(_ secret: TicketSecret, hour: Int64) {
            guard secret.makeKey(ofHour: hour, at: bytes.start, byteCount: Self.byteCount) else { return nil }
        }

        var name: UnsafePointer<UInt8> { UnsafePointer(bytes.start) }
        var cipher: UnsafePointer<UInt8> { name + Self.nameByteCount }
        var authentication: UnsafeMutablePointer<UInt8> { bytes.start + Self.nameByteCount + Self.cipherByteCount }

        func isNamed(_ name: [UInt8]) -> Bool {
            name.elementsEqual(UnsafeBufferPointer(start: self.name, count: Self.nameByteCount))
        }
    }

    private let ring = Mutex(TicketKeyRing<Key>())
    private let now: @Sendable () -> Duration
    /// Nil: this server makes its own keys.
    private let secret: TicketSecret?
    private let wallClock: @Sendable () -> Int64
    /// Those of the secret that were made already, by hour. At most those of ``TicketHours/opening``.
    private let shared = Mutex<[Int64: Key]>([:])

    /// - Parameters:
    ///   - now: monotonic time.
    ///   - secret: shared with other servers. They have nothing but the time of day in common.
    ///   - wallClock: seconds since 1970.
    init(
        now: @escaping @Sendable () -> Duration, secret: TicketSecret? = nil,
        wallClock: @escaping @Sendable () -> Int64 = { 0 }
    ) {
        self.now = now
        self.secret = secret
        self.wallClock = wallClock
    }

    /// The place of a `TicketKeys` in an `SSL_CTX`, which keeps it alive: sessions may outlive all else of a server's
    /// context.
    private static let place = tidemark_ssl_ctx_new_place { _, keys, _, _, _, _ in
        if let keys { Unmanaged<TicketKeys>.fromOpaque(keys).release() }
    }

    /// Makes `context` ask these keys.
    func serve(_ context: OpaquePointer) {
        let this = Unmanaged.passRetained(self)
        guard SSL_CTX_set_ex_data(context, Self.place, this.toOpaque()) == 1 else { return this.release() }
        SSL_CTX_set_tlsext_ticket_key_evp_cb(context) { ssl, name, vector, cipher, authentication, isSealing in
            guard let context = SSL_get_SSL_CTX(ssl), let keys = SSL_CTX_get_ex_data(context, TicketKeys.place),
                let name, let vector
            else { return -1 }
            let this = Unmanaged<TicketKeys>.fromOpaque(keys).takeUnretainedValue()
            return isSealing == 1
                ? this.seal(name, vector, cipher, authentication)
                : this.open(name, vector, cipher, authentication, renews: SSL_version(ssl) == TLS1_3_VERSION)
        }
    }

    /// - Returns: as libssl wants it: 1, or below 0 for a failure.
    private func seal(
        _ name: UnsafeMutablePointer<UInt8>, _ vector: UnsafeMutablePointer<UInt8>, _ cipher: OpaquePointer?,
        _ authentication: OpaquePointer?
    ) -> Int32 {
        guard let key = sealingKey(),
            RAND_bytes(vector, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1,
            EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), nil, key.cipher, vector) == 1,
            tidemark_ticket_set_key(authentication, key.authentication, Key.authenticationByteCount) == 1
        else { return -1 }
        name.update(from: key.name, count: Key.nameByteCount)
        return 1
    }

    /// - Parameter renews: whether the client gets a new ticket in any case. In TLS 1.3 it uses each one once.
    /// - Returns: as libssl wants it: 0 for a whole handshake instead, 1, or 2 for 1 and a new ticket.
    private func open(
        _ name: UnsafePointer<UInt8>, _ vector: UnsafePointer<UInt8>, _ cipher: OpaquePointer?,
        _ authentication: OpaquePointer?, renews: Bool
    ) -> Int32 {
        let wanted = Array(UnsafeBufferPointer(start: name, count: Key.nameByteCount))
        guard let (key, isOld) = openingKey(named: wanted) else { return 0 }
        guard EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nil, key.cipher, vector) == 1,
            tidemark_ticket_set_key(authentication, key.authentication, Key.authenticationByteCount) == 1
        else { return -1 }
        return isOld || renews ? 2 : 1
    }

    private func sealingKey() -> Key? {
        guard let secret else {
            let now = now()
            return ring.withLock { $0.sealingKey(at: now) { Key() } }
        }
        return sharedKey(of: secret, TicketHours(at: wallClock()).sealing)
    }

    private func openingKey(named name: [UInt8]) -> (key: Key, isOld: Bool)? {
        guard let secret else {
            let now = now()
            return ring.withLock { $0.openingKey(at: now) { $0.isNamed(name) } }
        }
        let hours = TicketHours(at: wallClock())
        for hour in hours.opening {
            if let key = sharedKey(of: secret, hour), key.isNamed(name) { return (key, hour < hours.sealing) }
        }
        return nil
    }

    private func sharedKey(of secret: TicketSecret, _ hour: Int64) -> Key? {
        shared.withLock { keys in
            if let key = keys[hour] { return key }
            guard let key = Key(secret, hour: hour) else { return nil }
            let kept = TicketHours(at: wallClock()).opening
            keys = keys.filter { kept.contains($0.key) }
            keys[hour] = key
            return key
        }
    }
}
