// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkOpenSSL

/// A private certificate authority, for development and tests: ECDSA P-256, signatures with SHA-256.
package struct CertificateAuthority: Sendable {
    /// A certificate and its private key, in PEM (the key in PKCS #8 without a passphrase).
    package struct CertificateAndKey: Sendable {
        package let certificatePEM: String
        package let privateKeyPEM: String
    }

    package let identity: CertificateAndKey

    /// Creates an authority that signs itself.
    ///
    /// - Parameters:
    ///   - commonName: Users see it in lists of certificates.
    ///   - now: Seconds since 1970. The certificate is valid from an hour before, because clocks differ.
    package init(
        commonName: String, now: Int64, validity: Duration = .seconds(3_650 * 86_400)
    ) throws(TLSError) {
        let key = try PrivateKey.generate()
        let certificate = try Certificate()
        try certificate.setUp(
            commonName: commonName, key: key, notBefore: now - Self.clockSkewSeconds,
            notAfter: now + validity.components.seconds)
        try certificate.copyIssuer(from: certificate)
        for (identifier, value) in [
            (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
            (NID_key_usage, "critical,keyCertSign,cRLSign"),
            (NID_subject_key_identifier, "hash"),
        ] {
            try certificate.add(identifier, value, issuer: certificate)
        }
        try certificate.sign(with: key)
        identity = CertificateAndKey(certificatePEM: try certificate.pem(), privateKeyPEM: try key.pem())
    }

    /// Uses an existing authority.
    ///
    /// - Throws: `configurationInvalid` if the texts are not a certificate and a key, or do not belong together.
    package init(_ identity: CertificateAndKey) throws(TLSError) {
        let certificate = try Certificate(pem: identity.certificatePEM)
        let key = try PrivateKey(pem: identity.privateKeyPEM)
        guard X509_check_private_key(certificate.pointer, key.pointer) == 1 else { throw .configuration("authority") }
        self.identity = identity
    }

    /// A server's certificate and key, signed by this authority.
    ///
    /// - Parameters:
    ///   - hosts: DNS names (which may begin with `*.`) and numeric IP addresses; at least one.
    ///   - now: Seconds since 1970. The certificate is valid from an hour before until `validity` after.
    /// - Throws: `configurationInvalid` for a host that can be neither.
    package func issue(
        hosts: [String], now: Int64, validity: Duration = .seconds(365 * 86_400)
    ) throws(TLSError) -> CertificateAndKey {
        guard let first = hosts.first else { throw TLSError(.configurationInvalid, detail: "no host") }
        let names = try hosts.map { (host) throws(TLSError) in try Self.alternativeName(host) }
        let issuer = try Certificate(pem: identity.certificatePEM)
        let key = try PrivateKey.generate()
        let certificate = try Certificate()
        try certificate.setUp(
            // The common name holds 64 bytes at most, and clients ignore it.
            commonName: first.utf8.count <= 64 ? first : "server", key: key, notBefore: now - Self.clockSkewSeconds,
            notAfter: now + validity.components.seconds)
        try certificate.copyIssuer(from: issuer)
        for (identifier, value) in [
            (NID_basic_constraints, "critical,CA:FALSE"),
            (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "serverAuth"),
            (NID_subject_key_identifier, "hash"),
            (NID_authority_key_identifier, "keyid:always"),
            (NID_subject_alt_name, names.joined(separator: ",")),
        ] {
            try certificate.add(identifier, value, issuer: issuer)
        }
        try certificate.sign(with: PrivateKey(pem: identity.privateKeyPEM))
        return CertificateAndKey(certificatePEM: try certificate.pem(), privateKeyPEM: try key.pem())
    }

    /// When its certificate expires, in seconds from `now` (negative: it has expired).
    package func secondsLeft(now: Int64) throws(TLSError) -> Int64 {
        try Certificate(pem: identity.certificatePEM).notAfter() - now
    }

    private static let clockSkewSeconds: Int64 = 3_600

    /// In the notation of x509v3_config(5). A comma or a colon in the wrong place would change its meaning.
    private static func alternativeName(_ host: String) throws(TLSError) -> String {
        if let address = a2i_IPADDRESS(host) {
            ASN1_OCTET_STRING_free(address)
            return "IP:\(host)"
        }
        ERR_clear_error()
        let isName = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "*"):
                true
            default: false
            }
        }
        guard isName, (1...253).contains(host.utf8.count) else {
            throw TLSError(.configurationInvalid, detail: "host name")
        }
        return "DNS:\(host)"
    }
}
