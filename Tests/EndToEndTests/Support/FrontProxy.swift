// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// The real HAProxy or nginx with the example of `deploy/`, between clients and a server of a test.
///
/// It connects to the server from 127.0.0.2, so that its address is not that of its clients.
struct FrontProxy {
    enum Kind: String {
        case haproxy, nginx

        /// Nil if it is not installed.
        var path: String? {
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
            return (folders + ["/usr/sbin", "/usr/local/sbin"]).map { "\($0)/\(rawValue)" }
                .first(where: FileManager.default.isExecutableFile)
        }

        /// By which it reads its configuration again.
        fileprivate var reloadSignal: Int32 { self == .haproxy ? SIGUSR2 : SIGHUP }
    }

    /// Where it connects from.
    static let address = "127.0.0.2"

    let kind: Kind
    let port: Int
    let program: Program

    /// - Parameters:
    ///   - server: the port of the server for devices.
    ///   - checks: the port of the server for load balancers.
    ///   - other: another server behind HAProxy, as `server` and `checks`.
    ///   - certificate: for a proxy that has one.
    static func start(
        _ kind: Kind, before server: Int, checks: Int = 0, and other: (server: Int, checks: Int)? = nil,
        certificate: (file: String, key: String)? = nil,
        in directory: TestDirectory
    ) async throws -> FrontProxy {
        let path = try #require(kind.path)
        let port = try freePort()
        let text: String
        let arguments: [String]
        let file = "\(directory.path)/\(kind.rawValue).cfg"
        switch kind {
        case .haproxy:
            text = try example(
                "deploy/haproxy.cfg",
                [
                    "log /dev/log local0": "log stdout format raw local0", "maxconn 40000": "maxconn 400",
                    "bind :443": "bind 127.0.0.1:\(port)",
                    "check port 9464 inter 2s": "source \(address) check port \(checks) inter 2s",
                    " check-ssl verify none": "", "server one 10.0.0.11:8443": "server one 127.0.0.1:\(server)",
                    "    server two 10.0.0.12:8443\n": other.map {
                        "    server two 127.0.0.1:\($0.server) port \($0.checks)\n"
                    } ?? "",
                ])
            // In the foreground, with a master that keeps its number over a reload.
            arguments = ["-W", "-f", file]
        case .nginx:
            let certificate = try #require(certificate)
            let live = "/etc/letsencrypt/live/cloud.example.org"
            let site = try example(
                "deploy/nginx.conf",
                [
                    "server 127.0.0.1:8443;": "server 127.0.0.1:\(server);",
                    "listen 443 ssl;": "listen 127.0.0.1:\(port) ssl;", "\(live)/fullchain.pem": certificate.file,
                    "\(live)/privkey.pem": certificate.key,
                    "proxy_pass http://tidemark;": "proxy_pass http://tidemark; proxy_bind \(address);",
                ])
            let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(directory.path)/nginx-\($0);" }.joined(separator: "\n")
            text = """
                daemon off;
                pid \(directory.path)/nginx.pid;
                error_log stderr notice;
                events { worker_connections 512; }
                http {
                access_log off;
                \(places)
                \(site)
                }

                """
            arguments = ["-c", file, "-p", directory.path, "-e", "stderr"]
        }
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let program = try Program(kind.rawValue, arguments, directory: directory.path, path: path)
        let proxy = FrontProxy(kind: kind, port: port, program: program)
        try await eventually("\(kind) listens") {
            guard program.isRunning else { throw NeverHappened(description: program.output) }
            return isOpen(port)
        }
        return proxy
    }

    /// Lets it read its configuration again. Returns when it has new processes.
    func reload() async throws {
        let before = try workers()
        program.signal(kind.reloadSignal)
        try await eventually("\(kind) has new processes", within: .seconds(60)) {
            guard program.isRunning else { throw NeverHappened(description: program.output) }
            return try !workers().subtracting(before).isEmpty
        }
    }

    /// Ends it with all its connections.
    func stop() async throws {
        program.signal(SIGTERM)
        try await program.exit(within: .seconds(60))
    }

    /// The processes that it started.
    private func workers() throws -> Set<Int> {
        let text = try String(contentsOfFile: "/proc/\(program.id)/task/\(program.id)/children", encoding: .utf8)
        return Set(text.split(separator: " ").compactMap { Int($0) })
    }

    /// The file with what is another here. Each of the texts is there, so that the example is what is tried.
    private static func example(_ name: String, _ changes: [String: String]) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        var text = try String(contentsOf: root.appendingPathComponent("../../../\(name)"), encoding: .utf8)
        // The head says in comments what stands below.
        text = text.split(separator: "\n", omittingEmptySubsequences: false).filter { !$0.hasPrefix("#") }
            .joined(separator: "\n")
        for (old, new) in changes {
            try #require(text.ranges(of: old).count == 1, "\(name): \(old)")
            text = text.replacingOccurrences(of: old, with: new)
        }
        return text
    }

    // MARK: Ports

    private static func withSocket<Value>(
        _ port: UInt16, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) throws -> Value
    ) rethrows -> Value {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try body(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// A port on which nobody listens. A proxy cannot be asked which one the kernel chose.
    static func freePort() throws -> Int {
        try withSocket(0) { descriptor, address, length in
            try #require(bind(descriptor, address, length) == 0)
            var chosen = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let result = withUnsafeMutablePointer(to: &chosen) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
            }
            try #require(result == 0)
            return Int(UInt16(bigEndian: chosen.sin_port))
        }
    }

    private static func isOpen(_ port: Int) -> Bool {
        withSocket(UInt16(port)) { descriptor, address, length in connect(descriptor, address, length) == 0 }
    }
}
