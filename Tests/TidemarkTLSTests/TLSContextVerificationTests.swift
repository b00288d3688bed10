// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkTLS

@Suite struct TLSContextVerificationTests {
    @Test(arguments: [
        (["localhost"], "localhost", true),
        (["localhost"], "LOCALHOST", true),
        (["localhost"], "localhost.", true),
        (["localhost"], "example.org", false),
        (["localhost"], "127.0.0.1", false),
        (["127.0.0.1"], "127.0.0.1", true),
        (["127.0.0.1"], "127.0.0.2", false),
        (["::1", "10.0.0.1"], "::1", true),
        (["::1", "10.0.0.1"], "0:0:0:0:0:0:0:1", true),
        (["::1"], "::2", false),
        (["*.example.org"], "a.example.org", true),
        (["*.example.org"], "a.b.example.org", false),
        (["*.example.org"], "example.org", false),
        (["first", "second"], "second", true),
    ])
    func `a certificate is for the hosts that it names`(hosts: [String], host: String, isGood: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory, hosts: hosts)
            let pair = try Pair(party.client(), party.server(), host: host)
            pair.pump()
            #expect(pair.isEstablished == isGood)
            #expect(pair.client.error?.code == (isGood ? nil : .hostNameMismatch))
            #expect(pair.server.error?.code == (isGood ? nil : .alertReceived))
        }
    }

    @Test func `a certificate of an unknown authority is refused, with and without the system's`() throws {
        try withTemporaryDirectory { directory in
            try withTemporaryDirectory { otherDirectory in
                let server = try TestParty(directory).server()
                let other = try TestParty(otherDirectory)
                for trustsSystemRoots in [false, true] {
                    let client = try TLSContext(
                        client: .init(
                            additionalRootsFile: other.files.authorityFile, trustsSystemRoots: trustsSystemRoots))
                    let pair = try Pair(client, server)
                    pair.pump()
                    #expect(pair.client.error?.code == .certificateUntrusted)
                    #expect(pair.server.error?.code == .alertReceived)
                }
            }
        }
    }

    @Test(arguments: [-10, 10])
    func `a certificate that is out of date, or not yet valid, is refused`(startInDays: Int64) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let authority = try CertificateAuthority(commonName: "Test", now: wallClockSeconds)
            try writeFile(authority.identity.certificatePEM, party.files.authorityFile)
            try party.serve(
                authority.issue(
                    hosts: ["localhost"], now: wallClockSeconds + startInDays * 86_400, validity: .seconds(86_400)))
            let pair = try Pair(party.client(), party.server())
            pair.pump()
            #expect(pair.client.error?.code == .certificateExpired)
        }
    }

    @Test func `an authority's own certificate is not a server's`() throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let authority = try CertificateAuthority(commonName: "localhost", now: wallClockSeconds)
            try writeFile(authority.identity.certificatePEM, party.files.authorityFile)
            try party.serve(authority.identity)
            let pair = try Pair(party.client(), party.server())
            pair.pump()
            // Its key may sign certificates, not handshakes.
            #expect(pair.client.error?.code == .certificateInvalid)
        }
    }

    @Test(
        arguments: [
            (["http/1.1"], "http/1.1", nil), (["h2", "http/1.1"], "http/1.1", nil), ([], nil, nil),
            (["http/1.0"], "http/1.0", nil), (["http/1.0", "http/1.1"], "http/1.1", nil),
            (["h2"], nil, TLSError.Code.alertReceived), (["http/1.1x"], nil, .alertReceived),
        ] as [([String], String?, TLSError.Code?)])
    func `ALPN chooses ours, or refuses, and may be absent`(
        offered: [String], chosen: String?, code: TLSError.Code?
    ) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let pair = try Pair(party.client(protocols: offered), party.server())
            pair.pump()
            #expect(pair.client.error?.code == code)
            #expect(pair.isEstablished == (code == nil))
            #expect(pair.client.session.negotiatedProtocol == chosen)
            #expect(pair.server.session.negotiatedProtocol == chosen)
        }
    }

    @Test(arguments: ["", "a\u{0}b", String(repeating: "a", count: 300)])
    func `what can be no host name is refused before a byte is sent`(name: String) throws {
        try withTemporaryDirectory { directory in
            let context = try TestParty(directory).client()
            let error = #expect(throws: TLSError.self) {
                try TLSSession(context: context, side: .client(hostName: name))
            }
            #expect(error?.code == .configurationInvalid)
        }
    }
}
