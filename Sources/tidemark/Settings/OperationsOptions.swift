// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAdmin
internal import TidemarkServer
internal import TidemarkSockets

/// Where operators ask a server, and how long it serves on when it is to stop.
struct OperationsOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Address and port that answer operators: GET /metrics, /healthz and /readyz. May be repeated.",
            discussion:
                "Default: none. Loopback needs nothing else. Any other address needs TLS, and a token or certificates of clients. "
                + "No two servers share an address.",
            valueName: "host:port"))
    var adminListen: [String] = []

    @Option(
        help: ArgumentHelp(
            "The file with the token that programs send to /metrics (Authorization: Bearer).",
            discussion: "If it is given, it is asked for at each address.", valueName: "file"))
    var adminTokenFile: String?

    @Option(
        name: .customLong("admin-client-ca"),
        help: ArgumentHelp(
            "PEM file: authorities whose certificates clients of the admin listener must show, beyond loopback.",
            valueName: "file"))
    var adminClientAuthority: String?

    @Option(
        help: ArgumentHelp(
            "Address and port that take commands of operators (tidemark admin context add --server). May be repeated.",
            discussion:
                "Default: none. With TLS if the server has a certificate; without one, loopback only. Operators are made by "
                + "`tidemark admin operators create`.", valueName: "host:port"))
    var operatorsListen: [String] = []

    @Option(
        help: ArgumentHelp(
            "How long the server serves on after SIGTERM, while /readyz answers 503.",
            discussion: "Load balancers look elsewhere meanwhile. Default: 10; 0 without --admin-listen.",
            valueName: "seconds"))
    var drainSeconds: Int?

    func apply(to configuration: inout ServerConfiguration) throws(AdminFailure) {
        var admin = configuration.admin
        for text in Self.all(adminListen, "--admin-listen") {
            admin.addresses.append(try ConnectionOptions.address(text, "--admin-listen"))
        }
        for text in Self.all(operatorsListen, "--operators-listen") {
            configuration.operators.addresses.append(try ConnectionOptions.address(text, "--operators-listen"))
        }
        configuration.operators.commands = ServedCommands()
        admin.tokenFile = Setting.optional(adminTokenFile, "--admin-token-file")
        admin.clientAuthorityFile = Setting.optional(adminClientAuthority, "--admin-client-ca")
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
    }

    /// How long to serve on after SIGTERM. Nobody can ask a server without an admin listener whether it stops.
    func drainTime(of configuration: ServerConfiguration) throws(AdminFailure) -> Duration {
        let standard = configuration.admin.addresses.isEmpty ? 0 : 10
        return .seconds(try Setting.number(drainSeconds, "--drain-seconds", default: standard, in: 0...3_600))
    }

    /// In the environment, several are separated by commas.
    private static func all(_ values: [String], _ flag: String) -> [String] {
        guard values.isEmpty else { return values }
        return Setting.optional(nil, flag)?.split(separator: ",").map(String.init) ?? []
    }
}
