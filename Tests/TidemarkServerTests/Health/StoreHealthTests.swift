// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Glibc
import Testing
import TidemarkLocalPostgres
import TidemarkPostgres
import TidemarkServer
import TidemarkSockets
import TidemarkTestSupport
import TidemarkTransport

@Suite(.serialized) struct StoreHealthTests {
    /// Asks by plain HTTP and reads until the server ends the stream.
    private func ask(_ target: String, port: UInt16, method: String = "GET") async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try Self.blockingAsk(target, port: port, method: method) })
            }
        }
    }

    private static func blockingAsk(_ target: String, port: UInt16, method: String) throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw LiveError("cannot connect: \(errno)") }
        let request = Array("\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        guard send(descriptor, request, request.count, Int32(MSG_NOSIGNAL)) == request.count else {
            throw LiveError("cannot send")
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while answer.count < 65_536 {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw LiveError("no answer: \(errno)") }
            if count == 0 { return String(decoding: answer, as: UTF8.self) }
            answer += buffer[..<count]
        }
        throw LiveError("an answer without an end")
    }

    @Test func `GET healthz answers 200 while the store answers, and 503 when it does not`() async throws {
        try await withLiveWorld { world in
            try await world.withServer({ $0.certificate = nil }) { server in
                let port = server.addresses[0].port
                let good = try await ask("/healthz", port: port)
                #expect(good.hasPrefix("HTTP/1.1 200 "))
                #expect(good.hasSuffix("\r\n\r\nok\n"))
                try PostgresAdministration.execute(
                    ["DROP DATABASE \(world.database.name) WITH (FORCE)"],
                    url: TestPostgres.shared.databaseURL("postgres"))
                // The last good answer counts for some seconds.
                var answer = ""
                for _ in 0..<200 {
                    answer = try await ask("/healthz", port: port)
                    if answer.hasPrefix("HTTP/1.1 503 ") { break }
                    try await Task.sleep(for: .milliseconds(100))
                }
                #expect(answer.hasPrefix("HTTP/1.1 503 "))
            }
        }
    }

    @Test func `other targets and methods are answered as HTTP asks`() async throws {
        try await withLiveWorld { world in
            try await world.withServer({ $0.certificate = nil }) { server in
                let port = server.addresses[0].port
                let cases = [("/", "GET", "426"), ("/other", "GET", "404"), ("/healthz", "POST", "405")]
                for (target, method, status) in cases {
                    let answer = try await ask(target, port: port, method: method)
                    #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(method) \(target)")
                }
                let head = try await ask("/healthz", port: port, method: "HEAD")
                #expect(head.hasPrefix("HTTP/1.1 200 "))
                #expect(head.hasSuffix("\r\n\r\n"))
            }
        }
    }

    @Test func `R-721: health has a listener of its own, which answers nothing else`() async throws {
        try await withLiveWorld { world in
            let change = { (configuration: inout ServerConfiguration) in
                configuration.healthAddresses = [.loopback(port: 0)]
                configuration.transport.connectionsMax = 16
            }
            try await world.withServer(change) { server in
                let port = try #require(server.healthAddresses.first).port
                for (target, status) in [("/healthz", "200"), ("/", "404")] {
                    let answer = try await ask(target, port: port)
                    #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(target)")
                }
                // It answers while nobody else has a place.
                var crowd: [RawPeer] = []
                for _ in 0..<20 { crowd.append(try await world.rawPeer(to: server)) }
                #expect(try await ask("/healthz", port: port).hasPrefix("HTTP/1.1 200 "))
                for peer in crowd { await peer.close() }
            }
        }
    }
}
