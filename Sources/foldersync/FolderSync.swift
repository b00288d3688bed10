// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CloudKit

/// Keeps a folder the same on all devices that run this for the same account and zone, and shares it with others.
@main
struct FolderSync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "foldersync",
        abstract: "Keeps a folder equal on all devices of an account, and of those with whom it is shared.",
        usage: """
            foldersync FOLDER --zone ZONE
            foldersync share FOLDER [--subfolder PATH] --with NAME | --public read|write
            foldersync accept LINK FOLDER
            foldersync members FOLDER
            foldersync leave FOLDER
            """,
        discussion: """
            The server is named by the environment: TIDEMARK_URL, TIDEMARK_TOKEN, TIDEMARK_CA, TIDEMARK_CONTAINER \
            (`tidemark dev` prints them). What is known of the last sync is kept in FOLDER/.foldersync.

            If a file was changed here and elsewhere, both versions are kept: the other one under its name, ours as \
            "name (conflict, DEVICE, time).ext". A file that was changed on one device and deleted on another is kept. In a shared \
            folder that you may only read, your version of an edited file is kept under such a name, and sent once you may \
            write.

            If all files of a folder that somebody shares are missing at the start, foldersync deletes nothing for the others \
            and stops. Then --missing says what to do.

            Regular files are synced, and the directories that hold them. Links, and names that are not UTF-8, are skipped, \
            and foldersync says so.
            """,
        subcommands: [
            SyncFolder.self, ShareFolder.self, AcceptFolder.self, ListMembers.self, LeaveFolder.self,
        ],
        defaultSubcommand: SyncFolder.self)
}

/// The program without a verb.
struct SyncFolder: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync", abstract: "Keep a folder in sync.",
        discussion: "The word sync may be left out, unless the folder has the name of a command.")

    @Argument(help: "The folder to keep in sync. It is created if it does not exist.")
    var folder: String

    @Option(help: "The zone that holds the folder. Devices that name the same zone share it. Needed the first time.")
    var zone: String?

    @OptionGroup var options: SyncOptions

    func validate() throws {
        try FolderPlace.check(zone)
    }

    func run() async throws {
        try await FolderSyncError.told {
            try await options.sync(folder, with: try FolderPlace.find(folder, zoneName: zone))
        }
    }
}

/// How a folder is kept in sync.
struct SyncOptions: ParsableArguments {
    @Option(help: "This device's name in the names of conflicting files.")
    var device: String = ProcessInfo.processInfo.hostName

    @Flag(help: "Sync once and exit.")
    var once = false

    @Flag(help: "Say what happens to each file.")
    var verbose = false

    @Option(
        help: """
            If all files of a folder that somebody shares are missing at the start: fetch gets them again, delete deletes them \
            for everybody.
            """)
    var missing: MissingFiles?

    func sync(_ folder: String, with place: FolderPlace) async throws {
        let tree = try FileTree(root: folder)
        let report = TerminalReport(isVerbose: verbose)
        let journal = try open(tree, place, report)
        let syncer = Syncer(
            tree: tree, journal: journal, zoneName: place.zoneName, owner: place.owner, deviceName: device,
            missing: missing, report: report)
        if once {
            try await syncer.syncOnce()
        } else {
            try await syncer.syncUntilInterrupted()
        }
    }

    /// This account is about to join a folder that it had joined before. What has become of the files in between is not
    /// known (``Syncer/zoneEnded()``), also if no sync has heard that the sharing had ended.
    func rejoin(_ folder: String, _ place: FolderPlace) throws {
        let journal = try open(FileTree(root: folder), place, TerminalReport(isVerbose: verbose))
        journal.zoneEnded()
        try journal.persist()
    }

    private func open(_ tree: FileTree, _ place: FolderPlace, _ report: TerminalReport) throws -> Journal {
        let journal = try Journal(directory: tree.stateDirectory, zoneName: place.zoneName, owner: place.owner)
        if let damage = journal.damage {
            report.problem(
                """
                The journal of the last sync has damaged lines: \(damage.lineCount). All files are compared with the server \
                again. A file that was deleted on another device meanwhile may stay here. The damaged journal is kept as \
                \(damage.keptPath).
                """)
        }
        return journal
    }
}
