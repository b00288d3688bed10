// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAdmin
internal import TidemarkServer
internal import TidemarkSockets
internal import TidemarkTransport

/// Who may connect, and how many.
struct ConnectionOptions: ParsableArguments {
    @Option(help: ServeSetting.help("connections")) var connections: Int?

    @Option(help: ServeSetting.help("connections-per-account")) var connectionsPerAccount: Int?

    @Option(help: ServeSetting.help("anonymous-connections")) var anonymousConnections: Int?

    @Option(help: ServeSetting.help("anonymous-connections-per-address")) var anonymousConnectionsPerAddress: Int?

    @Option(help: ServeSetting.help("anonymous-idle-seconds")) var anonymousIdleSeconds: Int?

    @Flag(help: ServeSetting.help("require-credential")) var requireCredential = false

    @Option(help: ServeSetting.help("health-listen")) var healthListen: String?

    @Option(help: ServeSetting.help("proxy-from")) var proxyFrom: String?

    func apply(to configuration: inout ServerConfiguration) throws(AdminFailure) {
        configuration.transport.connectionsMax = try Setting.number(
            connections, "--connections", default: configuration.transport.connectionsMax)
        let ofAccount = try Setting.number(connectionsPerAccount, "--connections-per-account", default: 0)
        configuration.connectionsPerAccountMax = ofAccount == 0 ? nil : ofAccount
        let anonymous = try Setting.number(
            anonymousConnections, "--anonymous-connections", default: 0)
        configuration.anonymousConnectionsMax = anonymous == 0 ? nil : anonymous
        configuration.anonymousConnectionsPerAddressMax = try Setting.number(
            anonymousConnectionsPerAddress, "--anonymous-connections-per-address", default: 256)
        let idle = try Setting.number(
            anonymousIdleSeconds, "--anonymous-idle-seconds", default: 120)
        configuration.anonymousIdleTimeout = .seconds(idle)
        configuration.requiresCredential = try Setting.flag(requireCredential, "--require-credential")
        configuration.proxies = try proxies()
        try checkReach(of: configuration)
        if let health = try Setting.optional(healthListen, "--health-listen") {
            configuration.healthAddresses = [try Self.address(health, "--health-listen")]
        }
    }

    private func proxies() throws(AdminFailure) -> [AddressNetwork] {
        guard let text = try Setting.optional(proxyFrom, "--proxy-from") else { return [] }
        // Each part has been checked.
        let networks = ServeSetting.parts(of: text).compactMap { AddressNetwork(parsing: $0) }
        guard networks.count <= Self.proxyNetworksMax else {
            throw AdminFailure(.usage, "--proxy-from takes at most \(Self.proxyNetworksMax) networks. Join some.")
        }
        return networks
    }

    /// A proxy of this machine has an address of loopback, so other networks alone would never be believed.
    private func checkReach(of configuration: ServerConfiguration) throws(AdminFailure) {
        guard configuration.certificate == nil, !configuration.proxies.isEmpty,
            configuration.addresses.allSatisfy(\.isLoopback)
        else { return }
        let canMatch = configuration.proxies.contains { network in
            let first = network.description.prefix { $0 != "/" }
            return configuration.addresses.contains(where: network.contains)
                || SocketAddress(numericHost: String(first), port: 0)?.isLoopback == true
        }
        guard canMatch else {
            throw AdminFailure(
                .usage,
                "With --plain the proxy connects from loopback: --proxy-from must name the address of --listen, such as "
                    + "127.0.0.1.")
        }
    }

    /// Each new connection is compared with all of them.
    private static let proxyNetworksMax = 64

    static func address(_ text: String, _ flag: String) throws(AdminFailure) -> SocketAddress {
        do {
            return try SocketAddress(parsing: text)
        } catch {
            throw AdminFailure(
                .usage, "\(flag) takes a numeric address and a port, such as 127.0.0.1:8443, not \(text).")
        }
    }
}
