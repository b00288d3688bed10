// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CloudKit

/// Keeps a folder the same on all devices that run this for the same account and zone.
@main
struct FolderSync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foldersync",
        abstract: "Keeps a folder equal on all devices of an account.",
        discussion: """
            The server is named by the environment: TIDEMARK_URL, TIDEMARK_TOKEN, TIDEMARK_CA, TIDEMARK_CONTAINER
            (`tidemark dev` prints them). What is known of the last sync is kept in FOLDER/.foldersync.

            If a file was changed here and elsewhere, both versions are kept: the other one under its name, ours as
            "name (conflict, DEVICE, time).ext". A file that was changed on one device and deleted on another is kept.

            Regular files are synced, and the directories that hold them. Links, and names that are not UTF-8, are skipped,
            and foldersync says so.
            """)

    @Argument(help: "The folder to keep in sync. It is created if it does not exist.")
    var folder: String

    @Option(help: "The zone that holds the folder. Devices that name the same zone share it.")
    var zone: String

    @Option(help: "This device's name in the names of conflicting files.")
    var device: String = ProcessInfo.processInfo.hostName

    @Flag(help: "Sync once and exit.")
    var once = false

    @Flag(help: "Say what happens to each file.")
    var verbose = false

    func validate() throws {
        guard (1...255).contains(zone.utf8.count), zone.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
            zone.first != "_"
        else {
            throw ValidationError(
                "A zone's name has 1 to 255 printable ASCII characters. The first is not an underscore.")
        }
    }

    func run() async throws {
        do {
            try await sync()
        } catch {
            throw FolderSyncError(error)
        }
    }

    private func sync() async throws {
        let tree = try FileTree(root: folder)
        let journal = try Journal(directory: tree.stateDirectory, zoneName: zone)
        let report = TerminalReport(isVerbose: verbose)
        if let damage = journal.damage {
            report.problem(
                """
                The journal of the last sync has damaged lines: \(damage.lineCount). All files are compared with the server \
                again. A file that was deleted on another device meanwhile may stay here. The damaged journal is kept as \
                \(damage.keptPath).
                """)
        }
        let syncer = Syncer(
            tree: tree, journal: journal, zoneName: zone, deviceName: device, report: report)
        if once {
            try await syncer.syncOnce()
        } else {
            try await syncer.syncUntilInterrupted()
        }
    }
}
