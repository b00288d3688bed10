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

            Each option can be given as an environment variable too, --log-level as TIDEMARK_LOG_LEVEL, and in the file of \
            --config, as log-level. An option wins over a variable, and a variable over the file.
            """)

    @OptionGroup var settings: SettingsFileOption

    @Option(help: ServeSetting.help("listen")) var listen: String?

    @OptionGroup var database: DatabaseOption

    @Option(help: ServeSetting.help("certificate")) var certificate: String?

    @Option(help: ServeSetting.help("private-key")) var privateKey: String?

    @Flag(help: ServeSetting.help("plain")) var plain = false

    @Flag(help: ServeSetting.help("create-containers")) var createContainers = false

    @Option(help: ServeSetting.help("allowed-origins")) var allowedOrigins: String?

    @Option(help: ServeSetting.help("address-lookups")) var addressLookups: String?

    @Option(help: ServeSetting.help("loops")) var loops: Int?

    @Option(help: ServeSetting.help("database-connections")) var databaseConnections: Int?

    @Option(help: ServeSetting.help("long-queries")) var longQueries: Int?

    @Option(help: ServeSetting.help("known-zones-megabytes")) var knownZonesMegabytes: Int?

    @Option(help: ServeSetting.help("master-key-file")) var masterKeyFile: String?

    @Option(help: ServeSetting.help("device-days")) var deviceDays: Int?

    @Option(help: ServeSetting.help("audit-days")) var auditDays: Int?

    @Option(help: ServeSetting.help("device-seconds")) var deviceSeconds: Int?

    @OptionGroup var connections: ConnectionOptions

    @OptionGroup var signIn: SignInOptions

    @OptionGroup var operations: OperationsOptions

    @OptionGroup var noticeBus: NoticeBusOptions

    @OptionGroup var traces: TraceOptions

    @OptionGroup var limits: LimitOptions

    @OptionGroup var assets: AssetOptions

    @Option(help: ServeSetting.help("asset-megabytes")) var assetMegabytes: Int?

    @Option(help: ServeSetting.help("upload-megabytes")) var uploadMegabytes: Int?

    @OptionGroup var log: LogOptions

    func run() throws {
        let signals = ServingLoop.listenForSignals()
        let file = try settings.begin()
        try log.begin(standard: .info)
        if let file { Log("settings").info("settings are read from a file", ["file": file]) }
        for text in ServeSetting.misspelt(in: ProcessInfo.processInfo.environment) {
            Log("settings").warning("a variable is not used", ["advice": text])
        }
        Measurements.collectFromLibraries()
        let configuration = try configuration()
        let drainTime = try operations.drainTime(of: configuration)
        let supervisor = try Supervisor(variables: ProcessInfo.processInfo.environment, processID: getpid())
        let server = try blocking { try await Server.start(configuration) }
        server.collectTracesOfLibraries()
        try ServingLoop.run(server, signals, drainTime: drainTime, supervisor: supervisor)
    }

    private func configuration() throws(AdminFailure) -> ServerConfiguration {
        let address = try ConnectionOptions.address(
            try Setting.required(listen, "--listen"), "--listen")
        var configuration = ServerConfiguration(
            addresses: [address], certificate: try certificateFiles(), databaseURL: try database.value(),
            limits: .standard)
        configuration.createsContainers = try Setting.flag(createContainers, "--create-containers")
        configuration.allowedOrigins = try origins()
        configuration.tellsAccounts = try Setting.optional(addressLookups, "--address-lookups") != "off"
        configuration.loopCount = try Setting.number(
            loops, "--loops", default: ServerConfiguration.loopCountDefault)
        configuration.databaseConnections = try Setting.number(
            databaseConnections, "--database-connections", default: configuration.databaseConnections)
        configuration.longQueriesMax = try Setting.number(
            longQueries, "--long-queries", default: configuration.longQueriesMax)
        let known = try Setting.number(
            knownZonesMegabytes, "--known-zones-megabytes",
            default: configuration.knownZonesBytesMax / 1_048_576)
        configuration.knownZonesBytesMax = known * 1_048_576
        let days = try Setting.number(deviceDays, "--device-days", default: 400)
        configuration.slowRequestTime = try log.slowRequestTime()
        configuration.deviceAge = days == 0 ? nil : .seconds(days * 86_400)
        let auditDays = try Setting.number(auditDays, "--audit-days", default: 90)
        configuration.auditAge = auditDays == 0 ? nil : .seconds(auditDays * 86_400)
        let seconds = try Setting.number(deviceSeconds, "--device-seconds", default: 60)
        configuration.deviceInterval = seconds == 0 ? nil : .seconds(seconds)
        configuration.masterKeyFile = try Setting.optional(masterKeyFile, "--master-key-file")
        configuration.assetDirectory = try assets.directory
        configuration.assetGrace = try assets.grace()
        let megabytes = try Setting.number(
            assetMegabytes, "--asset-megabytes", default: 1_024)
        configuration.limits.assetBytesMax = Int64(megabytes) * 1_048_576
        let uploads = try Setting.number(
            uploadMegabytes, "--upload-megabytes", default: max(8_192, 4 * megabytes),
            in: megabytes...4_194_304)
        configuration.limits.uploadBytesMax = Int64(uploads) * 1_048_576
        try limits.apply(to: &configuration.limits)
        try connections.apply(to: &configuration)
        try signIn.apply(to: &configuration)
        try operations.apply(to: &configuration)
        try noticeBus.apply(to: &configuration)
        try traces.apply(to: &configuration)
        return configuration
    }

    private func origins() throws(AdminFailure) -> AllowedOrigins? {
        guard let text = try Setting.optional(allowedOrigins, "--allowed-origins") else { return nil }
        return AllowedOrigins(ServeSetting.parts(of: text))
    }

    private func certificateFiles() throws(AdminFailure) -> ServerConfiguration.CertificateFiles? {
        let certificate = try Setting.optional(certificate, "--certificate")
        let privateKey = try Setting.optional(privateKey, "--private-key")
        let isPlain = try Setting.flag(plain, "--plain")
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
