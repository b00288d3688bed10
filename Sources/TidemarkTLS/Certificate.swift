// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL
internal import TidemarkBytes

/// An X.509 certificate, which owns an `X509`.
final class Certificate {
    let pointer: OpaquePointer

    /// An empty certificate, to be filled and signed.
    init() throws(TLSError) {
        ERR_clear_error()
        guard let pointer = X509_new() else { throw .configuration("X509_new") }
        self.pointer = pointer
    }

    init(pem: String) throws(TLSError) {
        pointer = try PEM.read(pem, "certificate") { PEM_read_bio_X509($0, nil, { _, _, _, _ in 0 }, nil) }
    }

    deinit { X509_free(pointer) }

    func pem() throws(TLSError) -> String {
        try PEM.write("certificate") { PEM_write_bio_X509($0, pointer) }
    }

    /// Times are seconds since 1970.
    func setUp(commonName: String, key: PrivateKey, notBefore: Int64, notAfter: Int64) throws(TLSError) {
        let name = X509_get_subject_name(pointer)
        guard X509_set_version(pointer, 2) == 1,  // 2 means version 3.
            setRandomSerialNumber(),
            ASN1_TIME_set(X509_getm_notBefore(pointer), Int(notBefore)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(pointer), Int(notAfter)) != nil,
            X509_NAME_add_entry_by_NID(
                name, NID_commonName, MBSTRING_UTF8, Array(commonName.utf8), Int32(commonName.utf8.count), -1, 0) == 1,
            X509_set_pubkey(pointer, key.pointer) == 1
        else { throw .configuration("certificate") }
    }

    func copyIssuer(from issuer: Certificate) throws(TLSError) {
        guard X509_set_issuer_name(pointer, X509_get_subject_name(issuer.pointer)) == 1 else {
            throw .configuration("issuer")
        }
    }

    /// Adds an extension in the notation of x509v3_config(5).
    func add(_ identifier: Int32, _ value: String, issuer: Certificate) throws(TLSError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer.pointer, pointer, nil, nil, 0)
        guard let made = X509V3_EXT_conf_nid(nil, &context, identifier, value) else { throw .configuration(value) }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(pointer, made, -1) == 1 else { throw .configuration(value) }
    }

    func sign(with key: PrivateKey) throws(TLSError) {
        guard X509_sign(pointer, key.pointer, EVP_sha256()) > 0 else { throw .configuration("signature") }
    }

    /// Seconds since 1970.
    func notAfter() throws(TLSError) -> Int64 { try Self.end(of: pointer) }

    /// Until when an `X509` is valid: seconds since 1970.
    static func end(of certificate: OpaquePointer) throws(TLSError) -> Int64 {
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard let epoch = ASN1_TIME_set(nil, 0) else { throw .configuration("ASN1_TIME_set") }
        defer { ASN1_STRING_free(epoch) }
        guard ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(certificate)) == 1 else {
            throw .configuration("validity")
        }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    /// RFC 5280 §4.1.2.2: positive, at most 20 bytes, and impossible to guess.
    private func setRandomSerialNumber() -> Bool {
        guard let number = BN_new() else { return false }
        defer { BN_free(number) }
        return BN_rand(number, 127, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1
            && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(pointer)) != nil
    }
}

/// A private key, which owns an `EVP_PKEY`.
final class PrivateKey {
    let pointer: OpaquePointer

    private init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    init(pem: String) throws(TLSError) {
        pointer = try PEM.read(pem, "private key") { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in 0 }, nil) }
    }

    deinit { EVP_PKEY_free(pointer) }

    static func generate() throws(TLSError) -> PrivateKey {
        ERR_clear_error()
        guard let pointer = tidemark_generate_p256_key() else { throw .configuration("key") }
        return PrivateKey(owning: pointer)
    }

    func pem() throws(TLSError) -> String {
        try PEM.write("private key") { PEM_write_bio_PrivateKey($0, pointer, nil, nil, 0, nil, nil) }
    }
}

/// Converts PEM texts for libcrypto and back.
private enum PEM {
    static func read(
        _ text: String, _ subject: String, _ parse: (OpaquePointer) -> OpaquePointer?
    ) throws(TLSError) -> OpaquePointer {
        ERR_clear_error()
        let bytes = Array(text.utf8)
        guard let bio = BIO_new_mem_buf(bytes, Int32(clamping: bytes.count)) else { throw .configuration(subject) }
        defer { BIO_free(bio) }
        // The BIO borrows the bytes.
        guard let parsed = withExtendedLifetime(bytes, { parse(bio) }) else { throw .configuration(subject) }
        return parsed
    }

    static func write(_ subject: String, _ print: (OpaquePointer) -> Int32) throws(TLSError) -> String {
        ERR_clear_error()
        guard let bio = BIO_new(BIO_s_mem()) else { throw .configuration(subject) }
        defer { BIO_free(bio) }
        var data: UnsafeMutablePointer<CChar>?
        guard print(bio) == 1 else { throw .configuration(subject) }
        let count = tidemark_bio_get_memory(bio, &data)
        guard let data, count > 0 else { throw .configuration(subject) }
        return String(decoding: UnsafeRawBufferPointer(start: data, count: count), as: UTF8.self)
    }
}
