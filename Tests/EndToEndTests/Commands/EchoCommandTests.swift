// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkSockets
import TidemarkTLS
import TidemarkTestSupport
import TidemarkWebSocket

/// `tidemark-echo`, as conformance suites and benchmarks use it.
@Suite struct EchoCommandTests {
    private struct Ready: Decodable {
        let port: UInt16
    }

    /// Runs `body` with the program and a way to connect to it.
    private func withEcho(
        isPlain: Bool, _ body: (_ connect: ([UInt8]) async throws -> RawPeer) async throws -> Void
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let certificates = try DevelopmentCertificates(
            directory: directory.path, hosts: ["127.0.0.1"], now: Int64(Date().timeIntervalSince1970))
        let ready = "\(directory.path)/ready.json"
        let security =
            isPlain
            ? ["--plain"]
            : ["--certificate", certificates.certificateFile, "--private-key", certificates.privateKeyFile]
        let program = try Program(
            "tidemark-echo", ["--port", "0", "--ready-file", ready] + security, directory: directory.path)
        try await eventually("tidemark-echo is ready") {
            guard program.isRunning else { throw NeverHappened(description: program.output) }
            return FileManager.default.fileExists(atPath: ready)
        }
        let data = FileManager.default.contents(atPath: ready) ?? Data()
        let port = try JSONDecoder().decode(Ready.self, from: data).port
        #expect(program.output.contains("listening on 127.0.0.1:\(port)\n"))
        let tls = try TLSContext(
            client: .init(additionalRootsFile: certificates.authorityFile, trustsSystemRoots: false))
        let loop = try EventLoop(name: "echo's clients")
        defer { loop.stop() }
        try await body { bytes in
            try await RawPeer.connect(
                to: .loopback(port: port), on: loop, tls: isPlain ? nil : tls, .none, sending: bytes)
        }
        try await program.killNow()
    }

    @Test(arguments: [true, false])
    func `each path does what suites and benchmarks expect of it`(isPlain: Bool) async throws {
        try await withEcho(isPlain: isPlain) { connect in
            for path in ["/", "/echo"] {
                let peer = try await connect(
                    RawPeer.upgrade(path) + RawPeer.frame(.text, Array("hello".utf8))
                        + RawPeer.frame(.binary, [1, 2, 3]) + RawPeer.frame(.close, [3, 0xE8]))
                #expect(await peer.receiveAllEvents() == ["text hello", "binary 3", "close 1000"], "\(path)")
                await peer.close()
            }
            var subscribers: [RawPeer] = []
            for _ in 0..<3 { subscribers.append(try await connect(RawPeer.upgrade("/sub"))) }
            for peer in subscribers { await peer.receive { RawPeer.events($0) == [] } }
            let publisher = try await connect(
                RawPeer.upgrade("/pub") + RawPeer.frame(.text, Array("news".utf8)) + RawPeer.frame(.close, [3, 0xE8]))
            #expect(await publisher.receiveAllEvents() == ["close 1000"])
            for peer in subscribers {
                let received = await peer.receive { RawPeer.events($0) != [] }
                #expect(RawPeer.events(received) == ["text news"])
            }
            for peer in subscribers + [publisher] { await peer.close() }
            let health = try await connect(Array("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
            #expect(await health.receiveAllText().hasPrefix("HTTP/1.1 200 "))
            await health.close()
        }
    }

    @Test func `any other path is answered as the server answers HTTP`() async throws {
        let site = try await DevServer.shared()
        let tls = try TLSContext(client: .init(additionalRootsFile: site.authorityFile, trustsSystemRoots: false))
        let loop = try EventLoop(name: "the server's clients")
        defer { loop.stop() }
        let requests = ["GET /other", "HEAD /other", "POST /other", "BREW /other", "GET /healthz/x", "GET *"].map {
            Array("\($0) HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        }
        try await withEcho(isPlain: false) { connect in
            for request in requests + [RawPeer.upgrade("/other", subprotocol: "tidemark.v1")] {
                let asked = try await connect(request)
                let compared = try await RawPeer.connect(
                    to: .loopback(port: UInt16(site.port)), on: loop, tls: tls, .none, sending: request)
                let answers = [await asked.receiveAllText(), await compared.receiveAllText()].map { text in
                    text.split(separator: "\r\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("Date: ") }
                }
                #expect(answers[0] == answers[1])
                #expect(answers[0][0].hasPrefix("HTTP/1.1 4") || answers[0][0].hasPrefix("HTTP/1.1 5"))
                for peer in [asked, compared] { await peer.close() }
            }
        }
    }

    @Test(arguments: [
        (["--plain", "--host", "0.0.0.0"], "--plain is for loopback addresses only"),
        (["--plain", "--host", "::"], "--plain is for loopback addresses only"),
        (["--plain", "--host", "localhost"], "--host is an address in digits"),
        (["--port", "0"], "Give --certificate and --private-key, or --plain"),
    ])
    func `what would be served to others without TLS is refused`(_ arguments: [String], _ text: String) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let result = try await Program.run("tidemark-echo", arguments, directory: directory.path)
        #expect(result.status != 0 && result.output.contains(text), "\(result.output)")
    }
}
