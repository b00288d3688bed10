// SPDX-License-Identifier: Apache-2.0

internal import TidemarkAssets
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkLocalPostgres
internal import TidemarkServer
internal import TidemarkService
internal import TidemarkStore

/// What `tidemark admin backup restore` does before and after the restore itself: it refuses what would end badly while
/// nothing has changed yet.
struct RestoreCommand {
    let command: AdminBackup.Restore
    let console: Console

    func run() async throws {
        let directory = BackupDirectory(command.directory)
        let connection = try BackupToolOptions.connection(to: console.storage.databaseURL)
        let manifest = try await check(directory)
        try Self.checkVersion(manifest)
        let assetDirectory = try command.assets.directory(on: console.screen)
        try await checkAssets(of: manifest, in: directory, assetDirectory)
        let target = try await open()
        let result: Result<BackupRestore.Outcome, any Error>
        do {
            let server = try await target.server()
            try checkServer(server.version, manifest)
            let tool = try command.tools.tool(
                "pg_restore", atLeast: max(manifest.head.dumpedBy, server.version.major))
            try BackupToolOptions.checkRestores(
                tool.major, dumpedBy: manifest.head.dumpedBy, into: server.version.major)
            let contents = try await target.contents()
            guard contents.names.isEmpty || contents.isBegun else { throw Self.notEmpty(contents) }
            try await checkKeys(manifest, server.database)
            try await confirm(contents, directory, assetDirectory)
            try await target.begin()
            let restore = BackupRestore(
                console: console, directory: directory, manifest: manifest, assetDirectory: assetDirectory, tool: tool,
                connection: connection, jobCount: command.jobs)
            result = .success(try await restore.run(target))
        } catch {
            result = .failure(error)
        }
        await target.close()
        let outcome = try result.get()
        try await audit(directory)
        tell(outcome, manifest)
    }

    // MARK: Before

    private func check(_ directory: BackupDirectory) async throws -> BackupManifest {
        let check = BackupCheck(directory: directory, screen: console.screen, tools: command.tools)
        let (count, manifest) = try await check.run { try await console.show($0, as: AdminBackup.columns) }
        guard count == 0, let manifest else {
            throw AdminFailure(
                .failedCheck, "The backup is damaged (\(Amount.text(count, "finding"))). Restore another one.")
        }
        // Before anything changes: another backup may have them.
        for line in AdminBackup.lost(manifest) { console.say(line) }
        return manifest
    }

    static var knownMigrations: [BackupLine.Step] {
        Migrations.all.map { BackupLine.Step(number: $0.number, name: $0.name, checksum: $0.checksum) }
    }

    /// A backup of an older version is migrated, and one of a newer version is not understood.
    static func checkVersion(_ manifest: BackupManifest) throws(AdminFailure) {
        let known = knownMigrations
        guard manifest.migrations.count <= known.count else {
            throw AdminFailure(
                .refused,
                "The backup is of version \(manifest.head.tidemark) of tidemark, which is newer than this one "
                    + "(\(Server.version)). Restore it with that version.")
        }
        guard known.starts(with: manifest.migrations), !manifest.migrations.isEmpty else {
            throw AdminFailure(
                .refused, "The backup is not of a released version of tidemark: its migrations are others.")
        }
    }

    private func checkServer(_ version: PostgresVersion, _ manifest: BackupManifest) throws(AdminFailure) {
        let made = PostgresVersion(manifest.head.postgres)
        guard version.major >= made.major else {
            throw AdminFailure(
                .refused,
                "The backup is of PostgreSQL \(made.major), and the database's is \(version.major). Restore it into "
                    + "PostgreSQL \(made.major) or later.")
        }
    }

    /// Files of another store would be taken for unknown ones in time, and removed.
    private func checkAssets(
        of manifest: BackupManifest, in directory: BackupDirectory, _ assetDirectory: String?
    ) async throws {
        guard manifest.assetCount > 0 else { return }
        guard let assetDirectory else {
            throw AdminFailure(
                .usage,
                "The backup has \(Amount.text(manifest.assetCount, "asset")): name a directory for them with "
                    + "--asset-directory, or TIDEMARK_ASSET_DIRECTORY.")
        }
        let assets = BackupDirectory(assetDirectory).path
        if AssetFiles.isEmpty(assets) {
            var place = assets
            while AssetFiles.freeByteCount(at: place) == nil, place != "/", place != "." {
                place = AssetFiles.parent(of: place)
            }
            guard let free = AssetFiles.freeByteCount(at: place), free < manifest.assetBytes else { return }
            throw AdminFailure(
                .refused,
                "The assets need \(Amount.bytes(manifest.assetBytes)), and \(place) has room for \(Amount.bytes(free)). "
                    + "Make room.")
        }
        let known = KnownAssets()
        _ = try await directory.readManifest { asset, isThere in
            guard isThere, known.count == 0 else { return }
            let bytes = AssetFiles.byteCount(of: AssetFiles.path(of: asset, in: assets))
            if bytes == asset.content.byteCount { known.count += 1 }
        }
        guard known.count > 0 else {
            throw AdminFailure(
                .refused,
                "\(assets) has files, and none of them is in the backup: it seems to be of another store. Name an empty "
                    + "directory.")
        }
    }

