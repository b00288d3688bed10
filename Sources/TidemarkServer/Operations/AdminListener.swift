// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTelemetry
internal import TidemarkTransport

/// Answers operators and their programs. It has a separate thread: devices neither wait for it nor delay it.
final class AdminListener: Sendable {
    private static let log = Log("operations")

    /// The protection of it beyond this machine.
    struct Protection: Sendable {
        let tls: TLSContext?
        let token: AdminToken?

        /// - Throws: ``ServerError``: `adminUnprotected`, `adminTokenUnusable`, `certificateUnusable`.
        init(_ configuration: ServerConfiguration) throws(ServerError) {
            let admin = configuration.admin
            token = try admin.tokenFile.map { (file) throws(ServerError) in try AdminToken(file: file) }
            guard let open = admin.addresses.first(where: { !$0.isLoopback }) else {
                tls = nil
                return
            }
            guard let certificate = configuration.certificate, token != nil || admin.clientAuthorityFile != nil else {
                throw ServerError(.adminUnprotected, detail: "\(open)")
            }
            do {
                tls = try TLSContext(
                    server: .init(
                        certificateFile: certificate.certificateFile, privateKeyFile: certificate.privateKeyFile,
                        clientAuthorityFile: admin.clientAuthorityFile))
            } catch {
                throw ServerError(.certificateUnusable, detail: error.debugDescription, underlying: error)
            }
        }
    }

    /// The addresses on which it listens, with the ports that the kernel chose.
    let addresses: [SocketAddress]
    private let settings: ServerConfiguration.AdminSettings
    private let protection: Protection
    private let handler: AdminHandler
    private let loop: EventLoop
    private let servers: [HTTPServer]

    private init(
        _ settings: ServerConfiguration.AdminSettings, _ protection: Protection, _ handler: AdminHandler,
        _ loop: EventLoop, _ servers: [HTTPServer]
    ) {
        self.settings = settings
        self.protection = protection
        self.handler = handler
        self.loop = loop
        self.servers = servers
        addresses = servers.flatMap(\.localAddresses)
    }

    /// Begins to listen.
    ///
    /// - Returns: nil if it is to listen nowhere.
    static func start(
        _ settings: ServerConfiguration.AdminSettings, _ protection: Protection, _ handler: AdminHandler
    ) async throws(ServerError) -> AdminListener? {
        guard !settings.addresses.isEmpty else { return nil }
        let loop: EventLoop
        do {
            loop = try EventLoop(name: "tidemark-admin")
        } catch {
            throw ServerError(.resourcesExhausted, detail: "\(error)", underlying: error)
        }
        let nearby = settings.addresses.filter(\.isLoopback)
        let others = settings.addresses.filter { !$0.isLoopback }
        let kinds: [([SocketAddress], TLSContext?)] = [(nearby, nil), (others, protection.tls)]
        var servers: [HTTPServer] = []
        do {
            for (addresses, tls) in kinds where !addresses.isEmpty {
                servers.append(
                    try await HTTPServer.start(
                        on: [loop], addresses: addresses, tls: tls, limits: limits, handler: handler))
            }
        } catch {
            for server in servers { await server.stop() }
            loop.stop()
            let addresses = settings.addresses.map(\.description).joined(separator: ", ")
            throw ServerError(.cannotListen, detail: "\(addresses): \(error)", underlying: error)
        }
        let listener = AdminListener(settings, protection, handler, loop, servers)
        for address in listener.addresses {
            log.info("answering operators", ["address": "\(address)", "tls": "\(!address.isLoopback)"])
        }
        return listener
    }

    /// A few scrapers and load balancers.
    private static var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.connectionsMax = 32
        limits.handshakeDeadline = .seconds(5)
        limits.headDeadline = .seconds(5)
        limits.bodyDeadline = .seconds(5)
        limits.idleDeadline = .seconds(75)
        limits.closeDeadline = .seconds(1)
        return limits
    }

    /// Reads token, certificate and authorities again.
    ///
    /// - Throws: ``ServerError``; what could not be read stays as it was.
    func reload() throws(ServerError) {
        if let file = settings.tokenFile { handler.replaceToken(try AdminToken(file: file)) }
        do {
            try protection.tls?.reload()
        } catch {
            throw ServerError(.certificateUnusable, detail: error.debugDescription, underlying: error)
        }
    }

    func stop() async {
        for server in servers { await server.stop() }
        loop.stop()
    }
}
