// SPDX-License-Identifier: Apache-2.0

import CTidemarkOpenSSL
import Synchronization
import Testing

@testable import TidemarkTLS

/// A server that asks its clients for certificates.
@Suite struct TLSContextClientCertificateTests {
    /// A server that trusts one authority of clients, and clients of any.
    private struct Scene {
        let directory: String
        let party: TestParty
        let authority: CertificateAuthority

        init(_ directory: String) throws {
            self.directory = directory
            party = try TestParty(directory)
            authority = try CertificateAuthority(commonName: "Operators", now: wallClockSeconds)
        }

        func server() throws -> TLSContext {
            // Nobody needs the key of the server's own authority any more.
            let file = "\(directory)/ca-key.pem"
            try writeFile(authority.identity.certificatePEM, file)
            var settings = party.serverConfiguration
            settings.clientAuthorityFile = file
            return try TLSContext(server: settings)
        }

        /// A client with a certificate for `purpose`, of `authority`.
        func client(
            _ authority: CertificateAuthority, purpose: String = "clientAuth", startInDays: Int64 = 0
        ) throws -> TLSContext {
            let issuer = try Certificate(pem: authority.identity.certificatePEM)
            let key = try PrivateKey.generate()
            let certificate = try Certificate()
            let start = wallClockSeconds - 3_600 + startInDays * 86_400
            try certificate.setUp(commonName: "operator", key: key, notBefore: start, notAfter: start + 86_400)
            try certificate.copyIssuer(from: issuer)
            for (identifier, value) in [
                (NID_basic_constraints, "critical,CA:FALSE"), (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, purpose),
            ] { try certificate.add(identifier, value, issuer: issuer) }
            try certificate.sign(with: PrivateKey(pem: authority.identity.privateKeyPEM))
            let context = try party.client()
            context.current.withLock { context in
                #expect(SSL_CTX_use_certificate(context.pointer, certificate.pointer) == 1)
                #expect(SSL_CTX_use_PrivateKey(context.pointer, key.pointer) == 1)
            }
            return context
        }
    }

    /// What the server says of a client, once both are silent. A client of TLS 1.3 takes the handshake for done before.
    private func connect(_ client: TLSContext, _ server: TLSContext) throws -> Pair {
        let pair = try Pair(client, server)
        pair.pump()
        return pair
    }

    @Test(arguments: [false, true])
    func `R-807: a client with a certificate of the authority is served, each time that it shows it`(isTLS12: Bool)
        throws
    {
        try withTemporaryDirectory { directory in
            let scene = try Scene(directory)
            let server = try scene.server()
            let client = try scene.client(scene.authority)
            if isTLS12 { client.limitToTLS12() }
            for _ in 0..<2 {
                let pair = try connect(client, server)
                #expect(pair.isEstablished && pair.server.error == nil && pair.client.error == nil)
                #expect(SSL_session_reused(pair.server.session.ssl) == 0)
                try pair.client.send([1])
                pair.pump()
                #expect(pair.server.takeReceived() == [1])
            }
        }
    }

    @Test(arguments: [false, true])
    func `R-807: a client without a certificate of the authority gets no further than the handshake`(isTLS12: Bool)
        throws
    {
        try withTemporaryDirectory { directory in
            let scene = try Scene(directory)
            let server = try scene.server()
            let stranger = try CertificateAuthority(commonName: "Operators", now: wallClockSeconds)
            let clients: [(TLSContext, TLSError.Code)] = [
                (try scene.party.client(), .handshakeFailed),
                (try scene.client(stranger), .certificateInvalid),
                (try scene.client(scene.authority, purpose: "serverAuth"), .certificateInvalid),
                (try scene.client(scene.authority, startInDays: -10), .certificateExpired),
                (try scene.client(scene.authority, startInDays: 10), .certificateExpired),
            ]
            for (number, (client, code)) in clients.enumerated() {
                if isTLS12 { client.limitToTLS12() }
                let pair = try connect(client, server)
                #expect(!pair.server.session.isEstablished, "\(number)")
                let error = pair.server.error?.code
                // Of one name and another key, libssl may also say that the issuer is unknown.
                #expect(error == code || (number == 1 && error == .certificateUntrusted), "\(number): \(error as Any)")
                #expect(pair.client.error?.code == .alertReceived, "\(number)")
            }
        }
    }

    @Test func `a file without authorities of clients is refused when the server starts`() throws {
        try withTemporaryDirectory { directory in
            var settings = try TestParty(directory).serverConfiguration
            for file in ["\(directory)/missing.pem", settings.privateKeyFile] {
                settings.clientAuthorityFile = file
                do {
                    _ = try TLSContext(server: settings)
                    Issue.record("\(file) was taken")
                } catch {
                    #expect((error as? TLSError)?.code == .configurationInvalid)
                }
            }
        }
    }
}
