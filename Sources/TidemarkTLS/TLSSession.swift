// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL
internal import TidemarkBytes

/// One end of a TLS connection, as a synchronous state machine without a socket. Encrypted bytes go in by
/// ``receive(_:plaintext:)`` and come out by ``withOutput(_:)``.
///
/// Confined to its owner, usually a connection on its loop. After every call there may be output to send, even and
/// especially after an error: it is the alert that tells the peer why.
///
/// ```swift
/// let session = try TLSSession(context: context, side: .client(hostName: "example.org"))
/// try session.start()
/// // socket readable:
/// try session.receive(bytes) { plaintext in … }
/// session.withOutput { send($0) }
/// ```
package final class TLSSession {
    /// The side of the handshake that the session takes.
    package enum Side: Sendable, Equatable {
        case server
        /// The DNS name or numeric IP address for which the server's certificate must be valid.
        case client(hostName: String)
    }

    package let side: Side

    private let context: TLSContext
    let ssl: OpaquePointer
    private let pipe: UnsafeMutablePointer<TLSPipe>

    // Fields that each message uses. `unchecked` saves the runtime check for overlapping access.

    @exclusivity(unchecked) private var hasHandshaken = false
    @exclusivity(unchecked) private var hasFailed = false
    @exclusivity(unchecked) private var hasReceivedCloseNotify = false
    @exclusivity(unchecked) private var hasSentCloseNotify = false

    /// The most plaintext of a record (RFC 8446 §5.1).
    private static let recordPlaintextBytesMax = 16_384
    /// The most bytes that encryption adds to a record, with some reserve: header, content type, nonce and tag.
    private static let recordOverheadBytesMax = 64
    private static let shortRecordBytes = 64
    /// Steps of handshakes in the whole life of a connection. The first handshake takes about 20, and each update of a
    /// key (RFC 8446 §4.6.3) one or two. An honest peer updates keys after many gigabytes. Without a bound 64 KiB of
    /// updates took 49 ms, and libssl bounds neither their number nor what one call takes of them.
    private static let handshakeStepsMax = 100
    /// Up to this size, memory for plaintext comes from the stack.
    private static let smallScratchBytes = 1_024

    /// - Throws: `configurationInvalid` for an invalid host name.
    package init(context: TLSContext, side: Side) throws(TLSError) {
        ERR_clear_error()
        guard let ssl = context.makeSSL() else { throw .configuration("SSL_new") }
        pipe = .allocate(capacity: 1)
        pipe.initialize(to: TLSPipe())
        self.context = context
        self.side = side
        self.ssl = ssl
        guard let bio = TLSPipe.makeBIO(over: pipe) else { throw .configuration("BIO_new") }
        SSL_set_bio(ssl, bio, bio)
        switch (side, context.settings) {
        case (.server, .server):
            SSL_set_accept_state(ssl)
        case (.client(let hostName), .client):
            SSL_set_connect_state(ssl)
            try setUpClient(hostName)
        default:
            preconditionFailure("a context is for one side")
        }
    }

    deinit {
        // NB: libssl does not resume a session that ended without a shutdown, but a connection that was cut is exactly
        // what resumption is for.
        if !hasFailed { SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        SSL_free(ssl)
        pipe.deinitialize(count: 1)
        pipe.deallocate()
    }

    // MARK: The handshake

    /// Whether the handshake is done, so that plaintext may be sent.
    package var isEstablished: Bool { hasHandshaken }

    /// Whether the handshake used the state of an earlier session, and no certificate.
    package var wasResumed: Bool { SSL_session_reused(ssl) == 1 }

    /// Begins the handshake: a client's output then holds its hello. A server waits for that hello and does not have to
    /// call this.
    package func start() throws(TLSError) {
        _ = try advanceHandshake()
    }

    /// True if the handshake is done, false if it waits for the peer.
    private func advanceHandshake() throws(TLSError) -> Bool {
        guard !hasFailed else { throw TLSError(.sessionEnded) }
        guard !isEstablished else { return true }
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        if result == 1 {
            hasHandshaken = true
            return true
        }
        let status = SSL_get_error(ssl, result)
        guard status == SSL_ERROR_WANT_READ else { throw fail(status) }
        return false
    }

    // MARK: Receiving

    /// Whether the peer has said that it sends no more. A stream that ends without it was cut, perhaps by an attacker.
    package var receivedCloseNotify: Bool { hasReceivedCloseNotify }

    /// Takes all bytes that the socket received. Passes decrypted bytes to `plaintext` in pieces, each valid until
    /// `plaintext` returns.
    ///
    /// Also drives the handshake. `plaintext` may call ``send(_:)`` and ``close()``, but not this.
    ///
    /// - Throws: Why the session has ended. Plaintext that was passed on before was genuine.
    package func receive(
        _ encrypted: UnsafeRawBufferPointer, plaintext: (UnsafeRawBufferPointer) -> Void
    ) throws(TLSError) {
        precondition(pipe.pointee.inputCount == 0, "received while receiving")
        pipe.pointee.input = encrypted.baseAddress
        pipe.pointee.inputCount = encrypted.count
        pipe.pointee.isStarved = false
        defer {
            pipe.pointee.input = nil
            pipe.pointee.inputCount = 0
        }
        guard try advanceHandshake(), !hasReceivedCloseNotify else { return }
        let status =
            encrypted.count <= Self.smallScratchBytes
            ? withUnsafeTemporaryAllocation(byteCount: Self.smallScratchBytes, alignment: 16) {
                read(into: $0, plaintext)
            }
            : PagePlace.withMemory(Self.recordPlaintextBytesMax, at: receivedPlace) { read(into: $0, plaintext) }
        switch status {
        case SSL_ERROR_WANT_READ: break
        case _ where pipe.pointee.handshakeSteps > Self.handshakeStepsMax:
            hasFailed = true
            ERR_clear_error()
            throw TLSError(.recordInvalid, detail: "too many key updates")
        case SSL_ERROR_ZERO_RETURN: hasReceivedCloseNotify = true
        default: throw fail(status)
        }
    }

    /// The best place in its page for plaintext that libssl copies from its last record.
    private var receivedPlace: Int { pipe.pointee.lastRead.map { PagePlace.good(from: $0) } ?? 0 }

    /// Reads until libssl has no more, neither in the borrowed memory nor, because of read-ahead, in its own.
    private func read(into scratch: UnsafeMutableRawBufferPointer, _ plaintext: (UnsafeRawBufferPointer) -> Void)
        -> Int32
    {
        while true {
            let count = SSL_read(ssl, scratch.baseAddress, Int32(scratch.count))
            guard count > 0 else { return whyNothingWasRead }
            plaintext(UnsafeRawBufferPointer(rebasing: scratch[..<Int(count)]))
            if hasFailed { return SSL_ERROR_WANT_READ }
            if pipe.pointee.inputCount == 0, SSL_has_pending(ssl) == 0 { return SSL_ERROR_WANT_READ }
        }
    }

    /// Like `SSL_get_error`, which also looks at the thread's queue of errors. Others may have left errors there, and
    /// emptying it before each message takes as long as decrypting a short one.
    private var whyNothingWasRead: Int32 {
        if pipe.pointee.isStarved { return SSL_ERROR_WANT_READ }
        // A fatal error, which an alert may be too, leaves libssl in its handshake for ever.
        let wasClosed = SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 && SSL_in_init(ssl) == 0
        return wasClosed ? SSL_ERROR_ZERO_RETURN : SSL_ERROR_SSL
    }

    // MARK: Sending

    /// Encrypts all of `plaintext` in as few records as possible. A short one may come first (``countToWrite(of:)``).
    /// Only once ``isEstablished``.
    ///
    /// - Throws: `sessionEnded` after an error or ``close()``.
    package func send(_ plaintext: UnsafeRawBufferPointer) throws(TLSError) {
        precondition(isEstablished, "sent before the handshake was done")
        guard !hasFailed, !hasSentCloseNotify else { throw TLSError(.sessionEnded) }
        reserveOutput(forPlaintext: plaintext.count)
        var rest = plaintext
        while !rest.isEmpty {
            let count = SSL_write(ssl, rest.baseAddress, Int32(clamping: countToWrite(of: rest)))
            // Never "would block": our pipe accepts everything.
            guard count > 0 else { throw fail(SSL_ERROR_SSL) }
            rest = UnsafeRawBufferPointer(rebasing: rest[Int(count)...])
        }
    }

    /// The size of the next record. A short one comes first if libssl would otherwise copy every record slowly: the
    /// later ones then begin elsewhere in the page.
    private func countToWrite(of plaintext: UnsafeRawBufferPointer) -> Int {
        guard plaintext.count >= Self.recordPlaintextBytesMax, let start = plaintext.baseAddress, let recordPlaintext,
            PagePlace.isSlow(from: start, to: recordPlaintext)
        else { return plaintext.count }
        return Self.shortRecordBytes
    }

    /// Where libssl copies plaintext to, judged by its last record; nil before there was one.
    private var recordPlaintext: UnsafeRawPointer? {
        pipe.pointee.lastRecord.map { $0 + (SSL_version(ssl) == TLS1_3_VERSION ? 5 : 13) }
    }

    /// The best place in its page for plaintext to be sent (``PagePlace``).
    package var plaintextPlace: Int { recordPlaintext.map { PagePlace.good(to: $0) } ?? 0 }

    /// Reserves output for this much plaintext, for a caller that sends it in several pieces.
    package func reserveOutput(forPlaintext count: Int) {
        let recordCount = count / Self.recordPlaintextBytesMax + 1
        pipe.pointee.output.reserve(count + recordCount * Self.recordOverheadBytesMax)
    }

    /// Tells the peer that nothing more follows (`close_notify`). A second call, or one after an error, does nothing.
    package func close() {
        guard !hasFailed, !hasSentCloseNotify else { return }
        hasSentCloseNotify = true
        // libssl refuses in the middle of a handshake. Then there is nothing worth saying.
        guard isEstablished else { return }
        ERR_clear_error()
        _ = SSL_shutdown(ssl)
        ERR_clear_error()
    }

    // MARK: Output

    /// Encrypted bytes to be sent to the peer.
    package var outputCount: Int { pipe.pointee.output.count }

    /// Passes the output to `body`, in place. `body` returns how many bytes it has sent, and these are dropped. The
    /// memory is freed once all is sent.
    package func withOutput(_ body: (UnsafeRawBufferPointer) -> Int) {
        guard !pipe.pointee.output.isEmpty else { return }
        let count = pipe.pointee.output.withBytes(body)
        pipe.pointee.output.discard(count)
    }

    // MARK: -

    private func setUpClient(_ hostName: String) throws(TLSError) {
        let invalid = TLSError(.configurationInvalid, detail: "host name")
        guard !hostName.isEmpty, !hostName.utf8.contains(0), let parameters = SSL_get0_param(ssl) else { throw invalid }
        if X509_VERIFY_PARAM_set1_ip_asc(parameters, hostName) != 1 {
            // RFC 6066 §3: no server name for an IP address, and no dot at the end.
            let name = hostName.hasSuffix(".") ? String(hostName.dropLast()) : hostName
            X509_VERIFY_PARAM_set_hostflags(
                parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
            guard X509_VERIFY_PARAM_set1_host(parameters, name, name.utf8.count) == 1,
                tidemark_ssl_set_server_name(ssl, name) == 1
            else { throw invalid }
        }
        ERR_clear_error()
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        if let saved = context.savedSession(host: hostName) { SSL_set_session(ssl, saved.pointer) }
    }

    /// Called when libssl has a session that a later one can resume. Returns 1 if it took over the reference.
    static func sessionIsNew(_ ssl: OpaquePointer?, _ session: OpaquePointer?) -> Int32 {
        guard let owner = SSL_get_ex_data(ssl, 0), let session, SSL_SESSION_is_resumable(session) == 1 else { return 0 }
        let this = Unmanaged<TLSSession>.fromOpaque(owner).takeUnretainedValue()
        guard case .client(let hostName) = this.side else { return 0 }
        this.context.save(SavedSession(owning: session), host: hostName)
        return 1
    }

    /// Called when libssl has reached a place in a handshake. Beyond ``handshakeStepsMax`` it takes no more records.
    static func reached(_ place: Int32, _ ssl: OpaquePointer?) {
        guard place & SSL_CB_LOOP != 0, let ssl, let bio = SSL_get_rbio(ssl),
            let pipe = BIO_get_data(bio)?.assumingMemoryBound(to: TLSPipe.self)
        else { return }
        pipe.pointee.handshakeSteps += 1
        if pipe.pointee.handshakeSteps > handshakeStepsMax { SSL_set_shutdown(ssl, SSL_RECEIVED_SHUTDOWN) }
    }

    /// The error for a status of libssl. The session has ended.
    private func fail(_ status: Int32) -> TLSError {
        hasFailed = true
        let isVerifying = !isEstablished && status == SSL_ERROR_SSL
        // Without a demand for certificates, a server's result is always good.
        if isVerifying, let error = TLSError.verification(Int(SSL_get_verify_result(ssl))) {
            ERR_clear_error()
            return error
        }
        let number = ERR_peek_last_error()
        let detail = TLSError.takeReason()
        // For a fatal alert that was received, libssl's reason is the alert's number plus 1000 (SSL_AD_REASON_OFFSET).
        if ERR_GET_LIB(number) == ERR_LIB_SSL, ERR_GET_REASON(number) >= SSL_AD_REASON_OFFSET {
            return TLSError(.alertReceived, detail: detail)
        }
        return TLSError(isEstablished ? .recordInvalid : .handshakeFailed, detail: detail)
    }
}
