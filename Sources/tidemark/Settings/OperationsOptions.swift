// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAdmin
internal import TidemarkServer
internal import TidemarkSockets

/// Where operators ask a server, and how long it serves on when it is to stop.
struct OperationsOptions: ParsableArguments {
    @Option(help: ServeSetting.help("admin-listen")) var adminListen: [String] = []

    @Option(help: ServeSetting.help("admin-token-file")) var adminTokenFile: String?

    @Option(name: .customLong("admin-client-ca"), help: ServeSetting.help("admin-client-ca")) var adminClientAuthority:
        String?

    @Option(help: ServeSetting.help("operators-listen")) var operatorsListen: [String] = []

    @Option(help: ServeSetting.help("drain-seconds")) var drainSeconds: Int?

    @Option(help: ServeSetting.help("ticket-secret-file")) var ticketSecretFile: String?

    func apply(to configuration: inout ServerConfiguration) throws(AdminFailure) {
        var admin = configuration.admin
        for text in try Setting.list(adminListen, "--admin-listen") {
            admin.addresses.append(try ConnectionOptions.address(text, "--admin-listen"))
        }
        for text in try Setting.list(operatorsListen, "--operators-listen") {
            configuration.operators.addresses.append(try ConnectionOptions.address(text, "--operators-listen"))
        }
        configuration.operators.commands = ServedCommands()
        admin.tokenFile = try Setting.optional(adminTokenFile, "--admin-token-file")
        admin.clientAuthorityFile = try Setting.optional(adminClientAuthority, "--admin-client-ca")
        if admin.addresses.isEmpty, admin.tokenFile != nil || admin.clientAuthorityFile != nil {
            throw AdminFailure(
                .usage, "--admin-token-file and --admin-client-ca protect --admin-listen. Give that too.")
        }
        // On loopback there is no TLS, and so no certificate. Nobody should believe that there is.
        if admin.clientAuthorityFile != nil, admin.addresses.allSatisfy(\.isLoopback) {
            throw AdminFailure(
                .usage,
                "--admin-client-ca holds beyond loopback, where the admin listener has TLS. Give such an address with "
                    + "--admin-listen, or protect loopback with --admin-token-file.")
        }
        configuration.admin = admin
        configuration.ticketSecretFile = try Setting.optional(ticketSecretFile, "--ticket-secret-file")
        if configuration.ticketSecretFile != nil, configuration.certificate == nil {
            throw AdminFailure(.usage, "--ticket-secret-file is for a server with TLS. Give --certificate too.")
        }
    }

    /// How long to serve on after SIGTERM. Nobody can ask a server without an admin listener whether it stops.
    func drainTime(of configuration: ServerConfiguration) throws(AdminFailure) -> Duration {
        let standard = configuration.admin.addresses.isEmpty ? 0 : 10
        return .seconds(try Setting.number(drainSeconds, "--drain-seconds", default: standard))
    }
}
