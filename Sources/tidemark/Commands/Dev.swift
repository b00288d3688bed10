// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkAdmin
internal import TidemarkServer
internal import TidemarkTelemetry

struct Dev: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve for development: a private PostgreSQL, a certificate of its own, accounts alice and bob.",
        discussion: "Everything is kept in the data directory, where the next start finds it. Ctrl-C stops everything.")

    @Option(help: ArgumentHelp("Where data, certificates and tokens are kept.", valueName: "directory"))
    var dataDirectory = ".tidemark"

    @Option(help: ArgumentHelp("The port to listen on; 0 for any free one.", valueName: "number"))
    var port: UInt16 = Self.portDefault
    private static let portDefault: UInt16 = 8_443

    @Option(
        help: ArgumentHelp(
            "A file that gets the URL, tokens and CA as JSON once the server is ready.", valueName: "file"))
    var readyFile: String?

    @Option(
        help: ArgumentHelp(
            "A name or address by which other machines reach this one. The server then listens beyond loopback. May be repeated.",
            valueName: "name"))
    var host: [String] = []

    @OptionGroup var log: LogOptions

    func run() throws {
        let signals = ServingLoop.listenForSignals()
        try log.begin(standard: (try log.isVerbose) ? .info : .warning)
        Measurements.collectFromLibraries()
        let slowRequestTime = try log.slowRequestTime()
        // A file from an earlier start would say that a server is ready which is not.
        if let readyFile { try? FileManager.default.removeItem(atPath: readyFile) }
        let home = try DevHome(path: dataDirectory)
        let postgres = try DevPostgres.start(in: home)
        defer { postgres.stop() }
        let accounts = try postgres.prepareAccounts(home)
        let server = try DevServer.start(
            home, databaseURL: postgres.url, port: port, hosts: host, slowRequestTime: slowRequestTime)
        let sheet = DevSheet(
            url: server.url, authorityFile: server.authorityFile, container: DevHome.container, accounts: accounts,
            databaseURL: postgres.url, context: writeContext(postgres.url, home), admin: server.adminURL)
        print(sheet.text)
        fflush(nil)
        if let readyFile { try sheet.write(to: readyFile) }
        defer {
            if let readyFile { try? FileManager.default.removeItem(atPath: readyFile) }
        }
        try ServingLoop.run(server.server, signals)
        print("Stopped. The data is kept in \(home.path).")
    }

    /// Lets `tidemark admin` find the database without an option. A server without it is as good, so nothing fails.
    private func writeContext(_ databaseURL: String, _ home: DevHome) -> DevSheet.Context {
        let context = AdminContext(
            name: DevHome.contextName, target: .database(url: databaseURL), container: DevHome.container,
            environment: .development, start: command(home))
        do throws(AdminFailure) {
            let file = ContextFile(variables: ProcessInfo.processInfo.environment)
            let isSelected = try file.change { list throws(AdminFailure) in
                list.set(context)
                if list.selected == nil { _ = list.select(context.name) }
                return list.selected == context.name
            }
            return isSelected ? .selected : .written
        } catch {
            printError("Warning: commands of operators need --database-url. \(error)")
            return .missing
        }
    }

    /// The command that starts this server again.
    private func command(_ home: DevHome) -> String {
        var words = ["tidemark", "dev", "--data-directory", DevSheet.quoted(home.path)]
        if port != Self.portDefault { words += ["--port", "\(port)"] }
        for host in host { words += ["--host", DevSheet.quoted(host)] }
        return words.joined(separator: " ")
    }
}
