// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAdmin
internal import TidemarkServer
internal import TidemarkSockets
internal import TidemarkTransport

/// Who may connect, and how many.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Connections of this server.",
            discussion: "Fewer if the limit of open files leaves fewer. Default: 20000.",
            valueName: "count"))
    var connections: Int?

    @Option(
        help: ArgumentHelp(
            "Connections without a credential.",
            discussion:
                "Default: a quarter of the connections. Never more than leave as many for those with a credential.",
            valueName: "count"))
    var anonymousConnections: Int?

    @Option(
        help: ArgumentHelp(
            "Connections without a credential of one address (IPv6: of one /64).",
            discussion:
                "Default: 256. It does not count with --plain, because all connections then have the proxy's address.",
            valueName: "count"))
    var anonymousConnectionsPerAddress: Int?

    @Option(
        help: ArgumentHelp(
            "How long a connection without a credential may ask for nothing.",
            discussion: "In seconds. Default: 120.", valueName: "seconds"))
    var anonymousIdleSeconds: Int?

    @Flag(
        help:
            "Refuse everybody who has no credential. Otherwise they can read public data."
    )
    var requireCredential = false

    @Option(
        help: ArgumentHelp(
            "Address and port that also answer GET /healthz, without TLS, and nothing else.",
            discussion: "Its connections do not count with the others.",
            valueName: "host:port"))
    var healthListen: String?

    func apply(to configuration: inout ServerConfiguration) throws(AdminFailure) {
        configuration.transport.connectionsMax = try Setting.number(
            connections, "--connections", default: configuration.transport.connectionsMax,
            in: 16...1_000_000)
        let anonymous = try Setting.number(
            anonymousConnections, "--anonymous-connections", default: 0,
            in: 0...1_000_000)
        configuration.anonymousConnectionsMax = anonymous == 0 ? nil : anonymous
        configuration.anonymousConnectionsPerAddressMax = try Setting.number(
            anonymousConnectionsPerAddress, "--anonymous-connections-per-address", default: 256, in: 1...1_000_000)
        let idle = try Setting.number(
            anonymousIdleSeconds, "--anonymous-idle-seconds", default: 120,
            in: 1...86_400)
        configuration.anonymousIdleTimeout = .seconds(idle)
        configuration.requiresCredential = Setting.flag(requireCredential, "--require-credential")
        if let health = Setting.optional(healthListen, "--health-listen") {
            configuration.healthAddresses = [try Self.address(health, "--health-listen")]
        }
    }

    static func address(_ text: String, _ flag: String) throws(AdminFailure) -> SocketAddress {
        do {
            return try SocketAddress(parsing: text)
        } catch {
            throw AdminFailure(
                .usage, "\(flag) takes a numeric address and a port, such as 127.0.0.1:8443, not \(text).")
        }
    }
}
