// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkTLS

/// What is not safe any more is refused: by our settings, whatever libssl itself would allow.
@Suite struct TLSContextPolicyTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let hello: HandMadeHello
        /// The alert that answers it; nil: it is accepted.
        let alert: UInt8?

        var testDescription: String { name }
    }

    private static let protocolVersion: UInt8 = 70
    private static let handshakeFailure: UInt8 = 40
    private static let illegalParameter: UInt8 = 47

    /// ECDHE with AES-128-GCM, for both kinds of certificates.
    private static let good: [UInt16] = [0xC02B, 0xC02F]
    private static let cbc: [UInt16] = [
        0xC009, 0xC00A, 0xC013, 0xC014, 0xC023, 0xC024, 0xC027, 0xC028, 0x002F, 0x0035, 0x003C, 0x003D,
    ]

    private static func only(_ name: String, _ suites: [UInt16]) -> Case {
        Case(name: name, hello: HandMadeHello(suites: suites), alert: handshakeFailure)
    }

    static let clients: [Case] = [
        Case(name: "TLS 1.2", hello: HandMadeHello(suites: good), alert: nil),
        Case(
            name: "TLS 1.3",
            hello: HandMadeHello(versions: [0x0304], suites: [0x1301, 0x1302, 0x1303]), alert: nil),
        Case(
            name: "compression besides none", hello: HandMadeHello(suites: good, compressions: [1, 0]), alert: nil),
        // Its list of alerts has none for versions.
        Case(name: "SSL 3.0", hello: HandMadeHello(version: 0x0300, suites: good + cbc), alert: handshakeFailure),
        Case(name: "TLS 1.0", hello: HandMadeHello(version: 0x0301, suites: good + cbc), alert: protocolVersion),
        Case(name: "TLS 1.1", hello: HandMadeHello(version: 0x0302, suites: good + cbc), alert: protocolVersion),
        Case(
            name: "TLS 1.1 by extension", hello: HandMadeHello(versions: [0x0302, 0x0301], suites: good + cbc),
            alert: protocolVersion),
        only("ECDHE with CBC", [0xC009, 0xC00A, 0xC013, 0xC014, 0xC023, 0xC024, 0xC027, 0xC028]),
        only("RSA key exchange with GCM", [0x009C, 0x009D]),
        only("RSA key exchange with CBC", [0x002F, 0x0035, 0x003C, 0x003D]),
        only("DHE", [0x009E, 0x009F, 0x0033, 0x0067, 0xCCAA]),
        only("static ECDH", [0xC004, 0xC005, 0xC02D, 0xC031]),
        only("nobody is authenticated", [0xC018, 0xC019, 0x00A6, 0x006C]),
        only("nothing is encrypted", [0xC006, 0xC010, 0x003B, 0x0002]),
        only("RC4 and 3DES", [0xC007, 0xC011, 0xC008, 0xC012, 0x000A, 0x0005]),
        only("CCM and ARIA", [0xC0AC, 0xC0AE, 0xC05C, 0xC060]),
        Case(
            name: "TLS 1.3 with CCM", hello: HandMadeHello(versions: [0x0304], suites: [0x1304, 0x1305]),
            alert: handshakeFailure),
        Case(
            name: "other groups", hello: HandMadeHello(suites: good, groups: [21, 22, 25, 30]), alert: handshakeFailure),
        Case(
            name: "a version below what it can do, RFC 7507", hello: HandMadeHello(suites: good + [0x5600]), alert: 86),
        Case(
            name: "a handshake after one that we do not know of, RFC 5746",
            hello: HandMadeHello(suites: good, renegotiation: [UInt8](repeating: 1, count: 12)),
            alert: handshakeFailure),
    ]

    @Test(arguments: clients) func `a client that can do only what is not safe is refused`(_ one: Case) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let ecdsa = try party.server()
            try party.serve(rsaIdentity)
            for context in [ecdsa, try party.server()] {
                context.liftLibraryPolicy()
                let server = try Peer(context, .server)
                server.feed(one.hello.bytes)
                let answer = server.takeOutput()
                if let alert = one.alert {
                    #expect(server.error?.code == .handshakeFailed)
                    #expect(answer.first == 21 && answer.suffix(2) == [2, alert], "\(answer)")
                } else {
                    #expect(server.error == nil)
                    #expect(answer.first == 22)
                    // No session id, so that the compression is at this place, after the suite.
                    #expect(answer.dropFirst(5 + 4 + 2 + 32 + 1 + 2).first == 0)
                }
            }
        }
    }

    private static func server(
        version: UInt16 = 0x0303, _ suite: UInt16 = 0xC02B, compression: UInt8 = 0, renegotiation: [UInt8]? = []
    ) -> HandMadeHello {
        HandMadeHello(
            sender: .server, version: version, suites: [suite], compressions: [compression],
            renegotiation: renegotiation)
    }

    static let servers: [Case] = [
        Case(name: "TLS 1.2", hello: server(), alert: nil),
        Case(name: "SSL 3.0", hello: server(version: 0x0300, 0xC009), alert: protocolVersion),
        Case(name: "TLS 1.0", hello: server(version: 0x0301, 0xC009), alert: protocolVersion),
        Case(name: "TLS 1.1", hello: server(version: 0x0302, 0xC009), alert: protocolVersion),
        Case(name: "ECDHE with CBC", hello: server(0xC023), alert: illegalParameter),
        Case(name: "RSA key exchange", hello: server(0x009C), alert: illegalParameter),
        Case(name: "DHE", hello: server(0x009E), alert: illegalParameter),
        Case(name: "compression", hello: server(compression: 1), alert: illegalParameter),
        Case(
            name: "renegotiation that is not secured, RFC 5746", hello: server(renegotiation: nil),
            alert: handshakeFailure),
    ]

    @Test(arguments: servers) func `a server that chooses what is not safe is left`(_ one: Case) throws {
        try withTemporaryDirectory { directory in
            let context = try TestParty(directory).client()
            context.liftLibraryPolicy()
            let client = try Peer(context, .client(hostName: "localhost"))
            try client.session.start()
            _ = client.takeOutput()
            client.feed(one.hello.bytes)
            let answer = client.takeOutput()
            if let alert = one.alert {
                #expect(client.error?.code == .handshakeFailed)
                #expect(answer.first == 21 && answer.suffix(2) == [2, alert], "\(answer)")
            } else {
                #expect(client.error == nil && answer.isEmpty)
            }
        }
    }

    @Test func `a client offers two versions, ciphers with forward secrecy and authentication, and nothing else`()
        throws
    {
        try withTemporaryDirectory { directory in
            let context = try TestParty(directory).client()
            context.liftLibraryPolicy()
            let client = try Peer(context, .client(hostName: "localhost"))
            try client.session.start()
            let hello = ReadHello(client.takeOutput())
            let suites: Set<UInt16> = [
                0x1301, 0x1302, 0x1303, 0xC02B, 0xC02F, 0xC02C, 0xC030, 0xCCA9, 0xCCA8,
                // No cipher: RFC 5746 §3.3.
                0x00FF,
            ]
            #expect(Set(hello.suites) == suites)
            #expect(hello.compressions == [0])
            #expect(hello.extensions[43] == [4, 3, 4, 3, 3])
            let groups = try #require(hello.extensions[10])
            #expect(ReadHello.numbers(Array(groups.dropFirst(2))) == [29, 23, 24])
            // RFC 8446 §4.2.10: early data may be replayed.
            #expect(hello.extensions[42] == nil)
        }
    }
}

