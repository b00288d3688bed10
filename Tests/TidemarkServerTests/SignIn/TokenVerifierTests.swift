// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkCrypto
import TidemarkDomain
import TidemarkHTTP
import TidemarkSockets
import TidemarkTestSupport
import TidemarkTransport

@testable import TidemarkServer

@Suite(.timeLimit(.minutes(20))) struct TokenVerifierTests {
    private static let fixture = TokenFixture.shared

    private static func issuer(
        _ keys: Issuer.Keys, name: String = fixture.issuer, trustsEmail: Bool = false, roles: Issuer.Roles? = nil,
        algorithms: [SignatureAlgorithm] = SignatureAlgorithm.allCases
    ) -> Issuer {
        Issuer(
            name: name, keys: keys, audiences: [fixture.audience], algorithms: algorithms, createsAccounts: false,
            accountPrefix: "", trustsEmail: trustsEmail, trustsPhone: false, roles: roles, authorityFile: nil)
    }

    private static func verdict(_ token: [UInt8], _ verifier: TokenVerifier, after time: Int64 = 0) async -> String {
        do throws(TokenRefusal) {
            _ = try await verifier.verify(token, now: Timestamp(milliseconds: fixture.now + time))
            return "ok"
        } catch {
            return "\(error)"
        }
    }

    /// Runs `body` with a verifier whose keys are in a file.
    private func withKeyFile(
        _ keys: [UInt8] = fixture.keys, _ issuer: (Issuer.Keys) -> Issuer = { TokenVerifierTests.issuer($0) },
        _ body: (TokenVerifier) async throws -> Void
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let path = "\(directory.path)/keys.json"
        try Data(keys).write(to: URL(fileURLWithPath: path))
        let verifier = try TokenVerifier([issuer(.file(path))])
        defer { verifier.stop() }
        try await body(verifier)
    }

    @Test func `R-920: tokens of other libraries are judged as they should be`() async throws {
        #expect(Self.fixture.cases.count > 70)
        try await withKeyFile { (verifier: TokenVerifier) async throws in
            for one in Self.fixture.cases {
                #expect(await Self.verdict(one.token, verifier) == one.verdict, "\(one.name)")
            }
        }
    }

    @Test func `R-920: a token of 1 MB is refused before it is read`() async throws {
        try await withKeyFile { (verifier: TokenVerifier) async throws in
            let part = [UInt8](repeating: UInt8(ascii: "A"), count: 1_048_576)
            #expect(await Self.verdict(part, verifier) == "tooLong")
            let good = try Self.fixture.token("ES256")
            let long = good + [UInt8](repeating: UInt8(ascii: "A"), count: JSONWebToken.bytesMax + 1 - good.count)
            #expect(await Self.verdict(long, verifier) == "tooLong")
            #expect(await Self.verdict(Array(long.dropLast()), verifier) != "tooLong")
        }
    }

    @Test func `R-920: each bit of a token counts`() async throws {
        try await withKeyFile { (verifier: TokenVerifier) async throws in
            for name in ["RS256", "ES256", "EdDSA"] {
                let token = try Self.fixture.token(name)
                for index in token.indices {
                    var changed = token
                    changed[index] ^= 1
                    #expect(await Self.verdict(changed, verifier) != "ok", "\(name), byte \(index)")
                }
                for count in stride(from: 0, to: token.count, by: 7) {
                    #expect(await Self.verdict(Array(token[..<count]), verifier) != "ok")
                }
            }
        }
    }

    @Test func `R-920: only the algorithms that the operator allows count`() async throws {
        try await withKeyFile(Self.fixture.keys, { Self.issuer($0, algorithms: [.es256]) }) {
            (verifier: TokenVerifier) async throws in
            for (name, verdict) in [
                ("ES256", "ok"), ("RS256", "algorithmNotAllowed"), ("EdDSA", "algorithmNotAllowed"),
            ] {
                let token = try Self.fixture.token(name)
                #expect(await Self.verdict(token, verifier) == verdict)
            }
        }
    }

    @Test func `R-922: a rotated key counts as soon as its issuer publishes it`() async throws {
        let provider = try await Provider.start()
        provider.keys.withLock { $0 = Self.fixture.keys }
        let address = try HTTPAddress("http://127.0.0.1:\(provider.port)/keys")
        let verifier = try TokenVerifier([Self.issuer(.url(address))])
        let (old, new) = (try Self.fixture.token("ES256"), try Self.fixture.token("unknown key id"))
        #expect(await Self.verdict(old, verifier) == "ok", "it waits for the first fetch")
        #expect(await Self.verdict(new, verifier) == "keysUnavailable", "its issuer may have published it since")
        #expect(provider.requestCount.withLock { $0 } == 1, "no fetch so soon after the last one")
        verifier.stop()

        // A server that starts now.
        provider.keys.withLock { $0 = Self.fixture.rotated }
        let later = try TokenVerifier([Self.issuer(.url(address))])
        #expect(await Self.verdict(new, later) == "ok")
        #expect(await Self.verdict(old, later) == "keysUnavailable")
        later.stop()
        await provider.stop()
    }

    @Test func `R-922: a token that names no key may be of a key that its issuer has published since`() async throws {
        let provider = try await Provider.start()
        provider.keys.withLock { $0 = Self.fixture.keys }
        let address = try HTTPAddress("http://127.0.0.1:\(provider.port)/keys")
        let verifier = try TokenVerifier([Self.issuer(.url(address))])
        let (known, new) = (try Self.fixture.token("no kid"), try Self.fixture.token("another's key without an id"))
        #expect(await Self.verdict(known, verifier) == "ok", "it waits for the first fetch")
        #expect(await Self.verdict(new, verifier) == "signerUnknown", "it is not refused before the issuer is asked")
        #expect(provider.requestCount.withLock { $0 } == 1, "no fetch so soon after the last one")
        verifier.stop()

        // A server that starts now.
        provider.keys.withLock { $0 = Self.fixture.rotated }
        let later = try TokenVerifier([Self.issuer(.url(address))])
        #expect(await Self.verdict(new, later) == "ok")
        later.stop()
        await provider.stop()
    }

    @Test func `R-922: a provider that answers badly, or not at all, makes tokens wait and then come again`()
        async throws
    {
        let provider = try await Provider.start()
        let token = try Self.fixture.token("ES256")
        let address = try HTTPAddress("http://127.0.0.1:\(provider.port)/keys")
        for status in [HTTPStatus.serviceUnavailable, .notFound, .noContent] {
            provider.status.withLock { $0 = status }
            let verifier = try TokenVerifier([Self.issuer(.url(address))])
            #expect(await Self.verdict(token, verifier) == "keysUnavailable")
            verifier.stop()
        }
        provider.status.withLock { $0 = .ok }
        for bad in ["", "{}", "<html>", String(repeating: "x", count: JSONWebKeySet.bytesMax + 1)] {
            provider.keys.withLock { $0 = Array(bad.utf8) }
            let verifier = try TokenVerifier([Self.issuer(.url(address))])
            #expect(await Self.verdict(token, verifier) == "keysUnavailable")
            verifier.stop()
        }
        provider.hangs.withLock { $0 = true }
        let verifier = try TokenVerifier([Self.issuer(.url(address))])
        #expect(await Self.verdict(token, verifier) == "keysUnavailable", "the wait is bounded")
        verifier.stop()
        await provider.stop()
        // Nobody listens there any more.
        let alone = try TokenVerifier([Self.issuer(.url(address))])
        #expect(await Self.verdict(token, alone) == "keysUnavailable")
        alone.stop()
    }

    @Test func `R-922: a provider that is down keeps out nobody of another`() async throws {
        let provider = try await Provider.start()
        provider.hangs.withLock { $0 = true }
        let directory = try TestDirectory()
        defer { directory.remove() }
        let path = "\(directory.path)/keys.json"
        try Data(Self.fixture.keys).write(to: URL(fileURLWithPath: path))
        let verifier = try TokenVerifier([
            Self.issuer(.url(try HTTPAddress("http://127.0.0.1:\(provider.port)/keys")), name: "https://down"),
            Self.issuer(.file(path)),
        ])
        let token = try Self.fixture.token("ES256")
        #expect(await Self.verdict(token, verifier) == "ok")
        verifier.stop()
        await provider.stop()
    }

    @Test func `R-922: keys are found by the description of the issuer, which must name it`() async throws {
        let provider = try await Provider.start()
        provider.keys.withLock { $0 = Self.fixture.keys }
        let here = "http://127.0.0.1:\(provider.port)"
        let address = try HTTPAddress("\(here)/.well-known/openid-configuration")
        let token = try Self.fixture.token("ES256")
        let descriptions = [
            (#"{"issuer":"\#(Self.fixture.issuer)","jwks_uri":"\#(here)/keys"}"#, "ok"),
            (#"{"issuer":"https://evil.example.org","jwks_uri":"\#(here)/keys"}"#, "keysUnavailable"),
            (#"{"issuer":"\#(Self.fixture.issuer)"}"#, "keysUnavailable"),
            (#"{"issuer":"\#(Self.fixture.issuer)","jwks_uri":"http://login.example.org/keys"}"#, "keysUnavailable"),
            (#"{"issuer":"\#(Self.fixture.issuer)","jwks_uri":"file:///etc/passwd"}"#, "keysUnavailable"),
            ("[]", "keysUnavailable"),
        ]
        for (description, verdict) in descriptions {
            provider.description.withLock { $0 = Array(description.utf8) }
            let verifier = try TokenVerifier([Self.issuer(.discovered(address))])
            #expect(await Self.verdict(token, verifier) == verdict, "\(description)")
            verifier.stop()
        }
        await provider.stop()
    }

    @Test func `R-922: a description that came by https leads to https alone`() throws {
        let (secured, plain) = (try HTTPAddress("https://login.example.org/x"), try HTTPAddress("http://127.0.0.1/x"))
        let (keys, here) = ("https://keys.example.org/keys", "http://127.0.0.1/keys")
        #expect(KeySetFetch.addressOfKeys(keys, namedAt: secured) != nil)
        #expect(KeySetFetch.addressOfKeys(here, namedAt: secured) == nil)
        #expect(KeySetFetch.addressOfKeys(keys, namedAt: plain) != nil)
        #expect(KeySetFetch.addressOfKeys(here, namedAt: plain) != nil)
        #expect(KeySetFetch.addressOfKeys("http://keys.example.org/keys", namedAt: plain) == nil)
    }

    @Test func `R-922: what a provider says of the age of its keys is read`() {
        let cases: [(String?, Duration?)] = [
            (nil, nil), ("public", nil), ("max-age=600", .seconds(600)), ("public, Max-Age=7 ,x", .seconds(7)),
            ("no-store", .zero), ("no-cache, max-age=9", .zero), ("max-age=-1", nil), ("max-age=x", nil),
            ("max-age=99999999999", .seconds(31_536_000)),
        ]
        for (value, age) in cases {
            let fields = HeaderFields(value.map { [("Cache-Control", $0)] } ?? [])
            #expect(KeySetFetch.maxAge(fields) == age, "\(value ?? "none")")
        }
    }
}

/// A provider of the test's own on loopback, which does what it is told.
private final class Provider: HTTPHandler, Sendable {
    let keys = Mutex<[UInt8]>([])
    let description = Mutex<[UInt8]>([])
    let status = Mutex(HTTPStatus.ok)
    let hangs = Mutex(false)
    let requestCount = Mutex(0)
    private let loop: EventLoop
    private let server = Mutex<HTTPServer?>(nil)
    private let hanging = Mutex<[CheckedContinuation<Void, Never>]>([])

    private init() throws { loop = try EventLoop(name: "provider") }

    static func start() async throws -> Provider {
        let provider = try Provider()
        let server = try await HTTPServer.start(
            on: [provider.loop], addresses: [.loopback(port: 0)], tls: nil, handler: provider)
        provider.server.withLock { $0 = server }
        return provider
    }

    var port: UInt16 { server.withLock { $0?.localAddresses.first?.port ?? 0 } }

    func stop() async {
        hangs.withLock { $0 = false }
        for one in hanging.withLock({ waiting in
            defer { waiting = [] }
            return waiting
        }) {
            one.resume()
        }
        await server.withLock { $0 }?.stop()
        loop.stop()
    }

    func decide(_ head: RequestHead, from peer: HTTPPeer) -> HTTPDecision { .take(bodyBytesMax: 0) }

    func answer(_ request: HTTPRequest) async -> HTTPAnswer {
        requestCount.withLock { $0 += 1 }
        if hangs.withLock({ $0 }) {
            await withCheckedContinuation { continuation in hanging.withLock { $0.append(continuation) } }
        }
        let body = request.head.path == "/keys" ? keys.withLock { $0 } : description.withLock { $0 }
        return .whole(HTTPResponse(status.withLock { $0 }, body: body))
    }
}
