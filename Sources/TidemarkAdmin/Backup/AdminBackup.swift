// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkLocalPostgres
internal import TidemarkService
internal import TidemarkStore

struct AdminBackup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Backups of the database with the files of assets.",
        subcommands: [Create.self, Verify.self, Restore.self])

    struct Create: AdminCommand {
        static let configuration = CommandConfiguration(
            "create", abstract: "Write a backup into a new directory, while servers go on.",
            discussion: """
                The backup has the database at one moment, by pg_dump, and the content of each asset that a record names \
                then. Servers remove no assets meanwhile. A backup that was cut off has no manifest.jsonl, and no command \
                takes it for one. The master key file is not in it: keep a copy elsewhere. With --previous, files of an \
                earlier backup are linked and take no room. They are not read again, which `backup verify` does. If files of \
                assets are missing or damaged, the rest is backed up and the status is 1. Once you know that they are lost, \
                give --without-lost-assets, once: the store remembers which are lost, and later backups tell only of further \
                ones. Do not give it in a script, which would not notice those.
                """,
            examples: "tidemark admin backup create /backup/monday --asset-directory /var/lib/tidemark/assets",
            "tidemark admin backup create /backup/tuesday --previous /backup/monday --asset-directory "
                + "/var/lib/tidemark/assets")
        static let role = OperatorRole.owner
        static let readsAllData = true

        @Argument(help: "The directory. It is created, or it is empty.") var directory: String
        @Option(help: ArgumentHelp("An earlier backup on the same file system.", valueName: "directory"))
        var previous: String?
        @Option(help: ArgumentHelp("Give up after this time. Default: 24h.", valueName: "time"))
        var within: Lifetime?
        @Flag(help: "Link assets of the servers' directory instead of copying them, where both are on one file system.")
        var linkAssets = false
        @Flag(help: "Begin although there may be too little room.") var skipSpaceCheck = false
        @Flag(help: "Back up the rest, with status 0, although files of assets are lost. The manifest lists them.")
        var withoutLostAssets = false
        @OptionGroup var assets: AssetOptions
        @OptionGroup var tools: BackupToolOptions
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        var interruption: String? { "\nInterrupted. What was written is no backup." }

        func run(_ console: Console) async throws {
            try console.screen.requireLocalFiles("A server writes no backup for others: it would be on that machine.")
            let place = BackupDirectory(directory)
            let earlier = previous.map { BackupDirectory($0) }
            if let earlier, !earlier.isBackup {
                throw AdminFailure(
                    .refused, "\(earlier.path) is no backup: it has no manifest.jsonl. Name another one.")
            }
            let version = PostgresVersion(try await console.store.databaseFacts().version)
            let tool = try tools.tool("pg_dump", atLeast: version.major)
            if !BackupToolOptions.restores(tool.major, into: version.major) {
                console.say(
                    "pg_dump is of PostgreSQL \(tool.major), and the server of \(version.major): the backup can be restored into "
                        + "PostgreSQL 17 or later alone. Install the package postgresql-client-\(version.major) for one that "
                        + "this server takes.")
            }
            let creation = BackupCreation(
                console: console, directory: place, assetDirectory: try assets.directory(on: console.screen),
                previous: earlier, linksAssets: linkAssets, checksSpace: !skipSpaceCheck,
                acceptsLoss: withoutLostAssets,
                tool: tool,
                connection: try BackupToolOptions.connection(to: console.storage.databaseURL),
                timeMax: .seconds(within?.seconds ?? 86_400))
            let (manifest, newlyLost) = try await creation.run()
            console.say("Backed up \(manifest.summary) into \(place.path).")
            if manifest.head.masterKey != nil {
                console.say("The master key file is not in it. Without that file nobody can read encrypted values.")
            }
            guard manifest.lostCount > 0 else { return }
            console.say(
                "It lacks \(Amount.text(manifest.lostCount, "asset")). \(place.manifest) lists them, in lines that begin with "
                    + "{\"lost\".")
            guard newlyLost > 0 else { return }
            guard withoutLostAssets else {
                throw AdminFailure(
                    .failedCheck,
                    "\(Amount.text(newlyLost, "asset")) could not be backed up. Restore the files from an earlier backup, or "
                        + "accept their loss with --without-lost-assets.")
            }
            console.say(
                "The loss of \(Amount.text(newlyLost, "asset")) is accepted: later backups need no option for it.")
        }
    }

    struct Verify: LocalCommand {
        static let configuration = CommandConfiguration(
            "verify", abstract: "Check a backup: every checksum, and that the dump can be read.",
            discussion: "All of it is read once. The status is 1 if something is wrong.",
            examples: "tidemark admin backup verify /backup/monday")

        @Argument(help: "The directory of the backup.") var directory: String
        @OptionGroup var tools: BackupToolOptions
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ screen: Screen) async throws {
            let check = BackupCheck(directory: BackupDirectory(directory), screen: screen, tools: tools)
            let (count, manifest) = try await check.run { try await screen.show($0, as: AdminBackup.columns) }
            guard count == 0, let manifest else {
                // What it lacks is lacking whatever else is wrong.
                for line in manifest.map(AdminBackup.lost) ?? [] { screen.say(line) }
                throw AdminFailure(
                    .failedCheck, "\(Amount.text(count, "finding")). Make another backup, and look after the disk.")
            }
            screen.say("The backup of \(manifest.head.time) is whole: \(manifest.summary).")
            for line in AdminBackup.lost(manifest) { screen.say(line) }
        }
    }

    struct Restore: AdminCommand {
        static let configuration = CommandConfiguration(
            "restore", abstract: "Check a backup, and restore it into an empty database.",
            discussion: """
                Make the database first (createdb), and let no server use it. Until all is restored and checked, no server \
                starts with it. A restore that was cut off is begun anew by the same command. The store gets a new \
                incarnation, so that devices fetch everything again and nothing that they have is undone. Files that are in the \
                directory of assets stay, if it is that of this store: stop the servers of the old database first if they use it. \
                Credentials, devices, accounts and operators that were revoked, disabled or deleted after the backup are valid \
                again. A backup of an older version gets this version's tables.
                """,
            examples:
                "tidemark admin backup restore /backup/monday --database-url postgresql:///tidemark2 --asset-directory "
                + "/var/lib/tidemark/assets2 --master-key-file /etc/tidemark/master.key")
        static let role = OperatorRole.owner
        static let needsMigrations = false
        static let auditsItself = true

        @Argument(help: "The directory of the backup.") var directory: String
        @Option(help: ArgumentHelp("The file with the servers' master key.", valueName: "file"))
        var masterKeyFile: String?
        @Flag(help: "Restore without the master key: nobody can read encrypted values until it is found.")
        var withoutKeys = false
        @Option(help: ArgumentHelp("Connections that restore tables and make indexes at once.", valueName: "count"))
        var jobs = 4
        @OptionGroup var assets: AssetOptions
        @OptionGroup var tools: BackupToolOptions
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        var interruption: String? { "\nInterrupted. No server uses the database. Run the same command again." }

        func validate() throws {
            guard (1...64).contains(jobs) else {
                throw ValidationError("--jobs must be between 1 and 64, not \(jobs).")
            }
            guard !withoutKeys || masterKeyFile == nil else {
                throw ValidationError("Give either --master-key-file or --without-keys.")
            }
        }

        func run(_ console: Console) async throws {
            try console.screen.requireLocalFiles("A backup is restored on the machine where it is.")
            try await RestoreCommand(command: self, console: console).run()
        }
    }

    static let columns: [Column<BackupFinding>] = [
        Column("FILE", key: "file", isName: true) { .text($0.file) },
        Column("FINDING", key: "finding") { .text($0.text) },
    ]

    /// Lost assets beyond which only their number is told.
    static let lostToldMax = 20

    /// What a backup lacks, in lines. None if it lacks nothing.
    static func lost(_ manifest: BackupManifest) -> [String] {
        guard manifest.lostCount > 0 else { return [] }
        let count = Amount.text(manifest.lostCount, "asset")
        var lines = ["It lacks \(count) whose files were missing or damaged when it was made:"]
        lines += manifest.firstLost.map { "  \(name(of: $0)), \(Amount.bytes($0.content.byteCount))" }
        if manifest.lostCount > manifest.firstLost.count {
            lines.append("  and \(manifest.lostCount - manifest.firstLost.count) more, which manifest.jsonl lists.")
        }
        return lines
    }

    static func name(of asset: AssetKey) -> String {
        "\(Hex.encode(asset.content.sha256)) of the database \(asset.database.rawValue)"
    }
}