/// A server's certificate and key for RSA, with which a server could do more than with ours.
private let rsaIdentity = CertificateAuthority.CertificateAndKey(
    certificatePEM: """
        -----BEGIN CERTIFICATE-----
        MIIDCzCCAfOgAwIBAgIUHY8O9Ct5QtN83msHv1KYnBkRWSIwDQYJKoZIhvcNAQEL
        BQAwFDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjE2MjcxMVoYDzIxMjYx
        MDI5MTYyNzExWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwggEiMA0GCSqGSIb3DQEB
        AQUAA4IBDwAwggEKAoIBAQCKabAKPpS9WaqLPO+IIS3+lFeUUPhB6LdNvs4+rUZN
        /z1koesDDK11Ovba5Nb+IRC7hmNWhtIx8e6deKM24fOPExKokARc/UKYeOk5CZVE
        3jx8+EXTeZv9Ga0cQUOvqagCkR5AZSjXz+29Cm9JU5RWTu7bw2ZwKXITl0h0SbnV
        h4Y0amOTCfpVJ1BXcQ1o3iS8Ov2PRr9wz+xwNRWDeNRY1XC+iN7r4Ws8CiRKIbTj
        rzOKaMZLFbQBoUguo565bxVPtW/3kCc8OrJWVoNGJYy1Q6JHrbaIP7fX73uWyT+g
        ksRFhDYhftatzqaEgWtDpZRYvy0nBHnbMIbKXvN9itXBAgMBAAGjUzBRMB0GA1Ud
        DgQWBBSJDPn5Ae8dGCKoKZ6vPh/J26hb8DAfBgNVHSMEGDAWgBSJDPn5Ae8dGCKo
        KZ6vPh/J26hb8DAPBgNVHRMBAf8EBTADAQH/MA0GCSqGSIb3DQEBCwUAA4IBAQBr
        51jdEMBLIGjgf0Jf5zQSn+p34TX65rXidhyyCnDbAwJRmQWbs8GjWneRwbSAoye/
        T392/DEmcZXaq/gYMlID1vjM5yAySWyl9HA/TboPxqOdkLxLpwN6Jj3+HCm7Y7MJ
        6bgE9iKFge7I7/qBSfVcwREoyqDIMWnfKWXnFtynLnWA8VRYH79viT4VJYxiuCp3
        ydDxPRHnJPMCNi/ReDNA/bEw1fU9Ba4KcbDAP+5JZ2rp6X3iPZIQCL9OCH9bOBrX
        LyikTryyEJeGxLDHRRIhrunbdQWrEEjCoqU9edyrGvmYz5YC7K1ybTmy1y+okOWZ
        irQNjIDffbrh7EK8YuA1
        -----END CERTIFICATE-----
        """,
    privateKeyPEM: """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCKabAKPpS9WaqL
        PO+IIS3+lFeUUPhB6LdNvs4+rUZN/z1koesDDK11Ovba5Nb+IRC7hmNWhtIx8e6d
        eKM24fOPExKokARc/UKYeOk5CZVE3jx8+EXTeZv9Ga0cQUOvqagCkR5AZSjXz+29
        Cm9JU5RWTu7bw2ZwKXITl0h0SbnVh4Y0amOTCfpVJ1BXcQ1o3iS8Ov2PRr9wz+xw
        NRWDeNRY1XC+iN7r4Ws8CiRKIbTjrzOKaMZLFbQBoUguo565bxVPtW/3kCc8OrJW
        VoNGJYy1Q6JHrbaIP7fX73uWyT+gksRFhDYhftatzqaEgWtDpZRYvy0nBHnbMIbK
        XvN9itXBAgMBAAECggEABDi/hBHPFGxq9tFpEUBJKG9ABu0mTqT+tvTCJ9K9/CHe
        w+uVYQkutDk+xMPp6SPl4FZeasn0w3hjLwiPhTHEmEFRwR7tZyRZYZBUirxnrLX7
        kdM6a/4U+4C1kTujXnUArnKx1xnOx7BW9RG0/b9Px7HOIsQAY0eRrBZ3QQbA+ona
        xX+DDvYDgeDKPhQixURxj5Tjwd9s/bRdSGXc4kMcteCm7aKT3ys/3ZAx4s7ycBiP
        8o6YQnjHFeLXJuDov2A6VKJAaQ5WwF+nBa8+7uvOC3BE5x/W4foQfSVxJQeEr0kN
        aP0EFFVlfxTuizX3yjvmMsbFNEfKOJQGgIM97ls+8QKBgQC8nPdW/GdHyIqcWQPq
        umh7XJcP77kRBSBn6TqaqxpdxqRm4ThFg7DIsaKJXbxYAv1uBEDkGGJPo8jI1UNm
        pUTsl41+p2qW8Vb8zB+5hpBUqCwqSVQCPeuWUC0AgN+stcz3a9/SHAc6IyW+L5wZ
        sHUaRjOgIoM3SFCCJohvLFHM+QKBgQC73UZjbv/fOjGD0xclQVlentwNzJFWjGIX
        N+4o6FBr9saQI/c3dKlFmNDBsi2DrV7fhHxIj0TOt8f+NK/UfVsActawCHMHD3IS
        U2Btc/hZWZrd6xvmMmhkRSlsB8sQ40WGPGzU+fnhO3gAQGytXToBXawoW/dkqDWy
        aiH/5vzpCQKBgAbRYbt6Oj2FCUWnjhWxEU/MRAWmc7kix04aRy0KHFThdlXltEQH
        A5/tk+OFSOahjQmqC7JzEzKvx/VCiEIwnTI0NEAsyxSTusI+mrL5I0R8I8SPjALc
        vCRd15KaFfvHQpZ7Bscwji5S0O10CR+AmmsNuJYESVv5ODfMLsheAML5AoGAaFMn
        BYzclvBQEu6kidHSeVMqzJbvlup6hn5OyXTJREtUVTND1A36+mU0eHwj/l3Gs8V0
        5y54fXtdmnNTuWKrqIIdasAmcKNJK5gVknK2VZgHAnnPknQnuJcXu6BQSl6Le1IO
        9e6jr0pBB5K/Rz7gOWX1dqwrpEAtIZkCrINvq1ECgYEAkG+e1FX2N0ZgriYw+3GC
        Xd8D0vMcWfVOSpJM9KOZrKMsd5dOmQOvAWzNH5J7sME61FEOP+nkEF/BpCdBOGf6
        4m3idvI9YwNfThsvatU4tpTTbT/th5PHVhLq3Kdm8mF3275Uc3uiq5qDvhTWaUoA
        JlZcQ7kRkBV+rnsWiMCl+Qs=
        -----END PRIVATE KEY-----
        """)
