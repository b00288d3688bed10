// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkAdmin
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkTelemetry

struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve devices, with all data in a PostgreSQL database.",
        discussion: """
            Any number of servers may share one database. SIGHUP reads the certificate again. SIGTERM and SIGINT stop \
            the server after it has answered running requests; after SIGTERM it first serves on for --drain-seconds. A \
            second signal ends it at once. GET /healthz answers 200 while the database answers.

            Each option can be given as an environment variable too: --log-level as TIDEMARK_LOG_LEVEL.
            """)

    @Option(
        help: ArgumentHelp(
            "Address and port, such as 0.0.0.0:443 or [::]:443. Port 0 is any free one.", valueName: "host:port"))
    var listen: String?

    @OptionGroup var database: DatabaseOption

    @Option(help: ArgumentHelp("PEM file: the server's certificate, then intermediate ones.", valueName: "file"))
    var certificate: String?

    @Option(help: ArgumentHelp("PEM file: the certificate's private key, without a passphrase.", valueName: "file"))
    var privateKey: String?

    @Flag(help: "Serve without TLS. On loopback only, behind a proxy.")
    var plain = false

    @Flag(
        help: ArgumentHelp(
            "Create a container when an account first names it. Others are refused.",
            discussion: "In development only: an operator creates containers for production."))
    var createContainers = false

    @Option(
        help: ArgumentHelp(
            "The web pages from which browsers may connect without a credential.",
            discussion:
                "Such as https://app.example.org, separated by commas. Default: all. Other programs are no pages.",
            valueName: "origins"))
    var allowedOrigins: String?

    @Option(
        help: ArgumentHelp(
            "Event loops, each a thread.", discussion: "Default: 2; 1 on a single core.", valueName: "count"))
    var loops: Int?

    @Option(
        help: ArgumentHelp(
            "Database connections for writing, of each loop.", discussion: "Default: 8.", valueName: "count"))
    var databaseConnections: Int?

    @Option(
        help: ArgumentHelp(
            "Queries without an index that run at once, of all event loops together.",
            discussion:
                "Each takes PostgreSQL a core. At most one of each loop runs. Default: half of this machine's cores, and at "
                + "least 1. If PostgreSQL is on another machine, use half of its cores.", valueName: "count"))
    var longQueries: Int?

    @Option(
        help: ArgumentHelp(
            "Memory for the cache of zones that this server wrote in last.",
            discussion:
                "Saves in cached zones need no read of the database first. In megabytes. Default: 96; 0 for no cache.",
            valueName: "megabytes"))
    var knownZonesMegabytes: Int?

    @Option(
        help: ArgumentHelp(
            "The file with the master key that encrypts account keys. All servers of a database have the same.",
            discussion:
                "Created at the first start. Back it up, apart from the database. Without it, only accounts with "
                + "end-to-end encryption have encrypted values.", valueName: "file"))
    var masterKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "Forget devices that were not seen for so many days.",
            discussion: "They lose nothing by it and are listed again when they come back. Default: 400; 0 for never.",
            valueName: "days"))
    var deviceDays: Int?

    @Option(
        help: ArgumentHelp(
            "Forget what the audit says of sign-ins and of operators after so many days.",
            discussion: "Default: 90; 0 for never.", valueName: "days"))
    var auditDays: Int?

    @Option(
        help: ArgumentHelp(
            "How often to write down what is known of devices, for tidemark admin xray.",
            discussion: "In seconds. Default: 60; 0 for never.", valueName: "seconds"))
    var deviceSeconds: Int?

    @OptionGroup var connections: ConnectionOptions

    @OptionGroup var operations: OperationsOptions

    @OptionGroup var traces: TraceOptions

    @OptionGroup var limits: LimitOptions

    @OptionGroup var assets: AssetOptions

    @Option(
        help: ArgumentHelp("The largest asset.", discussion: "In megabytes. Default: 1024.", valueName: "megabytes"))
    var assetMegabytes: Int?

    @Option(
        help: ArgumentHelp(
            "The bytes of one account's unfinished uploads.",
            discussion: "In megabytes. Default: 8192, at least four of the largest assets.", valueName: "megabytes"))
    var uploadMegabytes: Int?

    @OptionGroup var log: LogOptions

    func run() throws {
        let signals = ServingLoop.listenForSignals()
        try log.begin(standard: .info)
        Measurements.collectFromLibraries()
        let configuration = try configuration()
        let drainTime = try operations.drainTime(of: configuration)
        let server = try blocking { try await Server.start(configuration) }
        server.collectTracesOfLibraries()
        try ServingLoop.run(server, signals, drainTime: drainTime)
    }

    private func configuration() throws(AdminFailure) -> ServerConfiguration {
        let address = try ConnectionOptions.address(
            try Setting.required(listen, "--listen"), "--listen")
        var configuration = ServerConfiguration(
            addresses: [address], certificate: try certificateFiles(), databaseURL: try database.value(),
            limits: .standard)
        configuration.createsContainers = Setting.flag(createContainers, "--create-containers")
        configuration.allowedOrigins = try origins()
        configuration.loopCount = try Setting.number(
            loops, "--loops", default: ServerConfiguration.loopCountDefault, in: 1...64)
        configuration.databaseConnections = try Setting.number(
            databaseConnections, "--database-connections", default: configuration.databaseConnections, in: 1...100)
        configuration.longQueriesMax = try Setting.number(
            longQueries, "--long-queries", default: configuration.longQueriesMax, in: 1...64)
        let known = try Setting.number(
            knownZonesMegabytes, "--known-zones-megabytes",
            default: configuration.knownZonesBytesMax / 1_048_576, in: 0...65_536)
        configuration.knownZonesBytesMax = known * 1_048_576
        let days = try Setting.number(deviceDays, "--device-days", default: 400, in: 0...36_500)
        configuration.slowRequestTime = try log.slowRequestTime()
        configuration.deviceAge = days == 0 ? nil : .seconds(days * 86_400)
        let auditDays = try Setting.number(auditDays, "--audit-days", default: 90, in: 0...36_500)
        configuration.auditAge = auditDays == 0 ? nil : .seconds(auditDays * 86_400)
        let seconds = try Setting.number(deviceSeconds, "--device-seconds", default: 60, in: 0...86_400)
        configuration.deviceInterval = seconds == 0 ? nil : .seconds(seconds)
        configuration.masterKeyFile = Setting.optional(masterKeyFile, "--master-key-file")
        configuration.assetDirectory = assets.directory
        configuration.assetGrace = try assets.grace()
        let megabytes = try Setting.number(
            assetMegabytes, "--asset-megabytes", default: 1_024, in: 1...1_048_576)
        configuration.limits.assetBytesMax = Int64(megabytes) * 1_048_576
        let uploads = try Setting.number(
            uploadMegabytes, "--upload-megabytes", default: max(8_192, 4 * megabytes),
            in: megabytes...4_194_304)
        configuration.limits.uploadBytesMax = Int64(uploads) * 1_048_576
        try limits.apply(to: &configuration.limits)
        try connections.apply(to: &configuration)
        try operations.apply(to: &configuration)
        try traces.apply(to: &configuration)
        return configuration
    }

    private func origins() throws(AdminFailure) -> AllowedOrigins? {
        guard let text = Setting.optional(allowedOrigins, "--allowed-origins") else { return nil }
        let list = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        guard let origins = AllowedOrigins(list) else {
            throw AdminFailure(
                .usage,
                "--allowed-origins takes origins separated by commas, such as https://app.example.org, without a path, "
                    + "not \(text).")
        }
        return origins
    }

    private func certificateFiles() throws(AdminFailure) -> ServerConfiguration.CertificateFiles? {
        let certificate = Setting.optional(certificate, "--certificate")
        let privateKey = Setting.optional(privateKey, "--private-key")
        let isPlain = Setting.flag(plain, "--plain")
        switch (certificate, privateKey) {
        case (let certificate?, let privateKey?):
            guard !isPlain else {
                throw AdminFailure(.usage, "--plain and --certificate exclude each other. Choose one.")
            }
            return .init(certificateFile: certificate, privateKeyFile: privateKey)
        case (nil, nil):
            guard isPlain else {
                throw AdminFailure(
                    .usage,
                    "Missing --certificate and --private-key (or TIDEMARK_CERTIFICATE and TIDEMARK_PRIVATE_KEY). For a "
                        + "server on loopback without TLS give --plain.")
            }
            return nil
        default:
            throw AdminFailure(.usage, "--certificate and --private-key belong together. Give both.")
        }
    }
}
