// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL
internal import CTidemarkOpenSSLStart
internal import Glibc
internal import Synchronization

/// The data that sessions share: certificate or trusted roots, versions, ciphers, resumption. From any thread.
///
/// TLS 1.2 and 1.3, only forward secret and authenticated ciphers, no renegotiation, no compression, no early data:
/// Mozilla's *intermediate* configuration without its finite-field key exchange.
package final class TLSContext: Sendable {
    /// The certificate that a server shows its clients, and the protocols that it speaks.
    package struct ServerSettings: Sendable {
        /// PEM: the server's certificate, then the intermediate ones.
        package var certificateFile: String
        /// PEM, without a passphrase.
        package var privateKeyFile: String
        /// ALPN (RFC 7301), best first. The default includes HTTP/1.0, because the server answers such clients too. A
        /// client that offers only others is refused; one that offers none is served.
        package var applicationProtocols: [String]
        /// PEM: the authorities whose certificates clients must show, and no others. Nil: clients show none.
        package var clientAuthorityFile: String?
        /// A secret that servers of one name share, so that a client of one resumes at another (``TicketSecret``). Nil: only at
        /// the one that it came from.
        package var ticketSecretFile: String?

        package init(
            certificateFile: String, privateKeyFile: String,
            applicationProtocols: [String] = ["http/1.1", "http/1.0"], clientAuthorityFile: String? = nil,
            ticketSecretFile: String? = nil
        ) {
            self.ticketSecretFile = ticketSecretFile
            self.certificateFile = certificateFile
            self.privateKeyFile = privateKeyFile
            self.applicationProtocols = applicationProtocols
            self.clientAuthorityFile = clientAuthorityFile
        }
    }

    /// The servers that a client trusts, and the protocols that it offers.
    package struct ClientSettings: Sendable {
        /// PEM: authorities to trust besides the system's.
        package var additionalRootsFile: String?
        /// Whether to trust the system's authorities.
        package var trustsSystemRoots: Bool
        /// ALPN, best first.
        package var applicationProtocols: [String]

        package init(
            additionalRootsFile: String? = nil, trustsSystemRoots: Bool = true,
            applicationProtocols: [String] = ["http/1.1"]
        ) {
            self.additionalRootsFile = additionalRootsFile
            self.trustsSystemRoots = trustsSystemRoots
            self.applicationProtocols = applicationProtocols
        }
    }

    enum Settings: Sendable {
        case server(ServerSettings)
        case client(ClientSettings)
    }

    /// ECDHE with AEAD. For TLS 1.3 the cheapest strong cipher comes first.
    static let cipherListTLS12 = """
        ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:\
        ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305
        """
    static let cipherSuitesTLS13 = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    static let groups = "X25519:P-256:P-384"
    /// How long a ticket is valid: a client that returns within two hours saves half of the handshake.
    private static let ticketSeconds = Int(TicketKeyRing<Never>.ticketTime.components.seconds)
    /// The most hosts whose last session a client keeps. An app does not reach more.
    private static let savedSessionsMax = 64

    let settings: Settings
    let protocols: ApplicationProtocols
    let current: Mutex<LibraryContext>
    private let savedSessions = Mutex<[String: SavedSession]>([:])
    /// Monotonic time, for the age of ticket keys.
    private let now: @Sendable () -> Duration
    /// Seconds since 1970, for ticket keys that servers share.
    private let wallClock: @Sendable () -> Int64

    /// - Throws: `configurationInvalid` if a file cannot be used.
    package convenience init(server configuration: ServerSettings) throws(TLSError) {
        let start = ContinuousClock.now
        try self.init(server: configuration, now: { ContinuousClock.now - start })
    }

    init(
        server configuration: ServerSettings, now: @escaping @Sendable () -> Duration,
        wallClock: @escaping @Sendable () -> Int64 = { Int64(time(nil)) }
    ) throws(TLSError) {
        settings = .server(configuration)
        self.now = now
        self.wallClock = wallClock
        protocols = try ApplicationProtocols(configuration.applicationProtocols)
        current = Mutex(try Self.makeServerContext(configuration, protocols, now, wallClock))
    }

    /// - Throws: `configurationInvalid` if a file cannot be used.
    package init(client configuration: ClientSettings = ClientSettings()) throws(TLSError) {
        settings = .client(configuration)
        now = { .zero }
        wallClock = { 0 }
        protocols = try ApplicationProtocols(configuration.applicationProtocols)
        current = Mutex(try Self.makeClientContext(configuration, protocols))
    }

    /// Reads the files again, for sessions that begin from now on. Existing sessions are unaffected. Earlier tickets are void: a holder of
    /// the old private key must not be able to speak for the new certificate.
    ///
    /// - Throws: `configurationInvalid`; then nothing changes.
    package func reload() throws(TLSError) {
        switch settings {
        case .server(let configuration):
            let context = try Self.makeServerContext(configuration, protocols, now, wallClock)
            current.withLock { $0 = context }
        case .client(let configuration):
            let context = try Self.makeClientContext(configuration, protocols)
            current.withLock { $0 = context }
            savedSessions.withLock { $0 = [:] }
        }
    }

    /// Until when a server's certificate is valid: seconds since 1970. Nil for a client, which has none.
    package var certificateEnd: Int64? {
        current.withLock { context in
            SSL_CTX_get0_certificate(context.pointer).flatMap { try? Certificate.end(of: $0) }
        }
    }

    /// A new `SSL`, which keeps its `SSL_CTX` alive.
    func makeSSL() -> OpaquePointer? {
        current.withLock { SSL_new($0.pointer) }
    }

    func savedSession(host: String) -> SavedSession? {
        savedSessions.withLock { $0[host] }
    }

    func save(_ session: SavedSession, host: String) {
        savedSessions.withLock { sessions in
            if sessions.count >= Self.savedSessionsMax, sessions[host] == nil { sessions = [:] }
            sessions[host] = session
        }
    }

    // MARK: Making libssl's part

    private static func makeServerContext(
        _ configuration: ServerSettings, _ protocols: ApplicationProtocols,
        _ now: @escaping @Sendable () -> Duration, _ wallClock: @escaping @Sendable () -> Int64
    ) throws(TLSError) -> LibraryContext {
        let context = try LibraryContext(TLS_server_method())
        let pointer = context.pointer
        try applyCommonSettings(pointer)
        SSL_CTX_set_options(
            pointer, tidemark_ssl_op_cipher_server_preference() | tidemark_ssl_op_prioritize_chacha())
        // Tickets hold everything that resumption needs. A cache would only cost memory.
        tidemark_ssl_ctx_set_cache_off(pointer)
        SSL_CTX_set_num_tickets(pointer, 1)
        SSL_CTX_set_timeout(pointer, ticketSeconds)
        if let file = configuration.clientAuthorityFile { try demandCertificates(from: file, pointer) }
        let identity = Array("tidemark".utf8)
        SSL_CTX_set_session_id_context(pointer, identity, UInt32(identity.count))
        protocols.serve(pointer)

        // Without this, libssl would ask on the terminal for the passphrase of a key.
        SSL_CTX_set_default_passwd_cb(pointer) { _, _, _, _ in 0 }
        ERR_clear_error()
        guard SSL_CTX_use_certificate_chain_file(pointer, configuration.certificateFile) == 1 else {
            throw .configuration(configuration.certificateFile)
        }
        guard SSL_CTX_use_PrivateKey_file(pointer, configuration.privateKeyFile, SSL_FILETYPE_PEM) == 1,
            SSL_CTX_check_private_key(pointer) == 1
        else { throw .configuration(configuration.privateKeyFile) }
        let secret = try configuration.ticketSecretFile.map { (file) throws(TLSError) in
            try TicketSecret(file: file, certificate: try certificateHash(pointer))
        }
        TicketKeys(now: now, secret: secret, wallClock: wallClock).serve(pointer)
        return context
    }

    /// SHA-256 of the server's certificate.
    private static func certificateHash(_ pointer: OpaquePointer) throws(TLSError) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard let certificate = SSL_CTX_get0_certificate(pointer),
            X509_digest(certificate, EVP_sha256(), &hash, &count) == 1
        else { throw .configuration("certificate") }
        return Array(hash[..<Int(count)])
    }

    /// `SSL_OP_NO_TICKET`, which is a macro with arguments in C.
    private static let withoutTickets: UInt64 = 1 << 14

    /// A client without a certificate of these authorities gets no further than the handshake. Each connection shows its certificate again:
    /// a ticket would speak for one that has expired since.
    private static func demandCertificates(from file: String, _ pointer: OpaquePointer) throws(TLSError) {
        ERR_clear_error()
        guard SSL_CTX_load_verify_file(pointer, file) == 1, let names = SSL_load_client_CA_file(file) else {
            throw .configuration(file)
        }
        SSL_CTX_set_client_CA_list(pointer, names)
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_set_options(pointer, withoutTickets)
        SSL_CTX_set_num_tickets(pointer, 0)
    }

    private static func makeClientContext(
        _ configuration: ClientSettings, _ protocols: ApplicationProtocols
    ) throws(TLSError) -> LibraryContext {
        let context = try LibraryContext(TLS_client_method())
        let pointer = context.pointer
        try applyCommonSettings(pointer)
        SSL_CTX_set_verify(pointer, SSL_VERIFY_PEER, nil)
        ERR_clear_error()
        if configuration.trustsSystemRoots, SSL_CTX_set_default_verify_paths(pointer) != 1 {
            throw .configuration("system roots")
        }
        if let file = configuration.additionalRootsFile, SSL_CTX_load_verify_file(pointer, file) != 1 {
            throw .configuration(file)
        }
        guard protocols.offer(pointer) else { throw .configuration("application protocols") }
        tidemark_ssl_ctx_set_cache_client_callback_only(pointer)
        SSL_CTX_sess_set_new_cb(pointer) { ssl, session in TLSSession.sessionIsNew(ssl, session) }
        return context
    }

    private static func applyCommonSettings(_ pointer: OpaquePointer) throws(TLSError) {
        ERR_clear_error()
        guard tidemark_ssl_ctx_set_minimum_tls12(pointer) == 1,
            SSL_CTX_set_cipher_list(pointer, cipherListTLS12) == 1,
            SSL_CTX_set_ciphersuites(pointer, cipherSuitesTLS13) == 1,
            tidemark_ssl_ctx_set_groups(pointer, groups) == 1
        else { throw .configuration("ciphers") }
        SSL_CTX_set_options(pointer, tidemark_ssl_op_no_renegotiation() | tidemark_ssl_op_no_compression())
        tidemark_ssl_ctx_set_modes(pointer)
        tidemark_ssl_ctx_set_read_ahead(pointer)
        SSL_CTX_set_info_callback(pointer) { ssl, place, _ in TLSSession.reached(place, ssl) }
    }
}

/// An `SSL_CTX`, which is freed with its last user.
///
/// Sendable: libssl counts references to it and locks what changes. Settings are made before it is shared.
final class LibraryContext: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ method: OpaquePointer?) throws(TLSError) {
        ERR_clear_error()
        guard let pointer = SSL_CTX_new(method) else { throw .configuration("SSL_CTX_new") }
        self.pointer = pointer
    }

    deinit { SSL_CTX_free(pointer) }
}

/// The state for resumption: an `SSL_SESSION`, which libssl does not change once it is made.
final class SavedSession: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes over one reference.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { SSL_SESSION_free(pointer) }
}
