// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The TLS files of `tidemark dev` and the tests: an authority that is kept, and a server certificate that is made at
/// every start.
package struct DevelopmentCertificates: Sendable {
    /// The certificate that clients must trust. PEM.
    package let authorityFile: String
    package let certificateFile: String
    package let privateKeyFile: String

    /// Writes the files into `directory`, which exists. An existing authority that is valid for another 30 days stays,
    /// so that devices which trust it still do.
    ///
    /// - Parameters:
    ///   - hosts: Names and addresses by which clients reach the server.
    ///   - now: Seconds since 1970.
    /// - Throws: `configurationInvalid` if a file cannot be written, or a host is invalid.
    package init(directory: String, hosts: [String], now: Int64) throws(TLSError) {
        authorityFile = "\(directory)/ca.pem"
        certificateFile = "\(directory)/server.pem"
        privateKeyFile = "\(directory)/server-key.pem"
        let authorityKeyFile = "\(directory)/ca-key.pem"
        let authority: CertificateAuthority
        if let kept = Self.readAuthority(authorityFile, authorityKeyFile, now: now) {
            authority = kept
        } else {
            authority = try CertificateAuthority(commonName: "Tidemark development authority", now: now)
            // The key first. If either file is missing, both are made again.
            try Self.write(authority.identity.privateKeyPEM, to: authorityKeyFile, mode: Self.privateMode)
            try Self.write(authority.identity.certificatePEM, to: authorityFile, mode: Self.publicMode)
        }
        let server = try authority.issue(hosts: hosts, now: now)
        try Self.write(server.privateKeyPEM, to: privateKeyFile, mode: Self.privateMode)
        try Self.write(server.certificatePEM, to: certificateFile, mode: Self.publicMode)
    }

    private static let privateMode: mode_t = 0o600
    private static let publicMode: mode_t = 0o644
    private static let renewalSeconds: Int64 = 30 * 86_400
    private static let fileBytesMax = 65_536

    private static func readAuthority(
        _ certificateFile: String, _ keyFile: String, now: Int64
    ) -> CertificateAuthority? {
        guard let certificate = read(certificateFile), let key = read(keyFile),
            let authority = try? CertificateAuthority(.init(certificatePEM: certificate, privateKeyPEM: key)),
            let secondsLeft = try? authority.secondsLeft(now: now), secondsLeft > renewalSeconds
        else { return nil }
        return authority
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: fileBytesMax)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(validating: bytes[..<count], as: UTF8.self)
    }

    /// Replaces the file atomically. So nobody ever reads half of one, and others can never read a private key, not
    /// even for a moment.
    private static func write(_ text: String, to path: String, mode: mode_t) throws(TLSError) {
        let error = TLSError(.configurationInvalid, detail: path)
        let temporary = "\(path).new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw error }
        let bytes = Array(text.utf8)
        let count = Glibc.write(descriptor, bytes, bytes.count)
        // The mode again: the process's mask may have removed bits.
        let isWritten = count == bytes.count && fchmod(descriptor, mode) == 0
        guard Glibc.close(descriptor) == 0, isWritten, rename(temporary, path) == 0 else {
            unlink(temporary)
            throw error
        }
    }
}
