// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain

struct AdminDoctor: AdminCommand {
    static let configuration = CommandConfiguration(
        "doctor", abstract: "Look for what is wrong, and say what to do.",
        discussion: """
            Each finding has a code, a sentence and a remedy. --deep also compares every zone with its records, which reads all \
            of them once. What the database does not know is told by options: files, and how many connections all servers need.
            """,
        examples: "tidemark admin doctor",
        "tidemark admin doctor --ci --deep --asset-directory /var/lib/tidemark/assets --master-key-file master.key")
    static let role = OperatorRole.viewer
    static let needsMigrations = false

    @Flag(help: "End with status 1 if there are findings.") var ci = false
    @Flag(help: "Also compare every zone with its records.") var deep = false
    @Option(help: ArgumentHelp("The servers' file with the master key.", valueName: "file")) var masterKeyFile: String?
    @Option(help: ArgumentHelp("The servers' certificate.", valueName: "file")) var certificate: String?
    @Option(help: ArgumentHelp("Connections to PostgreSQL that all servers need.", valueName: "count"))
    var connectionsNeeded = Doctor.Places.connectionsOfServer
    @OptionGroup var assets: AssetOptions
    @OptionGroup(title: "Options of all commands") var options: AdminOptions

    func run(_ console: Console) async throws {
        var places = Doctor.Places()
        (places.masterKeyFile, places.certificateFile) = (masterKeyFile, certificate)
        places.assetDirectory = try assets.directory(on: console.screen)
        places.connectionsNeeded = connectionsNeeded
        if masterKeyFile != nil || certificate != nil {
            try console.screen.requireLocalFiles("The files are on the servers' disks.")
        }
        var count = 0
        try await Doctor(console: console, places: places, isDeep: deep).run { findings in
            count += findings.count
            try await console.show(findings, as: Self.columns)
        }
        guard count > 0 else { return console.say("Nothing was found.") }
        if ci { throw AdminFailure(.failedCheck, "\(Amount.text(count, "finding")).") }
    }

    static let columns: [Column<DoctorFinding>] = [
        Column("CODE", key: "code", isName: true) { .text($0.code.rawValue) },
        Column("SEVERITY", key: "severity") { .text($0.severity.rawValue) },
        Column("FINDING", key: "finding") { .text($0.text) },
        Column("REMEDY", key: "remedy") { .text($0.remedy) },
    ]
}
