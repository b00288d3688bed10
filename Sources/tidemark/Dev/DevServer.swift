// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkAdmin
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkSockets
internal import TidemarkTLS

/// The server of `tidemark dev`: it creates containers when they are first named, and has its own certificate.
struct DevServer {
    let server: Server
    let url: String
    let authorityFile: String
    /// The URL of the admin listener.
    let adminURL: String

    private static let loopback = "127.0.0.1"

    /// - Parameter hosts: further names of this machine; with any, the server listens beyond loopback.
    static func start(
        _ home: DevHome, databaseURL: String, port: UInt16, hosts: [String], slowRequestTime: Duration?
    ) throws -> DevServer {
        let certificates: DevelopmentCertificates
        do {
            certificates = try DevelopmentCertificates(
                directory: home.certificates, hosts: hosts + ["localhost", loopback, "::1"],
                now: Int64(Date().timeIntervalSince1970))
        } catch {
            throw AdminFailure(
                .refused,
                "Cannot create certificates: \(error.debugDescription). Is \(home.certificates) writable, and every --host a name or an address?"
            )
        }
        let certificate = ServerConfiguration.CertificateFiles(
            certificateFile: certificates.certificateFile, privateKeyFile: certificates.privateKeyFile)
        let server = try listen(hosts.isEmpty ? [loopback] : ["::", "0.0.0.0"], port) { address in
            var configuration = ServerConfiguration(
                addresses: [address], certificate: certificate, databaseURL: databaseURL, limits: .standard)
            configuration.createsContainers = true
            configuration.slowRequestTime = slowRequestTime
            // The developer's own: tests may use a container each.
            configuration.limits.containersMax = 1_000_000
            configuration.assetDirectory = home.assets
            configuration.masterKeyFile = home.masterKeyFile
            configuration.admin.addresses = SocketAddress(numericHost: loopback, port: 0).map { [$0] } ?? []
            // A developer who asks why a device is behind does not wait a minute.
            configuration.deviceInterval = .seconds(2)
            // No other server has this database.
            configuration.olderServers.quiet = .zero
            return configuration
        }
        let host = hosts.first ?? loopback
        return DevServer(
            server: server, url: "wss://\(host.contains(":") ? "[\(host)]" : host):\(server.addresses[0].port)",
            authorityFile: certificates.authorityFile,
            adminURL: server.adminAddresses.first.map { "http://\($0)" } ?? "")
    }

    /// Listens at the first address that this machine has. A machine without IPv6 has no `::`.
    private static func listen(
        _ hosts: [String], _ port: UInt16, _ configuration: (SocketAddress) -> ServerConfiguration
    ) throws -> Server {
        var failure: any Error = AdminFailure(
            .refused,
            "This machine has no address to listen on. Check its network, or leave out --host.")
        for host in hosts {
            guard let address = SocketAddress(numericHost: host, port: port) else { continue }
            let configuration = configuration(address)
            do {
                if port != 0 { try checkUnshared(address) }
                return try blocking { try await Server.start(configuration) }
            } catch let error as SocketError where error.code == .addressInUse {
                throw AdminFailure(
                    .refused, "Port \(port) is in use. Choose another one with --port; 0 for any free one.")
            } catch {
                failure = error
            }
        }
        throw failure
    }
    /// Servers may share a port, and then a client reaches now one and now the other. These servers do not share data,
    /// so that must not happen.
    private static func checkUnshared(_ address: SocketAddress) throws {
        let loop = try EventLoop(name: "tidemark-port")
        defer { loop.stop() }
        try blocking {
            try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                loop.execute {
                    let options = Listener.Options(sharesAddress: false)
                    done.resume(
                        with: Result {
                            try Listener(loop: loop, address: address, options: options) { _, _ in }.close()
                        })
                }
            }
        }
    }
}
