// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL

/// The secret from which several servers make the same ticket keys, so that a client of one resumes at another.
///
/// A key is HMAC-SHA256 of the secret over the hour and the certificate. So all servers have the same key without exchanging it. It changes
/// each hour, and a certificate that is read again has other keys.
final class TicketSecret: Sendable {
    private let secret: SecretBytes
    private let certificate: [UInt8]

    /// The length of an HMAC.
    private static let hashByteCount = 32
    static let bytesMin = 32
    static let bytesMax = 4_096

    /// - Parameters:
    ///   - file: all of it is the secret.
    ///   - certificate: its hash.
    /// - Throws: `configurationInvalid` if the file cannot be read, or has too few or too many bytes.
    init(file: String, certificate: [UInt8]) throws(TLSError) {
        ERR_clear_error()
        guard let bio = BIO_new_file(file, "rb") else { throw .configuration(file) }
        defer { BIO_free_all(bio) }
        let buffer = SecretBytes(byteCount: Self.bytesMax + 1)
        var count = 0
        while count <= Self.bytesMax {
            let read = BIO_read(bio, buffer.start + count, Int32(Self.bytesMax + 1 - count))
            guard read > 0 else { break }
            count += Int(read)
        }
        guard (Self.bytesMin...Self.bytesMax).contains(count) else {
            throw TLSError(
                .configurationInvalid, detail: "\(file) has to have \(Self.bytesMin) to \(Self.bytesMax) random bytes")
        }
        secret = SecretBytes(byteCount: count)
        secret.start.update(from: buffer.start, count: count)
        self.certificate = certificate
    }

    /// Fills memory with the key of an hour since 1970.
    ///
    /// - Returns: false if it cannot be made.
    func makeKey(ofHour hour: Int64, at start: UnsafeMutablePointer<UInt8>, byteCount: Int) -> Bool {
        var made = 0
        var part: UInt8 = 0
        let block = SecretBytes(byteCount: Self.hashByteCount)
        while made < byteCount {
            part += 1
            var message = Array("tidemark ticket key".utf8) + certificate
            withUnsafeBytes(of: hour.bigEndian) { message += $0 }
            message.append(part)
            var count = 0
            let result = EVP_Q_mac(
                nil, "HMAC", nil, "SHA256", nil, secret.start, secret.byteCount, message, message.count, block.start,
                Self.hashByteCount, &count)
            guard result != nil, count == Self.hashByteCount else { return false }
            let some = min(count, byteCount - made)
            (start + made).update(from: block.start, count: some)
            made += some
        }
        return true
    }
}

/// Bytes at one place in memory, wiped at the end. Nobody changes them once they are made.
final class SecretBytes: @unchecked Sendable {
    let start: UnsafeMutablePointer<UInt8>
    let byteCount: Int

    init(byteCount: Int) {
        start = .allocate(capacity: byteCount)
        start.initialize(repeating: 0, count: byteCount)
        self.byteCount = byteCount
    }

    deinit {
        OPENSSL_cleanse(start, byteCount)
        start.deallocate()
    }
}
