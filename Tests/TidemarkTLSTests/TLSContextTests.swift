// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import TidemarkTLS

@Suite struct TLSContextTests {
    @Test(arguments: [false, true])
    func `a client resumes its last session with a host, at both ends`(isTLS12: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let (client, server) = (try party.client(isTLS12: isTLS12), try party.server())
            func connect(_ host: String, _ server: TLSContext) throws -> [Bool] {
                let pair = try Pair(client, server, host: host)
                pair.pump()
                #expect(pair.isEstablished)
                try pair.client.send([1])
                try pair.server.send([2])
                pair.pump()
                #expect(pair.server.received == [1])
                #expect(pair.client.received == [2])
                #expect(pair.client.session.negotiatedProtocol == "http/1.1")
                return [pair.client.session.wasResumed, pair.server.session.wasResumed]
            }
            // The sessions are cut, not closed: that is when many come back at once.
            #expect(try connect("localhost", server) == [false, false])
            #expect(try connect("localhost", server) == [true, true])
            #expect(try connect("localhost", server) == [true, true])
            // A ticket is for the host that it was got from.
            #expect(try connect("127.0.0.1", server) == [false, false])
            #expect(try connect("127.0.0.1", server) == [true, true])
            // tickets do not outlive the certificate, nor the server.
            try server.reload()
            #expect(try connect("localhost", server) == [false, false])
            #expect(try connect("localhost", server) == [true, true])
            #expect(try connect("localhost", party.server()) == [false, false])
        }
    }

    @Test func `R-818: a server's context says until when its certificate is valid, also after a reload`() throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let server = try party.server()
            let first = try #require(server.certificateEnd)
            let now = wallClockSeconds
            #expect(first > now)
            try party.serve(
                CertificateAuthority(
                    .init(
                        certificatePEM: readFile(party.files.authorityFile),
                        privateKeyPEM: readFile("\(directory)/ca-key.pem"))
                ).issue(hosts: ["localhost"], now: now, validity: .seconds(5_000)))
            #expect(server.certificateEnd == first)
            try server.reload()
            #expect(server.certificateEnd == now + 5_000)
            #expect(try party.client().certificateEnd == nil)
        }
    }

    @Test func `a reload serves the new certificate, and leaves sessions that run alone`() throws {
        try withTemporaryDirectory { directory in
            try withTemporaryDirectory { otherDirectory in
                let (party, other) = (try TestParty(directory), try TestParty(otherDirectory))
                let server = try party.server()
                let old = try Pair(party.client(), server)
                old.pump()
                try party.serve(
                    CertificateAuthority(
                        .init(
                            certificatePEM: readFile(other.files.authorityFile),
                            privateKeyPEM: readFile("\(otherDirectory)/ca-key.pem"))
                    ).issue(hosts: ["localhost"], now: wallClockSeconds))
                try server.reload()
                let new = try Pair(other.client(), server)
                new.pump()
                #expect(new.isEstablished)
                try old.client.send([1])
                old.pump()
                #expect(old.server.received == [1])
                let distrusting = try Pair(party.client(), server)
                distrusting.pump()
                #expect(distrusting.client.error?.code == .certificateUntrusted)

                // What cannot be used changes nothing.
                try writeFile("nonsense", party.files.certificateFile)
                let error = #expect(throws: TLSError.self) { try server.reload() }
                #expect(error?.code == .configurationInvalid)
                let still = try Pair(other.client(), server)
                still.pump()
                #expect(still.isEstablished)
            }
        }
    }

    @Test func `files that cannot be used are named`() throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let good = party.serverConfiguration
            var missing = good
            missing.certificateFile = "\(directory)/absent.pem"
            var swapped = good
            swapped.privateKeyFile = "\(directory)/ca-key.pem"
            for configuration in [missing, swapped] {
                let error = #expect(throws: TLSError.self) { try TLSContext(server: configuration) }
                #expect(error?.code == .configurationInvalid)
                #expect(error?.detail.hasPrefix(directory) == true)
                #expect(error?.description == "configurationInvalid")
            }
            let error = #expect(throws: TLSError.self) {
                try TLSContext(client: .init(additionalRootsFile: "\(directory)/absent.pem"))
            }
            #expect(error?.code == .configurationInvalid)
            #expect(throws: TLSError.self) { try TLSContext(client: .init(applicationProtocols: [""])) }
        }
    }

    @Test func `a key with a passphrase is refused, and nobody is asked for it`() throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            try writeFile(encryptedKey, party.files.privateKeyFile)
            let error = #expect(throws: TLSError.self) { try party.server() }
            #expect(error?.code == .configurationInvalid)
        }
    }

    @Test func `development certificates keep their authority, renew the server's, and hide the keys`() throws {
        try withTemporaryDirectory { directory in
            let first = try TestParty(directory, hosts: ["localhost"])
            let client = try first.client()
            let (authority, certificate) = (
                try readFile(first.files.authorityFile), try readFile(first.files.certificateFile)
            )
            for (name, mode) in [("ca.pem", 0o644), ("ca-key.pem", 0o600), ("server.pem", 0o644)] + [
                ("server-key.pem", 0o600)
            ] {
                var status = stat()
                #expect(stat("\(directory)/\(name)", &status) == 0)
                #expect(status.st_mode & 0o777 == mode_t(mode))
            }
            let second = try TestParty(directory, hosts: ["192.168.1.7"])
            #expect(try readFile(second.files.authorityFile) == authority)
            #expect(try readFile(second.files.certificateFile) != certificate)
            let pair = try Pair(client, second.server(), host: "192.168.1.7")
            pair.pump()
            #expect(pair.isEstablished)

            // Shortly before its end, and when it cannot be read, the authority is made anew.
            let nearEnd = wallClockSeconds + 3_640 * 86_400
            _ = try DevelopmentCertificates(directory: directory, hosts: ["a"], now: nearEnd)
            let renewed = try readFile(first.files.authorityFile)
            #expect(renewed != authority)
            try writeFile("nonsense", first.files.authorityFile)
            _ = try DevelopmentCertificates(directory: directory, hosts: ["a"], now: wallClockSeconds)
            #expect(try readFile(first.files.authorityFile).hasPrefix("-----BEGIN CERTIFICATE-----"))
        }
    }

    @Test(arguments: ["", "a,IP:1.2.3.4", "a b", "a:b", "ä", "a\n"])
    func `a host that could smuggle another into a certificate is refused`(host: String) throws {
        let authority = try CertificateAuthority(commonName: "Test", now: wallClockSeconds)
        #expect(throws: TLSError.self) { try authority.issue(hosts: [host], now: wallClockSeconds) }
        #expect(throws: TLSError.self) { try authority.issue(hosts: [], now: wallClockSeconds) }
    }
}

func readFile(_ path: String) throws -> String {
    let file = try #require(fopen(path, "re"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
}

/// P-256 in PKCS #8 under the passphrase "secret".
private let encryptedKey = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjCAFjmV16tvQICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEEN0vrkZje5KnbSVqX9hg7zgEgZBm
    pPZp6+y4q4ZM4qwLeqxenLGd5jM/IfijyOMO2DI93hLepQVamyzoDqY5eIE3B4CB
    EIefC446wBKKcbhQmNINAAJY/Z7M6b9pOBpouL9Tpc6Ud7D71SztWzjNrXIwX7OA
    7fFjUe/CN13PY4QJSZduAdogR3fK/jtcPvUFUvhvLfU0LhU0LnJaTbQAluKRfBM=
    -----END ENCRYPTED PRIVATE KEY-----
    """