    private func open() async throws -> RestoreTarget {
        do {
            return try await RestoreTarget.open(console.storage)
        } catch {
            guard error.code == .zoneBusy else { throw error }
            throw AdminFailure(.refused, "Another restore into this database is under way. Wait for its end.")
        }
    }

    private func checkKeys(_ manifest: BackupManifest, _ database: String) async throws {
        guard let fingerprint = manifest.head.masterKey else { return }
        if command.withoutKeys {
            try await console.confirm(
                "restore without the master key",
                loss: "Nobody can read encrypted values of accounts in escrow without the servers' master key file.",
                typing: database)
            return
        }
        guard let path = command.masterKeyFile else {
            throw AdminFailure(
                .usage,
                "The backup has keys that the master key encrypts: name its file with --master-key-file, or restore "
                    + "--without-keys.")
        }
        guard let key = try MasterKeyFile(path: path).read() else {
            throw AdminFailure(.refused, "There is no file \(path). Name the master key file of the servers.")
        }
        guard Hex.encode(key.check) == fingerprint else {
            throw AdminFailure(
                .refused,
                "\(path) does not hold the master key of the backup. Name the file of that time: a rotation made another "
                    + "one.")
        }
    }

    private static func notEmpty(_ contents: RestoreTarget.Contents) -> AdminFailure {
        let some = contents.names.prefix(3).joined(separator: ", ")
        let more = contents.names.count > 3 ? " and more" : ""
        return AdminFailure(
            .refused,
            "The database is not empty: it has \(some)\(more). Make a new one (createdb), and name it with --database-url."
        )
    }

    private func confirm(
        _ contents: RestoreTarget.Contents, _ directory: BackupDirectory, _ assetDirectory: String?
    ) async throws {
        let action = "restore \(directory.path) into the database"
        if let assetDirectory, !AssetFiles.isEmpty(BackupDirectory(assetDirectory).path) {
            console.say(
                "\(assetDirectory) has files. Servers of the old database that use it must be stopped: they remove files "
                    + "that their records do not name.")
        }
        guard contents.isBegun else { return try console.plan(action) }
        try await console.confirm(
            action,
            loss: "A restore was cut off here. What it has left will be dropped: "
                + "\(contents.names.count) tables and sequences.")
    }

    // MARK: After

    /// Before the restore there is no table for it, and what the backup has was written before.
    private func audit(_ directory: BackupDirectory) async throws {
        let action = AuditAction(
            who: console.operatorIdentity.name, address: console.operatorIdentity.address, action: "backup restore",
            target: directory.path)
        let id = try await console.store.beginAudit(action, of: ChangeCause(console.command))
        try await console.store.endAudit(id, failure: nil)
    }

    private func tell(_ outcome: BackupRestore.Outcome, _ manifest: BackupManifest) {
        console.say("Restored \(manifest.summary), of \(manifest.head.time).")
        if manifest.lostCount > 0 {
            console.say(
                "\(Amount.text(manifest.lostCount, "asset")) that records name had no file in the backup. Devices get "
                    + "assetNotAvailable for them. tidemark admin store verify --asset-directory lists them.")
        }
        if outcome.presentCount > 0 {
            console.say("Assets that were there already: \(outcome.presentCount).")
        }
        if !outcome.migrations.isEmpty {
            let count = Amount.text(outcome.migrations.count, "migration")
            console.say("The backup was of an older version: applied \(count).")
        }
        console.say(
            "Credentials, devices, accounts and operators that were revoked, disabled or deleted after the backup are valid "
                + "again: revoke, disable or delete them again before servers start.")
        console.say(
            "Devices will fetch everything again when they connect. Next: start the servers with this database, this "
                + "directory of assets and the master key file; look with `tidemark admin doctor` and `tidemark admin store "
                + "verify`; and make a backup of the new store.")
    }
}

/// Assets of a backup that a directory has.
private final class KnownAssets {
    var count = 0
}
