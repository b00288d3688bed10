// SPDX-License-Identifier: Apache-2.0

internal import TidemarkAssets
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkLocalPostgres
internal import TidemarkPostgres
internal import TidemarkService
internal import TidemarkStore

/// Restores a backup into an empty database. The backup was checked before.
struct BackupRestore {
    let console: Console
    let directory: BackupDirectory
    let manifest: BackupManifest
    let assetDirectory: String?
    let tool: PostgresTool
    let connection: ProgramConnection
    let jobCount: Int

    /// What was restored beside what the manifest says.
    struct Outcome: Sendable, Equatable {
        /// Steps that were applied because the backup is of an older version.
        var migrations: [String] = []
        /// Files of assets that were there already.
        var presentCount = 0
    }

    /// - Parameter target: was begun.
    func run(_ target: RestoreTarget) async throws -> Outcome {
        defer { console.screen.showProgress(nil) }
        var outcome = Outcome()
        try await load(target)
        try await checkContents()
        try await target.forgetUnnamedAssets()
        outcome.presentCount = try await copyAssets()
        outcome.migrations = try await target.migrate()
        console.screen.showProgress("Collecting statistics")
        try await target.analyze()
        // Before servers may use it: otherwise devices would take its change tokens for those that they have.
        try await target.renewIncarnation()
        try await target.finish()
        return outcome
    }

    private func load(_ target: RestoreTarget) async throws {
        console.screen.showProgress("Restoring the database")
        try await tool.run(
            [
                "--exit-on-error", "--no-owner", "--no-privileges", "--no-publications", "--no-subscriptions",
                "--no-password", "--jobs=\(jobCount)", "--dbname=\(connection.name)", directory.dump,
            ], variables: BackupToolOptions.variables(connection))
    }

    /// Whether all that was in the store is in the database.
    private func checkContents() async throws {
        console.screen.showProgress("Counting records")
        let snapshot = try await BackupSnapshot.open(console.storage, holdsAssets: false)
        let result: Result<String?, any Error>
        do {
            result = .success(try await difference(snapshot))
        } catch {
            result = .failure(error)
        }
        await snapshot.close()
        guard let difference = try result.get() else { return }
        throw AdminFailure(
            .fault, "The database does not have what the backup has: \(difference). It cannot be used. Report this.")
    }

    private func difference(_ snapshot: BackupSnapshot) async throws -> String? {
        let facts = try await snapshot.facts()
        guard try await snapshot.migrations().map({ BackupLine.Step($0) }) == manifest.migrations else {
            return "its migrations are others"
        }
        guard facts.masterKeyCheck.map({ Hex.encode($0) }) == manifest.head.masterKey else {
            return "its master key is another"
        }
        let there = try await snapshot.contents().map { BackupLine.Container($0) }
        guard there.count == manifest.containers.count else {
            return "\(there.count) containers in place of \(manifest.containers.count)"
        }
        for (there, container) in zip(there, manifest.containers) where there != container {
            return
                "\(container.container), \(container.environment.rawValue), has \(there.records) records in "
                + "\(there.zones) zones in place of \(container.records) in \(container.zones)"
        }
        return nil
    }

    // MARK: Assets

    /// - Returns: how many were there already.
    private func copyAssets() async throws -> Int {
        // Without assets too: the servers and `store verify` look for the directory.
        guard let assetDirectory else { return 0 }
        do {
            return try await copyAssets(to: BackupDirectory(assetDirectory).path)
        } catch let error as AssetStoreError {
            throw AdminFailure(
                .refused, "The directory of assets cannot be filled: \(error). Make room, or check who may write there."
            )
        }
    }

    private func copyAssets(to assets: String) async throws -> Int {
        try AssetFiles.makeDirectory(assets)
        let progress = BackupProgress(console.screen, "Copying assets", of: manifest.assetBytes)
        let state = CopiedAssets()
        _ = try await directory.readManifest { asset, isThere in
            guard isThere else { return }
            let target = AssetFiles.path(of: asset, in: assets)
            if try await Self.isWhole(asset, at: target) {
                state.presentCount += 1
            } else {
                try await BackupCreation.copy(directory.file(of: asset.content), to: target, asset) { count in
                    try Task.checkCancellation()
                    progress.showPart(Int64(count))
                }
            }
            progress.add(asset.content.byteCount)
            try state.go(to: AssetFiles.parent(of: target))
        }
        try state.go(to: "")
        try AssetFiles.synchronizeDirectory(assets)
        return state.presentCount
    }

    private static func isWhole(_ asset: AssetKey, at path: String) async throws -> Bool {
        guard AssetFiles.byteCount(of: path) == asset.content.byteCount else { return false }
        do {
            try await BackupCreation.copy(path, to: nil, asset) { _ in try Task.checkCancellation() }
            return true
        } catch let error as AssetStoreError where error.code == .modified {
            return false
        }
    }
}

/// How far the copies of assets are. They come shelf by shelf.
private final class CopiedAssets {
    /// Files that were there already.
    var presentCount = 0
    private var shelf = ""

    /// Makes the shelf before durable, with the files in it.
    func go(to next: String) throws {
        if next != shelf, !shelf.isEmpty {
            try AssetFiles.synchronizeDirectory(shelf)
            try AssetFiles.synchronizeDirectory(AssetFiles.parent(of: shelf))
        }
        shelf = next
    }
}
