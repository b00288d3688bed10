// SPDX-License-Identifier: Apache-2.0

import CTidemarkOpenSSL
import Glibc
import Synchronization
import TidemarkServer
import TidemarkSockets
import TidemarkTestSupport

@testable import TidemarkTLS

extension LiveWorld {
    static let token = "operators-0123456789"

    /// What the admin listener answers: its status, and everything.
    func ask(
        _ server: Server, _ target: String, method: String = "GET", fields: String = "", host: String = "localhost",
        tls: TLSContext? = nil
    ) async throws -> (status: String, text: String) {
        guard let address = server.adminAddresses.first else { throw LiveError("no admin listener") }
        let request = "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(fields)\r\n"
        let peer = try await RawPeer.connect(
            to: .loopback(port: address.port), on: loop, tls: tls, .none, sending: Array(request.utf8))
        let text = await peer.receiveAllText()
        await peer.close()
        return (text.split(separator: " ").dropFirst().first.map(String.init) ?? "", text)
    }

    /// A file with the operators' token.
    func writeToken(_ token: String = LiveWorld.token) throws -> String {
        try write(token + "\n", to: "token")
    }

    func write(_ text: String, to name: String) throws -> String {
        let path = "\(directory.path)/\(name)"
        guard let file = fopen(path, "we") else { throw LiveError("cannot write \(path)") }
        fputs(text, file)
        fclose(file)
        return path
    }

    /// A client that shows a certificate of `authority`.
    func client(of authority: CertificateAuthority) throws -> TLSContext {
        let issuer = try Certificate(pem: authority.identity.certificatePEM)
        let key = try PrivateKey.generate()
        let certificate = try Certificate()
        let now = Int64(time(nil))
        try certificate.setUp(commonName: "scraper", key: key, notBefore: now - 3_600, notAfter: now + 3_600)
        try certificate.copyIssuer(from: issuer)
        try certificate.add(NID_ext_key_usage, "clientAuth", issuer: issuer)
        try certificate.sign(with: PrivateKey(pem: authority.identity.privateKeyPEM))
        let context = try TLSContext(
            client: .init(additionalRootsFile: certificates.authorityFile, trustsSystemRoots: false))
        let isUsed = context.current.withLock { context in
            SSL_CTX_use_certificate(context.pointer, certificate.pointer) == 1
                && SSL_CTX_use_PrivateKey(context.pointer, key.pointer) == 1
        }
        guard isUsed else { throw LiveError("the certificate cannot be used") }
        return context
    }
}
